import { useEffect, useRef, useState } from 'react';

/** The distance to what it is about, in pixels. */
const GAP = 6;

interface Tip {
  readonly text: string;
  readonly box: DOMRect;
}

/**
 * Shows the `title` of what has the focus of the keyboard: browsers show titles to the pointer alone. Screen readers say the
 * title itself, so this is hidden from them. Escape takes it away.
 */
export function FocusTip() {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    const hide = () => setTip(null);
    const onFocus = ({ target }: FocusEvent) => {
      const titled = target instanceof HTMLElement && target.matches(':focus-visible') && target.title;
      setTip(titled ? { text: target.title, box: target.getBoundingClientRect() } : null);
    };
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide();
    document.addEventListener('focusin', onFocus);
    document.addEventListener('focusout', hide);
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('scroll', hide, true);
    return () => {
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', hide);
      document.removeEventListener('scroll', hide, true);
    };
  }, []);
  return tip && <Shown key={tip.text} {...tip} />;
}

function Shown({ text, box }: Tip) {
  const popup = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = popup.current;
    if (!element) return;
    // In the top layer nothing covers it or cuts it off.
    element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    const start = Math.min(Math.max(GAP, box.x + box.width / 2 - width / 2), innerWidth - width - GAP);
    const isBelow = box.bottom + GAP + height <= innerHeight;
    element.style.left = `${start}px`;
    element.style.top = `${isBelow ? box.bottom + GAP : box.top - GAP - height}px`;
  }, [box]);
  return (
    <div
      ref={popup}
      popover="manual"
      aria-hidden="true"
      className="pointer-events-none fixed inset-auto m-0 max-w-72 rounded-md border border-line-strong bg-raised px-2 py-1 text-sm wrap-anywhere text-text shadow-xl"
    >
      {text}
    </div>
  );
}

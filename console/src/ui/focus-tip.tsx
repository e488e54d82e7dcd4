import { useEffect, useRef, useState } from 'react';

/** The distance to what it is about, in pixels. */
const GAP = 6;

interface Tip {
  readonly text: string;
  readonly box: DOMRect;
}

/** What a tap is for, other than to see a title. */
const COMMANDS = 'a, button, input, label, tr[data-key]';

/** What shows its title when it is pressed: it has no other purpose, or a finger cannot rest on it. */
function pressedFor({ target, pointerType }: PointerEvent): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  const isTap = pointerType === 'touch' && !target.closest(COMMANDS);
  return target.closest<HTMLElement>('[data-tip]') ?? (isTap ? target.closest<HTMLElement>('[title]') : null);
}

/** The title of what has the focus, or of a part of it, such as of the time in a link. */
function titleOf(element: HTMLElement): string {
  if (element.title || !element.matches('a, button')) return element.title;
  return element.querySelector<HTMLElement>('[title]')?.title ?? '';
}

/**
 * Shows the `title` of what has the focus of the keyboard, or is tapped: browsers show titles to a pointer alone. Screen readers
 * say the title itself, so this is hidden from them. Escape takes it away.
 */
export function FocusTip() {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    const hide = () => setTip(null);
    const show = (element: HTMLElement) => {
      const text = titleOf(element);
      setTip(text ? { text, box: element.getBoundingClientRect() } : null);
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.matches(':focus-visible')) show(target);
      else hide();
    };
    const onClick = (event: MouseEvent) => {
      const pressed = pressedFor(event as PointerEvent);
      if (pressed) show(pressed);
    };
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide();
    document.addEventListener('focusin', onFocus);
    document.addEventListener('focusout', hide);
    document.addEventListener('click', onClick);
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('scroll', hide, true);
    return () => {
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('click', onClick);
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

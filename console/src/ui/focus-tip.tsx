import { useEffect, useRef, useState } from 'react';

/** The distance from the element and from the edges of the window, in pixels. */
const GAP = 6;

interface Tip {
  readonly text: string;
  readonly box: DOMRect;
}

/** Elements on which a tap has another purpose than to show the title. */
const COMMANDS = 'a, button, input, label, tr[data-key]';

/** The element whose title a press shows: a `data-tip` element, or, on touch outside of a command, one with a title. */
function pressedFor({ target, pointerType }: PointerEvent): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  const isTap = pointerType === 'touch' && !target.closest(COMMANDS);
  return target.closest<HTMLElement>('[data-tip]') ?? (isTap ? target.closest<HTMLElement>('[title]') : null);
}

/** The title of an element. A link or button without one has the title of a descendant, such as a time. */
function titleOf(element: HTMLElement): string {
  if (element.title || !element.matches('a, button')) return element.title;
  return element.querySelector<HTMLElement>('[title]')?.title ?? '';
}

/**
 * Shows the `title` of the element that has the keyboard focus or is tapped, because browsers show titles only on
 * hover. It is hidden from screen readers, which read the title itself. Escape closes it.
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
    // The top layer: no element covers or clips it.
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

import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Whether the page is being printed. It is rendered once more before that, with the result. */
export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // The page is printed as it is at the end of the event.
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

interface PrintCopy {
  /** The element with the drawing, which is not displayed in print. */
  readonly drawing: HTMLElement;
  /** The positioned element to which the copy is added. */
  readonly container: HTMLElement;
  /** Returns the copy. Called right before the page is printed. */
  readonly draw: () => HTMLCanvasElement;
  /** How the copy is placed in the container, as classes. */
  readonly look: string;
}

/**
 * Replaces a drawing with a copy while the page is printed.
 * @returns a function that removes the copy and the event listeners
 */
export function copyForPrint({ drawing, container, draw, look }: PrintCopy): () => void {
  let copy: HTMLCanvasElement | null = null;
  const remove = () => {
    copy?.remove();
    copy = null;
    drawing.hidden = false;
  };
  const add = () => {
    remove();
    copy = draw();
    copy.className = look;
    // Not by a style, because the library of the charts sets `display` when the size changes.
    drawing.hidden = true;
    container.append(copy);
  };
  window.addEventListener('beforeprint', add);
  window.addEventListener('afterprint', remove);
  return () => {
    window.removeEventListener('beforeprint', add);
    window.removeEventListener('afterprint', remove);
    remove();
  };
}

import type { Locator, Page } from '@playwright/test';

const PRESSED = 'a[href], button, input, select, textarea, [role="button"], [role="checkbox"], [role="tab"]';

/**
 * Lists the controls that are smaller than `least` pixels in width or height. A field inside a label counts as large as
 * the label. Links and buttons in a paragraph may have the height of the text.
 */
export function smallerThan(within: Page | Locator, least: number): Promise<readonly string[]> {
  return within.locator(PRESSED).evaluateAll(
    (all, px) =>
      all.flatMap((element) => {
        // The link of a card covers the card with its `::after`.
        const isCard = getComputedStyle(element, '::after').position === 'absolute';
        const target = element.closest('label') ?? (isCard ? element.parentElement : null) ?? element;
        const { width, height } = target.getBoundingClientRect();
        const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        const isInText = element.matches('p a, p button, [aria-hidden="true"], [aria-hidden="true"] *');
        if (!isShown || isInText || width <= 1 || height <= 1 || (width >= px && height >= px)) return [];
        return [`${Math.round(width)} x ${Math.round(height)}: ${element.outerHTML.slice(0, 160)}`];
      }),
    least - 0.5,
  );
}

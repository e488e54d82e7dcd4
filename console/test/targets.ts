import type { Locator, Page } from '@playwright/test';

const PRESSED = 'a[href], button, input, select, textarea, [role="button"], [role="checkbox"], [role="tab"]';

/**
 * What can be pressed and is smaller than so many pixels in either direction. A field with a label round it is as large as
 * the label; links in a sentence may be as high as the sentence.
 */
export function smallerThan(within: Page | Locator, least: number): Promise<readonly string[]> {
  return within.locator(PRESSED).evaluateAll(
    (all, px) =>
      all.flatMap((element) => {
        // The link of a card is as large as the card.
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

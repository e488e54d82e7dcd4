import type { Page } from 'playwright-core';

// What the functions that run in a page find there. The types of browsers are not part of this program.
interface PageElement {
  closest(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
}
declare const document: {
  elementFromPoint(x: number, y: number): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare function requestAnimationFrame(callback: () => void): number;

/** What was seen while a list was scrolled. */
export interface Scrolled {
  readonly frames: number;
  /** Frames in which a part of the list showed no row. */
  readonly blank: number;
  /** Rows that were loaded in the end. */
  readonly rows: number;
}

/** The number of wheel steps, and their distance in pixels, as when a user skims a list. */
const TURNS = 150;
const TURN_PX = 240;

/** Scrolls the list of the page with the wheel, and looks in every frame whether there are rows all over it. */
export async function scrollList(page: Page): Promise<Scrolled> {
  const box = await page.locator('section:has(table)').first().boundingBox();
  if (!box) return { frames: 0, blank: 0, rows: 0 };
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate(({ x, y, width, height }) => {
    const seen = { frames: 0, blank: 0, stop: false };
    Reflect.set(globalThis, 'scrolled', seen);
    const places = [0.2, 0.5, 0.9].map((share) => y + 40 + (height - 60) * share);
    const look = () => {
      seen.frames++;
      const isBlank = places.some(
        (at) => !document.elementFromPoint(x + width / 2, at)?.closest('tr[data-key]'),
      );
      if (isBlank) seen.blank++;
      if (!seen.stop) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, box);
  for (let turn = 0; turn < TURNS; turn++) await page.mouse.wheel(0, TURN_PX);
  await page.waitForTimeout(500);
  return page.evaluate(() => {
    const seen = Reflect.get(globalThis, 'scrolled') as { frames: number; blank: number; stop: boolean };
    seen.stop = true;
    const last = [...document.querySelectorAll('tr[data-key]')].at(-1)?.getAttribute('aria-rowindex');
    return { frames: seen.frames, blank: seen.blank, rows: Number(last ?? 0) };
  });
}

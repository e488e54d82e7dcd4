import type { Page } from 'playwright-core';

// Globals of the page, for the functions that run in it. This program is compiled without the DOM types.
interface PageElement {
  closest(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
}
declare const document: {
  elementFromPoint(x: number, y: number): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare function requestAnimationFrame(callback: () => void): number;

/** The frames that were checked while a list was scrolled. */
export interface Scrolled {
  readonly frames: number;
  /** Frames in which a part of the list showed no row. */
  readonly blank: number;
  /** The index of the last rendered row at the end. */
  readonly rows: number;
}

/** The number of wheel steps, and the distance of each in pixels, as of a user who skims a list. */
const TURNS = 150;
const TURN_PX = 240;

/** Scrolls the list of the page with the wheel, and checks in every frame whether rows are shown at three heights of it. */
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

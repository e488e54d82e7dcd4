import { existsSync } from 'node:fs';
import type { GantryClient } from '@gantry/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { BenchmarkFailed } from '../failure.ts';

// Globals of the page, for the functions that run in it. This program is compiled without the DOM types.
declare const localStorage: { setItem(key: string, value: string): void };
declare const document: { querySelector(selector: string): object | null };
declare function requestAnimationFrame(callback: () => void): number;
declare const PerformanceObserver: new (
  callback: (list: { getEntries(): { duration: number; interactionId?: number }[] }) => void,
) => { observe(options: { type: string; durationThreshold: number }): void };

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Starts Chromium. @throws BenchmarkFailed when it is not installed */
export async function startBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new BenchmarkFailed(`There is no Chromium at ${CHROMIUM}: install it, or set CHROMIUM to its path`);
  }
  // Imported only here, because the import would delay the start of all other benchmarks by half a second.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--enable-precise-memory-info'],
  });
}

/** A browser profile of its own, with an empty cache, that is signed in. */
export async function signedIn(browser: Browser, client: GantryClient): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' });
  // The loader of this program wraps functions in calls of a helper, `__name`, which the page must define for those that run in it.
  await context.addInitScript('globalThis.__name = (named) => named');
  const session = { token: client.token, user: await client.api.auth.me.query() };
  await context.addInitScript((stored) => {
    localStorage.setItem('gantry.session', stored);
    localStorage.setItem('gantry.language', '"en"');
  }, JSON.stringify(session));
  return context;
}

/** A page of the console. `useful` is the selector of its first useful content: an element that shows data. */
export interface Visit {
  readonly name: string;
  readonly path: string;
  readonly useful: string;
}

/** Opens a page. @returns milliseconds from the navigation to the first useful content on the screen */
export async function timeVisit(
  context: BrowserContext,
  url: string,
  { path, useful }: Visit,
): Promise<number> {
  const page = await context.newPage();
  try {
    // The page itself checks in every frame, because polling from outside would add a delay.
    await page.addInitScript((selector) => {
      const look = () => {
        if (document.querySelector(selector)) {
          requestAnimationFrame(() => Reflect.set(globalThis, 'usefulAt', performance.now()));
        } else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, useful);
    await page.goto(url + path, { waitUntil: 'commit' });
    const handle = await page.waitForFunction(
      () => Reflect.get(globalThis, 'usefulAt') as number,
      undefined,
      {
        timeout: 60_000,
      },
    );
    return (await handle.jsonValue()) as number;
  } finally {
    await page.close();
  }
}

/** The scripts of the map and the charts, which pages load after everything else. */
const LATE = /(maplibre-gl|vector-map|dot-map|echarts|pmtiles)[^/]*\.js$/;

/** The compressed size, in bytes, of the scripts that the page loads before any interaction, without the map and the charts. */
export async function scriptBytes(
  context: BrowserContext,
  url: string,
  { path, useful }: Visit,
): Promise<number> {
  const page = await context.newPage();
  try {
    await page.goto(url + path);
    await page.waitForSelector(useful);
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map((entry) => ({
          name: entry.name,
          bytes: (entry as unknown as { encodedBodySize: number }).encodedBodySize,
        })),
    );
    return scripts.filter(({ name }) => !LATE.test(name)).reduce((sum, { bytes }) => sum + bytes, 0);
  } finally {
    await page.close();
  }
}

/**
 * Records the time from each interaction to the next paint.
 * @returns a function that returns the recorded times of 16 ms or more, in milliseconds
 */
export async function noteInteractions(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(() => {
    const durations: number[] = [];
    Reflect.set(globalThis, 'interactions', durations);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.interactionId) durations.push(entry.duration);
      }
    }).observe({ type: 'event', durationThreshold: 16 });
  });
  return () => page.evaluate(() => Reflect.get(globalThis, 'interactions') as number[]);
}

/** The size of the page's JavaScript heap after a garbage collection, in MB. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  await session.detach();
  return usedSize / 1e6;
}

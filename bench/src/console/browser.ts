import { existsSync } from 'node:fs';
import type { GantryClient } from '@gantry/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { BenchmarkFailed } from '../failure.ts';

// What the functions that run in a page find there. The types of browsers are not part of this program.
declare const localStorage: { setItem(key: string, value: string): void };
declare const document: { querySelector(selector: string): object | null };
declare function requestAnimationFrame(callback: () => void): number;
declare const PerformanceObserver: new (
  callback: (list: { getEntries(): { duration: number; interactionId?: number }[] }) => void,
) => { observe(options: { type: string; durationThreshold: number }): void };

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** @throws BenchmarkFailed where there is no Chromium */
export async function startBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new BenchmarkFailed(`There is no Chromium at ${CHROMIUM}: install it, or set CHROMIUM to its path`);
  }
  // Loaded only here, because it takes all other benchmarks half a second at their start.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--enable-precise-memory-info'],
  });
}

/** A browser profile of its own, with an empty cache, that is signed in. */
export async function signedIn(browser: Browser, client: GantryClient): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' });
  // The loader of this program names every function by a helper, which functions that run in a page need there.
  await context.addInitScript('globalThis.__name = (named) => named');
  const session = { token: client.token, user: await client.api.auth.me.query() };
  await context.addInitScript((stored) => {
    localStorage.setItem('gantry.session', stored);
    localStorage.setItem('gantry.language', '"en"');
  }, JSON.stringify(session));
  return context;
}

/** A page, and what is useful on it: the first element that matches says something about the traffic. */
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
    // Looked at in every frame of the page itself: asking from outside would add its own delay.
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

/** The map and the charts, which pages load after everything else. */
const LATE = /(maplibre-gl|vector-map|dot-map|echarts|pmtiles)[^/]*\.js$/;

/** Compressed script, in bytes, that the page loads before anybody does anything, without the map and the charts. */
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

/** Has the browser note how long each interaction takes until the next paint. */
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

/** Memory of the page's script after what is no longer used was collected, in MB. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  await session.detach();
  return usedSize / 1e6;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS } from '@gantry/contract/durations';
import type { Page } from 'playwright-core';
import { makeBodies } from '../ingest/bodies.ts';
import { percentile } from '../percentile.ts';
import type { History } from '../query/histories.ts';
import { registerSensors } from '../sensors.ts';
import { startPacer } from '../soak/pacer.ts';
import {
  heapMegabytes,
  noteInteractions,
  scriptBytes,
  signedIn,
  startBrowser,
  timeVisit,
  type Visit,
} from './browser.ts';
import { type Scrolled, scrollList } from './scroll.ts';

const VISITS: readonly Visit[] = [
  { name: 'Overview', path: '/', useful: 'main a strong:not(:empty)' },
  { name: 'Events', path: '/events', useful: 'tr[data-key]' },
  { name: 'Sensors', path: '/sensors', useful: 'tr[data-key]' },
];

/** The size of the page's JavaScript heap after a garbage collection. */
export interface HeapSample {
  /** Minutes since the first sample. */
  readonly minute: number;
  readonly megabytes: number;
}

/** The load times of one page with an empty and a filled cache, in milliseconds. */
export interface Loaded {
  readonly name: string;
  readonly cold: readonly number[];
  readonly warm: readonly number[];
  /** The compressed size of the scripts of the first load, in bytes. */
  readonly script: number;
}

export interface Measured {
  readonly loaded: readonly Loaded[];
  /** Times from an interaction to the next paint, in milliseconds, ascending. */
  readonly interactions: Float64Array;
  readonly scrolled: Scrolled;
  /** The heap of the list of events over time. The first sample is taken after the key presses and the scrolling. */
  readonly heap: readonly HeapSample[];
}

export interface MeasureOptions {
  readonly rounds: number;
  /** How long the heap is watched while events stream in, in minutes. */
  readonly minutes: number;
  /** Events that stream in per second. */
  readonly rate: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/** Minimum number of heap samples; in longer runs there is one per minute. */
const LEAST_SAMPLES = 10;
const KEYS = ['j', 'j', 'j', 'k', 'x', 'j', 'f', 'Escape', 'j', 'k', '?', 'Escape'];
const KEY_ROUNDS = 20;
const KEY_PAUSE_MS = 120;

/** Measures the load times of the console over a filled database, and then the list of events while events stream in. */
export async function measureConsole({ gantry }: History, options: MeasureOptions): Promise<Measured> {
  const browser = await startBrowser();
  const { rounds, rate, signal, onProgress } = options;
  try {
    const loaded: Loaded[] = [];
    for (const visit of VISITS) {
      const times = { cold: [] as number[], warm: [] as number[] };
      let script = 0;
      for (let round = 0; round < rounds; round++) {
        signal.throwIfAborted();
        const context = await signedIn(browser, gantry.client);
        times.cold.push(await timeVisit(context, gantry.url, visit));
        times.warm.push(await timeVisit(context, gantry.url, visit));
        await context.close();
      }
      const context = await signedIn(browser, gantry.client);
      script = await scriptBytes(context, gantry.url, visit);
      await context.close();
      loaded.push({ name: visit.name, ...times, script });
      onProgress(
        `${visit.name}: cold ${times.cold.map(Math.round).join(' ')} ms, warm ${times.warm.map(Math.round).join(' ')} ms`,
      );
    }
    const sensors = await registerSensors(gantry.client, 20, `console-${Date.now().toString(36)}`);
    const apiKeys = sensors.map(({ apiKey }) => apiKey);
    const load = startPacer({
      url: `${gantry.url}/trpc/events.ingest`,
      bodies: makeBodies(apiKeys, 4096, 1),
      rate,
      connections: 8,
    });
    const context = await signedIn(browser, gantry.client);
    try {
      const page = await context.newPage();
      await page.goto(`${gantry.url}/events`);
      await page.waitForSelector('tr[data-key]');
      const interactions = await pressKeys(page);
      const scrolled = await scrollList(page);
      const heap = await watchMemory(page, options);
      load.check();
      return { loaded, interactions, scrolled, heap };
    } finally {
      await context.close();
      await load.finish();
    }
  } finally {
    await browser.close();
  }
}

async function pressKeys(page: Page): Promise<Float64Array> {
  const taken = await noteInteractions(page);
  for (let round = 0; round < KEY_ROUNDS; round++) {
    for (const key of KEYS) {
      await page.keyboard.press(key);
      await sleep(KEY_PAUSE_MS);
    }
  }
  return Float64Array.from(await taken()).sort();
}

async function watchMemory(
  page: Page,
  { minutes, signal, onProgress }: MeasureOptions,
): Promise<HeapSample[]> {
  const samples = Math.max(LEAST_SAMPLES, Math.round(minutes));
  const heap = [{ minute: 0, megabytes: await heapMegabytes(page) }];
  for (let sample = 1; sample <= samples; sample++) {
    await sleep((minutes * MINUTE_MS) / samples, undefined, { signal });
    const minute = (minutes * sample) / samples;
    const megabytes = await heapMegabytes(page);
    heap.push({ minute, megabytes });
    onProgress(`memory after ${minute.toFixed(1)} min: ${megabytes.toFixed(1)} MB`);
  }
  return heap;
}

/** The value that 95 % of the interactions do not exceed. */
export function p95(sorted: ArrayLike<number>): number {
  return percentile(sorted, 0.95);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

// A user who pages through events from the oldest to the newest, while new ones arrive, sees each of the events that
// existed at the start once.
const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();
const token = await gantry.tokenFor('VIEWER');

const PAGE = 50;
const PAGES = lengthOf({ gate: 56, full: 168 });
const BATCH = 700;

/** Stores events with consecutive times, up to now. @returns their ids */
const storeHistory = async (): Promise<string[]> => {
  const count = PAGE * PAGES;
  const ids: string[] = [];
  for (let first = 0; first < count; first += BATCH) {
    const events = Array.from({ length: BATCH }, (_, n) => ({
      eventType: (first + n) % 2 === 0 ? 'VEHICLE_DETECTION' : 'SPEED_DETECTION',
      timestamp: new Date(Date.now() - 60 * (count - first - n)).toISOString(),
    }));
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    ids.push(...results.map(({ eventId }: { eventId: string }) => eventId));
  }
  return ids;
};

/** Stores events with the current time, one after another in two loops. @returns a function that stops it */
const keepStoring = (): (() => Promise<unknown>) => {
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
      await sleep(5);
    }
  };
  const working = [work(), work()];
  return () => {
    isOver = true;
    return Promise.all(working);
  };
};

describe('paging from the oldest to the newest while events arrive', () => {
  it.each(['timestamp', 'createdAt'])('by %s omits and repeats none', async (sortBy) => {
    const before = await storeHistory();
    const first = await gantry.ok('events.getAll', { take: 1 }, { token });
    const stop = keepStoring();
    const seen: string[] = [];
    try {
      for (let skip = 0; skip < first.total; skip += PAGE) {
        const page = await gantry.ok(
          'events.getAll',
          { sortBy, sortOrder: 'asc', skip, take: PAGE },
          { token },
        );
        expect(page.total).toBeGreaterThanOrEqual(skip + page.events.length);
        seen.push(...page.events.map(({ id }: { id: string }) => id));
      }
    } finally {
      await stop();
    }
    expect(new Set(seen).size).toBe(seen.length);
    const shown = new Set(seen);
    expect(before.filter((id) => !shown.has(id))).toEqual([]);
  });
});

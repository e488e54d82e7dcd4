import { reportedEvent } from '@gantry/contract/events';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { enrich } from '../src/ingest/enrich.ts';
import type { WatchedEntry } from '../src/watchlist/matching.ts';
import { createWatchlist, type Watchlist } from '../src/watchlist/start.ts';
import { eventually } from './harness.ts';

const entryOf = (pattern: string): WatchedEntry => ({
  id: pattern,
  pattern,
  reason: 'Stolen',
  priority: 'LOW',
  validFrom: null,
  validUntil: null,
  fuzzy: false,
});
const log = pino({ level: 'silent' });
const sensor = {
  id: 'one',
  name: 'Mast',
  address: null,
  locationId: null,
  locationName: null,
  speedLimit: null,
  eventsPerMin: 20,
};
const matches = (watchlist: Watchlist, licensePlateNumber: string | null): boolean => {
  const event = reportedEvent.parse({ eventType: 'PLATE_RECOGNITION', licensePlateNumber });
  return watchlist.match(enrich(event, sensor, 'UTC', Date.now())).length > 0;
};

/**
 * A list in memory. Each read except the first waits until it is released, and returns the list as of its beginning.
 */
const heldList = (first: string[]) => {
  const list = [...first];
  const held: (() => void)[] = [];
  let began = 0;
  const load = async () => {
    const seen = list.map(entryOf);
    if (began++ > 0) await new Promise<void>((resolve) => held.push(resolve));
    return seen;
  };
  return {
    list,
    load,
    began: () => began,
    letGo: () => held.shift()?.(),
  };
};

describe('the watchlist of a process', () => {
  it('is read before the process serves requests', async () => {
    await using watchlist = await createWatchlist(async () => [entryOf('AB 1')], log);
    expect(matches(watchlist, 'ab-1')).toBe(true);
    expect(matches(watchlist, 'AB 2')).toBe(false);
  });

  it('matches no event without a plate, or with one of hyphens only', async () => {
    await using watchlist = await createWatchlist(async () => [entryOf('**')], log);
    expect(matches(watchlist, null)).toBe(false);
    expect(matches(watchlist, '--')).toBe(false);
    expect(matches(watchlist, 'X')).toBe(true);
  });

  it('includes changes committed before a refresh was requested, even during another one', async () => {
    const { list, load, letGo, began } = heldList(['A1']);
    await using watchlist = await createWatchlist(load, log);
    const early = watchlist.refresh();
    await eventually(
      async () => began(),
      (count) => count === 2,
    );
    list.push('B2');
    const late = watchlist.refresh();
    const later = watchlist.refresh();
    letGo();
    await early;
    expect(matches(watchlist, 'B2')).toBe(false);
    await eventually(
      async () => began(),
      (count) => count === 3,
    );
    letGo();
    await Promise.all([late, later]);
    expect(matches(watchlist, 'B2')).toBe(true);
    expect(began()).toBe(3);
  });

  it('keeps its contents when it cannot be read, and retries until it can', async () => {
    let failures = 0;
    let list = [entryOf('A1')];
    await using watchlist = await createWatchlist(async () => {
      if (failures-- > 0) throw new Error('the database is away');
      return list;
    }, log);
    failures = 2;
    list = [entryOf('B2')];
    await watchlist.refresh();
    expect([matches(watchlist, 'A1'), matches(watchlist, 'B2')]).toEqual([true, false]);
    await eventually(
      async () => matches(watchlist, 'B2'),
      (isMatched) => isMatched,
    );
    expect(matches(watchlist, 'A1')).toBe(false);
  });

  it('does not retry after it was closed', async () => {
    let readings = 0;
    const watchlist = await createWatchlist(async () => {
      if (readings++ > 0) throw new Error('the database is away');
      return [];
    }, log);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await watchlist.refresh();
      expect(vi.getTimerCount()).toBe(1);
      await watchlist[Symbol.asyncDispose]();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    expect(readings).toBe(2);
  });
});

import type { Event } from '@gantry/contract/events';
import type { Topic } from '@gantry/contract/realtime';
import type { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { type SharedPage, SharedPages } from '../src/realtime/hub.ts';
import { itemsAfter, selectTopics } from '../src/realtime/items.ts';
import { compare, type Position } from '../src/realtime/position.ts';

const AT = new Date('2026-01-01T00:00:00Z');
const PAGE = 50;

const at = (xid: number, index = 0): Position => ({ xid: BigInt(xid), seq: 1n, index });

interface Feed {
  readonly pool: Pool;
  /** The number of pages that were read. */
  reads: number;
  /** Transactions from 1 on are committed; each has the given number of events. */
  committed: number;
  isAway: boolean;
}

/** A feed in which each transaction wrote one change. */
const createFeed = (committed: number, eventsOfEach: number): Feed => {
  const query = async ({ values }: { values: [string, string] }) => {
    feed.reads++;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (feed.isAway) throw new Error('away');
    const common = { horizon: String(feed.committed + 1), now: AT, held_at: null };
    const rows = [];
    const first = Number(values[0]) + (Number(values[1]) > 1 ? 1 : 0);
    for (let xid = first; xid <= feed.committed && rows.length < PAGE; xid++) {
      const eventIds = Array.from({ length: eventsOfEach }, (_, n) => `${xid}-${n}`);
      rows.push({
        ...common,
        xid: String(xid),
        seq: '1',
        topic: 'events',
        at: AT,
        event_ids: eventIds,
        body: null,
      });
    }
    return { rows: rows.length > 0 ? rows : [{ ...common, xid: null }] };
  };
  const feed: Feed = { pool: { query } as unknown as Pool, reads: 0, committed, isAway: false };
  return feed;
};

const fetched: string[] = [];
const findEvents = async (ids: readonly string[]) => {
  fetched.push(...ids);
  return new Map(ids.map((id) => [id, { id } as Event]));
};

const idsIn = async ({ portions }: SharedPage, from = at(0)): Promise<string[]> => {
  const items = await Promise.all(portions.map((portion) => portion.items(selectTopics(['events']))));
  return itemsAfter(items.flat(), from).map(({ payload }) => (payload as Event).id);
};

describe('pages of the feed', () => {
  it('are read once for all subscribers whose position is within them, with their events', async () => {
    const feed = createFeed(30, 2);
    const pages = new SharedPages(feed.pool, findEvents);
    fetched.length = 0;
    const given = await Promise.all(Array.from({ length: 40 }, (_, n) => pages.read(at(1 + (n % 5)))));
    expect(feed.reads).toBe(1);
    for (const page of given) expect(await idsIn(page)).toHaveLength(60);
    expect(fetched).toHaveLength(60);
    await pages.read(at(20, 1));
    expect(feed.reads).toBe(1);
  });

  it('contain several topics in the order of the feed, and fetch their events once for all selections', async () => {
    const feed = createFeed(0, 0);
    const pages = new SharedPages(feed.pool, findEvents);
    fetched.length = 0;
    const body = { sensorId: 's' };
    const changes = (['events', 'sensors', 'watchlist', 'events', 'sensors'] as const).map((topic, n) => ({
      xid: 1n + BigInt(n >> 1),
      seq: BigInt(n),
      topic,
      at: 0,
      eventIds: topic === 'events' ? [`${n}-0`, `${n}-1`] : [],
      body: topic === 'events' ? null : body,
    }));
    const rest = { next: at(9), isFull: false, isHeldUp: false, at: 0, now: 0 };
    const [portion] = pages.share(at(1), { changes, ...rest }).portions;
    const itemsOf = (...topics: Topic[]) => portion?.items(selectTopics(topics)) ?? Promise.resolve([]);
    const [both, turned, events, sensors] = await Promise.all([
      itemsOf('events', 'sensors'),
      itemsOf('sensors', 'events'),
      itemsOf('events'),
      itemsOf('sensors'),
    ]);
    expect(both.map(({ topic }) => topic)).toEqual([
      'events',
      'events',
      'sensors',
      'events',
      'events',
      'sensors',
    ]);
    expect(
      both.every(
        ({ cursor }, n) => n === 0 || compare(cursor.position, both[n - 1]?.cursor.position ?? at(9)) > 0,
      ),
    ).toBe(true);
    expect(turned).toBe(both);
    expect(itemsAfter(both, { xid: 1n, seq: 0n, index: 1 })).toEqual(both.slice(1));
    expect(fetched).toEqual(['0-0', '0-1', '3-0', '3-1']);
    const things = new Set(both.map(({ payload }) => payload));
    for (const { payload } of [...events, ...sensors]) expect(things).toContain(payload);
  });

  it('are read again for positions at their end', async () => {
    const feed = createFeed(10, 1);
    const pages = new SharedPages(feed.pool, findEvents);
    const { next, isFull } = await pages.read(at(1));
    expect({ next, isFull }).toEqual({ next: { xid: 11n, seq: 0n, index: 0 }, isFull: false });
    feed.committed = 12;
    expect(await idsIn(await pages.read(next))).toEqual(['11-0', '12-0']);
    expect(feed.reads).toBe(2);
  });

  it('cover the feed without gaps from any position, with a limited number of events each', async () => {
    const feed = createFeed(120, 700);
    const pages = new SharedPages(feed.pool, findEvents);
    const readAll = async (start: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let from = at(start), isFull = true; isFull; ) {
        const page = await pages.read(from);
        expect((await idsIn(page)).length).toBeLessThanOrEqual(5_000);
        ids.push(...(await idsIn(page, from)));
        from = page.next;
        isFull = page.isFull;
      }
      return ids;
    };
    const starts = [1, 3, 60, 119];
    const read = await Promise.all(starts.map(readAll));
    read.forEach((ids, n) => {
      expect(ids.length).toBe((120 - (starts[n] ?? 0) + 1) * 700);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  it('that cannot be read fail for the subscribers that wait for them, and are read again', async () => {
    const feed = createFeed(10, 1);
    feed.isAway = true;
    const pages = new SharedPages(feed.pool, findEvents);
    const failed = await Promise.allSettled([pages.read(at(1)), pages.read(at(1)), pages.read(at(5))]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    feed.isAway = false;
    expect(await idsIn(await pages.read(at(1)))).toHaveLength(10);
  });

  it('are kept for a single subscriber only if others were behind recently', async () => {
    const feed = createFeed(10, 1);
    const pages = new SharedPages(feed.pool, findEvents);
    const change = { xid: 1n, seq: 1n, topic: 'events', at: 0, eventIds: ['x'], body: null } as const;
    const page = { changes: [change], next: at(2), isFull: false, isHeldUp: false, at: 0, now: 0 };
    pages.share(at(1), page);
    await pages.read(at(1));
    expect(feed.reads).toBe(1);
    feed.committed = 20;
    const { next } = await pages.read(at(12));
    pages.share(next, { ...page, next: at(30) });
    await pages.read(next);
    expect(feed.reads).toBe(2);
  });
});

import type { Event } from '@gantry/contract/events';
import type { Topic } from '@gantry/contract/realtime';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Hub } from '../src/realtime/hub.ts';
import { selectTopics } from '../src/realtime/items.ts';

// A subscriber that joins while the hub is reading the feed: the test creates the moment, which otherwise lasts
// microseconds.

const AT = new Date('2026-01-01T00:00:00Z');
const event = { id: 'e' } as Event;

/**
 * A feed with one event. `onRead` is called while its page is being read, `onEmpty` when the next page is requested.
 */
const feedWith = (onRead: () => void, onEmpty: () => void): Pool => {
  const rows = [
    {
      horizon: '10',
      now: AT,
      held_at: null,
      xid: '5',
      seq: '1',
      topic: 'events',
      at: AT,
      event_ids: ['e'],
      body: null,
    },
  ];
  let reads = 0;
  const query = async (statement: unknown) => {
    if (typeof statement === 'string') return { rows: [{ snapshot: '5:5:', now: AT }] };
    if (reads++ > 0) {
      onEmpty();
      return { rows: [{ ...rows[0], xid: null }] };
    }
    onRead();
    return { rows };
  };
  return { query } as unknown as Pool;
};

interface Followed {
  /** The topics of the subscriber that is there before; `newcomer` has those of the one that joins. */
  readonly first: readonly Topic[];
  readonly newcomer: readonly Topic[];
}

/** Joins the given number of microtask turns after the page was requested. @returns what the subscriber received */
const joinAfter = async (
  turns: number,
  { first, newcomer }: Followed,
): Promise<{ joined: boolean; received: string[] }> => {
  const received: string[] = [];
  let joined = false;
  let hasTried = (): void => undefined;
  const tried = new Promise<void>((resolve) => {
    hasTried = resolve;
  });
  let hasRead = (): void => undefined;
  const readAll = new Promise<void>((resolve) => {
    hasRead = resolve;
  });
  const hub: Hub = new Hub({
    pool: feedWith(
      () => {
        void (async () => {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          const { reached: from } = hub;
          const receive = () => received.push('e');
          joined =
            from !== null &&
            from.position.xid < 10n &&
            hub.join({ topics: selectTopics(newcomer), from, send: receive, end: () => undefined }) !== null;
          hasTried();
        })();
      },
      () => hasRead(),
    ),
    findEvents: async () => new Map([['e', event]]),
    log: pino({ level: 'silent' }),
    readFeedMs: 10,
  });
  const { cursor: from } = await hub.now();
  hub.join({ topics: selectTopics(first), from, send: () => undefined, end: () => undefined });
  await tried;
  await readAll;
  await hub[Symbol.asyncDispose]();
  return { joined, received };
};

describe('a subscriber who joins while the hub reads a page', () => {
  it.each<[string, Followed]>([
    ['of another topic', { first: ['incidents'], newcomer: ['events'] }],
    ['of more topics', { first: ['events'], newcomer: ['events', 'incidents'] }],
    ['of fewer topics', { first: ['events', 'incidents'], newcomer: ['events'] }],
  ])('receives its contents, or has to catch up first: %s', async (_, followed) => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, turns) => joinAfter(turns, followed)));
    for (const [turns, { joined, received }] of all.entries())
      expect({ turns, isInformed: received.length > 0 || !joined }).toEqual({ turns, isInformed: true });
  });
});

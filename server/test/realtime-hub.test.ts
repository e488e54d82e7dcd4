import type { Event } from '@gantry/contract/events';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Hub } from '../src/realtime/hub.ts';

// A subscriber that joins while the hub is reading the feed: the test creates the moment, which otherwise lasts
// microseconds.

const AT = new Date('2026-01-01T00:00:00Z');
const event = { id: 'e' } as Event;

/** A feed with one event; `onRead` is called while the page is being read. */
const feedWith = (onRead: () => void): Pool => {
  const rows = [
    {
      horizon: '10',
      now: AT,
      is_held_up: false,
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
    if (reads++ > 0) return { rows: [{ ...rows[0], xid: null }] };
    onRead();
    return { rows };
  };
  return { query } as unknown as Pool;
};

/** Joins the given number of microtask turns after the page was requested. @returns what the subscriber received */
const joinAfter = async (turns: number): Promise<{ joined: boolean; told: string[] }> => {
  const told: string[] = [];
  let joined = false;
  let hasTried = (): void => undefined;
  const tried = new Promise<void>((resolve) => {
    hasTried = resolve;
  });
  const hub: Hub = new Hub({
    pool: feedWith(() => {
      void (async () => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        const { reached: from } = hub;
        const tell = () => told.push('e');
        joined =
          from !== null &&
          from.position.xid < 10n &&
          hub.join({ topic: 'events', from, send: tell, end: () => undefined }) !== null;
        hasTried();
      })();
    }),
    findEvents: async () => new Map([['e', event]]),
    log: pino({ level: 'silent' }),
  });
  const { mark: from } = await hub.now();
  hub.join({ topic: 'incidents', from, send: () => undefined, end: () => undefined });
  await tried;
  await new Promise((resolve) => setTimeout(resolve, 60));
  await hub[Symbol.asyncDispose]();
  return { joined, told };
};

describe('a subscriber who joins while the hub reads a page', () => {
  it('receives its contents, or has to catch up first', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const { joined, told } = await joinAfter(turns);
      expect({ turns, told: told.length > 0 || !joined }).toEqual({ turns, told: true });
    }
  });
});

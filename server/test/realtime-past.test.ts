import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type Pool } from 'pg';
import { pino } from 'pino';
import { describe, expect, inject, it, vi } from 'vitest';
import { createApp } from '../src/programs/app.ts';
import { Caller, eventually, sharedGantry, untilBegun } from './harness.ts';
import { openStream } from './sse.ts';

// Past changes are not sent as new: neither those made while there was no subscriber, nor those in a restored dump.

const READ_FEED_MS = 250;

const gantry = await sharedGantry({ overrides: { timings: { readFeedMs: READ_FEED_MS } } });
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const report = (to: Caller = gantry): Promise<{ eventId: string }> =>
  to.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });

const follow = async (to: Caller = gantry) => {
  const stream = await openStream(to.url, 'events.onIngested', { token });
  await untilBegun(stream);
  return stream;
};

const eventsIn = ({ messages }: Awaited<ReturnType<typeof follow>>): string[] =>
  messages.flatMap(({ data }) => (data.type === 'event' ? [data.event.id] : []));

describe('a subscriber after one that left before it received anything', () => {
  it('receives changes only from its own beginning', async () => {
    // Like a client that leaves before the service has found the end of the feed.
    await gantry.app.context.realtime.now();
    await report();
    const stream = await follow();
    const { eventId } = await report();
    await eventually(
      async () => eventsIn(stream),
      (ids) => ids.includes(eventId),
    );
    expect(eventsIn(stream)).toEqual([eventId]);
    stream.close();
    await stream.ended;
  });
});

describe('a subscriber during a transaction of another database', () => {
  it('receives nothing that was committed before it began, and everything after', async () => {
    const other = new pg.Client({ connectionString: inject('databaseServer') });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT pg_current_xact_id()');
      await report();
      const stream = await follow();
      const { eventId } = await report();
      await other.query('COMMIT');
      await eventually(
        async () => eventsIn(stream),
        (ids) => ids.includes(eventId),
      );
      expect(eventsIn(stream)).toEqual([eventId]);
      stream.close();
      await stream.ended;
    } finally {
      await other.end();
    }
  });
});

/** Writes changes like those in a restored dump: by transactions whose numbers the server has not reached. */
const restoreChanges = async (pool: Pool, ahead: number): Promise<void> => {
  const { eventId } = await report();
  await pool.query(
    `INSERT INTO changes (xid, topic, event_ids)
     SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + $1)::text::xid8, 'events', ARRAY[$2::uuid]`,
    [ahead, eventId],
  );
};

describe('changes of a server with higher transaction numbers', () => {
  it('do not make the service read the feed without pauses', async () => {
    await restoreChanges(gantry.pool, 1_000_000);
    const stream = await follow();
    const asked = vi.spyOn(gantry.pool, 'query');
    await sleep(4 * READ_FEED_MS);
    const looks = asked.mock.calls.filter(
      ([query]) => (query as { name?: string }).name === 'read-changes',
    ).length;
    asked.mockRestore();
    stream.close();
    await stream.ended;
    // The feed is read four times, and a few times more for other reasons. Without pauses, it would be read fifty
    // times.
    expect(looks).toBeLessThan(20);
  });

  it('are removed by the next start, and never sent as new', async () => {
    await restoreChanges(gantry.pool, 300);
    const { config } = gantry.app.context;
    await using app = await createApp(
      { ...config, DATA_DIR: `${config.DATA_DIR}/second`, JWT_SECRET: undefined },
      pino({ level: 'silent' }),
    );
    const second = new Caller(await app.listen());
    const others = await second.login('admin@gantry.local', 'Correct-horse-1');
    const stream = await openStream(second.url, 'events.onIngested', { token: others });
    await untilBegun(stream);
    for (let n = 0; n < 400; n++) await gantry.pool.query('SELECT pg_current_xact_id()');
    const { eventId } = await report(second);
    await eventually(
      async () => eventsIn(stream),
      (ids) => ids.includes(eventId),
    );
    expect(eventsIn(stream)).toEqual([eventId]);
    stream.close();
    await stream.ended;
  });
});

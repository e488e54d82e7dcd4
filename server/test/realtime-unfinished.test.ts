import pg from 'pg';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { openStream, type Stream } from './sse.ts';

// Transactions that are unfinished while events are stored. Those of this database may still add earlier changes to the
// feed, those of other databases may not.

const NOTE_MS = 200;

const gantry = await sharedGantry({ overrides: { timings: { streamNoteMs: NOTE_MS } } });
const token = await gantry.tokenFor('VIEWER');
const apiKey = await gantry.registerSensor();

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Begins a transaction that has a number, in another database of the server. */
async function beginElsewhere(): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseServer') });
  await client.connect();
  cleanups.push(() => client.end());
  await client.query('BEGIN; SELECT pg_current_xact_id()');
}

async function follow(lastEventId?: string): Promise<Stream> {
  const stream = await openStream(gantry.url, 'events.onIngested', {
    token,
    ...(lastEventId && { lastEventId }),
  });
  cleanups.push(() => stream.close());
  await untilBegun(stream);
  return stream;
}

const idsOf = ({ messages }: Stream): string[] =>
  messages.flatMap(({ data }) => (data.type === 'event' ? [data.event.id] : []));

const received = (stream: Stream, ids: readonly string[]) =>
  eventually(
    async () => idsOf(stream),
    (got) => got.length >= ids.length,
  ).then((got) => expect(got).toEqual(ids));

describe('streams', () => {
  it('do not wait for a transaction of another database of the server', async () => {
    const early = await follow();
    await beginElsewhere();
    const first = await gantry.ingest(apiKey);
    await received(early, [first]);

    const late = await follow();
    const second = await gantry.ingest(apiKey);
    await received(early, [first, second]);
    await received(late, [second]);

    const at = early.messages.findLast(({ data }) => data.type === 'event' && data.event.id === first)?.id;
    await received(await follow(at), [second]);
  });

  it('wait for one of this database, whose changes come earlier', async () => {
    const stream = await follow();
    const client = await gantry.pool.connect();
    cleanups.push(() => client.release(true));
    await client.query('BEGIN; SELECT pg_current_xact_id()');
    const asked = vi.spyOn(gantry.pool, 'query');
    cleanups.push(() => asked.mockRestore());
    const id = await gantry.ingest(apiKey);
    await eventually(
      async () =>
        asked.mock.calls.filter(([query]) => (query as { name?: string }).name === 'read-changes-here')
          .length,
      (reads) => reads > 2,
    );
    // Neither this stream nor one that resumes is told that everything until now was sent.
    const resumed = await follow(stream.messages[0]?.id);
    const toldBefore = new Map([stream, resumed].map((each) => [each, each.messages.length]));
    for (const [each, count] of toldBefore) {
      await eventually(
        async () => each.messages.length,
        (now) => now >= count + 2,
      );
    }
    const { rows } = await gantry.pool.query('SELECT created_at FROM events WHERE id = $1', [id]);
    const told = [stream, resumed].flatMap(({ messages }) => messages.map(({ data }) => data));
    expect(told.map(({ type }) => type)).toEqual(told.map(() => 'upToDate'));
    const latest = Math.max(...told.map(({ at }) => Date.parse(at)));
    expect(latest).toBeLessThanOrEqual(rows[0].created_at.getTime());

    await client.query('ROLLBACK');
    await received(stream, [id]);
    await received(resumed, [id]);
    for (const each of [stream, resumed]) {
      const times = each.messages.flatMap(({ data }) => (data.type === 'upToDate' ? [data.at] : []));
      expect(times).toEqual(times.toSorted());
    }
  });
});

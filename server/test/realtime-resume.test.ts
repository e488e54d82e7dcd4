import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { openStream, type Stream } from './sse.ts';

// Many streams that reconnect at once, as after a restart of the service, and one that is far behind.

const STREAMS = 50;
const EVENTS = 200;

const NOTE_MS = 200;
const PAGES = 60;
const ROWS_OF_PAGE = 50;
const PLATE = 'FAR 1';

const gantry = await sharedGantry({ overrides: { timings: { streamNoteMs: NOTE_MS } } });
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const report = async (): Promise<string> =>
  (await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).eventId;

const received = ({ messages }: Stream): { id: string; eventId: string }[] =>
  messages.flatMap(({ id, data }) => (data.type === 'event' ? [{ id, eventId: data.event.id }] : []));

const untilTold = (streams: readonly Stream[], counts: readonly number[]) =>
  eventually(
    async () => streams.every((stream, n) => received(stream).length >= (counts[n] ?? 0)),
    (are) => are,
    30_000,
  );

describe('streams that resume at once', () => {
  it('read the feed together, and each receives everything after its own id', async () => {
    const first = await openStream(gantry.url, 'events.onIngested', { token });
    const before = await report();
    await untilTold([first], [1]);
    const sent: string[] = [];
    for (let n = 0; n < EVENTS; n++) sent.push(await report());
    await untilTold([first], [1 + EVENTS]);
    first.close();
    await first.ended;
    const all = received(first);
    expect(all.map(({ eventId }) => eventId)).toEqual([before, ...sent]);

    const asked = vi.spyOn(gantry.pool, 'query');
    // The streams begin at different positions: some at the first of the events, and some a few events later.
    const starts = Array.from({ length: STREAMS }, (_, n) => n % 10);
    const streams = await Promise.all(
      starts.map((at) =>
        openStream(gantry.url, 'events.onIngested', { token, lastEventId: all[at]?.id ?? '' }),
      ),
    );
    await untilTold(
      streams,
      starts.map((at) => EVENTS - at),
    );
    const reads = asked.mock.calls.filter(
      ([query]) => (query as { name?: string }).name === 'read-changes',
    ).length;
    asked.mockRestore();
    for (const stream of streams) stream.close();
    await Promise.all(streams.map(({ ended }) => ended));
    streams.forEach((stream, n) => {
      expect(received(stream).map(({ eventId }) => eventId)).toEqual(sent.slice(starts[n]));
    });
    // Five pages, each read from at most ten positions, and the reads of the hub. Separate reads would be 250.
    expect(reads).toBeLessThan(60);
  });
});

describe('a stream that resumes far behind', () => {
  /**
   * Delays each page of the feed.
   * @returns a function that returns the positions from which pages were read since its last call
   */
  const slowPages = (): { since: () => bigint[] } => {
    const query = gantry.pool.query.bind(gantry.pool) as (...args: unknown[]) => Promise<unknown>;
    const from: bigint[] = [];
    const slow = async (...args: unknown[]): Promise<unknown> => {
      const [{ name, values }] = args as [{ name?: string; values?: string[] }];
      if (name === 'read-changes') {
        from.push(BigInt(values?.[1] ?? 0));
        await sleep(NOTE_MS / 4);
      }
      return query(...args);
    };
    vi.spyOn(gantry.pool, 'query').mockImplementation(slow as never);
    return { since: () => from.splice(0) };
  };

  /** Counts streams from now on. @returns a function that returns the number of open ones */
  const countStreams = (): (() => number) => {
    const { streams } = gantry.app.context;
    const admit = streams.admit.bind(streams);
    let open = 0;
    vi.spyOn(streams, 'admit').mockImplementation((userId) => {
      const release = admit(userId);
      open++;
      return () => {
        open--;
        release();
      };
    });
    return () => open;
  };

  const resume = (lastEventId: string) => openStream(gantry.url, 'watchlist.onAlert', { token, lastEventId });

  const positionIn = (id = ''): bigint => BigInt(id.split('.')[1] ?? 0);

  it('says how far it has come while there is nothing for it, and reads no further without its client', async () => {
    await gantry.ok('watchlist.create', { pattern: PLATE, reason: 'Stolen', priority: 'HIGH' }, { token });
    const start = await openStream(gantry.url, 'watchlist.onAlert', { token });
    await untilBegun(start);
    start.close();
    await start.ended;
    await gantry.pool.query(
      `INSERT INTO changes (topic, event_ids) SELECT 'events', ARRAY[gen_random_uuid()] FROM generate_series(1, $1)`,
      [PAGES * ROWS_OF_PAGE],
    );
    const open = countStreams();
    const pages = slowPages();
    let id = start.messages[0]?.id ?? '';
    for (let round = 0; round < 2; round++) {
      const stream = await resume(id);
      await untilBegun(stream);
      stream.close();
      await stream.ended;
      await eventually(
        async () => open(),
        (count) => count === 0,
      );
      const [first] = stream.messages;
      expect(first?.data).toEqual({ type: 'upToDate', at: expect.any(String) });
      const read = pages.since();
      expect(read[0]).toBeGreaterThanOrEqual(positionIn(id));
      expect(read.length).toBeLessThan(PAGES / 2);
      await sleep(NOTE_MS);
      expect(pages.since()).toEqual([]);
      expect(positionIn(first?.id)).toBeGreaterThan(positionIn(id));
      id = first?.id ?? '';
    }
    vi.restoreAllMocks();

    await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: PLATE });
    const last = await resume(id);
    await eventually(
      async () => last.messages.filter(({ data }) => data.type === 'alert').length,
      (alerts) => alerts === 1,
    );
    last.close();
    await last.ended;
  });
});

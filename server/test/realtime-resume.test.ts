import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually, type Gantry, startGantry } from './harness.ts';
import { openStream, type Stream } from './sse.ts';

// Many streams that reconnect at once, as after a restart of the service.

const STREAMS = 50;
const EVENTS = 200;

let gantry: Gantry;
let token: string;
let apiKey: string;
beforeAll(async () => {
  gantry = await startGantry();
  token = await gantry.tokenFor('ADMIN');
  apiKey = await gantry.registerSensor();
});
afterAll(() => gantry.stop());

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
    // Each begins at another position: some at the first of the events, and some a few later.
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
    // Five pages, read from at most ten positions, and the reads of the hub. Separately they were 250.
    expect(reads).toBeLessThan(60);
  });
});

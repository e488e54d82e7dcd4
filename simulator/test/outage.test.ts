import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { ADMIN, eventually, startGantry } from '../../server/test/harness.ts';
import { prepareFleet } from '../src/fleet.ts';
import { assemble, logIn, runCrew } from '../src/simulation.ts';
import { eventsOfMinute, MINUTE_MS } from '../src/stream.ts';

type Mood = 'well' | 'unavailable' | 'gone' | 'answers get lost';

/** A road to the service that can be in several moods. */
const buildRoad = async (target: string) => {
  let mood: Mood = 'well';
  const batches: string[] = [];
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): void => {
    const { method, url = '', headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      if (mood === 'answers get lost') {
        answer.resume();
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => incoming.socket.destroy());
    onward.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      if (incoming.url?.includes('ingestBatch')) batches.push(mood);
      if (mood === 'gone') incoming.socket.destroy();
      else if (mood === 'unavailable') {
        const json = {
          message: 'Busy',
          code: -32603,
          data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
        };
        outgoing.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
        outgoing.end(JSON.stringify({ error: { json } }));
      } else pass(incoming, outgoing, Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches,
    become(next: Mood) {
      mood = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

it('an outage loses no event, lost answers store none twice, and a stop in an outage tells what was not sent', async () => {
  await using gantry = await startGantry();
  await using road = await buildRoad(gantry.url);
  const stopping = new AbortController();

  const client = await logIn(road.url, ADMIN.email, ADMIN.password);
  const { sensors } = await prepareFleet(client.api, 5, 3);
  const crew = assemble(road.url, sensors, stopping.signal);
  const { tally } = crew;
  const pace = { rate: 40, steady: true };
  const from = Date.now();
  const running = runCrew(crew, from, pace);

  const sentBeyond = (sent: number) =>
    eventually(
      async () => tally.sent,
      (now) => now > sent,
    );
  await sentBeyond(20);
  for (const mood of ['answers get lost', 'unavailable', 'gone'] as const) {
    road.become(mood);
    await eventually(
      async () => tally.waiting.size,
      (waiting) => waiting === 3,
    );
    road.become('well');
    await eventually(
      async () => tally.waiting.size,
      (waiting) => waiting === 0,
    );
    await sentBeyond(tally.sent + 20);
  }
  road.become('gone');
  await eventually(
    async () => tally.waiting.size,
    (waiting) => waiting === 3,
  );
  stopping.abort();
  const unsent = await running;
  const until = Date.now();

  expect(tally.refused).toBe(0);
  expect(tally.retries).toBeGreaterThan(8);
  expect(road.batches).toContain('well');
  const { rows } = await gantry.pool.query<{ n: number; keys: number }>(
    'SELECT count(*) AS n, count(DISTINCT id) AS keys FROM events',
  );
  expect(rows[0]).toEqual({ n: tally.sent, keys: tally.sent });

  let due = 0;
  for (const { sensor } of sensors) {
    for (let minute = Math.floor(from / MINUTE_MS); minute * MINUTE_MS <= until; minute++) {
      due += eventsOfMinute(sensor, minute, pace).filter(({ at }) => at >= from && at <= until).length;
    }
  }
  expect(unsent).toBeGreaterThan(0);
  expect(tally.sent + unsent).toBeLessThanOrEqual(due);
  // A few fall due between the last look at the clock and this count.
  expect(due - tally.sent - unsent).toBeLessThan(15);
}, 60_000);

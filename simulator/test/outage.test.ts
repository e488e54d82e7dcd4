import { MINUTE_MS } from '@gantry/contract/durations';
import { expect, it } from 'vitest';
import { ADMIN, eventually, startGantry } from '../../server/test/harness.ts';
import { prepareFleet } from '../src/fleet.ts';
import { assemble, logIn, runCrew } from '../src/simulation.ts';
import { eventsOfMinute } from '../src/stream.ts';
import { buildRoad } from './road.ts';

it('an outage loses no event, lost answers store none twice, and a stop during an outage reports what was not sent', async () => {
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
  // A few events become due between the last check of the clock and this count.
  expect(due - tally.sent - unsent).toBeLessThan(15);
});

import { randomUUID } from 'node:crypto';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { readTraffic, segmentsWithin } from '../src/traffic/figures.ts';
import { recountDay } from '../src/traffic/recount-store.ts';
import { rollUpQuarter } from '../src/traffic/roll-up-store.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const register = async (locationId: string | null = null): Promise<{ id: string; apiKey: string }> =>
  ask('sensors.create', { name: 'Loop', deviceId: randomUUID(), type: 'RADAR', locationId });

const DAY = '2026-03-10';
const at = (time: string): number => Date.parse(`${DAY}T${time}Z`);
const period = (time: string, seconds: number, more: object = {}) => ({
  start: `${DAY}T${time}:00Z`,
  seconds,
  ...more,
});
const send = (apiKey: string, ...periods: unknown[]) => gantry.ok('counts.ingest', { apiKey, periods });
const STORED = { duplicate: false, replaced: false };

const flowOf = (sensorId: string, interval: string, from = '08:00', until = '08:59') =>
  ask('traffic.getFlow', {
    sensorId,
    interval,
    startDate: `${DAY}T${from}:00Z`,
    endDate: `${DAY}T${until}:59.999Z`,
  });
const volumesOf = async (sensorId: string, interval: string, from?: string, until?: string) =>
  (await flowOf(sensorId, interval, from, until)).points.map(
    ({ volume }: { volume: number | null }) => volume,
  );

const rollUpQuarters = async () => {
  await gantry.pool.query(`UPDATE traffic_kept SET longer_until = '2026-04-01T00:00:00Z'`);
  while (await rollUpQuarter(gantry.app.context.db, Date.now()));
};

describe('counts.ingest', () => {
  it('stores a period once, and another content of it as its revision', async () => {
    const { id, apiKey } = await register();
    const first = period('08:00', 900, {
      lane: 1,
      volume: 12,
      speed: { mean: 50, bins: [{ from: 40, to: 60, count: 10 }] },
    });
    expect(await send(apiKey, first)).toEqual({ success: true, results: [STORED] });
    const inOtherWords = { ...first, lane: '1', status: 'OK', occupancy: null };
    expect(await send(apiKey, inOtherWords)).toMatchObject({
      results: [{ duplicate: true, replaced: false }],
    });
    const second = { ...first, volume: 20 };
    const { results } = await send(apiKey, second, second, { ...first, lane: 2, volume: 1 });
    expect(results).toEqual([
      { duplicate: false, replaced: true },
      { duplicate: true, replaced: false },
      STORED,
    ]);
    expect(await volumesOf(id, '15min')).toEqual([21, null, null, null]);
    const { rows } = await gantry.pool.query(
      `SELECT revision, content -> 'volume' AS volume FROM traffic_period_revisions WHERE sensor_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ revision: 0, volume: 12 }]);
  });

  it('refuses periods one by one, and says what would be right', async () => {
    const { id, apiKey } = await register();
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const { success, results } = await send(
      apiKey,
      period('08:00', 900, { volume: 5 }),
      period('08:15', 900, { volume: -1 }),
      period('08:15', 900, { volume: 1.5 }),
      period('08:15', 7, { volume: 1 }),
      period('08:15', 900, { volume: 1, direction: 'north' }),
      period('08:15', 900, { volume: 1, occupancy: 101 }),
      period('08:15', 900, { byClass: { scheme: 'BASIC', counts: { VAN: 1 } } }),
      { start: ahead, seconds: 900, volume: 1 },
      period('08:00', 3_600, { volume: 1 }),
      period('08:10', 900, { volume: 1 }),
      null,
      period('08:15', 900, { volume: 6 }),
    );
    expect(success).toBe(false);
    const messages = results.map(
      (result: { error?: { code: string; message: string } }) => result.error?.message,
    );
    expect(messages).toEqual([
      undefined,
      expect.stringMatching(/^volume: /),
      expect.stringMatching(/^volume: /),
      expect.stringMatching(/^seconds: Use a divisor/),
      expect.stringMatching(/^direction: Use NB/),
      expect.stringMatching(/^occupancy: Use percent/),
      expect.stringMatching(/no class "VAN": use one of CAR/),
      expect.stringMatching(/^start: The period starts in the future/),
      expect.stringMatching(/^start: The period overlaps one of 900 s from 2026-03-10T08:00/),
      expect.stringMatching(/overlaps one of 900 s/),
      expect.any(String),
      undefined,
    ]);
    const again = await send(
      apiKey,
      period('08:00', 300, { volume: 1 }),
      period('08:00', 300, { lane: 1, volume: 1 }),
    );
    expect(again.results).toMatchObject([{ error: { code: 'BAD_REQUEST' } }, STORED]);
    expect(await volumesOf(id, '15min')).toEqual([6, 6, null, null]);
  });

  it('refuses the whole call with an unknown key, or with too many periods', async () => {
    const { apiKey } = await register();
    const one = period('08:00', 900, { volume: 1 });
    const statusOf = async (input: object) => (await gantry.call('counts.ingest', input)).status;
    expect(await statusOf({ apiKey: 'unknown', periods: [one] })).toBe(401);
    expect(await statusOf({ apiKey, periods: Array.from({ length: 1_001 }, () => one) })).toBe(400);
    expect(await statusOf({ apiKey, periods: [] })).toBe(400);
  });
});

describe('the counts of intervals', () => {
  it('tell a zero, a gap and a part', async () => {
    const { id, apiKey } = await register();
    await send(
      apiKey,
      period('08:00', 900, { volume: 0 }),
      period('08:15', 900, { volume: null }),
      period('08:30', 900, { volume: 8, status: 'FAULT' }),
      period('08:45', 900, { volume: 8, samples: 3, expectedSamples: 4 }),
    );
    const { points } = await flowOf(id, '15min');
    expect(points).toMatchObject([
      { volume: 0, status: 'VALID', coverage: 1 },
      { volume: null, status: 'GAP', coverage: 0 },
      { volume: null, status: 'GAP', coverage: 0 },
      { volume: 8, status: 'PARTIAL', coverage: 0.75 },
    ]);
    expect((await flowOf(id, '60min')).points).toMatchObject([
      { volume: 8, status: 'PARTIAL', coverage: 0.4375 },
    ]);
  });

  it('miss the lanes that reported a gap', async () => {
    const { id, apiKey } = await register();
    await send(
      apiKey,
      period('08:00', 900, { lane: 1, volume: 7 }),
      period('08:00', 900, { lane: 2, volume: null }),
    );
    expect((await flowOf(id, '15min')).points[0]).toMatchObject({
      volume: 7,
      status: 'PARTIAL',
      coverage: 0.5,
    });
  });

  it.each([
    [60, [5, 5, 5], [15], []],
    [300, [1, 1, 1], [3], []],
    [900, [null, null, null], [1], [0, 1, 2]],
    [3_600, [null, null, null], [null, null, null, null], [0, 1, 2]],
  ])('of %i s count in the intervals that contain them', async (seconds, fives, quarters, coarser) => {
    const { id, apiKey } = await register();
    const periods = Array.from({ length: 3_600 / seconds }, (_, n) => ({
      start: new Date(at('08:00') + n * seconds * 1_000).toISOString(),
      seconds,
      volume: 1,
    }));
    await send(apiKey, ...periods);
    const read = async () => {
      const { points } = await flowOf(id, '5min', '08:00', '08:14');
      expect(points.map(({ volume }: { volume: number }) => volume)).toEqual(fives);
      for (const n of coarser) expect(points[n]).toMatchObject({ status: 'GAP', reason: 'COARSER_DATA' });
      const hourOfCounts = { startDate: new Date(at('08:00')), endDate: new Date(at('08:59')) };
      const { bins } = await ask('traffic.getCounts', { sensorId: id, interval: '15min', ...hourOfCounts });
      for (const [n, volume] of quarters.entries())
        expect(bins[n]).toMatchObject(
          volume === null ? { status: 'GAP', reason: 'COARSER_DATA' } : { status: 'VALID', volume },
        );
      if (coarser.length === 0) expect(points[0]).not.toHaveProperty('reason');
      expect((await volumesOf(id, '15min')).slice(0, quarters.length)).toEqual(quarters);
      const hour = await flowOf(id, '60min');
      expect(hour).toMatchObject({
        volume: periods.length,
        points: [{ volume: periods.length, status: 'VALID' }],
      });
      expect(hour.peakHour?.volume).toBe(seconds <= 900 ? periods.length : undefined);
    };
    await read();
    await rollUpQuarters();
    await read();
    // The events of the day are counted again.
    const day = { from: at('00:00'), until: at('00:00') + DAY_MS };
    await inTransaction(gantry.app.context.db, (tx) => recountDay(tx, day, sql`true`));
    await read();
  });

  it('have classes, movements and speeds', async () => {
    const { id, apiKey } = await register();
    await send(
      apiKey,
      period('08:00', 900, {
        direction: 'NB',
        byClass: { scheme: 'BASIC', counts: { CAR: 50, TRUCK: 10, BICYCLE: 3 } },
        speed: {
          mean: 50,
          bins: [
            { from: 40, to: 50, count: 30 },
            { from: 50, to: 60, count: 30 },
          ],
        },
      }),
      period('08:00', 900, { movement: { from: 'N', turn: 'L' }, volume: 4 }),
    );
    const bounds = [at('08:00'), at('08:00') + 15 * MINUTE_MS];
    const place = { kind: 'sensor', id, limits: [], speedLimit: null } as const;
    const traffic = await readTraffic(gantry.app.context.db, place, segmentsWithin(place, bounds), {
      now: Date.now(),
    });
    const [bin] = traffic.binsOf(bounds);
    expect(bin).toMatchObject({ volume: 64, status: 'VALID' });
    const cells = bin?.cells.map(({ class: vehicleClass, ...cell }) => ({
      ...cell,
      code: vehicleClass?.code,
    }));
    expect(cells).toHaveLength(4);
    expect(cells).toEqual(
      expect.arrayContaining([
        { direction: 'NB', code: 'CAR', volume: 50 },
        { direction: 'NB', code: 'TRUCK', volume: 10 },
        { direction: 'NB', code: 'BICYCLE', volume: 3 },
        { movement: { from: 'N', turn: 'L' }, code: undefined, volume: 4 },
      ]),
    );
    const flow = await flowOf(id, '15min');
    expect(flow.points[0]).toMatchObject({
      volume: 64,
      measured: 60,
      meanSpeed: 50,
      percentileStatus: 'VALID',
    });
  });

  it('of a sensor that sends vehicles are zero in the observed time of a batch', async () => {
    const { id, apiKey } = await register();
    const events = [{ eventType: 'VEHICLE_DETECTION', timestamp: `${DAY}T08:02:00Z` }];
    const observe = (from: string, until: string) =>
      gantry.ok('events.ingestBatch', {
        apiKey,
        events,
        observed: { from: `${DAY}T${from}:00Z`, until: `${DAY}T${until}:00Z` },
      });
    await gantry.ok('events.ingestBatch', { apiKey, events });
    expect(await volumesOf(id, '15min')).toEqual([1, null, null, null]);
    await observe('08:00', '08:30');
    await observe('08:20', '08:45');
    expect(await volumesOf(id, '15min')).toEqual([3, 0, 0, null]);
    const { rows } = await gantry.pool.query('SELECT FROM traffic_observed WHERE sensor_id = $1', [id]);
    expect(rows).toHaveLength(1);
  });

  it('of a location count instead of the events of the same sensor', async () => {
    const { id: locationId } = await ask('locations.create', { name: 'Ring', speedLimit: 50 });
    const { apiKey } = await register(locationId);
    await send(apiKey, period('08:00', 900, { volume: 9 }));
    const event = { eventType: 'SPEED_DETECTION', vehicleSpeed: 90, timestamp: `${DAY}T08:01:00Z` };
    await gantry.ok('events.ingestBatch', { apiKey, events: [event] });
    const { points } = await ask('traffic.getFlow', {
      locationId,
      interval: '15min',
      startDate: `${DAY}T08:00:00Z`,
      endDate: `${DAY}T08:14:59.999Z`,
    });
    expect(points).toMatchObject([{ volume: 9, status: 'VALID' }]);
  });
});

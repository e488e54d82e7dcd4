import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { inIntervals, readTraffic } from '../src/traffic/figures.ts';
import { recountDay } from '../src/traffic/recount-store.ts';
import { rollUpQuarter } from '../src/traffic/roll-up-store.ts';
import { sharedGantry } from './harness.ts';
import { isLong } from './test-length.ts';

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

  it('longer than an hour are in no figure, also if a day in UTC contains them', async () => {
    const { id: locationId } = await ask('locations.create', { name: 'Ring', speedLimit: 50 });
    const { id, apiKey } = await register(locationId);
    const range = { startDate: DAY, endDate: DAY };
    const volumes = async () => {
      const { locations } = await ask('traffic.getTopLocations', { ...range, by: 'volume', limit: 100 });
      return [
        locations.find((each: { locationId: string }) => each.locationId === locationId)?.volume,
        (await ask('traffic.getSpeedDistribution', { locationId, ...range })).volume,
        (await ask('traffic.getFlow', { locationId, ...range, interval: 'day' })).volume,
      ];
    };
    await send(apiKey, period('00:00', 86_400, { volume: 900 }));
    expect(await volumes()).toEqual([undefined, 0, null]);
    await send(
      apiKey,
      period('06:00', 7_200, { lane: 1, volume: 90 }),
      period('08:00', 3_600, { lane: 1, volume: 9 }),
    );
    await send(apiKey, period('00:00', 86_400, { volume: 901 }));
    expect(await volumes()).toEqual([9, 9, 9]);
    const days = 'SELECT counted_share FROM traffic_bins WHERE minutes = 1440 AND sensor_id = $1';
    expect((await gantry.pool.query(days, [id])).rows).toEqual([{ counted_share: 1 / 24 }]);
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
    const traffic = await readTraffic(gantry.app.context.db, place, inIntervals(place, bounds), {
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

describe('counts of local hours', () => {
  it('without a vehicle are those of a sensor that does not work', async () => {
    const [empty, working] = [await register(), await register()];
    const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS / 2;
    const hours = Array.from({ length: 72 }, (_, n) => last - (72 - n) * HOUR_MS);
    for (const { id, apiKey } of [empty, working])
      await send(
        apiKey,
        ...hours.map((start, n) => ({
          ...{ start: new Date(start).toISOString(), seconds: 3_600 },
          volume: id === working.id || n < 12 ? 5 : 0,
        })),
      );
    const { outages } = await ask('traffic.getOutages', { take: 100, minimumMinutes: 180 });
    const found = outages.filter(({ sensorId }: { sensorId: string }) =>
      [empty.id, working.id].includes(sensorId),
    );
    expect(found).toMatchObject([
      { sensorId: empty.id, kind: 'NO_HITS', from: new Date(last - 60 * HOUR_MS).toISOString() },
    ]);
  });

  const HOURS = 24;
  /** 2 vehicles a minute, a quarter of them trucks, and a bicycle, in each of two lanes. */
  const periodsOf = (from: number, seconds: number) =>
    Array.from({ length: (HOURS * 3_600) / seconds }, (_, n) => new Date(from + n * seconds * 1_000)).flatMap(
      (start) =>
        [1, 2].map((lane) => ({
          ...{ start: start.toISOString(), seconds, lane, direction: 'NB' },
          byClass: {
            scheme: 'BASIC',
            counts: { CAR: seconds / 40, TRUCK: seconds / 120, BICYCLE: 1 },
          },
          speed: { mean: 45, bins: [{ from: 40, to: 50, count: seconds / 30 }] },
        })),
    );

  const cases = [
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Europe/Berlin',
  ].flatMap((zone) => [600, 1_200, 1_800, 3_600].map((seconds) => [zone, seconds] as const));
  const usual = ['Asia/Kolkata 3600', 'Asia/Kathmandu 600', 'America/St_Johns 1800', 'Europe/Berlin 3600'];
  it.each(cases.filter((each) => isLong || usual.includes(each.join(' '))))(
    'in %s are complete with periods of %i s',
    async (zone, seconds) => {
      await ask('system.timezone.updateTimezoneSettings', { timezone: zone });
      const { id: locationId } = await ask('locations.create', { name: randomUUID(), speedLimit: 50 });
      const { id: sensorId, apiKey } = await register(locationId);
      const [from, until] = ['2026-02-10', '2026-02-11'].map((day) =>
        DateTime.fromISO(day, { zone }).toMillis(),
      ) as [number, number];
      const sent = periodsOf(from, seconds);
      await send(apiKey, ...sent);
      const range = { startDate: new Date(from).toISOString(), endDate: new Date(until - 1).toISOString() };
      const DAILY = 5_760;
      const { id: pointId } = await ask('points.create', { locationId, name: 'NB', direction: 'NB' });
      const asked = [{ locationId }, { sensorId }, { locationId }, { pointId }];
      for (const [n, place] of asked.entries()) {
        if (n === 2) await ask('assignments.create', { sensorId, pointId });
        const { points } = await ask('traffic.getFlow', { ...place, ...range, interval: '60min' });
        expect(points).toHaveLength(HOURS);
        for (const point of points)
          expect(point).toMatchObject({
            status: 'VALID',
            coverage: 1,
            volume: 240,
            measured: 240,
            meanSpeed: 45,
          });
        expect(await ask('traffic.getFlow', { ...place, ...range, interval: 'day' })).toMatchObject({
          ...{ volume: DAILY, points: [{ status: 'VALID', volume: DAILY }] },
        });
        expect(await ask('traffic.getDailyVolumes', { ...place, ...range })).toMatchObject({
          days: [{ volume: DAILY, reason: null, status: 'VALID' }],
        });
        const by = ['lane', 'class'];
        const counts = await ask('traffic.getCounts', { ...place, ...range, interval: '60min', by });
        expect(counts.bins[7].cells).toEqual(
          [1, 2].flatMap((lane) => [
            { lane, class: 'BICYCLE', volume: 3_600 / seconds },
            { lane, class: 'CAR', volume: 90 },
            { lane, class: 'TRUCK', volume: 30 },
          ]),
        );
        expect(await ask('traffic.getSpeedDistribution', { ...place, ...range, binWidth: 10 })).toMatchObject(
          {
            ...{ volume: DAILY, completeness: 1, bins: [{ from: 40, to: 50, count: DAILY }] },
          },
        );
      }
      const ranking = await ask('traffic.getTopLocations', { ...range, by: 'volume' });
      expect(
        ranking.locations.find((each: { locationId: string }) => each.locationId === locationId),
      ).toMatchObject({
        ...{ volume: DAILY, measured: DAILY, meanSpeed: 45, shareOverLimit: 0 },
      });
      // One hour is corrected, a lane of another one fails, and a third one is rejected.
      const hourOf = (hour: number) =>
        sent.filter(({ start }) => Math.floor((Date.parse(start) - from) / 3_600_000) === hour);
      await send(
        apiKey,
        ...hourOf(3).map((each) => ({
          ...each,
          byClass: { scheme: 'BASIC', counts: { CAR: 1 } },
          speed: null,
        })),
      );
      await send(
        apiKey,
        ...hourOf(5)
          .filter(({ lane }) => lane === 2)
          .map((each) => ({ ...each, status: 'FAULT' })),
      );
      await ask('traffic.reviewData', {
        ...{ locationId, decision: 'REJECT', reason: 'Known from the road' },
        startDate: new Date(from + 7 * 3_600_000).toISOString(),
        endDate: new Date(from + 8 * 3_600_000 - 1).toISOString(),
      });
      const { bins } = await ask('traffic.getCounts', { locationId, ...range, interval: '60min' });
      expect([2, 3, 4, 5, 6, 7, 8].map((hour) => [bins[hour].volume, bins[hour].coverage])).toEqual([
        [240, 1],
        [(2 * 3_600) / seconds, 1],
        [240, 1],
        [120, 0.5],
        [240, 1],
        [null, 0],
        [240, 1],
      ]);
      // A fourth hour is not known, which is an outage of just this hour.
      await send(apiKey, ...hourOf(11).map((each) => ({ ...each, status: 'FAULT' })));
      const { outages } = await ask('traffic.getOutages', { sensorId, ...range });
      expect(outages[0]).toMatchObject({
        kind: 'NO_DATA',
        from: new Date(from + 11 * 3_600_000).toISOString(),
        until: new Date(from + 12 * 3_600_000).toISOString(),
      });
      const quarters = await ask('traffic.getCounts', { locationId, ...range, interval: '15min' });
      if (seconds > 900) expect(quarters.bins[9]).toMatchObject({ status: 'GAP', reason: 'COARSER_DATA' });
    },
  );
});

import { randomUUID } from 'node:crypto';
import { role } from '@gantry/contract/permissions';
import { DateTime } from 'luxon';
import { beforeAll, describe, expect, it } from 'vitest';
import { locks } from '../src/platform/database/locks.ts';
import { getHourOfWeek } from '../src/traffic/service.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { type Passage, type SimulatedMonth, SPEED_LIMIT, simulateMonth, ZONE } from './simulated-month.ts';

const MONTH = { startDate: '2026-03-01', endDate: '2026-03-31' };
const HOUR = 3_600_000;

let month: SimulatedMonth;
const gantry = await sharedGantry();
const token = await gantry.tokenFor('VIEWER');
/** Holds the lock without which the service cannot lock. */
const lock = await gantry.pool.connect();
beforeAll(async () => {
  await lock.query('SELECT pg_advisory_lock($1)', [locks.traffic]);
  month = await simulateMonth(gantry);
});

const count = (table: string): Promise<number> => gantry.count(table);

const ask = (verb: string, input: object = {}) => gantry.ok(`traffic.${verb}`, input, { token });

/** PostgreSQL's percentile_cont on plain numbers. */
const percentile = (sorted: readonly number[], share: number): number => {
  const rank = share * (sorted.length - 1);
  const [lower = 0, upper = 0] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return lower + (upper - lower) * (rank - Math.floor(rank));
};

/** The expected figures of the given vehicles, counted one by one. */
const truthOf = (passed: readonly Passage[]) => {
  const speeds = passed.flatMap(({ vehicleSpeed }) => vehicleSpeed || []).sort((a, b) => a - b);
  const types = new Map<string | null, number>();
  for (const { vehicleType } of passed) types.set(vehicleType, (types.get(vehicleType) ?? 0) + 1);
  return {
    volume: passed.length,
    speeds,
    mean: speeds.reduce((sum, speed) => sum + speed, 0) / speeds.length,
    over: speeds.filter((speed) => speed > SPEED_LIMIT).length / speeds.length,
    types,
  };
};

/** What the sensors detected. They also read plates and report violations and incidents, which are no more vehicles. */
const vehicles = (from = 0, until = Number.POSITIVE_INFINITY, sensor?: number): Passage[] =>
  month.passages.filter(
    ({ time, eventType, sensor: by }) =>
      time >= from &&
      time < until &&
      ['VEHICLE_DETECTION', 'SPEED_DETECTION'].includes(eventType) &&
      (sensor === undefined || by === sensor),
  );

interface Described {
  volume: number | null;
  measured: number;
  percentileStatus: string;
  meanSpeed: number | null;
  v15: number | null;
  v50: number | null;
  v85: number | null;
  v95: number | null;
  shareOverLimit: number | null;
  byVehicleType: { vehicleType: string | null; volume: number }[];
}

const expectTruth = (said: Described, passed: readonly Passage[]) => {
  const truth = truthOf(passed);
  expect(said.volume ?? 0).toBe(truth.volume);
  expect(new Map(said.byVehicleType.map(({ vehicleType, volume }) => [vehicleType, volume]))).toEqual(
    truth.types,
  );
  expect(said.measured).toBe(truth.speeds.length);
  if (truth.speeds.length === 0) {
    expect(said.meanSpeed).toBeNull();
    return;
  }
  expect(said.meanSpeed).toBeCloseTo(truth.mean, 2);
  expect(said.shareOverLimit).toBeCloseTo(truth.over, 3);
  expect(said.percentileStatus).toBe(truth.speeds.length < 30 ? 'INSUFFICIENT' : 'VALID');
  if (truth.speeds.length < 30) {
    expect([said.v15, said.v50, said.v85, said.v95]).toEqual([null, null, null, null]);
    return;
  }
  for (const [share, value] of [
    [0.15, said.v15],
    [0.5, said.v50],
    [0.85, said.v85],
    [0.95, said.v95],
  ] as const)
    expect(Math.abs((value ?? Number.NaN) - percentile(truth.speeds, share))).toBeLessThanOrEqual(1);
};

describe('a simulated month', () => {
  const intervals = [
    ['day', 31],
    ['60min', 31 * 24 - 1],
    ['15min', 4 * (31 * 24 - 1)],
    ['5min', 12 * (31 * 24 - 1)],
  ] as const;

  const checkFlow = async (interval: string, count: number) => {
    const flow = await ask('getFlow', { locationId: month.locationId, interval, ...MONTH });
    expect(flow).toMatchObject({ timezone: ZONE, interval, speedLimit: SPEED_LIMIT });
    expect(flow.points).toHaveLength(count);
    expect(Date.parse(flow.points[0].start)).toBe(month.from);
    expect(Date.parse(flow.points.at(-1).end)).toBe(month.until);
    for (const point of flow.points)
      expectTruth(point, vehicles(Date.parse(point.start), Date.parse(point.end)));
    expectTruth(flow, vehicles());
    return flow;
  };

  const checkTop = async () => {
    const { locations } = await ask('getTopLocations', MONTH);
    const { mean, over } = truthOf(vehicles());
    expect(locations).toEqual([
      {
        locationId: month.locationId,
        locationName: 'Gürtel',
        volume: vehicles().length,
        measured: truthOf(vehicles()).speeds.length,
        meanSpeed: expect.closeTo(mean, 2),
        shareOverLimit: expect.closeTo(over, 3),
        speedLimit: SPEED_LIMIT,
        units: 'KMH',
      },
    ]);
  };

  it('equals a recount for every interval before any of it is rolled up', async () => {
    expect(await count('traffic_bins')).toBe(0);
    for (const [interval, points] of intervals) await checkFlow(interval, points);
    await checkTop();
    await lock.query('SELECT pg_advisory_unlock($1)', [locks.traffic]);
    lock.release();
    await rollUpAllTraffic(gantry, 3);
    expect(await count('traffic_bins')).toBeGreaterThan(1_000);
  });

  it.each(intervals)('equals a recount by %s after roll-up', async (interval, points) => {
    await checkFlow(interval, points);
  });

  it('equals a recount for one sensor, and for one vehicle type', async () => {
    const [north] = month.sensorIds;
    expectTruth(
      await ask('getFlow', { sensorId: north, interval: 'day', ...MONTH }),
      vehicles(0, undefined, 0),
    );
    const trucks = vehicles().filter(({ vehicleType }) => vehicleType === 'TRUCK');
    const flow = await ask('getFlow', { locationId: month.locationId, vehicleType: 'truck', ...MONTH });
    expectTruth(flow, trucks);
    const sum = flow.points.reduce((all: number, { volume }: { volume: number }) => all + volume, 0);
    expect(sum).toBe(trucks.length);
  });

  it('has its peak hour and its factor', async () => {
    const { peakHour, peakHourFactor } = await checkFlow('day', 31);
    const within = (from: number, minutes: number) => vehicles(from, from + minutes * 60_000).length;
    const quarter = HOUR / 4;
    const starts = Array.from(
      { length: (month.until - month.from) / quarter - 3 },
      (_, n) => month.from + n * quarter,
    );
    // Quarter hours in which one of the two sensors was silent are not complete.
    const isKnown = (start: number) =>
      month.silent.flat().every(([from, until]) => start + HOUR <= from || start >= until);
    const volumes = starts.map((start) => (isKnown(start) ? within(start, 60) : 0));
    const most = Math.max(...volumes);
    const start = Date.parse(peakHour.start);
    expect(peakHour.volume).toBe(most);
    expect(start).toBe(starts[volumes.indexOf(most)]);
    expect([16, 17]).toContain(DateTime.fromMillis(start, { zone: ZONE }).hour);
    const quarters = [0, 15, 30, 45].map((minutes) => within(start + minutes * 60_000, 15));
    expect(peakHourFactor).toBeCloseTo(most / (4 * Math.max(...quarters)), 3);
  });

  it('distinguishes a road without traffic from silent sensors', async () => {
    const at = (time: string) => DateTime.fromISO(time, { zone: ZONE }).toMillis();
    const pointsOf = async (place: object, interval: string) => {
      const { points } = await ask('getFlow', { ...place, interval, ...MONTH });
      return (time: string) =>
        points.find(({ start }: { start: string }) => Date.parse(start) === at(time)) ?? null;
    };
    const location = { locationId: month.locationId };
    const hours = await pointsOf(location, '60min');
    expect(hours('2026-03-11T03:00')).toMatchObject({
      volume: 0,
      completeness: 1,
      meanSpeed: null,
      byVehicleType: [],
      isComplete: true,
      status: 'VALID',
    });
    const gap = { volume: null, completeness: 0, v85: null, isComplete: false, status: 'GAP' };
    expect(hours('2026-03-20T08:00')).toMatchObject(gap);
    const partial = { completeness: 0.5, volume: expect.any(Number), isComplete: false, status: 'PARTIAL' };
    expect(hours('2026-03-10T07:00')).toMatchObject(partial);
    expect(hours('2026-03-10T09:00')).toMatchObject({ completeness: 1, status: 'VALID' });
    const days = await pointsOf(location, 'day');
    expect(days('2026-03-20')).toMatchObject({ volume: null, completeness: 0 });
    expect(days('2026-03-10')).toMatchObject({ completeness: expect.closeTo(1 - 3 / 48, 3) });
    expect(days('2026-03-29')).toMatchObject({ completeness: 1 });
    const [north = '', south = ''] = month.sensorIds;
    expect((await pointsOf({ sensorId: north }, '60min'))('2026-03-10T07:00')).toMatchObject({
      volume: null,
    });
    expect((await pointsOf({ sensorId: south }, '60min'))('2026-03-10T07:00')).toMatchObject({
      completeness: 1,
    });
    const before = { ...location, interval: 'day', startDate: '2026-02-01', endDate: '2026-02-03' };
    expect(await ask('getFlow', before)).toMatchObject({ volume: null, completeness: 0, peakHour: null });
  });

  it('equals the histogram of its speeds', async () => {
    const place = { locationId: month.locationId };
    const [from, until] = ['2026-03-02T04:05:00+01:00', '2026-03-25T17:39:59.999+01:00'];
    const passed = vehicles(Date.parse(from), Date.parse(until) + 1);
    const { speeds, volume, mean, over } = truthOf(passed);
    for (const binWidth of [1, 5, 10]) {
      const said = await ask('getSpeedDistribution', { ...place, startDate: from, endDate: until, binWidth });
      expect(said).toMatchObject({ volume, measured: speeds.length, speedLimit: SPEED_LIMIT });
      for (const { from: low, to, count: n } of said.bins)
        expect([low, n]).toEqual([low, speeds.filter((v) => (v > low || low === 0) && v <= to).length]);
      expect(said.bins.reduce((sum: number, { count: n }: { count: number }) => sum + n, 0)).toBe(
        speeds.length,
      );
      expect(said.meanSpeed).toBeCloseTo(mean, 2);
      expect(said.shareOverLimit).toBeCloseTo(over, 3);
      expect(Math.abs(said.v85 - percentile(speeds, 0.85))).toBeLessThanOrEqual(1);
    }
    const empty = await ask('getSpeedDistribution', {
      ...place,
      startDate: '2020-01-01',
      endDate: '2020-01-02',
    });
    expect(empty).toMatchObject({ volume: 0, measured: 0, bins: [], meanSpeed: null, v50: null });
  });

  it('has the expected week', async () => {
    const { days } = await ask('getHourOfWeek', { locationId: month.locationId, ...MONTH });
    expect(days.map(({ weekday }: { weekday: number }) => weekday)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const passed = new Map<string, number>();
    const whole = (time: number) => Math.floor(time / HOUR) * HOUR;
    for (const { time } of vehicles()) {
      // Hours in which one of the sensors was silent are left out.
      if (month.silent.flat().some(([from, until]) => whole(time) >= from && whole(time) < until)) continue;
      const { weekday, hour } = DateTime.fromMillis(time, { zone: ZONE });
      const key = `${weekday % 7} ${hour}`;
      passed.set(key, (passed.get(key) ?? 0) + 1);
    }
    for (const { weekday, hours } of days) {
      expect(hours).toHaveLength(24);
      for (const { hour, hours: n, meanVolume } of hours)
        expect(meanVolume === null ? 0 : Math.round(meanVolume * n)).toBe(
          passed.get(`${weekday} ${hour}`) ?? 0,
        );
    }
    // Every Monday has a rush hour; on Friday the 20th there was no traffic.
    expect(days[1].hours[17].hours).toBe(5);
    expect(days[5].hours[17].hours).toBe(3);
  });

  it('has no hour of the week that has not ended', async () => {
    const { db, settings } = gantry.app.context;
    const monday = { locationId: month.locationId, startDate: '2026-03-09', endDate: '2026-03-09' };
    const hoursAt = async (time: string) => {
      const now = DateTime.fromISO(`2026-03-09T${time}`, { zone: ZONE }).toMillis();
      const { days } = await getHourOfWeek({ db, settings, clock: { now: () => now } }, monday);
      return days[1]?.hours.slice(16, 18).map(({ hours }) => hours);
    };
    expect([await hoursAt('17:59:59'), await hoursAt('18:00')]).toEqual([
      [1, 0],
      [1, 1],
    ]);
  });

  it('is first in the list of locations', checkTop);

  it('has 23 hours on the day on which the clocks change, and no skipped hour', async () => {
    const day = { locationId: month.locationId, startDate: '2026-03-29', endDate: '2026-03-29' };
    const { points } = await ask('getFlow', { ...day, interval: 'day' });
    expect(points).toHaveLength(1);
    expect(Date.parse(points[0].end) - Date.parse(points[0].start)).toBe(23 * HOUR);
    const hours = (await ask('getFlow', { ...day, interval: '60min' })).points.map(
      ({ start }: { start: string }) => DateTime.fromISO(start, { zone: ZONE }).hour,
    );
    expect(hours).toEqual([
      0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    ]);
  });

  it('uses events as liveness signals where the status history has no entries', async () => {
    await gantry.pool.query('DELETE FROM sensor_status_history');
    const day = { sensorId: month.sensorIds[1], startDate: '2026-03-11', endDate: '2026-03-11' };
    const { points } = await ask('getFlow', { ...day, interval: '5min' });
    const times = month.passages.flatMap(({ time, sensor }) => (sensor === 1 ? [time] : []));
    const slotOf = (time: number) => Math.floor(time / 300_000) * 300_000;
    for (const { start, end, volume, completeness } of points) {
      const [from, until] = [Date.parse(start), Date.parse(end)];
      const before = Math.max(...times.filter((time) => time < until));
      const after = Math.min(...times.filter((time) => time >= from));
      // Silence of at most 20 minutes between two events is not a gap.
      const isAlive = slotOf(before) === from || after - before <= 20 * 60_000;
      expect({ volume, completeness }).toEqual(
        isAlive
          ? { volume: vehicles(from, until, 1).length, completeness: 1 }
          : { volume: null, completeness: 0 },
      );
    }
  });
});

describe('the last five minutes', () => {
  it('are free, busy, congested or unknown, by the speed limit or the usual speed', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const place = async (
      name: string,
      speedLimit: number | null,
      speeds: (number | null)[],
      sign = true,
      vehicleType = 'CAR',
    ) => {
      const { id } = await gantry.ok('locations.create', { name, speedLimit }, { token: admin });
      const sensor = { name: 'Mast', deviceId: randomUUID(), type: 'RADAR', locationId: id };
      const { apiKey } = await gantry.ok('sensors.create', sensor, { token: admin });
      if (sign) await gantry.ok('sensors.heartbeat', { apiKey });
      for (const vehicleSpeed of speeds)
        await gantry.ok('events.ingest', { apiKey, eventType: 'SPEED_DETECTION', vehicleSpeed, vehicleType });
      return { id, apiKey };
    };
    const five = (first: number, second: number) => [first, second, first, second, (first + second) / 2];
    await place('a free road', 100, five(90, 70));
    await place('b busy road', 100, five(50, 70));
    await place('c jam', 100, [...five(10, 20), null]);
    await place('d empty', 100, []);
    await place('e silent', 100, [], false);
    await place('f without speeds', 100, [null]);
    await place('f without enough of them', 100, [10, 10, 10, 10]);
    await place('f with bicycles', 100, [15, 15, 15, 15, 15], true, 'Bicycle');
    await gantry.pool.query(
      "UPDATE traffic_kept SET longer_until = date_trunc('hour', now()) - interval '1 hour'",
    );
    const usual = await place('g by its usual speed', null, five(20, 20));
    const earlier = new Date(Date.now() - 24 * HOUR).toISOString();
    const quick = { eventType: 'SPEED_DETECTION', vehicleSpeed: 100, timestamp: earlier };
    await place('h by its first speed', null, five(20, 20));
    const { apiKey } = usual;
    await gantry.ok('events.ingestBatch', { apiKey, events: Array.from({ length: 20 }, () => quick) });
    const live = async () => {
      const { locations } = await ask('getLive');
      return locations
        .filter(({ locationName }: { locationName: string }) => locationName !== 'Gürtel')
        .map(({ volume, meanSpeed, level }: Record<string, unknown>) => [volume, meanSpeed, level]);
    };
    const expected = [
      [5, 80, 'FREE'],
      [5, 60, 'BUSY'],
      [6, 15, 'CONGESTED'],
      [0, null, 'FREE'],
      [null, null, 'NO_DATA'],
      [0, null, 'FREE'],
      [4, 10, 'FREE'],
      [1, null, 'FREE'],
      [5, 20, expect.any(String)],
      [5, 20, expect.any(String)],
    ];
    expect(await live()).toEqual(expected);
    await rollUpAllTraffic(gantry, 200);
    expected[8] = [5, 20, 'CONGESTED'];
    expected[9] = [5, 20, 'FREE'];
    expect(await live()).toEqual(expected);
  });
});

describe('a caller of traffic figures', () => {
  it.each(role.options)('may be %s', async (name) => {
    const own = { token: await gantry.tokenFor(name) };
    expect((await gantry.call('traffic.getLive', undefined, own)).status).toBe(200);
    const flow = { sensorId: month.sensorIds[0], ...MONTH };
    expect((await gantry.call('traffic.getFlow', flow, own)).status).toBe(200);
  });

  it('must be logged in', async () => {
    for (const verb of ['getFlow', 'getSpeedDistribution', 'getHourOfWeek', 'getLive', 'getTopLocations'])
      expect((await gantry.call(`traffic.${verb}`, {})).status).toBe(401);
  });

  it('receives a clear message for invalid input', async () => {
    const here = { locationId: month.locationId };
    const refused: [verb: string, input: object, status: number, message: RegExp][] = [
      ['getFlow', MONTH, 400, /either a sensorId or a locationId/],
      ['getFlow', { ...here, sensorId: month.sensorIds[0], ...MONTH }, 400, /either/],
      ['getFlow', { ...here }, 400, /ISO 8601/],
      [
        'getFlow',
        { ...here, startDate: '2026-03-02', endDate: '2026-03-01' },
        400,
        /end is before the start/,
      ],
      [
        'getFlow',
        { ...here, startDate: '2019-01-01', endDate: '2026-03-01', interval: 'day' },
        400,
        /5 years/,
      ],
      [
        'getFlow',
        { ...here, startDate: '2026-01-01', endDate: '2026-12-01', interval: '5min' },
        400,
        /10000 points/,
      ],
      ['getFlow', { ...here, ...MONTH, interval: 'week' }, 400, /./],
      ['getFlow', { ...here, startDate: '0001-01-01', endDate: '0002-01-01' }, 400, /1970/],
      ['getFlow', { ...here, startDate: '9999-12-30', endDate: '9999-12-31' }, 400, /9000/],
      ['getFlow', { ...here, ...MONTH, vehicleType: 'a\u0000' }, 400, /NUL/],
      ['getSpeedDistribution', { ...here, ...MONTH, binWidth: 0 }, 400, /./],
      ['getSpeedDistribution', { ...here, ...MONTH, binWidth: 2.5 }, 400, /./],
      ['getHourOfWeek', { ...here, startDate: '2026-03-02', endDate: '2026-03-01' }, 400, /end is before/],
      ['getTopLocations', { ...MONTH, limit: 101 }, 400, /./],
      ['getTopLocations', { startDate: '2026-03-02', endDate: '2026-03-01' }, 400, /end is before/],
      ...['x', randomUUID(), "'; DROP TABLE events; --"].flatMap((id): [string, object, number, RegExp][] => [
        ['getFlow', { sensorId: id, ...MONTH }, 404, /Sensor not found/],
        ['getHourOfWeek', { locationId: id, ...MONTH }, 404, /Location not found/],
      ]),
    ];
    for (const [verb, input, status, message] of refused) {
      const { status: answered, body } = await gantry.call(`traffic.${verb}`, input, { token });
      const { message: said, data } = body.error.json;
      expect([verb, input, answered]).toEqual([verb, input, status]);
      const issues = (data.issues ?? []).map(({ message: text }: { message: string }) => text);
      expect([said, ...issues].join('; ')).toMatch(message);
    }
  });

  it('may query a day in any zone, even one whose hours are not those of UTC', async () => {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    try {
      for (const timezone of ['Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia']) {
        await gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, admin);
        for (const interval of ['60min', 'day']) {
          const { points } = await ask('getFlow', { locationId: month.locationId, interval, ...MONTH });
          const local = DateTime.fromISO('2026-03-01', { zone: timezone }).toMillis();
          expect(Date.parse(points[0].start)).toBe(local);
          for (const { start, end, volume } of points)
            expect(volume ?? 0).toBe(vehicles(Date.parse(start), Date.parse(end)).length);
        }
      }
    } finally {
      await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: ZONE }, admin);
    }
  });
});

import { randomUUID } from 'node:crypto';
import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { type ClassScheme, classOfScheme } from '@gantry/contract/vehicle-classes';
import { describe, expect, it } from 'vitest';
import { inIntervals, readTraffic } from '../src/traffic/figures.ts';
import { rollUpQuarter } from '../src/traffic/roll-up-store.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// Which events are vehicles, and what is known about the time between them.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });

const DAY = '2026-03-10';
const at = (time: string, day = DAY): number => Date.parse(`${day}T${time}Z`);

interface Reported {
  readonly eventType: string;
  readonly timestamp: string;
  readonly vehicleSpeed?: number;
  readonly vehicleType?: string;
  readonly licensePlateNumber?: string;
  readonly direction?: string | number;
  readonly lane?: string | number;
  readonly vehicleClass?: object;
  readonly movement?: object;
}

const addLocation = async (name: string, speedLimit: number | null = 50): Promise<string> =>
  (await ask('locations.create', { name, speedLimit })).id;

/** Registers a sensor that is only known from its events. */
const register = async (type: string, locationId: string | null = null) =>
  ask('sensors.create', { name: type, deviceId: randomUUID(), type, locationId });

/** @returns the ids of the events */
const send = async (apiKey: string, events: readonly Reported[]): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < events.length; n += 500) {
    const { success, results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: events.slice(n, n + 500),
    });
    expect(success).toBe(true);
    ids.push(...results.map(({ eventId }: { eventId: string }) => eventId));
  }
  return ids;
};

/** Events from a time (Unix milliseconds) on, `every` milliseconds apart. */
const events = (
  count: number,
  from: number,
  every: number,
  fields: (n: number) => Omit<Reported, 'timestamp'>,
): Reported[] =>
  Array.from({ length: count }, (_, n) => ({
    ...fields(n),
    timestamp: new Date(from + n * every).toISOString(),
  }));

const detected = (vehicleSpeed = 40) => ({
  eventType: 'VEHICLE_DETECTION',
  vehicleSpeed,
  vehicleType: 'CAR',
});
const read = () => ({ eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'W 1' });
const fined = (vehicleSpeed = 80) => ({ eventType: 'TRAFFIC_VIOLATION', vehicleSpeed });

/** The figures of a day, which must be the same before and after the roll-up. */
const flowOf = async (place: object, range: object = { startDate: DAY, endDate: DAY, interval: '60min' }) => {
  const input = { ...place, ...range };
  const pending = await ask('traffic.getFlow', input);
  await rollUpAllTraffic(gantry, 7);
  const flow = await ask('traffic.getFlow', input);
  expect(flow).toEqual(pending);
  return flow;
};

const pointAt = (flow: { points: { start: string }[] }, time: string) =>
  flow.points.find(({ start }) => Date.parse(start) === at(time));

describe('one vehicle counts once', () => {
  it('where a radar and a reader report it', async () => {
    const locationId = await addLocation('Both');
    const [radar, reader] = [await register('RADAR', locationId), await register('ANPR', locationId)];
    await send(
      radar.apiKey,
      events(100, at('08:00'), MINUTE_MS, (n) => detected(n < 20 ? 60 : 40)),
    );
    await send(reader.apiKey, events(100, at('08:00') + 900, MINUTE_MS, read));
    await send(
      reader.apiKey,
      events(20, at('08:00') + 950, 5 * MINUTE_MS, () => fined()),
    );
    expect(await flowOf({ locationId })).toMatchObject({ volume: 100, measured: 100, shareOverLimit: 0.2 });
    const range = { startDate: DAY, endDate: DAY };
    const { locations } = await ask('traffic.getTopLocations', range);
    expect(locations.find((each: { locationId: string }) => each.locationId === locationId)).toMatchObject({
      volume: 100,
      measured: 100,
      shareOverLimit: 0.2,
    });
    expect(await ask('traffic.getSpeedDistribution', { locationId, ...range })).toMatchObject({
      volume: 100,
      measured: 100,
    });
    expect(await flowOf({ sensorId: reader.id })).toMatchObject({ volume: 100, measured: 0, v85: null });
  });

  it('where a camera detects it, reads its plate and reports a violation', async () => {
    const { id: sensorId, apiKey } = await register('CAMERA');
    const same = (fields: () => Omit<Reported, 'timestamp'>) => events(100, at('08:00'), MINUTE_MS, fields);
    await send(apiKey, [...same(read), ...same(() => detected()), ...same(() => fined())]);
    expect(await flowOf({ sensorId })).toMatchObject({ volume: 100, meanSpeed: 40 });
  });

  it('in the last five minutes, too', async () => {
    const locationId = await addLocation('Now');
    const [radar, reader] = [await register('RADAR', locationId), await register('ANPR', locationId)];
    const now = Date.now() - 1_000;
    await send(
      radar.apiKey,
      events(6, now, 1, () => detected()),
    );
    await send(reader.apiKey, events(9, now, 1, read));
    const live = async () =>
      (await gantry.ok('traffic.getLive', undefined, { token })).locations.find(
        (each: { locationId: string }) => each.locationId === locationId,
      );
    const expected = { volume: 6, measured: 6, meanSpeed: 40, level: 'FREE' };
    expect(await live()).toMatchObject(expected);
    await rollUpAllTraffic(gantry, 100);
    expect(await live()).toMatchObject(expected);
  });

  it('in the last five minutes, where all sensors send counts of intervals: these come too late, but the road is not without data', async () => {
    const locationId = await addLocation('Loops');
    const { id, apiKey } = await register('RADAR', locationId);
    await gantry.ok('counts.ingest', {
      apiKey,
      periods: [{ start: `${DAY}T08:00Z`, seconds: 900, volume: 10 }],
    });
    const live = async () =>
      (await gantry.ok('traffic.getLive', undefined, { token })).locations.find(
        (each: { locationId: string }) => each.locationId === locationId,
      );
    await gantry.pool.query(`UPDATE sensors SET status = 'ONLINE' WHERE id = $1`, [id]);
    expect(await live()).toMatchObject({ volume: null, measured: 0, level: 'FREE' });
    await gantry.pool.query(`UPDATE sensors SET status = 'OFFLINE' WHERE id = $1`, [id]);
    expect(await live()).toMatchObject({ volume: null, level: 'NO_DATA' });
  });

  it('in the last five minutes, compared with days of which nothing is rejected', async () => {
    const locationId = await addLocation('Usual', null);
    const { id: sensorId, apiKey } = await register('RADAR', locationId);
    const day = 86_400_000;
    const midnight = Math.floor(Date.now() / day) * day;
    for (const [n, speed] of [40, 90].entries())
      await send(
        apiKey,
        events(20, midnight - (2 + n) * day + at('08:00', '1970-01-01'), MINUTE_MS, () => detected(speed)),
      );
    await rollUpAllTraffic(gantry, 100);
    const usual = async () =>
      (await gantry.ok('traffic.getLive', undefined, { token })).locations.find(
        (each: { locationId: string }) => each.locationId === locationId,
      ).usualSpeed;
    expect(await usual()).toBe(65);
    const startDate = new Date(midnight - 3 * day).toISOString().slice(0, 10);
    const wrong = { startDate, endDate: startDate, decision: 'REJECT', reason: 'Wrong angle' };
    await gantry.ok('traffic.reviewData', { sensorId, ...wrong }, { token: await gantry.tokenFor('ADMIN') });
    expect(await usual()).toBe(40);
    await gantry.pool.query('DELETE FROM traffic_reviews');
    await gantry.pool.query(
      `INSERT INTO traffic_flags (sensor_id, found_at, rule, lane, since, until, value, threshold)
       SELECT $1, day, 'R3', '', day + interval '1 hour', day + interval '2 hours', 40, 38 FROM (SELECT $2::timestamptz AS day) AS one`,
      [sensorId, `${startDate}T00:00Z`],
    );
    expect(await usual()).toBe(40);
  });

  it('from the plates of a sensor, until it sends a detection for the first time', async () => {
    const { id: sensorId, apiKey } = await register('ANPR');
    await send(apiKey, events(10, at('08:00'), MINUTE_MS, read));
    expect(await flowOf({ sensorId })).toMatchObject({ volume: 10 });
    await send(
      apiKey,
      events(3, at('09:00'), MINUTE_MS, () => detected()),
    );
    expect(await flowOf({ sensorId })).toMatchObject({ volume: 3 });
  });

  it('by all sensors of the type that covers most, and with the speeds of another if it measures none', async () => {
    const locationId = await addLocation('Lanes');
    const readers = [await register('ANPR', locationId), await register('ANPR', locationId)];
    const radar = await register('RADAR', locationId);
    for (const { apiKey } of readers) await send(apiKey, events(60, at('08:00'), MINUTE_MS, read));
    await send(
      radar.apiKey,
      events(40, at('08:00'), MINUTE_MS, () => detected(70)),
    );
    expect(await flowOf({ locationId })).toMatchObject({ volume: 120, measured: 40, meanSpeed: 70 });
    await send(
      radar.apiKey,
      events(80, at('08:40'), MINUTE_MS, () => detected(70)),
    );
    expect(await flowOf({ locationId })).toMatchObject({ volume: 120, measured: 120, v85: 70 });
  });

  it('on both sides of the day on which another type of sensors is installed', async () => {
    const locationId = await addLocation('Replaced');
    const camera = await register('CAMERA', locationId);
    const count = 6 * 60;
    await send(
      camera.apiKey,
      events(count, at('06:00'), MINUTE_MS, () => detected()),
    );
    await ask('sensors.delete', { id: camera.id });
    await gantry.pool.query(
      'UPDATE sensor_places SET since = $2 WHERE sensor_id = $1 AND location_id IS NULL',
      [camera.id, `${DAY}T12:00:00Z`],
    );
    const radar = await register('RADAR', locationId);
    await gantry.pool.query('UPDATE sensors SET created_at = $2 WHERE id = $1', [
      radar.id,
      `${DAY}T12:00:00Z`,
    ]);
    await send(
      radar.apiKey,
      events(count, at('12:00'), MINUTE_MS, () => detected()),
    );
    expect(await flowOf({ locationId })).toMatchObject({ volume: 2 * count });
  });

  it('even if the sensor that counted it is deleted', async () => {
    const locationId = await addLocation('Deleted');
    const [radar, reader] = [await register('RADAR', locationId), await register('ANPR', locationId)];
    await send(
      radar.apiKey,
      events(30, at('08:00'), MINUTE_MS, () => detected()),
    );
    await send(reader.apiKey, events(20, at('08:00'), MINUTE_MS, read));
    const before = await flowOf({ locationId });
    expect(before).toMatchObject({ volume: 30 });
    await ask('sensors.delete', { id: radar.id });
    expect(await flowOf({ locationId })).toEqual(before);
  });

  it('and not at all after its event is deleted', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const ids = await send(
      apiKey,
      events(10, at('08:00'), MINUTE_MS, () => detected()),
    );
    await rollUpAllTraffic(gantry, 100);
    for (const id of ids.slice(0, 4)) await ask('events.delete', { id });
    expect(await flowOf({ sensorId })).toMatchObject({ volume: 6, measured: 6, meanSpeed: 40 });
  });

  it.each(['before', 'after'])(
    'and says nothing about its sensor if it is deleted %s the roll-up',
    async (when) => {
      const { id: sensorId, apiKey } = await register('RADAR');
      // Silence of 15 minutes is no gap, and of 30 minutes is one.
      const ids = await send(
        apiKey,
        events(5, at('08:00'), 15 * MINUTE_MS, () => detected()),
      );
      const known = async () => {
        const range = { startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:59:59Z` };
        const { points } = await ask('traffic.getFlow', { sensorId, ...range, interval: '5min' });
        return points.map(({ volume }: { volume: number | null }) => volume);
      };
      const quiet = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0];
      expect(await known()).toEqual(quiet);
      if (when === 'after') await rollUpAllTraffic(gantry, 100);
      const [late] = await send(
        apiKey,
        events(1, at('08:31'), MINUTE_MS, () => detected()),
      );
      for (const id of [ids[1], late]) await ask('events.delete', { id });
      const gap = [1, null, null, null, null, null, 1, 0, 0, 1, 0, 0];
      expect(await known()).toEqual(gap);
      await rollUpAllTraffic(gantry, 100);
      expect(await known()).toEqual(gap);
      const { bins } = await ask('traffic.getCounts', {
        sensorId,
        startDate: DAY,
        endDate: DAY,
        interval: '60min',
      });
      expect(bins[8]).toMatchObject({ status: 'PARTIAL', volume: 3 });
      for (const id of [ids[0], ids[2], ids[3]]) await ask('events.delete', { id });
      await rollUpAllTraffic(gantry, 100);
      expect(await known()).toEqual(quiet.map(() => null));
    },
  );
});

describe('a sensor', () => {
  it.each([
    ['violations', fined],
    ['incidents', () => ({ eventType: 'INCIDENT' })],
  ])('that sends only %s counts nothing', async (_, fields) => {
    const locationId = await addLocation('Fines');
    const { id: sensorId, apiKey } = await register('CAMERA', locationId);
    await send(
      apiKey,
      events(10, at('08:00'), MINUTE_MS, () => fields()),
    );
    for (const place of [{ sensorId }, { locationId }])
      expect(await flowOf(place)).toMatchObject({
        volume: null,
        measured: 0,
        meanSpeed: null,
        status: 'GAP',
        isComplete: false,
        peakHour: null,
      });
  });

  it('counts bicycles and pedestrians apart from motor vehicles, in any spelling', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const types = ['car', 'BICYCLE', 'Cyclist', 'Pedestrian', 'person', 'CAR', 'Truck'];
    await send(
      apiKey,
      types.map((vehicleType, n) => ({
        eventType: 'SPEED_DETECTION',
        timestamp: new Date(at('08:00') + n * MINUTE_MS).toISOString(),
        vehicleSpeed: n === 0 || n > 4 ? 50 : 5,
        vehicleType,
      })),
    );
    const flow = await flowOf({ sensorId });
    expect(flow).toMatchObject({ volume: 3, measured: 3, meanSpeed: 50 });
    expect(flow.byVehicleType).toHaveLength(6);
    const range = { startDate: DAY, endDate: DAY, vehicleType: 'bicycle' };
    expect(await flowOf({ sensorId }, range)).toMatchObject({ volume: 1, measured: 1, meanSpeed: 5 });
  });

  it('does not measure what no vehicle drives, but counts it', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const speeds = [-5, 0, 250.1, 1_999, 250, 50];
    await send(
      apiKey,
      events(speeds.length, at('08:00'), MINUTE_MS, (n) => detected(speeds[n])).filter(
        ({ vehicleSpeed = 0 }) => vehicleSpeed >= 0,
      ),
    );
    expect(await flowOf({ sensorId })).toMatchObject({ volume: 5, measured: 2, meanSpeed: 150 });
  });

  it('has one histogram of vehicles of several types', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const types = [
      ['TRUCK', 60],
      ['CAR', 40],
      ['BUS', 50],
    ] as const;
    await send(
      apiKey,
      events(45, at('08:00'), 1_000, (n) => {
        const [vehicleType, vehicleSpeed] = types[n % 3] ?? types[0];
        return { eventType: 'VEHICLE_DETECTION', vehicleType, vehicleSpeed };
      }),
    );
    const range = { startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:04:59.999Z`, interval: '5min' };
    const { points } = await flowOf({ sensorId }, range);
    expect(points).toMatchObject([{ v15: 40, v50: 50, v85: 60, v95: 60, meanSpeed: 50 }]);
    const { bins } = await ask('traffic.getSpeedDistribution', { sensorId, ...range, binWidth: 10 });
    expect(bins).toEqual([
      { from: 30, to: 40, count: 15 },
      { from: 40, to: 50, count: 15 },
      { from: 50, to: 60, count: 15 },
    ]);
  });

  it.each([
    [1, null],
    [29, null],
    [30, 40],
  ])('that measured %i vehicles has a V85 of %s', async (count, v85) => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(
      apiKey,
      events(count, at('08:00'), 1_000, () => detected()),
    );
    const expected = { v85, v15: v85, measured: count, meanSpeed: 40 };
    const percentileStatus = v85 === null ? 'INSUFFICIENT' : 'VALID';
    const flow = await flowOf({ sensorId });
    expect(flow).toMatchObject({ ...expected, percentileStatus });
    expect(pointAt(flow, '08:00')).toMatchObject({ ...expected, percentileStatus });
    const range = { startDate: DAY, endDate: DAY };
    expect(await ask('traffic.getSpeedDistribution', { sensorId, ...range })).toMatchObject(expected);
  });
});

describe('directions, lanes, classes and movements', () => {
  it('are kept with the counts, and so are bicycles and pedestrians', async () => {
    const { id, apiKey } = await register('RADAR');
    const first = at('08:00');
    const truck = { scheme: 'FHWA13', code: '9' };
    const passing = [
      { direction: 'NB', lane: 1, vehicleType: 'car' },
      { direction: 'NB', lane: '2', vehicleType: 'car' },
      { direction: 'SB', lane: 1, vehicleType: 'TRUCK', movement: { from: 'N', turn: 'L' } },
      { direction: 'NB', lane: 1, vehicleType: 'Car' },
      { direction: 'SB', vehicleType: 'bicycle' },
      { lane: 'left', vehicleType: 'person', movement: { from: 'N' } },
      { direction: 12.5, vehicleType: 'person', vehicleClass: truck },
      { vehicleType: 'car', vehicleClass: { scheme: 'BASIC', code: 'BICYCLE' } },
      {},
      { vehicleType: 'hovercraft' },
    ];
    await send(
      apiKey,
      passing.map((fields, n) => ({
        eventType: 'VEHICLE_DETECTION',
        vehicleSpeed: 50,
        timestamp: new Date(first + n * MINUTE_MS).toISOString(),
        ...fields,
      })),
    );
    const { db } = gantry.app.context;
    const bounds = [first, first + 15 * MINUTE_MS];
    const read = async () => {
      const place = { kind: 'sensor', id, limits: [], speedLimit: null } as const;
      const segments = inIntervals(place, bounds);
      const { binsOf } = await readTraffic(db, place, segments, { now: at('12:00') });
      return binsOf(bounds);
    };
    const of = (code: string, scheme: ClassScheme = 'BASIC') => classOfScheme(scheme, code);
    const expected = [
      {
        start: first,
        end: first + 15 * MINUTE_MS,
        status: 'PARTIAL',
        coverage: 0.6667,
        volume: 7,
        cells: expect.arrayContaining([
          { direction: 'NB', lane: 1, class: of('CAR'), volume: 2 },
          { direction: 'NB', lane: 2, class: of('CAR'), volume: 1 },
          { direction: 'SB', lane: 1, class: of('TRUCK'), movement: { from: 'N', turn: 'L' }, volume: 1 },
          { direction: 'SB', class: of('BICYCLE'), volume: 1 },
          { lane: 'left', class: of('PEDESTRIAN'), movement: { from: 'N' }, volume: 1 },
          { direction: 12.5, class: of('9', 'FHWA13'), volume: 1 },
          { class: of('BICYCLE'), volume: 1 },
          { volume: 1 },
          { class: of('UNCLASSIFIED'), volume: 1 },
        ]),
      },
    ];
    const pending = await read();
    expect(pending).toEqual(expected);
    expect(pending[0]?.cells).toHaveLength(9);
    await rollUpAllTraffic(gantry, 10);
    expect(await read()).toEqual(expected);
  });
});

describe('silence', () => {
  const FIVE = { startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:59:59.999Z`, interval: '5min' };

  it.each([
    ['20 minutes', '08:02:00', '08:22:00.000', [0, 0, 0]],
    ['20 minutes and a millisecond', '08:02:00', '08:22:00.001', [null, null, null]],
    ['15 minutes over four slots', '08:04:59', '08:20:00.000', [0, 0, 0]],
    ['25 minutes less a second', '08:00:00', '08:24:59.000', [null, null, null]],
  ])('of %s between two vehicles is known or not', async (_, first, second, volumes) => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(apiKey, [
      ...events(1, at(first), 0, () => detected()),
      ...events(1, at(second), 0, () => detected()),
    ]);
    const { points } = await flowOf({ sensorId }, FIVE);
    const known = points.slice(0, 5).map(({ volume }: { volume: number | null }) => volume);
    expect(known).toEqual([1, ...volumes, 1]);
    expect(points[5]).toMatchObject({ volume: null, status: 'GAP' });
  });

  it('between vehicles outside of the range is known, too', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(
      apiKey,
      events(2, at('07:56'), 16 * MINUTE_MS, () => detected()),
    );
    const range = { startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:09:59.999Z`, interval: '5min' };
    const { points } = await flowOf({ sensorId }, range);
    expect(points).toMatchObject([
      { volume: 0, status: 'VALID' },
      { volume: 0, status: 'VALID' },
    ]);
  });

  it('has the same end when counts are replaced by those of longer slots', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await gantry.pool.query(`UPDATE traffic_kept SET longer_until = '2026-03-10T00:00:00Z'`);
    await send(
      apiKey,
      events(12, at('08:02'), 20 * MINUTE_MS, () => detected()),
    );
    const range = { startDate: DAY, endDate: DAY, interval: '60min' };
    const before = await flowOf({ sensorId }, range);
    expect(before.points.filter(({ isComplete }: { isComplete: boolean }) => isComplete)).toHaveLength(3);
    while (await rollUpQuarter(gantry.app.context.db, at('24:00')));
    expect(await flowOf({ sensorId }, range)).toEqual(before);
  });
});

describe('a peak hour', () => {
  /** A vehicle each `every` seconds in each quarter hour with so many vehicles. */
  const quarters = (from: number, volumes: readonly number[]): Reported[] =>
    volumes.flatMap((volume, n) =>
      events(volume, from + n * 15 * MINUTE_MS, Math.floor((15 * MINUTE_MS) / volume), () => detected()),
    );

  it('begins on any quarter hour', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(apiKey, quarters(at('16:00'), [50, 60, 70, 90, 95, 100, 97, 60, 50]));
    const hour = { peakHour: { start: `${DAY}T16:45:00.000Z`, volume: 382 }, peakHourFactor: 0.955 };
    for (const interval of ['5min', '15min', '60min', 'day'])
      expect(await flowOf({ sensorId }, { startDate: DAY, endDate: DAY, interval })).toMatchObject(hour);
    const cut = { startDate: `${DAY}T17:00:00Z`, endDate: `${DAY}T18:04:59.999Z` };
    expect(await flowOf({ sensorId }, cut)).toMatchObject({
      peakHour: { start: `${DAY}T17:00:00.000Z`, volume: 352 },
    });
    const short = { startDate: `${DAY}T17:00:00Z`, endDate: `${DAY}T17:58:59.999Z` };
    expect(await flowOf({ sensorId }, short)).toMatchObject({ peakHour: null, peakHourFactor: null });
  });

  it('is before a sensor fails at half past eight', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(apiKey, quarters(at('07:00'), [60, 70, 80, 85, 85, 90]));
    const flow = await flowOf({ sensorId });
    expect(flow.peakHour).toEqual({ start: `${DAY}T07:30:00.000Z`, volume: 340 });
    expect(pointAt(flow, '08:00')).toMatchObject({ volume: 175, status: 'PARTIAL', isComplete: false });
    const eight = { startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:59:59.999Z` };
    expect(await flowOf({ sensorId }, eight)).toMatchObject({ peakHour: null, peakHourFactor: null });
  });
});

describe('days on which the clocks change', () => {
  it.each([
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2025-11-02', 25],
    ['Australia/Lord_Howe', '2025-10-05', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ])('in %s, %s is complete with %f hours', async (timezone, day, hours) => {
    await ask('system.timezone.updateTimezoneSettings', { timezone });
    const { id: sensorId, apiKey } = await register('RADAR');
    const whole = { startDate: day, endDate: day, interval: 'day' };
    const { points: empty } = await ask('traffic.getFlow', { sensorId, ...whole });
    const [from, until] = [Date.parse(empty[0].start), Date.parse(empty[0].end)];
    expect((until - from) / (60 * MINUTE_MS)).toBe(hours);
    await send(
      apiKey,
      events(hours * 6, from, 10 * MINUTE_MS, () => detected()),
    );
    const known = { status: 'VALID', isComplete: true };
    expect((await flowOf({ sensorId }, whole)).points).toMatchObject([{ volume: hours * 6, ...known }]);
    const { points } = await flowOf({ sensorId }, { ...whole, interval: '15min' });
    expect(points).toHaveLength(hours * 4);
    expect(points.slice(0, -1).every(({ status }: { status: string }) => status === 'VALID')).toBe(true);
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'UTC' });
  });
});

describe('a ranking by speed', () => {
  it('leaves out places with few measured vehicles', async () => {
    const day = '2026-01-20';
    const range = { startDate: day, endDate: day };
    const [few, many] = [await addLocation('Few'), await addLocation('Many')];
    for (const [locationId, count, speed] of [
      [few, 29, 200],
      [many, 30, 60],
    ] as const) {
      const { apiKey } = await register('RADAR', locationId);
      await send(
        apiKey,
        events(count, at('08:00', day), MINUTE_MS, () => detected(speed)),
      );
    }
    const ranked = async (input: object) =>
      (await ask('traffic.getTopLocations', { ...range, ...input })).locations.map(
        ({ locationName, measured }: Record<string, unknown>) => [locationName, measured],
      );
    for (const by of ['meanSpeed', 'shareOverLimit']) {
      expect(await ranked({ by })).toEqual([['Many', 30]]);
      expect(await ranked({ by, minimumVolume: 29 })).toEqual([
        by === 'meanSpeed' ? ['Few', 29] : expect.anything(),
        expect.anything(),
      ]);
    }
    expect(await ranked({})).toEqual([
      ['Many', 30],
      ['Few', 29],
    ]);
  });

  it('compares hours of the week that are known', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    // Eight o'clock on three Tuesdays: whole, three quarters of it, and less.
    for (const [n, minutes] of [60, 45, 40].entries())
      await send(
        apiKey,
        events(minutes, at('08:00') + 7 * n * DAY_MS, MINUTE_MS, () => detected()),
      );
    const range = { startDate: DAY, endDate: '2026-03-25' };
    const { days } = await ask('traffic.getHourOfWeek', { sensorId, ...range });
    expect(days[2].hours[8]).toMatchObject({ hours: 2, meanVolume: 52.5 });
  });
});

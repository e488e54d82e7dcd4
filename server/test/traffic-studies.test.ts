import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// Figures that an engineer signs, asked over HTTP. How they are computed is tested where they are (peak-hours.test.ts,
// speed-study.test.ts, annual-traffic.test.ts and others).

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ANALYST');
const admin = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const make = (procedure: string, input: object) => gantry.ok(procedure, input, { token: admin });

const DAY = '2026-03-10';
const RANGE = { startDate: DAY, endDate: DAY };
const at = (time: string, day = DAY): number => Date.parse(`${day}T${time}Z`);

interface Passage {
  readonly at: number;
  readonly speed?: number;
  readonly type?: string;
  readonly eventType?: string;
}

const addLocation = async (speedLimit: number | null = null): Promise<string> =>
  (await make('locations.create', { name: randomUUID(), speedLimit })).id;
const register = (type: string, locationId: string | null = null) =>
  make('sensors.create', { name: type, deviceId: randomUUID(), type, locationId });

const send = async (apiKey: string, passages: readonly Passage[]): Promise<void> => {
  for (let n = 0; n < passages.length; n += 500) {
    const { success } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: passages
        .slice(n, n + 500)
        .map(({ at: time, speed, type, eventType = 'VEHICLE_DETECTION' }) => ({
          eventType,
          timestamp: new Date(time).toISOString(),
          ...(speed !== undefined && { vehicleSpeed: speed }),
          ...(type !== undefined && { vehicleType: type }),
        })),
    });
    expect(success).toBe(true);
  }
};

/** Vehicles that pass `every` milliseconds apart. */
const passing = (
  count: number,
  from: number,
  every: number,
  of: (n: number) => Omit<Passage, 'at'> = () => ({}),
) => Array.from({ length: count }, (_, n): Passage => ({ at: from + n * every, ...of(n) }));

describe('a place that a radar and a reader watch', async () => {
  const locationId = await addLocation(50);
  const [radar, reader] = [await register('RADAR', locationId), await register('ANPR', locationId)];
  const types = ['car', 'Truck', 'BUS', undefined, 'bicycle'];
  beforeAll(async () => {
    const speeds = (n: number) => ({ speed: n < 20 ? 70.5 : 40, type: 'car' });
    await send(radar.apiKey, passing(100, at('08:00'), MINUTE_MS, speeds));
    await send(
      reader.apiKey,
      passing(100, at('08:00') + 900, MINUTE_MS, () => ({ eventType: 'PLATE_RECOGNITION' })),
    );
    await send(
      radar.apiKey,
      types.map((type, n) => ({ at: at('12:00') + n * MINUTE_MS, ...(type && { type }) })),
    );
  });

  it.each(['15min', '60min', 'day'])('counts the same in getCounts and getFlow by %s', async (interval) => {
    for (const place of [{ locationId }, { sensorId: radar.id }, { sensorId: reader.id }]) {
      const asked = async () => {
        const { bins } = await ask('traffic.getCounts', { ...place, ...RANGE, interval });
        const { points } = await ask('traffic.getFlow', { ...place, ...RANGE, interval });
        const known = ({ start, end, status, coverage, volume }: (typeof points)[number]) => ({
          start,
          end,
          status,
          coverage,
          volume,
        });
        expect(bins.map(known)).toEqual(points.map(known));
        const { days } = await ask('traffic.getDailyVolumes', { ...place, ...RANGE });
        const total = bins.reduce(
          (sum: number, { volume }: { volume: number | null }) => sum + (volume ?? 0),
          0,
        );
        expect(days).toMatchObject([{ date: DAY, volume: total }]);
        return bins;
      };
      const pending = await asked();
      expect(pending.some(({ volume }: { volume: number | null }) => volume !== null)).toBe(true);
      await rollUpAllTraffic(gantry, 50);
      expect(await asked()).toEqual(pending);
    }
  });

  it('counts each vehicle once, and bicycles apart', async () => {
    const { bins } = await ask('traffic.getCounts', { locationId, ...RANGE, interval: 'day' });
    expect(bins).toMatchObject([{ volume: 104, status: 'PARTIAL' }]);
    expect(bins[0].cells).toEqual([
      { class: 'BICYCLE', volume: 1 },
      { class: 'BUS', volume: 1 },
      { class: 'CAR', volume: 101 },
      { class: 'TRUCK', volume: 1 },
      { class: 'UNCLASSIFIED', volume: 1 },
    ]);
    const { bins: sums } = await ask('traffic.getCounts', { locationId, ...RANGE, interval: 'day', by: [] });
    expect(sums[0].cells).toEqual([{ volume: 104 }]);
  });

  it('has the share of vehicles over the limit plus 0 to 20', async () => {
    const study = await ask('traffic.getSpeedStudy', { locationId, ...RANGE });
    expect(study).toMatchObject({ n: 100, units: 'KMH', method: 'LINEAR', status: 'VALID', limit: 50 });
    expect(study.over).toEqual([0, 5, 10, 15, 20].map((by) => ({ by, share: 0.2 })));
    const inMiles = await ask('traffic.getSpeedStudy', { locationId, ...RANGE, units: 'MPH' });
    // 70.5 km/h are 43.8 mph, and the limit 31.1.
    expect(inMiles.over.map(({ share }: { share: number }) => share)).toEqual([0.2, 0.2, 0.2, 0, 0]);
    expect(inMiles).toMatchObject({ limit: 31.1, max: 43.8, basis: 'EXACT' });
  });

  it('has a study of a class, of days and of hours', async () => {
    const n = async (input: object) =>
      (await ask('traffic.getSpeedStudy', { locationId, ...RANGE, ...input })).n;
    expect(await n({ vehicleClass: 'CAR' })).toBe(100);
    expect(await n({ vehicleClass: 'TRUCK' })).toBe(0);
    expect(await n({ hours: ['08:00-08:30', '09:00-24:00'] })).toBe(70);
    expect(await n({ hours: ['09:00-10:00'] })).toBe(40);
    // A Tuesday.
    expect(await n({ days: [2] })).toBe(100);
    expect(await n({ days: [0, 1, 3, 4, 5, 6] })).toBe(0);
  });
});

describe('a speed study', () => {
  it('of one vehicle has no percentile, and says why', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(apiKey, [{ at: at('08:00'), speed: 40 }]);
    expect(await ask('traffic.getSpeedStudy', { sensorId, ...RANGE })).toMatchObject({
      n: 1,
      status: 'INSUFFICIENT',
      reason: 'Percentiles need at least 30 speeds, and there are 1',
      mean: 40,
      sd: null,
      v85: null,
      v85Confidence: null,
      limit: null,
    });
  });

  it.each([
    ['WHOLE_UNITS', 1],
    ['INTERPOLATED', 1.01],
  ])('of vehicles whose events were removed is that of their counts: %s', async (basis, factor) => {
    const { id: sensorId, apiKey } = await register('RADAR');
    await send(
      apiKey,
      passing(300, at('08:00'), 10_000, (n) => ({ speed: (30 + (n % 40)) * factor })),
    );
    const exact = await ask('traffic.getSpeedStudy', { sensorId, ...RANGE });
    expect(exact).toMatchObject({ n: 300, basis: 'EXACT' });
    await gantry.pool.query(
      'DELETE FROM events WHERE id = (SELECT id FROM events WHERE sensor_id = $1 ORDER BY id LIMIT 1)',
      [sensorId],
    );
    const counted = await ask('traffic.getSpeedStudy', { sensorId, ...RANGE });
    expect(counted).toMatchObject({ n: 300, basis, mean: exact.mean });
    const { v15, v50, v85, v95 } = counted;
    expect(await ask('traffic.getFlow', { sensorId, ...RANGE })).toMatchObject({ v15, v50, v85, v95 });
    expect(Math.abs(counted.v85 - exact.v85)).toBeLessThan(0.5);
  });

  it('of no vehicle still has the limit', async () => {
    const locationId = await addLocation(70);
    expect(await ask('traffic.getSpeedStudy', { locationId, ...RANGE })).toMatchObject({
      n: 0,
      limit: 70,
      bins: [],
    });
  });

  it('of 125 cars has the 106th as V85, as the manual of Texas says', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    // 105 cars up to 47 mph, the 106th at 48, and faster ones.
    const speeds = Array.from({ length: 125 }, (_, n) =>
      n < 105 ? 30 + (n % 18) : 48 + Math.floor((n - 105) / 5),
    );
    await send(
      apiKey,
      passing(125, at('08:00'), 20_000, (n) => ({ speed: (speeds[n] ?? 0) * 1.609344 })),
    );
    const input = { sensorId, ...RANGE, units: 'MPH', method: 'NEAREST_RANK' };
    expect(await ask('traffic.getSpeedStudy', input)).toMatchObject({
      n: 125,
      basis: 'EXACT',
      v85: 48,
      max: 51,
    });
    const classed = {
      ...input,
      method: 'CLASSED',
      binEdges: [
        [30, 39],
        [40, 49],
        [50, 59],
      ],
    };
    const { bins, v85 } = await ask('traffic.getSpeedStudy', classed);
    expect(bins.map(({ count }: { count: number }) => count)).toEqual([60, 55, 10]);
    // The 106.25th of 125 is 46.25 of 55 vehicles into the second class.
    expect(v85).toBe(47.6);
  });

  it('compares each speed with the limit of its time', async () => {
    const locationId = await addLocation(50);
    const { apiKey } = await register('RADAR', locationId);
    await send(
      apiKey,
      passing(60, at('08:00'), 2 * MINUTE_MS, () => ({ speed: 60 })),
    );
    await gantry.pool.query('DELETE FROM location_limits WHERE location_id = $1', [locationId]);
    await gantry.pool.query(
      `INSERT INTO location_limits (location_id, since, speed_limit)
       SELECT $1, since::timestamptz, limits FROM unnest($2::text[], $3::int[]) AS one (since, limits)`,
      [locationId, ['2026-01-01T00:00Z', `${DAY}T09:00Z`], [70, 50]],
    );
    const study = await ask('traffic.getSpeedStudy', { locationId, ...RANGE });
    expect(study).toMatchObject({ n: 60, limit: null });
    expect(study.over[0]).toEqual({ by: 0, share: 0.5 });
  });

  it('before and after a measure is compared by tests', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const days = ['2026-03-10', '2026-03-17'];
    for (const [n, day] of days.entries())
      await send(
        apiKey,
        passing(100, at('08:00', day), MINUTE_MS, (car) => ({ speed: 50 - 4 * n + (car % 10) })),
      );
    const [before, after] = days.map((day) => ({ sensorId, startDate: day, endDate: day }));
    const found = await ask('traffic.compareStudies', { before, after });
    expect(found).toMatchObject({
      before: { n: 100, mean: 54.5 },
      after: { n: 100, mean: 50.5 },
      mean: { difference: 4, significant: true },
      share: { difference: null, reason: 'One of the studies has no speed with a limit' },
    });
    expect(found.mean.p).toBeLessThan(0.001);
    const same = await ask('traffic.compareStudies', { before, after: before });
    expect(same.mean).toMatchObject({ difference: 0, z: 0, p: 1, significant: false });
  });
});

describe('the units of a speed study', async () => {
  const miles = await sharedGantry({ config: { SPEED_UNITS: 'MPH' } });
  const as = { token: await miles.tokenFor('ADMIN') };
  const add = (speedUnits?: string) =>
    miles.ok('locations.create', { name: randomUUID(), speedLimit: 50, speedUnits }, as);
  const unitsOf = async (input: object) =>
    (await miles.ok('traffic.getSpeedStudy', { ...RANGE, ...input }, as)).units;

  it('are those that are asked for, else those of the place, else those of the service', async () => {
    const [{ id: own }, { id: other }] = [await add(), await add('KMH')];
    expect(await unitsOf({ locationId: own })).toBe('MPH');
    expect(await unitsOf({ locationId: other })).toBe('KMH');
    expect(await unitsOf({ locationId: other, units: 'MPH' })).toBe('MPH');
    const sensor = { name: 'Radar', deviceId: randomUUID(), type: 'RADAR', locationId: other };
    const { id: sensorId } = await miles.ok('sensors.create', sensor, as);
    const { id: pointId } = await miles.ok('points.create', { locationId: other, name: 'North' }, as);
    for (const place of [{ sensorId }, { pointId }]) expect(await unitsOf(place)).toBe('KMH');
    const side = (locationId: string) => ({ locationId, ...RANGE });
    const compared = await miles.ok('traffic.compareStudies', { before: side(other), after: side(own) }, as);
    expect(compared).toMatchObject({ before: { units: 'KMH' }, after: { units: 'KMH' } });
    expect(
      await gantry.ok('traffic.getSpeedStudy', { ...RANGE, locationId: await addLocation() }, { token }),
    ).toMatchObject({ units: 'KMH' });
  });

  it('stay those of a study when those of its place change', async () => {
    const { id: locationId } = await add('KMH');
    const make = (input: object) => miles.ok('studies.create', { title: 'Ring', ...input }, as);
    const study = await make({ kind: 'SPEED', locationId, ...RANGE });
    const side = { locationId, ...RANGE };
    const comparison = await make({ kind: 'COMPARISON', before: side, after: side });
    await miles.ok('locations.update', { id: locationId, speedUnits: null }, as);
    expect(await unitsOf({ locationId })).toBe('MPH');
    for (const { id } of [study, comparison])
      expect(await miles.ok('studies.get', { id }, as)).toMatchObject({ options: { units: 'KMH' } });
    expect(await miles.ok('studies.get', { id: study.id }, as)).toMatchObject({ figures: { units: 'KMH' } });
  });

  it('are shown with one location, and are KMH or MPH', async () => {
    const { id, ...created } = await add('MPH');
    expect(created).not.toHaveProperty('speedUnits');
    expect(await miles.ok('locations.getById', { id }, as)).toMatchObject({
      speedUnits: 'MPH',
      speedLimit: 50,
    });
    await miles.ok('locations.update', { id, name: 'Ring' }, as);
    expect(await miles.ok('locations.getById', { id }, as)).toMatchObject({ speedUnits: 'MPH' });
    const refused = await miles.refusal('locations.update', { id, speedUnits: 'mph' }, as);
    expect(refused).toMatchObject({ status: 400 });
  });
});

describe('the turning movement count of a city, as single vehicles', async () => {
  const { id: sensorId, apiKey } = await register('RADAR');
  const day = '2018-02-27';
  const range = { startDate: day, endDate: day };
  beforeAll(async () => {
    const file = readFileSync(new URL('data/turning-movements.csv', import.meta.url), 'utf8');
    const rows: Record<string, string>[] = parse(file, { columns: true });
    const types: Record<string, string> = {
      CARS: 'Car',
      TRUCK: 'Truck',
      BUS: 'Bus',
      PEDS: 'Pedestrian',
      BIKE: 'Bicycle',
    };
    for (const row of rows) {
      const users = Object.entries(row).flatMap(([column, count]) => {
        const type = types[column.split('_')[1] ?? ''];
        return type === undefined ? [] : Array.from({ length: Number(count) }, () => type);
      });
      const every = (15 * MINUTE_MS) / users.length;
      const start = Date.parse(`${row.start}:00Z`);
      await send(
        apiKey,
        users.map((type, n) => ({ at: Math.floor(start + n * every), type })),
      );
    }
    await rollUpAllTraffic(gantry, 1_000);
  });

  it('has the printed peak hours and factors', async () => {
    const { days, average } = await ask('traffic.getPeakHours', {
      sensorId,
      ...range,
      windows: ['AM', 'PM'],
    });
    expect(days).toMatchObject([
      {
        date: day,
        windows: [
          {
            window: 'AM',
            start: `${day}T08:00:00.000Z`,
            end: `${day}T09:00:00.000Z`,
            volume: 1_399,
            k: null,
          },
          {
            window: 'PM',
            start: `${day}T16:45:00.000Z`,
            end: `${day}T17:45:00.000Z`,
            volume: 1_555,
            k: null,
          },
        ],
      },
    ]);
    const factors = days[0].windows.map(({ peakHourFactor }: { peakHourFactor: number }) => peakHourFactor);
    expect(factors.map((factor: number) => factor.toFixed(3))).toEqual(['0.866', '0.974']);
    expect(average).toMatchObject({ n: 1, windows: [{ start: '08:00', end: '09:00' }, { start: '16:45' }] });
    expect(await ask('traffic.getFlow', { sensorId, ...range })).toMatchObject({
      peakHour: { start: `${day}T16:45:00.000Z`, volume: 1_555 },
      peakHourFactor: factors[1],
    });
  });

  it('has them by class, in windows of its own', async () => {
    const windows = [{ window: 'AM', from: '07:30', until: '08:30' }];
    const { days } = await ask('traffic.getPeakHours', { sensorId, ...range, windows, by: ['class'] });
    const [peak] = days[0].windows;
    expect(peak).toMatchObject({ start: `${day}T07:30:00.000Z`, validBins: 4 });
    const byClass = new Map<string, number>(
      peak.by.map((part: { class: string; volume: number }) => [part.class, part.volume]),
    );
    const heavy = (byClass.get('TRUCK') ?? 0) + (byClass.get('BUS') ?? 0);
    expect([...byClass.keys()].sort()).toEqual(['BUS', 'CAR', 'TRUCK']);
    expect(heavy + (byClass.get('CAR') ?? 0)).toBe(peak.volume);
    expect(peak.t).toBeCloseTo(heavy / peak.volume, 4);
  });
});

describe('daily volumes', () => {
  it('of five full days and five minutes are those of five days', async () => {
    const { id: sensorId, apiKey } = await register('RADAR');
    const first = at('00:00', '2026-03-02');
    await send(apiKey, passing(5 * 240 + 1, first, 6 * MINUTE_MS));
    const range = { startDate: '2026-03-02', endDate: '2026-03-07' };
    const found = await ask('traffic.getDailyVolumes', { sensorId, ...range });
    expect(found).toMatchObject({
      adt: { value: 240, n: 5 },
      awdt: { value: 240, n: 5 },
      weekendAdt: { value: null, n: 0 },
    });
    expect(found.days.at(-1)).toMatchObject({ date: '2026-03-07', volume: 1, status: 'PARTIAL' });
    expect(found.excluded).toEqual([
      { date: '2026-03-07', reason: expect.stringContaining('of the day is known') },
    ]);
    expect(found.days[0]).toEqual({ date: '2026-03-02', volume: 240, status: 'VALID', reason: null });
  });
});

describe('a year whose volumes follow from the date', async () => {
  const BY_HOUR = [
    20, 12, 8, 8, 15, 60, 180, 320, 340, 240, 220, 230, 240, 240, 250, 300, 350, 360, 260, 180, 130, 90, 60,
    35,
  ];
  const hours = Array.from({ length: 8_760 }, (_, n) => new Date(Date.UTC(2025, 0) + n * HOUR_MS));
  const volumeAt = (time: Date): number => {
    const less = { 0: 40, 6: 25 }[time.getUTCDay()] ?? 0;
    return (
      Math.floor(((BY_HOUR[time.getUTCHours()] ?? 0) * (100 - less)) / 100) + 3 * (time.getUTCMonth() + 1)
    );
  };
  const isHoled = (time: Date): boolean => {
    const day = time.toISOString().slice(0, 10);
    return (day >= '2025-02-10' && day <= '2025-02-20') || (day === '2025-07-06' && time.getUTCHours() < 5);
  };

  /** A sensor with rolled-up hours of vehicles without a speed, seen in each five minutes. */
  const sensorOf = async (isMissing: (time: Date) => boolean): Promise<string> => {
    const { id } = await register('RADAR');
    const counted = hours.filter((time) => !isMissing(time));
    await gantry.pool.query(
      `INSERT INTO traffic_bins (minutes, sensor_id, source, slot, events, vehicles, alive, cells, measures, sums)
       SELECT 60, $1, 1, slot, n, n, 4095, ARRAY[id], '{-1}', ARRAY[n]
       FROM unnest($2::timestamptz[], $3::bigint[]) AS hours (slot, n), traffic_cells
       WHERE vehicle_type = '' AND direction = '' AND lane = ''`,
      [id, counted, counted.map(volumeAt)],
    );
    await gantry.pool.query(
      `INSERT INTO traffic_places (location_id, sensor_id, first_slot, last_slot, detections)
       VALUES ($1, $1, '2025-01-01Z', '2025-12-31 23:55Z', true)`,
      [id],
    );
    return id;
  };
  let [complete, holed] = ['', ''];
  beforeAll(async () => {
    const { apiKey } = await register('RADAR');
    await send(apiKey, [{ at: at('08:00') }]);
    await rollUpAllTraffic(gantry, 10);
    await gantry.pool.query(`UPDATE traffic_kept SET longer_until = greatest(longer_until, '2026-02-01Z')`);
    [complete, holed] = [await sensorOf(() => false), await sensorOf(isHoled)];
  });

  it.each([
    ['SIMPLE', 4_233.074, 4_242.408],
    ['AASHTO', 4_230.143, 4_230.143],
    ['FHWA', 4_233.074, 4_233.074],
  ])(
    'has the annual average of an independent program by %s, with and without holes',
    async (method, value, other) => {
      const found = await ask('traffic.getAadt', { sensorId: complete, year: 2025, method });
      expect(found).toMatchObject({ method, value, status: 'VALID', reason: null, published: 4_200 });
      expect(found.months[0]).toEqual({ month: 1, value: 3_871.484 });
      expect(await ask('traffic.getAadt', { sensorId: holed, year: 2025, method })).toMatchObject({
        value: other,
      });
    },
  );

  it('has factors, and design hours', async () => {
    const place = { sensorId: complete, year: 2025 };
    const factors = await ask('traffic.getFactors', place);
    expect(factors).toMatchObject({ aadt: 4_233.074, status: 'VALID' });
    expect(factors.months[0]).toEqual({ month: 1, factor: 1.093 });
    expect(factors.weekdays).toHaveLength(7);
    expect(factors.combined).toHaveLength(84);
    const design = await ask('traffic.getDesignHours', place);
    expect(design).toMatchObject({ k30: 0.0928, validHours: 1, status: 'VALID', designHourVolume: 393 });
    expect(design.hours).toHaveLength(100);
    expect(design.hours[29].volume).toBe(393);
  });

  it('has no annual average in a year without counts', async () => {
    const place = { sensorId: complete, year: 2024 };
    const found = await ask('traffic.getAadt', place);
    expect(found).toMatchObject({ value: null, n: 0, status: 'INSUFFICIENT', published: null });
    expect(found.reason).toContain('an hour of the week is not known');
    expect(await ask('traffic.getDesignHours', place)).toMatchObject({
      k30: null,
      hours: [],
      status: 'INSUFFICIENT',
    });
  });
});

describe('a question about figures', async () => {
  const { id: sensorId } = await register('RADAR');
  const study = { sensorId, ...RANGE };
  const year = { startDate: '2025-01-01', endDate: '2025-12-31' };

  it.each([
    ['traffic.getSpeedStudy', { ...study, method: 'CLASSED' }, 'needs classes, such as'],
    [
      'traffic.getSpeedStudy',
      {
        ...study,
        binEdges: [
          [31, 35],
          [35, 40],
        ],
      },
      'has to begin above 35',
    ],
    ['traffic.getSpeedStudy', { ...study, binEdges: [[35, 31]] }, 'swap its edges'],
    ['traffic.getSpeedStudy', { ...study, binEdges: ['fast'] }, 'such as [31, 35]'],
    ['traffic.getSpeedStudy', { ...study, hours: ['9-15'] }, 'such as'],
    ['traffic.getSpeedStudy', { ...study, hours: ['15:00-09:00'] }, 'such as'],
    ['traffic.getSpeedStudy', { ...study, ...year, hours: ['09:15-10:00'] }, 'more than 10000 points'],
    ['traffic.getPeakHours', { ...study, windows: ['NOON'] }, 'AM'],
    ['traffic.getPeakHours', { ...study, windows: ['AM', 'AM'] }, 'Name each window once'],
    [
      'traffic.getPeakHours',
      { ...study, windows: [{ window: 'AM', from: '09:00', until: '08:00' }] },
      'must end after',
    ],
    ['traffic.getPeakHours', { ...study, windows: [{ window: 'AM', from: '9' }] }, 'full quarter hour'],
    ['traffic.getPeakHours', { ...study, ...year }, 'at most 104 days'],
    ['traffic.getCounts', { ...study, ...year }, 'more than 10000 points'],
    ['traffic.getCounts', RANGE, 'Give either a sensorId or a locationId'],
    ['traffic.getAadt', { sensorId, year: 1 }, '1970'],
    [
      'traffic.compareStudies',
      { before: study, after: { ...RANGE } },
      'Give either a sensorId or a locationId',
    ],
  ])('%s that cannot be answered says what would be right', async (procedure, input, sentence) => {
    const { status, body } = await gantry.call(procedure, input, { token });
    expect(status).toBe(400);
    expect(JSON.stringify(body.error.json)).toContain(sentence);
  });

  it.each([
    ['traffic.getCounts', RANGE],
    ['traffic.getPeakHours', RANGE],
    ['traffic.getDailyVolumes', RANGE],
    ['traffic.getSpeedStudy', RANGE],
    ['traffic.getAadt', { year: 2025 }],
    ['traffic.getFactors', { year: 2025 }],
    ['traffic.getDesignHours', { year: 2025 }],
  ])('%s does not know other places', async (procedure, input) => {
    for (const place of [{ sensorId: randomUUID() }, { locationId: randomUUID() }])
      expect((await gantry.call(procedure, { ...place, ...input }, { token })).status).toBe(404);
  });

  it('can be asked in the REST form', async () => {
    const get = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${gantry.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
      expect(answer.status).toBe(200);
      // biome-ignore lint/suspicious/noExplicitAny: read as any client of the REST form would
      return answer.json() as Promise<any>;
    };
    const query = `sensorId=${sensorId}&startDate=${DAY}&endDate=${DAY}`;
    expect((await get(`/v1/traffic/counts?${query}&by=direction&by=lane`)).bins).toHaveLength(96);
    expect((await get(`/v1/traffic/peak-hours?${query}&windows=AM`)).days[0].windows).toHaveLength(1);
    const classed = `/v1/traffic/speed-study?${query}&method=CLASSED&binEdges=31-35&binEdges=36-40&hours=09:00-15:30`;
    expect((await get(classed)).bins).toEqual([
      { from: 31, to: 35, count: 0 },
      { from: 36, to: 40, count: 0 },
    ]);
    const body = JSON.stringify({ before: study, after: study });
    expect((await get('/v1/traffic/speed-study/comparison', { method: 'POST', body })).mean.p).toBeNull();
  });
});

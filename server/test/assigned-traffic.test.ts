import { randomUUID } from 'node:crypto';
import { MINUTE_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// What sensors count and measure for the measuring points to which they are assigned.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object = {}) => gantry.ok(procedure, input, { token });

const DAY = '2026-03-10';
const RANGE = { startDate: DAY, endDate: DAY };
const at = (time: string, day = DAY): number => Date.parse(`${day}T${time}Z`);

interface Sensor {
  readonly id: string;
  readonly apiKey: string;
}

const addLocation = async (speedLimit: number | null = null): Promise<string> =>
  (await ask('locations.create', { name: 'Ring 1', speedLimit })).id;
const addPoint = async (locationId: string, direction = 'NB', more: object = {}): Promise<string> =>
  (await ask('points.create', { locationId, name: direction, direction, ...more })).id;
const addSensor = (type = 'RADAR', locationId: string | null = null): Promise<Sensor> =>
  ask('sensors.create', { name: type, deviceId: randomUUID(), type, locationId });
const assign = async ({ id }: Sensor, pointId: string, more: object = {}): Promise<string> =>
  (await ask('assignments.create', { sensorId: id, pointId, ...more })).id;

/** Sends vehicles, one a minute. */
const pass = async ({ apiKey }: Sensor, count: number, from: string, fields: object = {}, day = DAY) => {
  const events = Array.from({ length: count }, (_, n) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: new Date(at(from, day) + n * MINUTE_MS).toISOString(),
    ...fields,
  }));
  for (let n = 0; n < count; n += 500)
    await gantry.ok('events.ingestBatch', { apiKey, events: events.slice(n, n + 500) });
};

/** The answer to a question, which must be the same before and after the roll-up. */
const same = async (procedure: string, input: object) => {
  const pending = await ask(procedure, input);
  await rollUpAllTraffic(gantry, 100);
  const rolledUp = await ask(procedure, input);
  expect(rolledUp).toEqual(pending);
  return pending;
};
const flowOf = (place: object, more: object = {}) =>
  same('traffic.getFlow', { ...place, ...RANGE, interval: '60min', ...more });
const volumeOf = async (place: object): Promise<number | null> =>
  (await ask('traffic.getFlow', { ...place, ...RANGE })).volume;

/** The volumes of a place from some hours on, with its directions and lanes. */
const countsOf = async (place: object, more: object = {}) => {
  const { bins } = await same('traffic.getCounts', {
    ...place,
    interval: 'day',
    by: ['direction', 'lane'],
    ...RANGE,
    ...more,
  });
  return bins[0];
};

describe('a location with measuring points', () => {
  it('is the sum of them: two directions and four lanes, by two sensors', async () => {
    const locationId = await addLocation();
    const [north, south] = [
      await addPoint(locationId, 'NB', { lanes: 2 }),
      await addPoint(locationId, 'SB', { lanes: 2 }),
    ];
    const [one, other, unassigned] = [
      await addSensor(),
      await addSensor('CAMERA'),
      await addSensor('ANPR', locationId),
    ];
    for (const [sensor, pointId] of [
      [one, north],
      [other, south],
    ] as const)
      for (const lane of [1, 2]) await assign(sensor, pointId, { channel: { lane }, lane });
    await pass(one, 30, '08:00', { lane: 1 });
    await pass(one, 20, '08:00', { lane: 2 });
    await pass(other, 10, '08:00', { lane: 1 });
    await pass(other, 40, '08:00', { lane: 2 });
    await pass(unassigned, 500, '08:00');
    expect(await countsOf({ locationId })).toMatchObject({
      volume: 100,
      cells: [
        { direction: 'NB', lane: 1, volume: 30 },
        { direction: 'NB', lane: 2, volume: 20 },
        { direction: 'SB', lane: 1, volume: 10 },
        { direction: 'SB', lane: 2, volume: 40 },
      ],
    });
    expect(await countsOf({ pointId: north })).toMatchObject({ volume: 50 });
    expect(await countsOf({ pointId: south })).toMatchObject({ volume: 50 });
    expect(await countsOf({ sensorId: unassigned.id })).toMatchObject({ volume: 500 });
    const { days } = await ask('traffic.getPeakHours', { locationId, ...RANGE, by: ['direction'] });
    expect(days).toHaveLength(1);
    const { days: daily } = await ask('traffic.getDailyVolumes', { locationId, ...RANGE });
    expect(daily).toMatchObject([{ volume: 100 }]);
    const top = await ask('traffic.getTopLocations', { ...RANGE, limit: 100 });
    const ranked = top.locations.find((each: { locationId: string }) => each.locationId === locationId);
    expect(ranked).toMatchObject({ volume: 100 });
  });

  it('counts as before while no sensor is assigned', async () => {
    const locationId = await addLocation();
    const sensor = await addSensor('RADAR', locationId);
    await pass(sensor, 30, '08:00', { vehicleSpeed: 40 });
    const before = await flowOf({ locationId });
    const pointId = await addPoint(locationId);
    await assign(sensor, pointId, { role: 'VERIFY' });
    await assign(sensor, pointId, { role: 'PLATE' });
    await assign(sensor, pointId, { role: 'SPEED', correctionAngle: 60 });
    expect(await flowOf({ locationId })).toEqual(before);
    expect(await flowOf({ pointId })).toMatchObject({
      volume: null,
      status: 'GAP',
      measured: 30,
      meanSpeed: 80,
    });
  });

  it('has one point for everything until one is entered', async () => {
    const locationId = await addLocation();
    const sensor = await addSensor('RADAR', locationId);
    await pass(sensor, 12, '08:00', { direction: 'APPROACHING' });
    expect(await countsOf({ pointId: locationId })).toMatchObject({
      volume: 12,
      cells: [{ direction: 'APPROACHING', volume: 12 }],
    });
    const pointId = await addPoint(locationId);
    for (const id of [locationId, randomUUID(), 'x'])
      expect((await gantry.refusal('traffic.getFlow', { pointId: id, ...RANGE }, { token })).status).toBe(
        404,
      );
    const both = await gantry.refusal('traffic.getFlow', { pointId, locationId, ...RANGE }, { token });
    expect(both).toMatchObject({ status: 400, message: expect.stringContaining('pointId') });
  });

  it('is live by the sensors that are assigned to it, of any type', async () => {
    const locationId = await addLocation();
    const [north, south] = [await addPoint(locationId, 'NB'), await addPoint(locationId, 'SB')];
    const [radar, camera, other] = [
      await addSensor('RADAR', locationId),
      await addSensor('CAMERA', locationId),
      await addSensor('CAMERA', locationId),
    ];
    await assign(radar, north);
    await assign(camera, south);
    await assign(other, south, { role: 'VERIFY' });
    const timestamp = new Date(Date.now() - 1_000).toISOString();
    for (const [sensor, count] of [
      [radar, 6],
      [camera, 5],
      [other, 9],
    ] as const)
      await gantry.ok('events.ingestBatch', {
        apiKey: sensor.apiKey,
        events: Array.from({ length: count }, () => ({
          eventType: 'VEHICLE_DETECTION',
          timestamp,
          vehicleSpeed: 40,
        })),
      });
    const live = async () =>
      (await gantry.ok('traffic.getLive', undefined, { token })).locations.find(
        (each: { locationId: string }) => each.locationId === locationId,
      );
    expect(await live()).toMatchObject({ volume: 11, measured: 11, meanSpeed: 40 });
    await rollUpAllTraffic(gantry, 100);
    expect(await live()).toMatchObject({ volume: 11, measured: 11, meanSpeed: 40 });
  });

  it('counts one vehicle once where a camera verifies a radar', async () => {
    const locationId = await addLocation();
    const [radar, camera] = [await addSensor('RADAR', locationId), await addSensor('CAMERA', locationId)];
    const pointId = await addPoint(locationId);
    await assign(radar, pointId);
    await assign(camera, pointId, { role: 'VERIFY' });
    const next = await addPoint(await addLocation());
    for (const channel of ['*', { lane: 1 }]) await assign(radar, next, { role: 'VERIFY', channel });
    await pass(radar, 50, '08:00', { vehicleSpeed: 50, lane: 1 });
    await pass(camera, 300, '08:00', { vehicleSpeed: 70 });
    for (const place of [{ pointId }, { locationId }])
      expect(await flowOf(place)).toMatchObject({ volume: 50, measured: 50, meanSpeed: 50 });
  });
});

describe('what verifies a point', () => {
  it.each([
    [1, 0.1, []],
    [1, 0.2, ['R13']],
    [2, 0.2, []],
  ])(
    'is flagged if it differs by more than 10 %% over a complete day (lane %i, %f less)',
    async (lane, less, rules) => {
      const pointId = await addPoint(await addLocation(), 'NB', { lanes: 2 });
      const [radar, camera] = [await addSensor('RADAR'), await addSensor('CAMERA')];
      await assign(radar, pointId);
      await assign(camera, pointId, { role: 'VERIFY', channel: { lane: 1 }, lane: 1 });
      await pass(radar, 24 * 60, '00:00', { lane: 1 });
      await pass(radar, 24 * 60, '00:00', { lane: 2 });
      const seen = Array.from({ length: 24 * 60 }, (_, n) => n).filter((n) => n % 10 >= less * 10);
      const events = seen.map((n) => ({
        eventType: 'VEHICLE_DETECTION',
        timestamp: new Date(at('00:00') + n * MINUTE_MS).toISOString(),
        lane: 1,
      }));
      if (lane === 1)
        for (let n = 0; n < events.length; n += 500)
          await gantry.ok('events.ingestBatch', { apiKey: camera.apiKey, events: events.slice(n, n + 500) });
      expect(await volumeOf({ pointId })).toBe(2 * 24 * 60);
      const { flags, days } = await ask('traffic.getDataQuality', { pointId, ...RANGE });
      const differing = flags.filter(({ rule }: { rule: string }) => rule === 'R13');
      expect(differing.map(({ rule }: { rule: string }) => rule)).toEqual(rules);
      if (rules.length > 0)
        expect(differing[0]).toMatchObject({ severity: 'SUSPECT', value: 0.2, threshold: 0.1 });
      expect(days[0].rules.includes('R13')).toBe(rules.length > 0);
    },
  );
});

describe('a channel', () => {
  it('of a sensor counts for its point: two of them, and neither of the rest', async () => {
    const [here, there] = [await addLocation(), await addLocation()];
    const [north, south] = [await addPoint(here, 'NB'), await addPoint(there, 'SB')];
    const radar = await addSensor('RADAR', here);
    await assign(radar, north, { channel: 'APPROACHING' });
    await assign(radar, south, { channel: { direction: 'RECEDING', lane: 'left' }, lane: 1 });
    await pass(radar, 30, '08:00', { direction: 'APPROACHING', lane: 'left' });
    await pass(radar, 20, '08:00', { direction: 'RECEDING', lane: 'left' });
    await pass(radar, 10, '08:00', { direction: 'RECEDING', lane: 'right' });
    expect(await countsOf({ locationId: here })).toMatchObject({
      volume: 30,
      cells: [{ direction: 'NB', lane: 'left', volume: 30 }],
    });
    expect(await countsOf({ locationId: there })).toMatchObject({
      volume: 20,
      cells: [{ direction: 'SB', lane: 1, volume: 20 }],
    });
  });

  it('* has what no other one names, and no vehicles of a direction that the point has not', async () => {
    const locationId = await addLocation();
    const [north, hov] = [
      await addPoint(locationId, 'NB'),
      await addPoint(locationId, 'NB', { facility: 'HOV' }),
    ];
    const camera = await addSensor('CAMERA');
    await assign(camera, north);
    await assign(camera, hov, { channel: 3, lane: 1 });
    await pass(camera, 30, '08:00', { lane: 1, direction: 'NB' });
    await pass(camera, 20, '08:00', { lane: 3, direction: 10 });
    await pass(camera, 10, '08:00', { lane: 1, direction: 181.5 });
    await pass(camera, 5, '08:00', { direction: 45 });
    await pass(camera, 4, '08:00', { lane: 3, direction: 'SB' });
    expect(await countsOf({ pointId: north }, { by: ['direction'] })).toMatchObject({
      volume: 35,
      cells: [{ direction: 'NB', volume: 35 }],
    });
    expect(await countsOf({ pointId: hov })).toMatchObject({
      volume: 20,
      cells: [{ direction: 'NB', lane: 1, volume: 20 }],
    });
    expect(await volumeOf({ locationId })).toBe(55);
  });

  it('gets the movement that its assignment says', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId, 'BOTH', { facility: 'LEG' });
    const camera = await addSensor('CAMERA');
    await assign(camera, pointId, { channel: 'line 1', movement: { from: 'S', turn: 'L' } });
    await assign(camera, pointId, { channel: 'N:T', movement: { from: 'E', turn: 'R' } });
    await pass(camera, 6, '08:00', { lane: 'line 1' });
    await pass(camera, 4, '08:00', { movement: { from: 'N', turn: 'T' } });
    const { total } = await ask('traffic.getTurningMovements', { locationId, ...RANGE });
    expect(total.movements).toMatchObject([
      { from: 'E', turn: 'R', volume: 4 },
      { from: 'S', turn: 'L', volume: 6 },
    ]);
  });

  it('counts the types of events that its assignment names', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId);
    const camera = await addSensor('CAMERA', locationId);
    await pass(camera, 50, '08:00', { vehicleSpeed: 50 });
    await pass(camera, 40, '08:00', { eventType: 'SPEED_DETECTION', vehicleSpeed: 40 });
    await pass(camera, 30, '08:00', { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'W 1' });
    await pass(camera, 20, '08:00', { eventType: 'TRAFFIC_VIOLATION', vehicleSpeed: 90 });
    const id = await assign(camera, pointId);
    expect(await flowOf({ pointId })).toMatchObject({ volume: 90, measured: 90 });
    for (const [countedTypes, volume, meanSpeed] of [
      [['VEHICLE_DETECTION'], 50, 50],
      [['SPEED_DETECTION'], 40, 40],
      [['VEHICLE_DETECTION', 'SPEED_DETECTION'], 90, 45.556],
      [['PLATE_RECOGNITION'], 30, null],
      [['PLATE_RECOGNITION', 'SPEED_DETECTION'], 70, 40],
      [['SPEED_DETECTION', 'TRAFFIC_VIOLATION'], 60, 56.667],
    ] as const) {
      await ask('assignments.update', { id, countedTypes });
      expect(await flowOf({ pointId }), countedTypes.join()).toMatchObject({ volume, meanSpeed });
      const study = await same('traffic.getSpeedStudy', { pointId, ...RANGE });
      expect(study.mean ?? null).toBe(meanSpeed === null ? null : Math.round(meanSpeed * 10) / 10);
    }
    await ask('assignments.update', { id, countedTypes: ['SEATBELT_VIOLATION'] });
    expect(await flowOf({ pointId })).toMatchObject({ volume: 0 });
  });

  it('that counts intervals covers what it sent itself', async () => {
    const locationId = await addLocation();
    const [north, south] = [await addPoint(locationId, 'NB'), await addPoint(locationId, 'SB')];
    const loop = await addSensor('RADAR');
    await assign(loop, north, { channel: 'NB' });
    await assign(loop, south, { channel: 'SB' });
    const hour = (time: string, direction: string, more: object) => ({
      start: `${DAY}T${time}:00Z`,
      seconds: 3_600,
      direction,
      ...more,
    });
    const { results } = await gantry.ok('counts.ingest', {
      apiKey: loop.apiKey,
      periods: [
        hour('08:00', 'NB', { volume: 100 }),
        hour('08:00', 'SB', { volume: null, status: 'FAULT' }),
        hour('09:00', 'NB', { volume: 0 }),
        hour('09:00', 'SB', { volume: 70 }),
      ],
    });
    expect(results).toHaveLength(4);
    const hours = async (place: object) =>
      (await flowOf(place)).points
        .slice(8, 10)
        .map(({ volume, status }: { volume: number; status: string }) => [volume, status]);
    expect(await hours({ pointId: north })).toEqual([
      [100, 'VALID'],
      [0, 'VALID'],
    ]);
    expect(await hours({ pointId: south })).toEqual([
      [null, 'GAP'],
      [70, 'VALID'],
    ]);
    expect(await hours({ locationId })).toEqual([
      [100, 'PARTIAL'],
      [70, 'VALID'],
    ]);
    const quarter = await flowOf({ pointId: north }, { interval: '15min' });
    expect(quarter.points[32]).toMatchObject({ volume: null, reason: 'COARSER_DATA' });
  });
});

describe('speeds', () => {
  const study = (place: object, more: object = {}) =>
    same('traffic.getSpeedStudy', { ...place, ...RANGE, units: 'KMH', ...more });
  const forget = (sensor: Sensor) =>
    gantry.pool.query('UPDATE events SET vehicle_speed = NULL WHERE sensor_id = $1', [sensor.id]);

  it('are those of what is assigned to measure them, and otherwise of what counts', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId);
    const [camera, radar] = [await addSensor('CAMERA', locationId), await addSensor('RADAR')];
    await assign(camera, pointId);
    await pass(camera, 60, '08:00', { vehicleSpeed: 40, lane: 1 });
    await pass(camera, 20, '09:00', { vehicleSpeed: 50, lane: 2 });
    await pass(radar, 50, '08:00', { vehicleSpeed: 70 });
    expect(await flowOf({ pointId })).toMatchObject({ volume: 80, measured: 80, meanSpeed: 42.5 });
    const id = await assign(radar, pointId, { role: 'SPEED' });
    for (const place of [{ pointId }, { locationId }]) {
      expect(await flowOf(place)).toMatchObject({ volume: 80, measured: 50, meanSpeed: 70 });
      expect(await study(place)).toMatchObject({ n: 50, basis: 'EXACT', mean: 70 });
    }
    await ask('assignments.update', { id, lane: 1 });
    expect(await flowOf({ pointId })).toMatchObject({ volume: 80, measured: 70, meanSpeed: 64.286 });
    await ask('assignments.update', { id, validUntil: `${DAY}T08:30:00Z` });
    expect(await flowOf({ pointId })).toMatchObject({ volume: 80, measured: 80 });
  });

  it('are divided by the cosine of the angle, from events and from counts', async () => {
    const locationId = await addLocation(80);
    const pointId = await addPoint(locationId);
    const radar = await addSensor('RADAR', locationId);
    for (const [speed, from] of [
      [30, '06:00'],
      [40, '08:00'],
      [41, '10:00'],
    ] as const)
      await pass(radar, 60, from, { vehicleSpeed: speed });
    await assign(radar, pointId, { correctionAngle: 60 });
    const exact = await study({ pointId });
    expect(exact).toMatchObject({ n: 180, basis: 'EXACT', mean: 74, v15: 60, v50: 80, v85: 82, max: 82 });
    const flow = await flowOf({ pointId });
    expect(flow).toMatchObject({ volume: 180, measured: 180, meanSpeed: 74, v50: 80, v85: 82 });
    expect(flow.shareOverLimit).toBe(0.3333);
    await forget(radar);
    expect(await study({ pointId })).toMatchObject({
      n: 180,
      basis: 'WHOLE_UNITS',
      mean: 74,
      v50: 80,
      v85: 82,
    });
    expect(await flowOf({ sensorId: radar.id })).toMatchObject({ meanSpeed: 37, v85: 41 });
  });

  it('that are corrected by an odd angle stay within a km/h, with an exact mean', async () => {
    const pointId = await addPoint(await addLocation());
    const radar = await addSensor();
    const speeds = Array.from({ length: 300 }, (_, n) => 30 + ((n * 7) % 300) / 10);
    const events = speeds.map((vehicleSpeed, n) => ({
      eventType: 'SPEED_DETECTION',
      timestamp: new Date(at('06:00') + n * MINUTE_MS).toISOString(),
      vehicleSpeed,
    }));
    await gantry.ok('events.ingestBatch', { apiKey: radar.apiKey, events });
    await assign(radar, pointId, { correctionAngle: 22.5 });
    const exact = await study({ pointId });
    await forget(radar);
    const counted = await study({ pointId });
    expect([exact.basis, counted.basis]).toEqual(['EXACT', 'INTERPOLATED']);
    expect(counted.n).toBe(300);
    expect(counted.mean).toBe(exact.mean);
    expect(
      Math.abs(exact.mean - speeds.reduce((a, b) => a + b, 0) / 300 / Math.cos(Math.PI / 8)),
    ).toBeLessThan(0.05);
    for (const name of ['v15', 'v50', 'v85', 'v95'])
      expect(Math.abs(counted[name] - exact[name]), name).toBeLessThan(1);
  });

  it('that are no longer plausible along the road are not measured; the vehicles count', async () => {
    const pointId = await addPoint(await addLocation());
    const radar = await addSensor();
    await pass(radar, 40, '08:00', { vehicleSpeed: 60 });
    await pass(radar, 40, '10:00', { vehicleSpeed: 126 });
    await assign(radar, pointId, { correctionAngle: 60 });
    expect(await flowOf({ pointId })).toMatchObject({ volume: 80, measured: 40, meanSpeed: 120 });
    expect(await study({ pointId })).toMatchObject({ n: 40, basis: 'EXACT', mean: 120, max: 120 });
  });

  it('of a device that measures whole mph are whole mph, however they were rounded', async () => {
    const pointId = await addPoint(await addLocation());
    const radar = await addSensor();
    // 30, 35 and 40 mph, as km/h with one decimal.
    for (const [vehicleSpeed, from] of [
      [48.3, '06:00'],
      [56.3, '08:00'],
      [64.4, '10:00'],
    ] as const)
      await pass(radar, 60, from, { vehicleSpeed });
    await assign(radar, pointId, { speedUnit: 'MPH' });
    const miles = { units: 'MPH', method: 'NEAREST_RANK' };
    const expected = { n: 180, mean: 35, v50: 35, v85: 40, max: 40 };
    expect(await study({ pointId }, miles)).toMatchObject({ ...expected, basis: 'EXACT' });
    await forget(radar);
    expect(await study({ pointId }, miles)).toMatchObject({ ...expected, basis: 'WHOLE_UNITS' });
  });
});

describe('over time', () => {
  it('an assignment ends and another one begins in the middle of an hour', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId);
    const [former, latter] = [await addSensor('RADAR', locationId), await addSensor('CAMERA')];
    await assign(former, pointId, { validUntil: `${DAY}T08:32:00Z` });
    await assign(latter, pointId, { validFrom: `${DAY}T08:32:00Z` });
    await pass(former, 120, '08:00');
    await pass(latter, 120, '08:00', { lane: 2 });
    expect((await flowOf({ pointId })).points.slice(8, 10)).toMatchObject([
      { volume: 60, status: 'VALID' },
      { volume: 60, status: 'VALID' },
    ]);
    // A time applies from the start of its slot of five minutes.
    expect(await countsOf({ locationId })).toMatchObject({
      volume: 120,
      cells: [
        { direction: 'NB', lane: 2, volume: 90 },
        { direction: 'NB', volume: 30 },
      ],
    });
    const { peakHour } = await flowOf({ pointId }, { interval: 'day' });
    expect(peakHour).toMatchObject({ volume: 60 });
  });

  it('what was not assigned counts before and after, and a point only while it is valid', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId, 'NB', { validUntil: `${DAY}T12:00:00Z` });
    const [radar, camera] = [await addSensor('RADAR', locationId), await addSensor('CAMERA')];
    await pass(radar, 24 * 60, '00:00', { direction: 'SB' });
    await pass(camera, 24 * 30, '08:00');
    await assign(camera, pointId, { validFrom: `${DAY}T10:00:00Z`, validUntil: `${DAY}T14:00:00Z` });
    const { points, volume } = await flowOf({ locationId });
    expect(points.map((point: { volume: number }) => point.volume)).toEqual(
      Array.from({ length: 24 }, () => 60),
    );
    expect(volume).toBe(24 * 60);
    expect((await countsOf({ locationId }, { by: ['direction'] })).cells).toEqual([
      { direction: 'NB', volume: 120 },
      { direction: 'SB', volume: 22 * 60 },
    ]);
    const alone = await flowOf({ pointId });
    expect(alone.volume).toBe(120);
    expect(alone.points[12]).toMatchObject({ volume: null, status: 'GAP' });
  });

  it('both changes of clocks have days of 23 and 25 hours', async () => {
    const settings = { token };
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'Europe/Vienna' }, settings);
    try {
      const pointId = await addPoint(await addLocation());
      const [former, latter] = [await addSensor(), await addSensor()];
      const days = [
        ['2026-03-29', 23],
        ['2025-10-26', 25],
      ] as const;
      for (const [day, hours] of days) {
        const noon = `${day}T12:00:00`;
        const start = new Date(at('12:00', day) - 14 * 3_600_000).toISOString();
        const one = await assign(former, pointId, { validFrom: start, validUntil: noon });
        const other = await assign(latter, pointId, { validFrom: noon, validUntil: `${day}T23:59:59.999` });
        const first = new Date(start);
        for (const sensor of [former, latter])
          await pass(
            sensor,
            28 * 60,
            first.toISOString().slice(11, 19),
            {},
            first.toISOString().slice(0, 10),
          );
        const { points, volume } = await ask('traffic.getFlow', {
          pointId,
          interval: '60min',
          startDate: day,
          endDate: day,
        });
        expect(points).toHaveLength(hours);
        // The last slot of five minutes is after the end.
        expect(volume).toBe(hours * 60 - 5);
        for (const id of [one, other]) await ask('assignments.delete', { id });
      }
    } finally {
      await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'UTC' }, settings);
    }
  });

  it('what a deleted sensor counted stays; a deleted point or assignment was never there', async () => {
    const locationId = await addLocation();
    const pointId = await addPoint(locationId);
    const [former, other] = [await addSensor(), await addSensor('CAMERA', locationId)];
    const id = await assign(former, pointId);
    await pass(former, 30, '08:00');
    await pass(other, 20, '08:00');
    const before = await flowOf({ pointId });
    expect(before.volume).toBe(30);
    await ask('sensors.delete', { id: former.id });
    expect(await flowOf({ pointId })).toEqual(before);
    expect(await volumeOf({ locationId })).toBe(30);
    await ask('assignments.delete', { id });
    expect(await volumeOf({ pointId })).toBeNull();
    expect(await volumeOf({ locationId })).toBe(20);
    await assign(other, pointId);
    expect(await volumeOf({ pointId })).toBe(20);
    await ask('points.delete', { id: pointId });
    expect((await gantry.refusal('traffic.getFlow', { pointId, ...RANGE }, { token })).status).toBe(404);
    expect(await volumeOf({ pointId: locationId })).toBe(20);
    const point = await addPoint(locationId);
    await ask('sensors.delete', { id: other.id });
    await ask('locations.delete', { id: locationId });
    expect((await gantry.refusal('traffic.getFlow', { pointId: point, ...RANGE }, { token })).status).toBe(
      404,
    );
  });
});

describe('counts.ingest', () => {
  it('refuses a direction that the assigned point has not, and stores the others', async () => {
    const locationId = await addLocation();
    const radar = await addSensor();
    const period = (time: string, direction?: string | number) => ({
      start: `${DAY}T${time}:00Z`,
      seconds: 900,
      volume: 10,
      ...(direction !== undefined && { direction }),
    });
    const send = async (...periods: object[]) =>
      (await gantry.ok('counts.ingest', { apiKey: radar.apiKey, periods })).results;
    const stored = { duplicate: false, replaced: false };
    expect(await send(period('06:00', 'SB'))).toEqual([stored]);
    const north = await addPoint(locationId, 'NB');
    await assign(radar, north, { validFrom: `${DAY}T08:00:00Z` });
    const results = await send(
      period('08:00', 'NB'),
      period('08:00', 'SB'),
      period('08:15', 200),
      period('08:15', 45),
      period('08:30'),
      period('08:45', 'APPROACHING'),
      period('07:00', 'SB'),
    );
    expect(results.map((result: { error?: { code: string } }) => result.error?.code ?? null)).toEqual([
      null,
      'BAD_REQUEST',
      'BAD_REQUEST',
      null,
      null,
      null,
      null,
    ]);
    expect(results[1].error.message).toMatch(/^direction: The sensor is assigned to a point NB/);
    await assign(radar, await addPoint(locationId, 'SB'), { channel: 'SB', validFrom: `${DAY}T08:00:00Z` });
    expect(await send(period('08:00', 'SB'))).toEqual([stored]);
    expect(await countsOf({ locationId }, { by: ['direction'] })).toMatchObject({
      cells: [
        { direction: 'NB', volume: 40 },
        { direction: 'SB', volume: 10 },
      ],
    });
  });
});

describe('what is entered for the past', () => {
  it('a move: both locations count what they saw, and events keep what they say', async () => {
    const [here, there] = [await addLocation(30), await addLocation(50)];
    const radar = await addSensor('RADAR', here);
    const other = await addSensor('RADAR', there);
    await pass(radar, 240, '08:00', { vehicleSpeed: 45 });
    await pass(other, 30, '08:00', { vehicleSpeed: 60 });
    expect((await flowOf({ locationId: here })).volume).toBe(240);
    const input = { id: radar.id, locationId: there, validFrom: `${DAY}T09:00:00Z` };
    const ended = { ...input, validUntil: `${DAY}T10:02:00Z` };
    expect((await ask('sensors.update', ended)).locationId).toBe(here);
    const atPlaces = async () => [
      (await flowOf({ locationId: here })).volume,
      (await flowOf({ locationId: there })).volume,
    ];
    expect(await atPlaces()).toEqual([180, 90]);
    expect((await flowOf({ sensorId: radar.id })).points[9]).toMatchObject({ shareOverLimit: 0 });
    expect((await flowOf({ sensorId: radar.id })).points[8]).toMatchObject({ shareOverLimit: 1 });
    expect(await same('traffic.getSpeedStudy', { locationId: there, ...RANGE })).toMatchObject({
      n: 90,
      basis: 'EXACT',
      mean: 50,
    });
    const top = await ask('traffic.getTopLocations', { ...RANGE, limit: 100 });
    const volumes = top.locations.flatMap((each: { locationId: string; volume: number }) =>
      [here, there].includes(each.locationId) ? [each.volume] : [],
    );
    expect(volumes).toEqual([180, 90]);
    const { rows } = await gantry.pool.query('SELECT DISTINCT location_id FROM events WHERE sensor_id = $1', [
      radar.id,
    ]);
    expect(rows).toEqual([{ location_id: here }]);
    expect((await ask('sensors.update', input)).locationId).toBe(there);
    expect(await atPlaces()).toEqual([60, 210]);
    // What arrives late was there, too.
    await pass(radar, 10, '20:00');
    expect(await atPlaces()).toEqual([60, 220]);
    await ask('sensors.update', { id: radar.id, locationId: here, validFrom: '2026-01-01' });
    expect(await atPlaces()).toEqual([250, 30]);
    const { activities } = await ask('users.getActivityLog', { action: 'sensors.update', about: radar.id });
    expect(activities[2].details).toMatchObject({
      fields: ['locationId'],
      validFrom: ended.validFrom,
      validUntil: ended.validUntil,
    });
  });

  it('a move of a sensor that counts intervals, and one from no location', async () => {
    const [here, there] = [await addLocation(), await addLocation()];
    const [loop, lost] = [await addSensor('RADAR', here), await addSensor('RADAR')];
    const periods = Array.from({ length: 8 }, (_, n) => ({
      start: new Date(at('08:00') + n * 15 * MINUTE_MS).toISOString(),
      seconds: 900,
      volume: 10,
    }));
    await gantry.ok('counts.ingest', { apiKey: loop.apiKey, periods });
    await pass(lost, 30, '10:00');
    await ask('sensors.update', { id: loop.id, locationId: there, validFrom: `${DAY}T09:00:00Z` });
    await ask('sensors.update', { id: lost.id, locationId: here, validFrom: `${DAY}T10:00:00Z` });
    const hours = async (locationId: string) =>
      (await flowOf({ locationId })).points.slice(8, 11).map(({ volume }: { volume: number }) => volume);
    expect(await hours(there)).toEqual([null, 40, null]);
    expect(await hours(here)).toEqual([40, null, 30]);
  });

  it('a move elsewhere: other places stay as they were, also the interval that contains the time of the move', async () => {
    const [here, there] = [await addLocation(), await addLocation()];
    const [loop, other] = [await addSensor('RADAR', here), await addSensor('RADAR', there)];
    const periods = Array.from({ length: 8 }, (_, n) => ({
      start: new Date(at('08:00') + n * 15 * MINUTE_MS).toISOString(),
      seconds: 900,
      volume: 10,
    }));
    await gantry.ok('counts.ingest', { apiKey: loop.apiKey, periods });
    await pass(other, 10, '09:00');
    const figures = async () => [
      await flowOf({ locationId: here }),
      await countsOf({ locationId: here }),
      await same('traffic.getPeakHours', { locationId: here, ...RANGE }),
    ];
    const before = await figures();
    await ask('sensors.update', { id: other.id, locationId: null, validFrom: `${DAY}T08:07:00Z` });
    expect(await figures()).toEqual(before);
  });

  it('a limit: shares over it follow, before and after its time as well', async () => {
    const locationId = await addLocation(50);
    const radar = await addSensor('RADAR', locationId);
    await pass(radar, 240, '08:00', { vehicleSpeed: 45 });
    const shares = async () =>
      (await flowOf({ locationId })).points
        .slice(8, 12)
        .map(({ shareOverLimit }: { shareOverLimit: number }) => shareOverLimit);
    expect(await shares()).toEqual([0, 0, 0, 0]);
    const past = { id: locationId, speedLimit: 30, validFrom: `${DAY}T09:00:00Z` };
    const changed = await ask('locations.update', { ...past, validUntil: `${DAY}T10:00:00Z` });
    expect(changed.speedLimit).toBe(50);
    expect(await shares()).toEqual([0, 1, 0, 0]);
    await ask('locations.update', {
      ...past,
      speedLimit: 40,
      validFrom: `${DAY}T09:30:00Z`,
      validUntil: `${DAY}T11:00:00Z`,
    });
    expect(await shares()).toEqual([0, 1, 1, 0]);
    expect((await ask('locations.update', { ...past, speedLimit: 45 })).speedLimit).toBe(45);
    expect(await shares()).toEqual([0, 0, 0, 0]);
    await ask('locations.update', { id: locationId, speedLimit: null, validFrom: '2026-01-01' });
    expect(await shares()).toEqual([null, null, null, null]);
    const study = await ask('traffic.getSpeedStudy', { locationId, ...RANGE });
    expect(study.limit).toBeNull();
  });

  it.each([
    ['validFrom', { validFrom: '2026-03-01' }],
    ['validFrom', { locationId: null, validUntil: '2026-03-01' }],
    ['validFrom', { locationId: null, validFrom: '2200-01-01' }],
    ['validUntil', { locationId: null, validFrom: '2026-03-01', validUntil: '2200-01-01' }],
    ['validUntil', { locationId: null, validFrom: '2026-03-02', validUntil: '2026-03-02' }],
    ['validFrom', { locationId: null, validFrom: 'then' }],
    ['locationId', { locationId: randomUUID(), validFrom: '2026-03-01', validUntil: '2026-03-02' }],
  ])('is refused for a bad %s: %j', async (field, fields) => {
    const { id } = await addSensor();
    const { status, data } = await gantry.refusal('sensors.update', { id, ...fields }, { token });
    expect([status, data.issues?.[0]?.path]).toEqual([400, field]);
  });
});

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { densityOf, spaceMeanSpeed } from '../src/traffic/density.ts';
import { figuresOf, headwaysByLane } from '../src/traffic/headways.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const admin = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token: admin });

const DAY = '2026-03-10';
const RANGE = { startDate: DAY, endDate: DAY };
const at = (time: string): number => Date.parse(`${DAY}T${time}Z`);

const register = async (type = 'RADAR') => {
  const { id: locationId } = await ask('locations.create', { name: randomUUID() });
  const sensor = { name: type, deviceId: randomUUID(), type, locationId };
  const { id: sensorId, apiKey } = await ask('sensors.create', sensor);
  return { locationId, sensorId, apiKey };
};

interface Passed {
  readonly at: number;
  readonly lane?: number;
  readonly direction?: string;
  readonly headway?: number;
  readonly speed?: number;
  readonly occupancyMs?: number;
  readonly vehicleType?: string;
}

const send = async (apiKey: string, passages: readonly Passed[], observed?: object): Promise<void> => {
  const events = passages.map(({ at: time, speed, ...passage }) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: new Date(time).toISOString(),
    ...(speed !== undefined && { vehicleSpeed: speed }),
    ...passage,
  }));
  expect(
    await gantry.ok('events.ingestBatch', { apiKey, events, ...(observed && { observed }) }),
  ).toMatchObject({
    success: true,
  });
};

describe('headways', () => {
  const vehicle = (time: number, of: object = {}) => ({
    ...{ sensorId: 'a', direction: '', lane: '1', at: time, headway: null, isRejected: false },
    ...of,
  });
  const secondsOf = (vehicles: Parameters<typeof headwaysByLane>[0]) =>
    headwaysByLane(vehicles).map(({ headways }) => headways.map(({ seconds }) => seconds));

  it('are the times between the vehicles of a lane, in whatever order they are read', () => {
    expect(secondsOf([vehicle(5_500), vehicle(0), vehicle(2_000), vehicle(3_000, { lane: '2' })])).toEqual([
      [2, 3.5],
      [],
    ]);
  });

  it('are those of each sensor and direction', () => {
    const others = [vehicle(1_000, { sensorId: 'b' }), vehicle(2_000, { direction: 'NB' })];
    expect(secondsOf([vehicle(0), ...others]).flat()).toEqual([]);
  });

  it('are those that a sensor reports, to 0.01 s', () => {
    const [lane] = headwaysByLane([vehicle(0, { headway: Math.fround(1.87) }), vehicle(60_000)]);
    expect(lane?.headways).toEqual([
      { at: 0, seconds: 1.87, isDerived: false },
      { at: 60_000, seconds: 60, isDerived: true },
    ]);
  });

  it('are not derived over more than 20 minutes, nor beside a vehicle that is rejected', () => {
    const minutes = (n: number) => n * 60_000;
    expect(secondsOf([vehicle(0), vehicle(minutes(20))])).toEqual([[1_200]]);
    expect(secondsOf([vehicle(0), vehicle(minutes(20) + 1)])).toEqual([[]]);
    expect(
      secondsOf([vehicle(0), vehicle(1_000, { isRejected: true }), vehicle(2_000), vehicle(3_000)]),
    ).toEqual([[1]]);
  });

  it('have a mean, a median, and the shares under 2 s and 4 s', () => {
    const seconds = [1, 1.99, 2, 3.99, 4, 5.02];
    const headways = seconds.map((each) => ({ at: 0, seconds: each, isDerived: true }));
    expect(figuresOf(headways, true)).toEqual({
      ...{ n: 6, derived: 6, mean: 3, median: 3, shareUnder2: 0.3333, shareUnder4: 0.6667 },
      ...{ status: 'VALID', reason: null },
    });
    expect(figuresOf(headways.slice(0, 3), false)).toMatchObject({ median: 2, status: 'PROVISIONAL' });
    expect(figuresOf([], true)).toMatchObject({
      n: 0,
      mean: null,
      shareUnder2: null,
      status: 'INSUFFICIENT',
    });
  });
});

describe('the headways of a place', async () => {
  const { locationId, sensorId, apiKey } = await register();
  beforeAll(async () => {
    const lane = (n: number, every: number, count: number, of: object = {}) =>
      Array.from({ length: count }, (_, i) => ({
        at: at('08:00') + i * every,
        lane: n,
        direction: 'NB',
        ...of,
      }));
    await send(apiKey, [
      ...lane(1, 3_000, 41),
      ...lane(2, 1_500, 21, { headway: 1.5 }),
      // A bicycle between two cars is no vehicle ahead.
      { at: at('08:00') + 1_000, lane: 1, direction: 'NB', vehicleType: 'bicycle' },
      { at: at('17:00'), lane: 1, direction: 'NB' },
    ]);
  });
  const asked = (input: object) => ask('traffic.getHeadways', { ...RANGE, ...input });

  it('are those of its lanes, before and after the roll-up', async () => {
    const found = await asked({ locationId });
    expect(found).toMatchObject({
      vehicles: 63,
      n: 61,
      derived: 40,
      mean: 2.5,
      status: 'VALID',
      reason: null,
    });
    expect(found.lanes).toMatchObject([
      {
        sensorId,
        direction: 'NB',
        lane: 1,
        n: 40,
        derived: 40,
        mean: 3,
        median: 3,
        shareUnder2: 0,
        shareUnder4: 1,
      },
      { sensorId, direction: 'NB', lane: 2, n: 21, derived: 0, mean: 1.5, median: 1.5, shareUnder2: 1 },
    ]);
    await rollUpAllTraffic(gantry, 50);
    expect(await asked({ locationId })).toEqual(found);
    expect(await asked({ sensorId })).toMatchObject({ n: 61 });
  });

  it('are those of the hours and days that are asked for', async () => {
    expect(await asked({ locationId, hours: ['17:00-18:00'] })).toMatchObject({ vehicles: 1, n: 0 });
    expect(await asked({ locationId, hours: ['08:00-08:15'] })).toMatchObject({ vehicles: 62, n: 61 });
    expect(await asked({ locationId, days: [0] })).toMatchObject({ vehicles: 0, status: 'INSUFFICIENT' });
    expect(await asked({ locationId, startDate: `${DAY}T08:01:00Z` })).toMatchObject({ n: 21 });
  });

  it('are those of the lane to which a sensor is assigned', async () => {
    const { id: pointId } = await ask('points.create', { locationId, name: 'North', direction: 'NB' });
    await ask('assignments.create', { pointId, sensorId, channel: { lane: 2 }, lane: 5 });
    const found = await asked({ pointId });
    expect(found.lanes).toMatchObject([{ direction: 'NB', lane: 5, n: 21 }]);
    expect(await asked({ locationId })).toMatchObject({ n: 21, lanes: [{ lane: 5 }] });
  });

  it('leave out what a person rejects', async () => {
    const other = await register();
    await send(
      other.apiKey,
      [0, 2, 302, 304, 602, 605].map((s) => ({ at: at('08:00') + s * 1_000, lane: 1 })),
    );
    const place = { locationId: other.locationId };
    expect(await asked(place)).toMatchObject({ n: 5 });
    await ask('traffic.reviewData', {
      ...place,
      ...{ startDate: `${DAY}T08:05:00Z`, endDate: `${DAY}T08:09:59Z` },
      ...{ decision: 'REJECT', reason: 'Test drive' },
    });
    expect(await asked(place)).toMatchObject({ vehicles: 4, n: 2, mean: 2.5 });
  });

  it('are those of all lanes together where sensors do not report lanes, and of none where they count intervals', async () => {
    const [camera, loop] = [await register('CAMERA'), await register('EDGE_CONTROLLER')];
    await send(camera.apiKey, [{ at: at('08:00') }, { at: at('08:00') + 1_000 }]);
    const { lanes, ...whole } = await asked({ locationId: camera.locationId });
    expect(whole).toMatchObject({ n: 1, reason: expect.stringContaining('all lanes together') });
    expect(lanes).toHaveLength(1);
    expect(lanes[0]).not.toHaveProperty('lane');
    const periods = [{ start: `${DAY}T08:00:00Z`, seconds: 900, volume: 20 }];
    await gantry.ok('counts.ingest', { apiKey: loop.apiKey, periods });
    expect(await asked({ locationId: loop.locationId })).toMatchObject({
      ...{ vehicles: 20, n: 0, mean: null, status: 'INSUFFICIENT', lanes: [] },
      reason: expect.stringContaining('single vehicles'),
    });
  });
});

describe('density', () => {
  const speeds = new Map([
    [40, 100],
    [80, 100],
  ]);
  const known = { volume: 1_000, hours: 0.5, speeds, below: 0, occupancy: null, lanes: 2 };

  it('is flow divided by the space mean speed, which is harmonic', () => {
    expect(spaceMeanSpeed(speeds, 0)).toBeCloseTo(53.333, 3);
    expect(densityOf(known, { units: 'KMH' })).toEqual({
      ...{ flow: 2_000, measured: 200, spaceMeanSpeed: 53.3, occupancy: null, density: 18.8 },
      ...{ basis: 'SPEEDS', reason: null },
    });
    // 1,000 vehicles per hour and lane at 33.14 mph.
    expect(densityOf(known, { units: 'MPH' })).toMatchObject({ spaceMeanSpeed: 33.1, density: 30.2 });
  });

  it('is occupancy divided by the length of the field where no vehicle has a speed', () => {
    const slow = { ...known, speeds: new Map(), occupancy: 20, lanes: 1 };
    expect(densityOf(slow, { units: 'KMH', fieldLength: 6.7 })).toMatchObject({
      density: 29.9,
      basis: 'OCCUPANCY',
    });
    expect(densityOf(slow, { units: 'MPH', fieldLength: 6.7 })).toMatchObject({ density: 48 });
    expect(densityOf(slow, { units: 'KMH' })).toMatchObject({
      density: null,
      reason: expect.stringContaining('fieldLength'),
    });
    expect(densityOf({ ...slow, occupancy: null }, { units: 'KMH', fieldLength: 6.7 })).toMatchObject({
      ...{ density: null, reason: 'No vehicle has a speed, and no occupancy is known' },
    });
  });

  it('needs to know how many lanes there are, and what passed', () => {
    expect(densityOf({ ...known, lanes: null }, { units: 'KMH' })).toMatchObject({
      ...{ density: null, reason: expect.stringContaining('measuring point') },
    });
    const nothing = { ...known, volume: null, hours: 0, speeds: new Map() };
    expect(densityOf(nothing, { units: 'KMH' })).toMatchObject({ flow: null, density: null });
    expect(densityOf({ ...nothing, volume: 0, hours: 1 }, { units: 'KMH' })).toMatchObject({
      flow: 0,
      density: 0,
    });
  });
});

describe('the density at a place', () => {
  const asked = (input: object) => ask('traffic.getDensity', { ...RANGE, ...input });
  const quarter = (bins: { start: string }[], time: string) =>
    bins.find(({ start }) => start === new Date(at(time)).toISOString());

  it('is that of each lane and of the whole place', async () => {
    const { locationId, apiKey } = await register();
    const lane = (n: number, speed: number) =>
      Array.from({ length: 100 }, (_, i) => ({
        at: at('08:00') + i * 9_000,
        lane: n,
        direction: 'NB',
        speed,
      }));
    const observed = { from: `${DAY}T06:50:00Z`, until: `${DAY}T11:05:00Z` };
    const others = ['06:50', '11:00'].map((time) => ({ at: at(time), lane: 1, direction: 'NB' }));
    await send(apiKey, [...lane(1, 40), ...lane(2, 80), ...others], observed);
    const { bins, lanes, units } = await asked({ locationId });
    expect({ lanes, units }).toEqual({ lanes: 2, units: 'KMH' });
    const found = quarter(bins, '08:00');
    expect(found).toMatchObject({
      ...{ status: 'VALID', volume: 200, flow: 800, measured: 200, spaceMeanSpeed: 53.3, density: 7.5 },
      byLane: [
        { direction: 'NB', lane: 1, flow: 400, spaceMeanSpeed: 40, density: 10 },
        { direction: 'NB', lane: 2, flow: 400, spaceMeanSpeed: 80, density: 5 },
      ],
    });
    expect(quarter(bins, '07:00')).toMatchObject({ flow: 0, density: 0, byLane: [] });
    expect(quarter(bins, '12:00')).toMatchObject({ flow: null, density: null });
    await rollUpAllTraffic(gantry, 50);
    expect((await asked({ locationId })).bins).toEqual(bins);
  });

  it('follows from the occupancy that detectors report, of intervals and of vehicles', async () => {
    const [loop, single] = [await register('EDGE_CONTROLLER'), await register('EDGE_CONTROLLER')];
    const periods = [1, 2].flatMap((lane) =>
      Array.from({ length: 30 }, (_, n) => ({
        start: new Date(at('08:00') + n * 30_000).toISOString(),
        ...{ seconds: 30, lane, volume: 10, occupancy: n < 15 ? 10 * lane : 20 * lane },
      })),
    );
    await gantry.ok('counts.ingest', { apiKey: loop.apiKey, periods });
    const place = { locationId: loop.locationId };
    const { bins } = await asked({ ...place, fieldLength: 6 });
    expect(quarter(bins, '08:00')).toMatchObject({
      ...{ volume: 600, occupancy: 22.5, density: 37.5, basis: 'OCCUPANCY' },
      byLane: [
        { lane: 1, occupancy: 15, density: 25 },
        { lane: 2, occupancy: 30, density: 50 },
      ],
    });
    expect(quarter((await asked(place)).bins, '08:00')).toMatchObject({ occupancy: null, density: null });
    const passing = Array.from({ length: 90 }, (_, i) => ({
      at: at('08:00') + i * 10_000,
      lane: 1,
      occupancyMs: 500,
    }));
    const observed = { from: `${DAY}T08:00:00Z`, until: `${DAY}T08:15:00Z` };
    await send(single.apiKey, passing, observed);
    const { bins: others } = await asked({ locationId: single.locationId, fieldLength: 5 });
    expect(quarter(others, '08:00')).toMatchObject({ occupancy: 5, density: 10, basis: 'OCCUPANCY' });
  });

  it('has the lanes of the measuring point where vehicles have none, and the units of the place', async () => {
    const { locationId, sensorId, apiKey } = await register();
    const passing = Array.from({ length: 90 }, (_, i) => ({ at: at('08:00') + i * 10_000, speed: 80.4672 }));
    await send(apiKey, passing, { from: `${DAY}T08:00:00Z`, until: `${DAY}T08:15:00Z` });
    expect(quarter((await asked({ locationId })).bins, '08:00')).toMatchObject({
      ...{ flow: 360, density: null, reason: expect.stringContaining('lanes') },
    });
    const { id: pointId } = await ask('points.create', { locationId, name: 'Ring', lanes: 3 });
    await ask('assignments.create', { pointId, sensorId });
    await ask('locations.update', { id: locationId, speedUnits: 'MPH' });
    const { bins, lanes, units } = await asked({ pointId });
    expect({ lanes, units }).toEqual({ lanes: 3, units: 'MPH' });
    expect(quarter(bins, '08:00')).toMatchObject({ spaceMeanSpeed: 50, density: 2.4 });
  });
});

describe('the schemes of classes', () => {
  it('are those by which vehicles are counted', async () => {
    const { schemes } = await ask('classSchemes.get', {});
    const names = schemes.map(({ scheme }: { scheme: string }) => scheme);
    expect(names).toEqual(['BASIC', 'FHWA13', 'TLS8+1', 'LIGHT_HEAVY', 'LENGTH']);
    const [basic, fhwa] = schemes;
    const heavy = ({ isHeavy }: { isHeavy: boolean }) => isHeavy;
    expect(basic.classes.filter(heavy).map(({ code }: { code: string }) => code)).toEqual(['BUS', 'TRUCK']);
    expect(fhwa.classes.filter(heavy).map(({ code }: { code: string }) => code)).toEqual([
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
      '11',
      '12',
      '13',
    ]);
    expect(
      await gantry.ok('classSchemes.get', undefined, { token: await gantry.tokenFor('VIEWER') }),
    ).toEqual({
      schemes,
    });
  });
});

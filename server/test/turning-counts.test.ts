import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { CITY_DAY, CITY_ZONE, sendCityCounts, sendCityVehicles } from './city-count.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// How a turning movement count is computed is tested in turning-movements.test.ts.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('VIEWER');
const admin = await gantry.tokenFor('ADMIN');
const ask = (input: object) =>
  gantry.ok('traffic.getTurningMovements', { startDate: CITY_DAY, endDate: CITY_DAY, ...input }, { token });
const addIntersection = async () => {
  const { id: locationId } = await gantry.ok('locations.create', { name: randomUUID() }, { token: admin });
  const sensor = { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', locationId };
  const { id: sensorId, apiKey } = await gantry.ok('sensors.create', sensor, { token: admin });
  return { locationId, sensorId, apiKey };
};

describe('the turning movement count of a city', async () => {
  const [byQuarter, byVehicle, byFile] = [
    await addIntersection(),
    await addIntersection(),
    await addIntersection(),
  ];
  beforeAll(async () => {
    // The times of the file are in its own zone, whatever that of the service is.
    const text = readFileSync(new URL('data/turning-movements.csv', import.meta.url), 'utf8');
    const file = { sensorId: byFile.sensorId, text, timeZone: CITY_ZONE };
    expect(await gantry.ok('counts.import', file, { token: admin })).toMatchObject({ errorCount: 0 });
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: CITY_ZONE }, { token: admin });
    await sendCityCounts(gantry, byQuarter.apiKey);
    await sendCityVehicles(gantry, byVehicle.apiKey);
    await rollUpAllTraffic(gantry, 1_000);
  }, 120_000);

  it('has the same figures as counts of quarter hours, as single vehicles and from the file of the city', async () => {
    const [counted, seen, read] = [byQuarter, byVehicle, byFile].map(({ locationId }) => ask({ locationId }));
    expect(await counted).toEqual(await seen);
    expect(await read).toEqual(await counted);
  });

  it.each([
    ['AM', 'S: L 15, T 10, R 8; W: L 7, T 370, R 17; E: L 54, T 794, R 124', { W: 0.856, E: 0.919 }],
    ['PM', 'S: L 8, T 24, R 55; W: L 10, T 922, R 11; E: L 22, T 417, R 86', {}],
  ])('has the printed movements in the peak of %s', async (name, printed, factors) => {
    const { peaks } = await ask({ locationId: byFile.locationId });
    const { movements } = peaks.find(({ window }: { window: string }) => window === name);
    const volumeOf = (leg: string, turn: string) =>
      movements.find((each: { from: string; turn: string }) => each.from === leg && each.turn === turn);
    // The city prints what comes from the south as northbound, and so on.
    const found = ['S', 'W', 'E'].map(
      (leg) => `${leg}: ${['L', 'T', 'R'].map((turn) => `${turn} ${volumeOf(leg, turn).volume}`).join(', ')}`,
    );
    expect(found.join('; ')).toBe(printed);
    for (const [leg, factor] of Object.entries(factors))
      expect(Math.abs(volumeOf(leg, 'T').peakHourFactor - factor)).toBeLessThan(0.001);
    if (name === 'AM') expect(volumeOf('S', 'R').peakHourFactor).toBeCloseTo(0.667, 3);
  });

  it('has the printed peaks, with movements, exits, pedestrians and bicycles', async () => {
    const { timezone, bins, total, peaks } = await ask({ locationId: byQuarter.locationId });
    expect({ timezone, bins: bins.length }).toEqual({ timezone: CITY_ZONE, bins: 96 });
    expect(bins[0]).toMatchObject({ status: 'GAP', volume: null, movements: [] });
    expect(bins[30]).toMatchObject({ status: 'VALID', coverage: 1 });
    expect(total.volume).toBe(
      bins.reduce((sum: number, { volume }: { volume: number | null }) => sum + (volume ?? 0), 0),
    );
    const [am, pm] = ['AM', 'PM'].map((name) =>
      peaks.find(({ window }: { window: string }) => window === name),
    );
    expect(am).toMatchObject({
      date: CITY_DAY,
      start: `${CITY_DAY}T13:00:00.000Z`,
      volume: 1_399,
      peakHourFactor: 0.8657,
      pedestrians: 310,
      bicycles: 141,
    });
    expect(am.exits).toEqual([
      { leg: 'N', volume: 141 },
      { leg: 'E', volume: 378 },
      { leg: 'S', volume: 71 },
      { leg: 'W', volume: 809 },
    ]);
    const through = am.movements.find(
      ({ from, turn }: { from: string; turn: string }) => from === 'W' && turn === 'T',
    );
    // The city prints what comes from the west as eastbound.
    expect(through).toMatchObject({ volume: 370, peakHourFactor: 0.8565 });
    expect(pm).toMatchObject({ start: `${CITY_DAY}T21:45:00.000Z`, volume: 1_555 });
    expect(pm.peakHourFactor).toBeCloseTo(0.974, 3);
  });

  it('can be listed by the hour, with the same totals', async () => {
    const { locationId } = byQuarter;
    const [quarters, hours] = [await ask({ locationId }), await ask({ locationId, interval: '60min' })];
    expect(hours.bins).toHaveLength(24);
    expect(hours.bins[8]).toMatchObject({
      start: `${CITY_DAY}T13:00:00.000Z`,
      volume: 1_399,
      status: 'VALID',
    });
    expect(hours.bins[9]).toMatchObject({ status: 'PARTIAL', coverage: 0.5 });
    expect(hours.total).toEqual(quarters.total);
    expect(hours.peaks).toEqual(quarters.peaks);
  });

  it('needs one place and a range of at most 104 days', async () => {
    const refused = async (input: object) =>
      (await gantry.call('traffic.getTurningMovements', input, { token })).body.error.json.message;
    const { locationId } = byQuarter;
    expect(await refused({ startDate: CITY_DAY, endDate: CITY_DAY })).toContain('Give either');
    expect(await refused({ locationId, startDate: '2018-01-01', endDate: '2018-12-31' })).toContain(
      'at most 104 days',
    );
  });
});

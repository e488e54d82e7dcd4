import { describe, expect, it } from 'vitest';
import { sumsBySpelling } from '../src/platform/case-fold.ts';
import { atOnce } from '../src/reports/analytics/series.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const setZone = (timezone: string) => ask('system.timezone.updateTimezoneSettings', { timezone });
const report = (timestamp: string, more: object = {}) =>
  gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', timestamp, ...more });

interface Point {
  start: string;
  total: number;
  violations: number;
}

describe('analytics in a time zone whose hours do not begin with those of UTC', () => {
  it.each([
    ['Asia/Kolkata', '+05:30'],
    ['Asia/Kathmandu', '+05:45'],
    ['Australia/Eucla', '+08:45'],
  ])('counts events of %s in their local hours and days', async (zone, offset) => {
    await setZone(zone);
    const year = 2005 + zone.length;
    const day = `${year}-03-10`;
    await report(`${day}T00:05:00${offset}`, { eventType: 'TRAFFIC_VIOLATION' });
    await report(`${day}T00:50:00${offset}`);
    await report(`${year}-03-09T23:55:00${offset}`);
    const range = { startDate: `${year}-03-09`, endDate: day };
    const hours: Point[] = (await ask('reports.getAnalytics', { ...range, interval: 'hour' })).series;
    const counted = hours.filter(({ total }) => total > 0).map(({ start, total }) => [start, total]);
    expect(counted).toEqual([
      [new Date(`${year}-03-09T23:00:00${offset}`).toISOString(), 1],
      [new Date(`${day}T00:00:00${offset}`).toISOString(), 2],
    ]);
    const said = await ask('reports.getAnalytics', { ...range, interval: 'day' });
    expect(said.series.map(({ total, violations }: Point) => [total, violations])).toEqual([
      [1, 0],
      [2, 1],
    ]);
    const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
    expect(said.hourOfWeek[weekday].hours[0]).toBe(2);
    expect(said.hourOfWeek[(weekday + 6) % 7].hours[23]).toBe(1);
  });
});

describe('the hours that do not begin with those of UTC', () => {
  const hoursOf = (totals: readonly number[]) =>
    totals.map((total, hour) => ({ row: { hour, total, violations: 0 }, before: { from: 0, until: 1 } }));
  const totalsOf = (totals: readonly number[]) =>
    atOnce(hoursOf(totals)).map((some) => some.map(({ row }) => row.total));

  it('are counted in statements for at most 300,000 events, or a single hour', () => {
    expect(totalsOf([])).toEqual([]);
    expect(totalsOf([100_000, 150_000, 50_000, 1_000, 299_000, 400_000, 5])).toEqual([
      [100_000, 150_000, 50_000],
      [1_000, 299_000],
      [400_000],
      [5],
    ]);
  });

  it('are counted in statements for at most 750 hours', () => {
    expect(totalsOf(Array(1_600).fill(2)).map((some) => some.length)).toEqual([750, 750, 100]);
  });
});

describe('analytics with an end only', () => {
  it('begin 30 local days before it, also across a change of clocks', async () => {
    await setZone('Europe/Vienna');
    const rangeOf = async (endDate: string) => {
      const { start, end, series } = await ask('reports.getAnalytics', { endDate });
      return { start, end, days: series.length };
    };
    expect(await rangeOf('2026-04-10')).toEqual({
      start: '2026-03-11T23:00:00.000Z',
      end: '2026-04-10T22:00:00.000Z',
      days: 30,
    });
    expect(await rangeOf('2026-04-10T23:59:59.999+02:00')).toEqual(await rangeOf('2026-04-10'));
  });
});

describe('types that differ only in case', () => {
  it('are counted as one, under the most frequent spelling, as filters treat them', async () => {
    await setZone('UTC');
    const spellings = ['CAR', 'car', 'car', 'Bus', 'BUS', 'Truck'];
    for (const [n, vehicleType] of spellings.entries())
      await report(`2024-05-05T10:00:0${n}Z`, {
        eventType: 'SPEED_DETECTION',
        vehicleType,
        violationType: vehicleType === 'CAR' ? 'red_light' : 'RED_LIGHT',
      });
    const range = { startDate: '2024-05-05', endDate: '2024-05-05' };
    const said = await ask('reports.getAnalytics', range);
    expect(said.byVehicleType).toEqual([
      { vehicleType: 'car', count: 3 },
      { vehicleType: 'BUS', count: 2 },
      { vehicleType: 'Truck', count: 1 },
    ]);
    const byViolationType = [{ violationType: 'RED_LIGHT', count: 6 }];
    expect(said.byViolationType).toEqual(byViolationType);
    expect((await ask('events.getStats', range)).byViolationType).toEqual(byViolationType);
    expect((await ask('events.getAll', { ...range, vehicleType: 'cAR' })).total).toBe(3);
    const [sensor] = (await ask('sensors.getAllSensors', {})) as { id: string }[];
    const flow = await ask('traffic.getFlow', { sensorId: sensor?.id, ...range });
    expect(flow.byVehicleType).toEqual([
      { vehicleType: 'car', volume: 3 },
      { vehicleType: 'BUS', volume: 2 },
      { vehicleType: 'Truck', volume: 1 },
    ]);
  });

  it('are added up in any order', () => {
    expect(
      sumsBySpelling([
        ['b', 2],
        ['A', 1],
        ['a', 1],
        ['B', 1],
        ['', 4],
      ]),
    ).toEqual([
      ['', 4],
      ['b', 3],
      ['A', 2],
    ]);
  });
});

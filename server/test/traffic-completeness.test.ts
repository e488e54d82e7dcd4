import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldAllTraffic } from './fold-all-traffic.ts';
import { type Gantry, startGantry } from './harness.ts';

let gantry: Gantry;
let token: string;
let sensorId: string;
beforeAll(async () => {
  gantry = await startGantry();
  token = await gantry.tokenFor('ADMIN');
  const fields = { name: 'Mast', deviceId: 'mast', type: 'RADAR' };
  const sensor = await gantry.ok('sensors.create', fields, { token });
  sensorId = sensor.id;
  const events = [
    { eventType: 'INCIDENT', timestamp: '2026-03-10T18:36:00Z' },
    { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-10T18:41:00Z' },
    { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-10T19:12:00Z' },
  ];
  await gantry.ok('events.ingestBatch', { apiKey: sensor.apiKey, events });
  await foldAllTraffic(gantry, 100);
});
afterAll(() => gantry?.stop());

const ask = (procedure: string, input: object) => gantry.ok(procedure, { sensorId, ...input }, { token });

it('a range that begins and ends within an hour in UTC is as complete as the sensor saw it', async () => {
  const range = { startDate: '2026-03-10T18:30:00Z', endDate: '2026-03-10T19:14:59.999Z' };
  const { points, completeness } = await ask('traffic.getFlow', { ...range, interval: '5min' });
  const known = points.filter((point: { completeness: number }) => point.completeness === 1);
  expect(known).toMatchObject([
    { start: '2026-03-10T18:35:00.000Z', volume: 0 },
    { start: '2026-03-10T18:40:00.000Z', volume: 1 },
    { start: '2026-03-10T19:10:00.000Z', volume: 1 },
  ]);
  expect(completeness).toBeCloseTo(3 / 9, 3);
  expect((await ask('traffic.getSpeedDistribution', range)).completeness).toBeCloseTo(3 / 9, 3);
});

it('the first hour of a day is as complete as the others in a time zone with half hours', async () => {
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Kolkata' }, { token });
  const day = { startDate: '2026-03-11', endDate: '2026-03-11' };
  const { points } = await ask('traffic.getFlow', { ...day, interval: '60min' });
  expect(points[0]).toMatchObject({ volume: 2, completeness: 0.25 });
});

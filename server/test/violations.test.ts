import { eventType } from '@gantry/contract/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isViolation } from '../src/events/severity.ts';
import { eventually, sharedGantry } from './harness.ts';
import { readCsv } from './report-reading.ts';
import { startReceiver } from './webhook-receiver.ts';

const DAY = '2026-03-10';
const EVENTS = eventType.options.flatMap((type, n) => [
  { eventType: type, timestamp: `${DAY}T10:0${n}:00Z`, description: `${type} alone` },
  {
    eventType: type,
    timestamp: `${DAY}T11:0${n}:00Z`,
    description: `${type} speeding`,
    violationType: 'SPEEDING',
  },
  { eventType: type, timestamp: `${DAY}T12:0${n}:00Z`, description: `${type} blank`, violationType: ' ' },
]);
/** Events of two types are always violations; events of the other four types are, if they have a violation type. */
const EXPECTED = EVENTS.filter(
  (event) => event.violationType === 'SPEEDING' || event.eventType.endsWith('_VIOLATION'),
).map(({ description }) => description);

const receiver = await startReceiver();
const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: `localhost, ${receiver.host}` } });
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();
beforeAll(async () => {
  await ask('webhooks.create', { url: receiver.url, kinds: ['event.violation'] });
  await gantry.ok('events.ingestBatch', { apiKey, events: EVENTS });
});
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
});

const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const readReport = async (kind: string) => {
  const { id } = await ask('reports.generate', { kind, format: 'CSV', startDate: DAY, endDate: DAY });
  const report = await eventually(
    () => ask('reports.getById', { id }),
    ({ status }) => !['QUEUED', 'RUNNING'].includes(status),
    60_000,
  );
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${gantry.url}${report.url}`, { headers });
  return readCsv(new Uint8Array(await response.arrayBuffer())).records;
};

describe('a violation', () => {
  it('is an event with a violation type, or of a type that is always a violation', () => {
    expect(isViolation('SEATBELT_VIOLATION', null)).toBe(true);
    expect(isViolation('TRAFFIC_VIOLATION', '')).toBe(true);
    expect(isViolation('SPEED_DETECTION', 'SPEEDING')).toBe(true);
    expect(isViolation('SPEED_DETECTION', '')).toBe(false);
    expect(isViolation('INCIDENT', null)).toBe(false);
  });

  it('is the same in analytics, the daily summary, the report of violations and webhooks', async () => {
    expect(EXPECTED).toHaveLength(10);
    const said = await ask('reports.getAnalytics', { startDate: DAY, endDate: DAY });
    const points: { violations: number }[] = said.series;
    const [summary] = await readReport('DAILY_SUMMARY');
    const listed = await readReport('VIOLATIONS');
    await eventually(
      async () => receiver.received.length,
      (count) => count >= EXPECTED.length,
    );
    const sent = receiver.received.map(({ body }) => JSON.parse(body));
    expect({
      analytics: said.totals.violations.value,
      series: points.reduce((sum, { violations }) => sum + violations, 0),
      summary: Number(summary?.['All violations']),
      report: listed.map(({ Description }) => Description).sort(),
      webhook: sent.map(({ data }) => data.description).sort(),
    }).toEqual({
      analytics: EXPECTED.length,
      series: EXPECTED.length,
      summary: EXPECTED.length,
      report: [...EXPECTED].sort(),
      webhook: [...EXPECTED].sort(),
    });
  });

  it('is the same in a time zone whose hours do not begin with those of UTC', async () => {
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Kolkata' });
    const { series } = await ask('reports.getAnalytics', { startDate: DAY, endDate: DAY, interval: 'hour' });
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'UTC' });
    const points: { violations: number }[] = series;
    expect(points.reduce((sum, { violations }) => sum + violations, 0)).toBe(EXPECTED.length);
  });

  it('is counted where retention removed no possible violations, and is a gap elsewhere', async () => {
    const events = [
      { eventType: 'TRAFFIC_VIOLATION', timestamp: '2026-02-10T10:00:00Z' },
      { eventType: 'VEHICLE_DETECTION', timestamp: '2026-02-10T10:01:00Z' },
    ];
    await gantry.ok('events.ingestBatch', { apiKey, events });
    await eventually(
      async () => (await gantry.pool.query('SELECT FROM event_totals_unfolded')).rowCount,
      (count) => count === 0,
    );
    await ask('storage.setRetention', { events: { default: null, byType: { VEHICLE_DETECTION: 90 } } });
    const { id } = await ask('storage.runRetention', {});
    await eventually(
      async () =>
        (await ask('storage.getRetentionRuns', {})).runs.find((run: { id: string }) => run.id === id),
      (run) => run.status !== 'RUNNING',
      60_000,
    );
    const range = { startDate: '2026-02-10', endDate: DAY, interval: 'day' };
    const { series } = await ask('reports.getAnalytics', range);
    const points: { total: number | null; violations: number | null }[] = series;
    expect([points.at(0), points.at(-1)]).toMatchObject([
      { total: null, violations: 1 },
      { total: null, violations: null },
    ]);
    const [summary] = await readReport('DAILY_SUMMARY');
    expect(summary).toMatchObject({ 'All violations': '', 'Most frequent violation': '' });
  });
});

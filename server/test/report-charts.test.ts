import { beforeAll, describe, expect, it } from 'vitest';
import { requireRange } from '../src/platform/time.ts';
import { kinds } from '../src/reports/kinds.ts';
import { sharedGantry } from './harness.ts';

/** A time zone in which days begin at 18:30 UTC. */
const ZONE = 'Asia/Kolkata';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: ZONE }, { token });
  const apiKey = await gantry.registerSensor();
  const events = ['00:05', '00:20', '23:50'].map((time) => ({
    eventType: 'INCIDENT',
    violationType: 'WRONG_WAY',
    timestamp: `2026-03-10T${time}:00+05:30`,
  }));
  await gantry.ok('events.ingestBatch', { apiKey, events });
});

const settings = {
  timezone: ZONE,
  use24HourFormat: true,
  dateFormat: 'YYYY-MM-DD',
  firstDayOfWeek: 1,
} as const;

const summaryOf = (
  kind: 'EVENTS' | 'VIOLATIONS' | 'INCIDENTS' | 'DAILY_SUMMARY',
  startDate: string,
  endDate: string,
) => {
  const interval = requireRange({ startDate, endDate }, ZONE);
  return kinds[kind].summary(gantry.app.context.db, {
    interval,
    filters: {},
    settings,
    now: Date.now(),
    speedUnits: 'KMH',
  });
};

describe('the charts of a report in a time zone with half hours', () => {
  it.each(['EVENTS', 'VIOLATIONS', 'DAILY_SUMMARY'] as const)('count %s by local days', async (kind) => {
    const { charts } = await summaryOf(kind, '2026-03-09', '2026-03-11');
    expect(charts[0]?.points).toEqual([
      { label: '2026-03-09', value: 0 },
      { label: '2026-03-10', value: 3 },
      { label: '2026-03-11', value: 0 },
    ]);
  });

  it('count incidents by local days', async () => {
    await gantry.pool.query(`UPDATE incidents SET opened_at = '2026-03-10T00:05:00+05:30'`);
    const { charts, figures } = await summaryOf('INCIDENTS', '2026-03-09', '2026-03-10');
    expect(charts[0]?.points).toEqual([
      { label: '2026-03-09', value: 0 },
      { label: '2026-03-10', value: figures[0]?.value },
    ]);
    expect(figures[0]?.value).toBeGreaterThan(0);
  });
});

it('traffic of a day or an hour without data is a gap in the charts, unlike one without vehicles', async () => {
  const minutes = (from: string, count: number, every: number) =>
    Array.from({ length: count }, (_, n) => new Date(Date.parse(from) + n * every * 60_000).toISOString());
  const events = [
    ...minutes('2026-04-02T12:00:00+05:30', 30, 2).map((timestamp) => ({
      ...{ eventType: 'SPEED_DETECTION', vehicleSpeed: 50, timestamp },
    })),
    ...minutes('2026-04-02T13:00:00+05:30', 4, 15).map((timestamp) => ({ eventType: 'INCIDENT', timestamp })),
    // Too little of an hour for the mean of that hour.
    { eventType: 'INCIDENT', timestamp: '2026-04-03T13:05:00+05:30' },
    { eventType: 'INCIDENT', timestamp: '2026-04-03T14:05:00+05:30' },
  ];
  // Immediately afterwards, the sensor is not yet ONLINE, and its counts are not yet rolled up.
  await gantry.ok('events.ingestBatch', { apiKey: await gantry.registerSensor(), events });
  const interval = requireRange({ startDate: '2026-04-01', endDate: '2026-04-04' }, ZONE);
  const scope = { interval, filters: {}, settings, now: Date.now(), speedUnits: 'KMH' as const };
  const { db } = gantry.app.context;
  const charts = [...(await kinds.TRAFFIC.summary(db, scope)).charts.slice(0, 1)];
  for await (const section of kinds.TRAFFIC.sections?.list(db, scope) ?? []) charts.push(...section.charts);
  const known = charts.map(({ title, points }) => [title, points.filter(({ value }) => value !== null)]);
  const days = [
    { label: '2026-04-02', value: 30 },
    { label: '2026-04-03', value: 0 },
  ];
  expect(known).toEqual([
    ['Vehicles per day', days],
    ['Vehicles per day', days],
    [
      'Mean vehicles by hour of the day',
      [
        { label: '12:00', value: 30 },
        { label: '13:00', value: 0 },
      ],
    ],
    ['V85 per day (km/h)', [{ label: '2026-04-02', value: 50 }]],
  ]);
});

it('violations are counted in reports without regard to the case of their types, as in analytics', async () => {
  const types = ['RED_LIGHT', 'RED_LIGHT', 'SPEEDING', 'SPEEDING', 'Speeding', 'speeding', 'RED_LIGHT'];
  const events = types.map((violationType, n) => ({
    eventType: 'TRAFFIC_VIOLATION',
    violationType,
    timestamp: `2026-02-10T10:0${n}:00Z`,
  }));
  await gantry.ok('events.ingestBatch', { apiKey: await gantry.registerSensor(), events });
  const expected = [
    { label: 'SPEEDING', value: 4 },
    { label: 'RED_LIGHT', value: 3 },
  ];
  const day = { startDate: '2026-02-10', endDate: '2026-02-10' };
  const { byViolationType } = await gantry.ok('reports.getAnalytics', day, { token });
  const inReport = await summaryOf('VIOLATIONS', '2026-02-10', '2026-02-10');
  const inSummary = await summaryOf('DAILY_SUMMARY', '2026-02-10', '2026-02-10');
  expect(byViolationType).toEqual(
    expected.map(({ label, value }) => ({ violationType: label, count: value })),
  );
  expect(inReport.charts[1]?.points).toEqual(expected);
  expect(inReport.figures).toContainEqual({ name: 'Most frequent', value: 'SPEEDING (4)' });
  expect(inSummary.charts[2]?.points).toEqual(expected);
});

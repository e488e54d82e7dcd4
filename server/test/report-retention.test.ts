import { DAY_MS } from '@gantry/contract/durations';
import type { ReportFilters, ReportKind } from '@gantry/contract/reports';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLocalTime } from '../src/platform/local-time.ts';
import { kinds } from '../src/reports/kinds.ts';
import { eventually, sharedGantry } from './harness.ts';

const DAYS_KEPT = 10;
/** Midnight in UTC, which is in the evening of the previous day in New York. */
const CUTOFF = Date.now() - (Date.now() % DAY_MS) - DAYS_KEPT * DAY_MS;
const settings = {
  timezone: 'America/New_York',
  use24HourFormat: true,
  dateFormat: 'YYYY-MM-DD',
  firstDayOfWeek: 1,
} as const;

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const apiKey = await gantry.registerSensor();
  const events = [CUTOFF - DAY_MS, CUTOFF + DAY_MS].flatMap((time) =>
    ['TRAFFIC_VIOLATION', 'VEHICLE_DETECTION'].map((eventType) => ({
      eventType,
      timestamp: new Date(time).toISOString(),
    })),
  );
  await gantry.ok('events.ingestBatch', { apiKey, events });
  await gantry.ok('storage.setRetention', { events: { default: DAYS_KEPT } }, { token });
  const { id } = await gantry.ok('storage.runRetention', undefined, { token });
  await eventually(
    async () => (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs,
    (runs) => runs.some((run: { id: string; status: string }) => run.id === id && run.status === 'COMPLETED'),
  );
});

const figuresOf = async (kind: ReportKind, days: number, filters: ReportFilters = {}) => {
  const interval = { from: CUTOFF - days * DAY_MS, until: CUTOFF + 2 * DAY_MS };
  return (
    await kinds[kind].summary(gantry.app.context.db, {
      interval,
      filters,
      settings,
      now: Date.now(),
      speedUnits: 'KMH',
    })
  ).figures;
};

describe('the summary of a report', () => {
  const note = {
    name: 'Removed by retention',
    value: `events before ${createLocalTime(settings).show(CUTOFF)}`,
  };

  it.each<[ReportKind, ReportFilters]>([
    ['DAILY_SUMMARY', {}],
    ['EVENTS', {}],
    ['EVENTS', { eventType: 'VEHICLE_DETECTION' }],
    ['EVENTS', { violationType: 'SPEEDING' }],
    ['VIOLATIONS', {}],
    ['VIOLATIONS', { eventType: 'TRAFFIC_VIOLATION' }],
  ])('%s %j says until when retention removed events of its range', async (kind, filters) => {
    expect(await figuresOf(kind, 2, filters)).toContainEqual(note);
  });

  it.each<[ReportKind, number, ReportFilters]>([
    ['EVENTS', 0, {}],
    ['EVENTS', 2, { eventType: 'INCIDENT' }],
    ['EVENTS', 2, { eventType: 'VEHICLE_DETECTION', violationType: 'SPEEDING' }],
    ['VIOLATIONS', 0, {}],
    ['VIOLATIONS', 2, { eventType: 'VEHICLE_DETECTION' }],
  ])(
    '%s, %i days before it, %j says nothing of events that it would not include',
    async (kind, days, filters) => {
      const names = (await figuresOf(kind, days, filters)).map(({ name }) => name);
      expect(names).not.toContain(note.name);
    },
  );
});

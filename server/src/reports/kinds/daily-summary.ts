import { eventType } from '@gantry/contract/events';
import type { SensorStatus } from '@gantry/contract/sensors';
import { isRemovedWithin, listRemovedEvents } from '../../events/remove-store.ts';
import { isViolation } from '../../events/severity.ts';
import { sumsBySpelling } from '../../platform/case-fold.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { type Interval, type LocalDay, localDays } from '../../platform/time.ts';
import type { Batch, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import {
  countEventsByLocation,
  countEventsOf,
  countIncidentsOf,
  type DayCount,
} from './daily-summary-store.ts';
import { listStatusChanges, listStatusesBefore, type SensorBefore } from './sensor-status-store.ts';
import { shareBefore, slicesOf, untilNow } from './slices.ts';
import { availability, lengthsOf, type StatusChange, statusPeriodsOf } from './status-periods.ts';
import { addTo, dayChart, largest, removedFigure } from './summaries.ts';

function areViolations({ event_type, violation_type }: DayCount): boolean {
  return isViolation(event_type, violation_type);
}

/** TRAFFIC_VIOLATION → Traffic violation */
function asWords(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const columns: readonly Column[] = [
  { name: 'Day', type: 'date', width: 11 },
  { name: 'Events', type: 'integer', width: 10 },
  ...eventType.options.map((type): Column => ({ name: asWords(type), type: 'integer', width: 13 })),
  { name: 'All violations', type: 'integer', width: 12 },
  { name: 'Most frequent violation', type: 'text', width: 16 },
  { name: 'Incidents opened', type: 'integer', width: 11 },
  { name: 'Incidents resolved', type: 'integer', width: 11 },
  { name: 'Sensors', type: 'integer', width: 10 },
  { name: 'Availability', type: 'share', width: 13 },
  { name: 'Busiest place', type: 'text', width: 18 },
  { name: 'Events there', type: 'integer', width: 9 },
];

function sum(counts: readonly DayCount[]): number {
  return counts.reduce((total, { n }) => total + n, 0);
}

function violationsByType(counts: readonly DayCount[]): Map<string, number> {
  const violations = counts.filter(areViolations);
  return new Map(
    sumsBySpelling(
      violations.map(({ violation_type, event_type, n }) => [violation_type || event_type, n] as const),
    ),
  );
}

/** The location with the most events of a day. */
async function findBusiestPlace(db: Executor, day: LocalDay) {
  const sums = new Map<string, number>();
  for await (const slice of slicesOf(db, day))
    for (const { location, n } of await countEventsByLocation(db, slice)) addTo(sums, location, n);
  return largest(sums)[0];
}

type SensorsOf = Awaited<ReturnType<typeof createSensorDays>>;

/** The number of events is unknown for days from which retention has removed some: those cells are empty. */
async function rowOf(db: Executor, day: LocalDay, sensorsOf: SensorsOf): Promise<Row> {
  const counts = await countEventsOf(db, day);
  const removed = await listRemovedEvents(db, day);
  const isGone = isRemovedWithin(removed, day);
  const areViolationsGone = isRemovedWithin(removed, day, (span) => span.mayHoldViolations);
  const events = isGone ? null : sum(counts);
  const incidents = await countIncidentsOf(db, day);
  const sensors = await sensorsOf(day);
  const busiest = isGone || events === 0 ? undefined : await findBusiestPlace(db, day);
  return [
    day.day,
    events,
    ...eventType.options.map((type) =>
      isRemovedWithin(removed, day, (span) => span.eventType === type)
        ? null
        : sum(counts.filter(({ event_type }) => event_type === type)),
    ),
    areViolationsGone ? null : sum(counts.filter(areViolations)),
    areViolationsGone ? null : (largest(violationsByType(counts))[0]?.label ?? null),
    incidents.opened,
    incidents.resolved,
    sensors.count,
    sensors.availability,
    busiest?.label ?? null,
    busiest?.value ?? null,
  ];
}

async function* rows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const interval = untilNow(scope);
  const sensorsOf = await createSensorDays(db, scope);
  for (const day of localDays(interval, scope.settings.timezone)) {
    yield { rows: [await rowOf(db, day, sensorsOf)], progress: shareBefore(day.until, interval) };
  }
}

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  const interval = untilNow(scope);
  const counts = interval.from < interval.until ? await countEventsOf(db, interval) : [];
  const incidents = await countIncidentsOf(db, interval);
  const byDay = new Map<string, number>();
  for (const day of localDays(interval, scope.settings.timezone)) {
    addTo(byDay, day.day, sum(await countEventsOf(db, day)));
  }
  const byType = new Map<string, number>();
  for (const { event_type, n } of counts) addTo(byType, asWords(event_type), n);
  return {
    figures: [
      { name: 'Events', value: sum(counts) },
      { name: 'Violations', value: sum(counts.filter(areViolations)) },
      { name: 'Incidents opened', value: incidents.opened },
      { name: 'Incidents resolved', value: incidents.resolved },
      ...(await removedFigure(db, scope)),
    ],
    charts: [
      dayChart('Events per day', byDay, scope),
      { title: 'Events by type', shape: 'bars', points: largest(byType) },
      { title: 'Violations by type', shape: 'bars', points: largest(violationsByType(counts)) },
    ],
  };
}

/** One row for each local day of the range. */
export const dailySummary: KindOfReport = { title: 'Daily summary', columns, rows, summary };

interface SensorSoFar extends Omit<SensorBefore, 'id' | 'status'> {
  status: SensorStatus;
}

/**
 * Computes the status periods of all sensors, each until it was deleted, for consecutive intervals from the start of the
 * scope. It keeps the current status of each, so that the history is read once.
 */
async function createSensorDays(db: Executor, { interval, now }: ReportScope) {
  const sensors = new Map<string, SensorSoFar>(
    (await listStatusesBefore(db, interval.from)).map(({ id, ...sensor }) => [id, sensor]),
  );

  return async (day: Interval): Promise<{ count: number; availability: number | null }> => {
    const until = Math.min(day.until, now);
    const changes = new Map<string, StatusChange[]>();
    for (const { sensorId, ...change } of await listStatusChanges(db, { from: day.from, until: day.until })) {
      const ofSensor = changes.get(sensorId) ?? [];
      changes.set(sensorId, ofSensor);
      ofSensor.push(change);
    }
    let count = 0;
    const all = { ONLINE: 0, OFFLINE: 0, ERROR: 0, MAINTENANCE: 0 };
    for (const [id, sensor] of sensors) {
      const own = changes.get(id) ?? [];
      const watched = { ...sensor, before: sensor.status, changes: own };
      const deletedAt = sensor.deletedAt ?? Number.POSITIVE_INFINITY;
      const known = { from: day.from, until: Math.min(until, deletedAt) };
      const lengths = lengthsOf(statusPeriodsOf(watched, known));
      for (const status of Object.keys(all) as SensorStatus[]) all[status] += lengths[status];
      if (sensor.createdAt < until && deletedAt > day.from) count++;
      sensor.status = own.at(-1)?.to ?? sensor.status;
    }
    return { count, availability: availability(all) };
  };
}

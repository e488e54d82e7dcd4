import type { SQL } from 'drizzle-orm';
import { violationCondition } from '../../events/counts/counting.ts';
import { findSpeedLimits } from '../../events/places-store.ts';
import { sumsBySpelling } from '../../platform/case-fold.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { type History, heldAt } from '../../platform/history.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import type { Batch, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import {
  countByTotals,
  countEventsByPlace,
  countEventsByQuarter,
  countedTypes,
  eventConditions,
  type LocatedEvent,
  listEventsAfter,
  violationConditions,
} from './events-store.ts';
import { pagesOf, shareBefore, slicesOf, untilNow } from './slices.ts';
import { addTo, dayChart, largest, removedFigure } from './summaries.ts';

const PAGE = 500;

/** The columns of a report that lists events. */
const eventColumns: readonly Column[] = [
  { name: 'Time', type: 'time', width: 15 },
  { name: 'Event type', type: 'text', width: 16 },
  { name: 'Violation', type: 'text', width: 14 },
  { name: 'Plate', type: 'text', width: 10 },
  { name: 'Vehicle type', type: 'text', width: 9 },
  { name: 'Speed (km/h)', type: 'decimal', width: 7 },
  { name: 'Limit (km/h)', type: 'decimal', width: 7 },
  { name: 'Severity', type: 'text', width: 8 },
  { name: 'Sensor', type: 'text', width: 14 },
  { name: 'Location', type: 'text', width: 18 },
  { name: 'Processed', type: 'text', width: 0 },
  { name: 'Archived', type: 'text', width: 0 },
  { name: 'Description', type: 'text', width: 0 },
  { name: 'Received', type: 'time', width: 0 },
  { name: 'Sensor ID', type: 'text', width: 0 },
  { name: 'Event ID', type: 'text', width: 0 },
];

/** The columns that only the report of all events has. */
const furtherColumns: readonly Column[] = [
  { name: 'Latitude', type: 'degrees', width: 0 },
  { name: 'Longitude', type: 'degrees', width: 0 },
  { name: 'Plate region', type: 'text', width: 0 },
  { name: 'Plate confidence (%)', type: 'integer', width: 0 },
  { name: 'Lane', type: 'text', width: 0 },
  { name: 'Direction', type: 'text', width: 0 },
];

function furtherCellsOf({ location, plateRegion, plateConfidence, lane, direction }: LocatedEvent): Row {
  return [
    location?.latitude ?? null,
    location?.longitude ?? null,
    plateRegion ?? null,
    plateConfidence ?? null,
    lane?.toString() ?? null,
    direction?.toString() ?? null,
  ];
}

/** Turns events into rows, each with the speed limit that held at its place. Limits are read once for each place. */
function createEventRows(db: Executor): (events: readonly LocatedEvent[]) => Promise<Row[]> {
  const limits = new Map<string, History<number | null>>();
  return async (events) => {
    const places = new Set(events.flatMap(({ locationId }) => (locationId === null ? [] : [locationId])));
    const unknown = [...places].filter((id) => !limits.has(id));
    const found = await findSpeedLimits(db, unknown);
    for (const id of unknown) limits.set(id, found.get(id) ?? []);
    const limitOf = ({ locationId, timestamp }: LocatedEvent): number | null =>
      heldAt(limits.get(locationId ?? '') ?? [], timestamp.getTime()) ?? null;
    return events.map((event) => rowOf(event, limitOf(event)));
  };
}

function rowOf(event: LocatedEvent, limit: number | null): Row {
  return [
    event.timestamp,
    event.eventType,
    event.violationType,
    event.licensePlateNumber,
    event.vehicleType,
    event.vehicleSpeed,
    limit,
    event.severity,
    event.sensorName,
    event.locationName,
    event.processed ? 'yes' : 'no',
    event.archived ? 'yes' : 'no',
    event.description,
    event.createdAt,
    event.sensorId,
    event.id,
  ];
}

/**
 * The rows of the events that meet the conditions.
 * @param more the cells after those of `eventColumns`
 */
async function* rowsOf(
  db: Executor,
  scope: ReportScope,
  conditions: readonly SQL[],
  more: (event: LocatedEvent) => Row,
): AsyncGenerator<Batch> {
  const interval = untilNow(scope);
  const toRows = createEventRows(db);
  for await (const slice of slicesOf(db, interval)) {
    yield* pagesOf<LocatedEvent>({
      take: PAGE,
      read: (after, take) => listEventsAfter(db, conditions, slice, after?.id ?? null, take),
      placeOf: ({ id, timestamp }) => ({ at: timestamp, id }),
      toRows: async (events) => {
        const rows = await toRows(events);
        return events.map((event, n) => [...(rows[n] ?? []), ...more(event)]);
      },
      progress: ({ at }) => shareBefore(at.getTime(), interval),
    });
    yield { rows: [], progress: shareBefore(slice.until, interval) };
  }
}

/** Sums of the events that meet the conditions: by type, by place and by local day. */
async function sumsOf(db: Executor, scope: ReportScope, conditions: readonly SQL[], type: SQL) {
  const local = createLocalTime(scope.settings);
  const byType = new Map<string, number>();
  const byPlace = new Map<string, number>();
  const byDay = new Map<string, number>();
  for await (const slice of slicesOf(db, untilNow(scope))) {
    for (const { quarter, type: name, n } of await countEventsByQuarter(db, conditions, slice, type)) {
      addTo(byType, name, n);
      addTo(byDay, local.day(new Date(quarter).getTime()), n);
    }
    for (const { place, n } of await countEventsByPlace(db, conditions, slice)) addTo(byPlace, place, n);
  }
  return { byType, byPlace, byDay, total: [...byType.values()].reduce((sum, n) => sum + n, 0) };
}

async function summaryOfEvents(db: Executor, scope: ReportScope): Promise<Summary> {
  const { eventType, violationType } = scope.filters;
  const conditions = await eventConditions(db, scope);
  const { byType, byPlace, byDay, total } = await sumsOf(db, scope, conditions, countedTypes.event);
  const removed = await removedFigure(
    db,
    scope,
    (each) =>
      (eventType === undefined || each.eventType === eventType) &&
      (violationType === undefined || each.mayHoldViolations),
  );
  return {
    figures: [{ name: 'Events', value: total }, ...removed],
    charts: [
      dayChart('Events per day', byDay, scope),
      { title: 'Events by type', shape: 'bars', points: largest(byType) },
      { title: 'Where most were seen', shape: 'bars', points: largest(byPlace) },
    ],
  };
}

async function summaryOfViolations(db: Executor, scope: ReportScope): Promise<Summary> {
  const { eventType } = scope.filters;
  const conditions = await violationConditions(db, scope);
  const { byType, byPlace, byDay, total } = await sumsOf(db, scope, conditions, countedTypes.violation);
  const byKind = new Map(sumsBySpelling([...byType]));
  const [top] = largest(byKind);
  const [worst] = largest(byPlace);
  const removed = await removedFigure(
    db,
    scope,
    (each) => each.mayHoldViolations && (eventType === undefined || each.eventType === eventType),
  );
  return {
    figures: [
      { name: 'Violations', value: total },
      ...(top ? [{ name: 'Most frequent', value: `${top.label} (${top.value})` }] : []),
      ...(worst ? [{ name: 'Most at', value: `${worst.label} (${worst.value})` }] : []),
      ...removed,
    ],
    charts: [
      dayChart('Violations per day', byDay, scope),
      { title: 'Most frequent violations', shape: 'bars', points: largest(byKind) },
      { title: 'Where most were seen', shape: 'bars', points: largest(byPlace) },
    ],
  };
}

/** The events that `events.getAll` lists with the same filters. */
export const events: KindOfReport = {
  title: 'Events',
  columns: [...eventColumns, ...furtherColumns],
  async *rows(db, scope) {
    yield* rowsOf(db, scope, await eventConditions(db, scope), furtherCellsOf);
  },
  count: countByTotals,
  summary: summaryOfEvents,
};

/** The events that are violations, each with the limit at its place at that time. */
export const violations: KindOfReport = {
  title: 'Violations',
  columns: eventColumns,
  async *rows(db, scope) {
    yield* rowsOf(db, scope, await violationConditions(db, scope), () => []);
  },
  count: (db, scope) => countByTotals(db, scope, violationCondition),
  summary: summaryOfViolations,
};

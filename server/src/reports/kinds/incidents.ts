import { findNames } from '../../accounts/names-store.ts';
import { severityOfRank } from '../../events/severity.ts';
import type { PerformanceGroup } from '../../incidents/performance-store.ts';
import type { IncidentRow } from '../../incidents/store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { createLocalTime, formatDuration } from '../../platform/local-time.ts';
import type { Batch, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import { findPlaceNames } from '../places-store.ts';
import { countOpenedIncidents, listOpenedIncidents, readClearance } from './incidents-store.ts';
import { pagesOf, shareBefore, untilNow } from './slices.ts';
import { addTo, dayChart, largest } from './summaries.ts';

const PAGE = 500;

const columns: readonly Column[] = [
  { name: 'Opened', type: 'time', width: 15 },
  { name: 'Title', type: 'text', width: 24 },
  { name: 'Type', type: 'text', width: 13 },
  { name: 'Severity', type: 'text', width: 9 },
  { name: 'Status', type: 'text', width: 12 },
  { name: 'Location', type: 'text', width: 16 },
  { name: 'Sensor', type: 'text', width: 14 },
  { name: 'Assigned to', type: 'text', width: 14 },
  { name: 'Time to acknowledge', type: 'seconds', width: 13 },
  { name: 'Time to resolve', type: 'seconds', width: 12 },
  { name: 'Lanes blocked', type: 'integer', width: 0 },
  { name: 'Reported by', type: 'text', width: 0 },
  { name: 'Acknowledged', type: 'time', width: 0 },
  { name: 'Resolved', type: 'time', width: 0 },
  { name: 'Closed', type: 'time', width: 0 },
  { name: 'Description', type: 'text', width: 0 },
  { name: 'Incident ID', type: 'text', width: 0 },
];

/**
 * The duration in seconds. An incident may be dated later than the action on it, because the clock of its device was
 * ahead; that counts as 0.
 */
function took(from: Date, until: Date | null): number | null {
  return until && Math.max(0, Math.round((until.getTime() - from.getTime()) / 1000));
}

async function toRows(db: Executor, items: readonly IncidentRow[]): Promise<Row[]> {
  const people = items.flatMap(({ reportedBy, assignedTo }) => [reportedBy, assignedTo]);
  const places = items.flatMap(({ locationId, sensorId }) => [locationId, sensorId]);
  const nameOf = await findNames(db, people);
  const names = await findPlaceNames(db, [...new Set(places.filter((id) => id !== null))]);
  const named = (id: string | null): string | null => id && (names.get(id) ?? id);
  return items.map((item) => [
    item.openedAt,
    item.title,
    item.type,
    severityOfRank(item.severity),
    item.status,
    named(item.locationId),
    named(item.sensorId),
    nameOf(item.assignedTo)?.name ?? null,
    item.backlog ? null : took(item.openedAt, item.acknowledgedAt),
    took(item.openedAt, item.resolvedAt),
    item.lanesBlocked,
    nameOf(item.reportedBy)?.name ?? null,
    item.acknowledgedAt,
    item.resolvedAt,
    item.closedAt,
    item.description,
    item.id,
  ]);
}

function rows(db: Executor, scope: ReportScope): AsyncIterable<Batch> {
  const interval = untilNow(scope);
  return pagesOf<IncidentRow>({
    take: PAGE,
    read: (after, take) => listOpenedIncidents(db, scope.filters, interval, after, take),
    placeOf: ({ openedAt, id }) => ({ at: openedAt, id }),
    toRows: (items) => toRows(db, items),
    progress: ({ at }) => shareBefore(at.getTime(), interval),
  });
}

function mean(sum: number, n: number): string {
  return n === 0 ? '–' : formatDuration(sum / n);
}

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  const local = createLocalTime(scope.settings);
  const counts = await countOpenedIncidents(db, scope.filters, untilNow(scope));
  const [byDay, byType, bySeverity] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  for (const { quarter, type, severity, n } of counts) {
    addTo(byDay, local.day(new Date(quarter).getTime()), n);
    addTo(byType, type, n);
    addTo(bySeverity, severityOfRank(severity) ?? 'none', n);
  }
  const sum = (
    of: 'n' | 'acknowledged' | 'acknowledged_in_time' | 'to_acknowledge' | 'resolved' | 'to_resolve',
  ): number => counts.reduce((total, count) => total + count[of], 0);
  return {
    figures: [
      { name: 'Incidents', value: sum('n') },
      { name: 'Acknowledged', value: sum('acknowledged') },
      { name: 'Mean time to acknowledge', value: mean(sum('to_acknowledge'), sum('acknowledged_in_time')) },
      { name: 'Resolved', value: sum('resolved') },
      { name: 'Mean time to resolve', value: mean(sum('to_resolve'), sum('resolved')) },
    ],
    charts: [
      dayChart('Incidents per day', byDay, scope),
      { title: 'By type', shape: 'bars', points: largest(byType) },
      { title: 'By severity', shape: 'bars', points: largest(bySeverity) },
    ],
  };
}

/** The incidents opened in the range, with the times until they were acted upon. */
export const incidents: KindOfReport = { title: 'Incidents', columns, rows, summary };

const performanceColumns: readonly Column[] = [
  { name: 'By', type: 'text', width: 9 },
  { name: 'Value', type: 'text', width: 18 },
  { name: 'Incidents', type: 'integer', width: 8 },
  // Roadway clearance time, T5 − T1, and incident clearance time, T6 − T1.
  { name: 'RCT known', type: 'integer', width: 8 },
  { name: 'RCT median', type: 'seconds', width: 9 },
  { name: 'RCT 90th percentile', type: 'seconds', width: 11 },
  { name: 'ICT known', type: 'integer', width: 8 },
  { name: 'ICT median', type: 'seconds', width: 9 },
  { name: 'ICT 90th percentile', type: 'seconds', width: 11 },
];

async function* performanceRows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const rows = await readClearance(db, scope.filters, untilNow(scope));
  yield {
    rows: rows
      .filter(({ figures }) => figures.incidents > 0)
      .map(({ group, value, figures: { incidents: n, roadwayClearance, incidentClearance } }) => [
        group,
        value,
        n,
        ...[roadwayClearance, incidentClearance].flatMap(({ count, median, percentile90 }) => [
          count,
          median,
          percentile90,
        ]),
      ]),
    progress: 1,
  };
}

async function performanceSummary(db: Executor, scope: ReportScope): Promise<Summary> {
  const rows = await readClearance(db, scope.filters, untilNow(scope));
  const all = rows.find(({ group }) => group === 'ALL')?.figures;
  const shown = (seconds: number | null | undefined): string =>
    seconds === null || seconds === undefined ? '–' : formatDuration(seconds);
  const [rct, ict] = [all?.roadwayClearance, all?.incidentClearance];
  const known = (n: number | undefined): string => `${n ?? 0} of ${all?.incidents ?? 0}`;
  const medians = (group: PerformanceGroup) =>
    new Map(
      rows.flatMap(({ group: of, value, figures }) =>
        of === group && figures.roadwayClearance.median !== null
          ? [[value ?? 'none', Math.round(figures.roadwayClearance.median / 60)] as const]
          : [],
      ),
    );
  return {
    figures: [
      { name: 'Incidents without false alarms', value: all?.incidents ?? 0 },
      { name: 'Roadway clearance (RCT) known', value: known(rct?.count) },
      { name: 'Median roadway clearance', value: shown(rct?.median) },
      { name: 'Incident clearance (ICT) known', value: known(ict?.count) },
      { name: 'Median incident clearance', value: shown(ict?.median) },
    ],
    charts: [
      {
        title: 'Median roadway clearance by type (minutes)',
        shape: 'bars',
        points: largest(medians('TYPE')),
      },
      {
        title: 'Median roadway clearance by road (minutes)',
        shape: 'bars',
        points: largest(medians('ROAD')),
      },
    ],
  };
}

/** How long it took to clear the incidents opened in the range, by type, severity and road. False alarms do not count. */
export const incidentPerformance: KindOfReport = {
  title: 'Incident performance',
  columns: performanceColumns,
  rows: performanceRows,
  summary: performanceSummary,
};

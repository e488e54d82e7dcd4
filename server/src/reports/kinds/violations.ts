import type { Executor } from '../../platform/database/transaction.ts';
import { type History, heldAt } from '../../platform/history.ts';
import type { Batch, Chart, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import { dayChart } from './day-chart.ts';
import { addTo, largest } from './largest.ts';
import { pagesOf, shareBefore, slicesOf, untilNow } from './slices.ts';
import {
  countViolations,
  countViolationsByPlace,
  findSpeedLimits,
  listViolations,
  type Violation,
} from './violations-store.ts';

const PAGE = 500;

const columns: readonly Column[] = [
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

function rowOf(event: Violation, limit: number | null): Row {
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

async function* rows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const interval = untilNow(scope);
  const limits = new Map<string, History<number | null>>();
  const toRows = async (events: readonly Violation[]): Promise<Row[]> => {
    const places = new Set(events.flatMap(({ locationId }) => (locationId === null ? [] : [locationId])));
    const unknown = [...places].filter((id) => !limits.has(id));
    const found = await findSpeedLimits(db, unknown);
    for (const id of unknown) limits.set(id, found.get(id) ?? []);
    const limitOf = ({ locationId, timestamp }: Violation): number | null =>
      heldAt(limits.get(locationId ?? '') ?? [], timestamp.getTime()) ?? null;
    return events.map((event) => rowOf(event, limitOf(event)));
  };
  for (const slice of slicesOf(interval)) {
    yield* pagesOf<Violation>({
      take: PAGE,
      read: (after, take) => listViolations(db, scope.filters, slice, after?.id ?? null, take),
      placeOf: ({ id, timestamp }) => ({ at: timestamp, id }),
      toRows,
      progress: ({ at }) => shareBefore(at.getTime(), interval),
    });
    yield { rows: [], progress: shareBefore(slice.until, interval) };
  }
}

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  const local = createLocalTime(scope.settings);
  const [byKind, byPlace, byDay] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  for (const slice of slicesOf(untilNow(scope))) {
    for (const { hour, kind, n } of await countViolations(db, scope.filters, slice)) {
      addTo(byKind, kind, n);
      addTo(byDay, local.day(new Date(hour).getTime()), n);
    }
    for (const { place, n } of await countViolationsByPlace(db, scope.filters, slice))
      addTo(byPlace, place, n);
  }
  const total = [...byKind.values()].reduce((sum, n) => sum + n, 0);
  const [top] = largest(byKind);
  const [worst] = largest(byPlace);
  const charts: Chart[] = [
    dayChart('Violations per day', byDay, scope),
    { title: 'Most frequent violations', shape: 'bars', points: largest(byKind) },
    { title: 'Where most were seen', shape: 'bars', points: largest(byPlace) },
  ];
  return {
    figures: [
      { name: 'Violations', value: total },
      ...(top ? [{ name: 'Most frequent', value: `${top.label} (${top.value})` }] : []),
      ...(worst ? [{ name: 'Most at', value: `${worst.label} (${worst.value})` }] : []),
    ],
    charts,
  };
}

/** The events that are violations, each with the limit at its place at that time. */
export const violations: KindOfReport = { title: 'Violations', columns, rows, summary };

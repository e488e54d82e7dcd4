import { listedConditions } from '../../events/list/filters.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Batch, Column, KindOfReport, ReportScope, Summary } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import { countByTotals } from './counted-store.ts';
import { createEventRows, eventColumns } from './event-rows.ts';
import {
  countEventsByPlace,
  countEventsByQuarter,
  type LocatedEvent,
  listEventsAfter,
} from './events-store.ts';
import { pagesOf, shareBefore, slicesOf, untilNow } from './slices.ts';
import { addTo, dayChart, largest, removedFigure } from './summaries.ts';

const PAGE = 500;

const columns: readonly Column[] = [
  ...eventColumns,
  { name: 'Latitude', type: 'degrees', width: 0 },
  { name: 'Longitude', type: 'degrees', width: 0 },
];

async function* rows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const interval = untilNow(scope);
  const conditions = await listedConditions(db, scope.filters);
  const toRows = createEventRows(db);
  for await (const slice of slicesOf(db, interval)) {
    yield* pagesOf<LocatedEvent>({
      take: PAGE,
      read: (after, take) => listEventsAfter(db, conditions, slice, after?.id ?? null, take),
      placeOf: ({ id, timestamp }) => ({ at: timestamp, id }),
      toRows: async (events) =>
        (await toRows(events)).map((row, n) => {
          const { latitude = null, longitude = null } = events[n]?.location ?? {};
          return [...row, latitude, longitude];
        }),
      progress: ({ at }) => shareBefore(at.getTime(), interval),
    });
    yield { rows: [], progress: shareBefore(slice.until, interval) };
  }
}

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  const { eventType, violationType } = scope.filters;
  const local = createLocalTime(scope.settings);
  const conditions = await listedConditions(db, scope.filters);
  const [byType, byPlace, byDay] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  for await (const slice of slicesOf(db, untilNow(scope))) {
    for (const { quarter, type, n } of await countEventsByQuarter(db, conditions, slice)) {
      addTo(byType, type, n);
      addTo(byDay, local.day(new Date(quarter).getTime()), n);
    }
    for (const { place, n } of await countEventsByPlace(db, conditions, slice)) addTo(byPlace, place, n);
  }
  return {
    figures: [
      { name: 'Events', value: [...byType.values()].reduce((sum, n) => sum + n, 0) },
      ...(await removedFigure(
        db,
        scope,
        (removed) =>
          (eventType === undefined || removed.eventType === eventType) &&
          (violationType === undefined || removed.mayHoldViolations),
      )),
    ],
    charts: [
      dayChart('Events per day', byDay, scope),
      { title: 'Events by type', shape: 'bars', points: largest(byType) },
      { title: 'Where most were seen', shape: 'bars', points: largest(byPlace) },
    ],
  };
}

/** The events that `events.getAll` lists with the same filters. */
export const events: KindOfReport = { title: 'Events', columns, rows, count: countByTotals, summary };

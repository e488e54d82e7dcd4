import { violationCondition } from '../../events/counts/counting.ts';
import { sumsBySpelling } from '../../platform/case-fold.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Batch, Chart, KindOfReport, ReportScope, Summary } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import { countByTotals } from './counted-store.ts';
import { createEventRows, eventColumns, type PlacedEvent } from './event-rows.ts';
import { pagesOf, shareBefore, slicesOf, untilNow } from './slices.ts';
import { addTo, dayChart, largest, removedFigure } from './summaries.ts';
import { countViolations, countViolationsByPlace, listViolations } from './violations-store.ts';

const PAGE = 500;

async function* rows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const interval = untilNow(scope);
  const toRows = createEventRows(db);
  for await (const slice of slicesOf(db, interval)) {
    yield* pagesOf<PlacedEvent>({
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
  const { eventType } = scope.filters;
  const local = createLocalTime(scope.settings);
  const [bySpelling, byPlace, byDay] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  for await (const slice of slicesOf(db, untilNow(scope))) {
    for (const { quarter, kind, n } of await countViolations(db, scope.filters, slice)) {
      addTo(bySpelling, kind, n);
      addTo(byDay, local.day(new Date(quarter).getTime()), n);
    }
    for (const { place, n } of await countViolationsByPlace(db, scope.filters, slice))
      addTo(byPlace, place, n);
  }
  const byKind = new Map(sumsBySpelling([...bySpelling]));
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
      ...(await removedFigure(
        db,
        scope,
        (removed) =>
          removed.mayHoldViolations && (eventType === undefined || removed.eventType === eventType),
      )),
    ],
    charts,
  };
}

/** The events that are violations, each with the limit at its place at that time. */
export const violations: KindOfReport = {
  title: 'Violations',
  columns: eventColumns,
  rows,
  count: (db, scope) => countByTotals(db, scope, violationCondition),
  summary,
};

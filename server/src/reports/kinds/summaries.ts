import { listRemovedEvents, type RemovedEvents } from '../../events/remove-store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import { localDays } from '../../platform/time.ts';
import type { Chart, Figure, ReportScope } from '../document.ts';
import { untilNow } from './slices.ts';

/** Maximum number of points of a time series; longer ones combine days. */
const MAX_POINTS = 92;

/**
 * A time series of the local days of the range.
 * @param absent the value of days that the map does not contain: null if nothing is known about them
 */
export function dayChart(
  title: string,
  byDay: ReadonlyMap<string, number>,
  scope: ReportScope,
  absent: 0 | null = 0,
): Chart {
  const { showDay } = createLocalTime(scope.settings);
  const days = [...localDays(untilNow(scope), scope.settings.timezone)].map(({ day }) => day);
  const together = Math.max(1, Math.ceil(days.length / MAX_POINTS));
  const points = [];
  for (let at = 0; at < days.length; at += together) {
    const group = days.slice(at, at + together);
    const known = group.flatMap((day) => byDay.get(day) ?? []);
    const value = known.length === 0 ? absent : known.reduce((sum, n) => sum + n, 0);
    points.push({ label: showDay(group[0] ?? ''), value });
  }
  return { title: together === 1 ? title : `${title} (${together} days each)`, shape: 'columns', points };
}

/** Maximum number of bars in a chart. */
const MAX_BARS = 10;

/** Sums by name for a bar chart, largest first. */
export function largest(sums: ReadonlyMap<string, number>): { label: string; value: number }[] {
  return [...sums]
    .map(([label, value]) => ({ label, value }))
    .sort((a, b) => b.value - a.value || (a.label < b.label ? -1 : 1))
    .slice(0, MAX_BARS);
}

/** Adds `n` to the sum of a name. */
export function addTo(sums: Map<string, number>, name: string, n: number): void {
  sums.set(name, (sums.get(name) ?? 0) + n);
}

/**
 * A figure with the time before which retention removed events of the range; none if it removed none.
 * @param concerns which of the removed events the report would include
 */
export async function removedFigure(
  db: Executor,
  scope: ReportScope,
  concerns: (removed: RemovedEvents) => boolean = () => true,
): Promise<Figure[]> {
  const removed = (await listRemovedEvents(db, untilNow(scope))).filter(concerns);
  if (removed.length === 0) return [];
  const until = Math.max(...removed.map((span) => span.until));
  // Shown with the time of day, because retention removes whole days in UTC.
  const value = `events before ${createLocalTime(scope.settings).show(until)}`;
  return [{ name: 'Removed by retention', value }];
}

import { localDays } from '../../platform/local-days.ts';
import type { Chart, ReportScope } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import { untilNow } from './slices.ts';

/** Maximum number of points of a time series; longer ones combine days. */
const MOST = 92;

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
  const together = Math.max(1, Math.ceil(days.length / MOST));
  const points = [];
  for (let at = 0; at < days.length; at += together) {
    const group = days.slice(at, at + together);
    const known = group.flatMap((day) => byDay.get(day) ?? []);
    const value = known.length === 0 ? absent : known.reduce((sum, n) => sum + n, 0);
    points.push({ label: showDay(group[0] ?? ''), value });
  }
  return { title: together === 1 ? title : `${title} (${together} days each)`, shape: 'columns', points };
}

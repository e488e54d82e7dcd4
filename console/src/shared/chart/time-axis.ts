import { HOUR_MS } from '@gantry/contract/durations';
import type { TimeFormat } from '../time/format.ts';

interface TimeLabels {
  readonly labels: readonly string[];
  /** Which positions may have a label. */
  readonly isLabelled: (at: number) => boolean;
}

/** Shorter ranges have labels for hours, others for days. Two days, one of which may have 25 hours. */
const HOURS_UP_TO_MS = 49 * HOUR_MS;
/** Every third hour, in 24-hour and 12-hour format. */
const THIRD_HOURS = /^(?:00|0?3|0?6|0?9|12|15|18|21):00/;

/**
 * The labels of a time axis, in the zone of the service. The charts receive texts instead of times, because the library
 * supports only the zone of the browser and UTC. A day may have 23 or 25 hours.
 */
export function timeLabels(
  starts: readonly Date[],
  { zone, minute, date }: TimeFormat,
  language: string,
): TimeLabels {
  const [first, last] = [starts[0], starts.at(-1)];
  if (!first || !last) return { labels: [], isLabelled: () => true };
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: zone });
  const days = starts.map(date);
  const isDayStart = days.map((day, at) => day !== days[at - 1]);
  const isWithinDays = isDayStart.some((is) => !is);
  const withHours = isWithinDays && last.getTime() - first.getTime() < HOURS_UP_TO_MS;
  const labels = starts.map((start, at) => {
    const day = `${weekday.format(start)}\n${days[at]}`;
    if (!withHours) return day;
    return isDayStart[at] ? `${minute(start)}\n${days[at]}` : minute(start);
  });
  if (!isWithinDays) return { labels, isLabelled: () => true };
  // Only every third hour is labelled, and a day that begins at 01:00: a range that begins at another hour shows its first date at
  // the next midnight.
  const isHour = (at: number) => {
    const start = starts[at] ?? first;
    return THIRD_HOURS.test(minute(start)) || date(new Date(start.getTime() - 1)) !== days[at];
  };
  return { labels, isLabelled: (at) => (withHours ? isHour(at) : (isDayStart[at] ?? false)) };
}

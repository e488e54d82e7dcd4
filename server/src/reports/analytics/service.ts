import {
  type Analytics,
  type AnalyticsInput,
  DEFAULT_DAYS,
  type RepeatPlates,
  type RepeatPlatesInput,
} from '@gantry/contract/analytics';
import { DateTime } from 'luxon';
import { timeOfId } from '../../events/id.ts';
import { isRemovedWithin, listRemovedEvents } from '../../events/remove-store.ts';
import type { Core } from '../../platform/context.ts';
import { type Interval, requireRange, resolveInterval } from '../../platform/time.ts';
import { requireFewPoints } from '../../traffic/range.ts';
import { breakdownsOf, totalsOf } from './counts.ts';
import { countByLocalHour, lastEventsOf, minutesOf, seriesOf, usualInterval, weekOf } from './series.ts';
import {
  countEvents,
  findFirstEventTime,
  getProcessingTime,
  listRepeatPlates,
  listTopLocations,
  listTopSensors,
} from './store.ts';

/** Maximum number of events that are searched for repeated plates. */
const EVENTS_FOR_PLATES = 500_000;

/**
 * The figures of an analytics page. Counts come from the totals, in some milliseconds for a month with 10 million events;
 * where local hours do not begin with those of UTC, half of the events are counted one by one, in about a second for each
 * million. Repeated plates are searched for in a bounded number of events, if they are asked for.
 * @throws AppError `badRequest` for a range that ends before it starts, is too long, or has too many points
 */
export async function getAnalytics(
  { db, settings, clock }: Pick<Core, 'db' | 'settings' | 'clock'>,
  input: AnalyticsInput,
): Promise<Analytics> {
  const { timezone, firstDayOfWeek } = settings.current();
  const range = rangeOf(input, timezone, clock.now());
  const interval = input.interval ?? usualInterval(range);
  const previous = { from: range.from - (range.until - range.from), until: range.from };
  const [now, before, firstEventAt, hours, removed, topSensors, topLocations, processingTime] =
    await Promise.all([
      countEvents(db, range),
      countEvents(db, previous),
      findFirstEventTime(db),
      countByLocalHour(db, range, timezone),
      listRemovedEvents(db, { from: previous.from, until: range.until }),
      listTopSensors(db, range),
      listTopLocations(db, range),
      getProcessingTime(db, range),
    ]);
  const keptSince = Math.max(0, ...removed.map(({ until }) => until).filter((until) => until > range.from));
  const repeated = input.repeatPlates
    ? await repeatPlatesIn(db, lastEventsOf(hours, range, EVENTS_FOR_PLATES), input.repeatPlatesFrom)
    : null;
  return {
    ...breakdownsOf(now),
    timezone,
    start: new Date(range.from),
    end: new Date(range.until),
    interval,
    keptSince: keptSince === 0 ? null : new Date(keptSince),
    totals: totalsOf(now, before, (concern) => isRemovedWithin(removed, previous, concern)),
    firstEventAt,
    series: seriesOf(hours, range, interval, { timezone, firstDayOfWeek }, (point, concern) =>
      isRemovedWithin(removed, point, concern),
    ),
    topSensors,
    topLocations,
    repeatPlates: repeated,
    hourOfWeek: weekOf(hours, timezone),
    processingTime,
  };
}

/**
 * The plates seen most often in a range, in a bounded number of its last events.
 * @throws AppError `badRequest` as `getAnalytics` does
 */
export async function getRepeatPlates(
  { db, settings, clock }: Pick<Core, 'db' | 'settings' | 'clock'>,
  { from, ...given }: RepeatPlatesInput,
): Promise<RepeatPlates> {
  const { timezone } = settings.current();
  const range = rangeOf(given, timezone, clock.now());
  const hours = await countByLocalHour(db, range, timezone);
  return repeatPlatesIn(db, lastEventsOf(hours, range, EVENTS_FOR_PLATES), from);
}

async function repeatPlatesIn(db: Core['db'], range: Interval, from: number): Promise<RepeatPlates> {
  const plates = await listRepeatPlates(db, range, from);
  return {
    since: new Date(range.from),
    plates: plates.map(({ plate, n, last_seen }) => ({
      licensePlateNumber: plate,
      count: n,
      lastSeen: new Date(timeOfId(last_seen)),
    })),
  };
}

/** The requested range. By default it ends now, and begins a number of days of the time zone before its end. */
function rangeOf(
  input: Pick<AnalyticsInput, 'startDate' | 'endDate' | 'interval'>,
  zone: string,
  now: number,
): Interval {
  const endDate = input.endDate ?? new Date(now).toISOString();
  const startDate = input.startDate ?? daysBefore(endDate, zone, DEFAULT_DAYS);
  const range = requireRange({ startDate, endDate }, zone);
  if (input.interval) requireFewPoints(range, minutesOf[input.interval]);
  return range;
}

function daysBefore(endDate: string, zone: string, days: number): string {
  const { until } = resolveInterval({ endDate }, zone);
  return new Date(DateTime.fromMillis(until, { zone }).minus({ days }).toMillis()).toISOString();
}

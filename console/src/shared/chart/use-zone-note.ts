import type { DayRange } from '../range/days.ts';
import { offsetsOf, spanOfDays } from '../time/format.ts';
import { useServiceTime } from '../time/use-time.ts';
import { useUtc } from '../time/zone.ts';

/** The time zone of the figures of a card. */
export interface ZoneNote {
  /** IANA name. */
  readonly zone: string;
  /** The zone with its UTC offsets. */
  readonly text: string;
  /** Whether the user has chosen UTC for other times, and the figures are in another zone. */
  readonly isNotUtc: boolean;
}

/** From the beginning of the first day to the end of the last one, in the time zone of the service. */
export function useSpan(days: DayRange): readonly [from: Date, until: Date] {
  return spanOfDays(days, useServiceTime());
}

/**
 * The time zone of the figures of a range. It is that of the service, by whose hours and days they were counted. The
 * text has the UTC offset of the range, or both offsets if the clocks change within it.
 */
export function useZoneNote(from: Date, until: Date): ZoneNote {
  const time = useServiceTime();
  const utc = useUtc();
  const text = time.zone === 'UTC' ? 'UTC' : `${time.zone} ${offsetsOf(from, until, time).join(' / ')}`;
  return { zone: time.zone, text, isNotUtc: utc && time.zone !== 'UTC' };
}

/** The same for whole days. */
export function useZoneOfDays(days: DayRange): ZoneNote {
  return useZoneNote(...useSpan(days));
}

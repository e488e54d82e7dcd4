import { offsetsOf } from '../time/offsets.ts';
import { useServiceTime } from '../time/use-time.ts';
import { useUtc } from '../time/zone.ts';

/** The zone of the figures of a card. */
export interface ZoneNote {
  /** IANA name. */
  readonly zone: string;
  /** The zone with its offsets. */
  readonly text: string;
  /** Whether the user sees other times in UTC. */
  readonly isNotUtc: boolean;
}

/**
 * In which zone the figures of a range are: that of the service, because its hours and days are the ones that were counted.
 * The offset is that of the range, and both where the clocks change within it.
 */
export function useZoneNote(from: Date, until: Date): ZoneNote {
  const time = useServiceTime();
  const utc = useUtc();
  const text = time.zone === 'UTC' ? 'UTC' : `${time.zone} ${offsetsOf(from, until, time).join(' / ')}`;
  return { zone: time.zone, text, isNotUtc: utc && time.zone !== 'UTC' };
}

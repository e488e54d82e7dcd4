import { HOUR_MS } from '@gantry/contract/durations';
import type { EventRow } from '../events/event-row.ts';

/** The number of events of a group that have the same hour and the same keys of the totals. */
export interface Count {
  /** The hour in UTC, in seconds since 1970. */
  readonly hour: number;
  readonly of: EventRow;
  n: number;
}

/** Counts a group of new events by the keys of `event_totals`. */
export function tally(rows: readonly EventRow[]): Count[] {
  const counts = new Map<string, Count>();
  for (const row of rows) {
    const hour = Math.floor(row.time / HOUR_MS);
    const violationType = row.violationType ?? '';
    // Devices send any text as a type, also "null" and line breaks: the length says where the first type ends.
    const types = `${violationType.length}\n${violationType}${row.vehicleType ?? ''}`;
    const key = `${hour}\n${row.eventType}\n${row.severity}\n${types}`;
    const known = counts.get(key);
    if (known) known.n++;
    else counts.set(key, { hour: hour * 3_600, of: row, n: 1 });
  }
  return [...counts.values()];
}

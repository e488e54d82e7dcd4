import type { EventRow } from '../events/event-row.ts';

/** How many events of a group share an hour and everything else by which events are counted. */
export interface Count {
  /** The hour in UTC, in seconds since 1970. */
  readonly hour: number;
  readonly of: EventRow;
  n: number;
}

const HOUR_MS = 3_600_000;

/** Counts a group of new events the way `event_totals` does. */
export function tally(rows: readonly EventRow[]): Count[] {
  const counts = new Map<string, Count>();
  for (const row of rows) {
    const hour = Math.floor(row.time / HOUR_MS);
    const key = `${hour}\n${row.eventType}\n${row.severity}\n${row.violationType}\n${row.vehicleType}`;
    const known = counts.get(key);
    if (known) known.n++;
    else counts.set(key, { hour: hour * 3_600, of: row, n: 1 });
  }
  return [...counts.values()];
}

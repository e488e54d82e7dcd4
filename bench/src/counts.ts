import { BenchmarkFailed } from './failure.ts';

/** The number of events, counted in each possible way. */
export interface Counts {
  /** Rows in `events`. */
  readonly rows: number;
  /** Sum of `event_totals`; null if they are not kept. */
  readonly totals: number | null;
  /** The result of `events.getStats`; null for a server without it. */
  readonly stats: number | null;
}

/**
 * Compares the number of acknowledged events with the number of stored ones.
 * @throws BenchmarkFailed when any of them has not grown by the number of acknowledged events
 */
export function checkCounts(who: string, acknowledged: number, before: Counts, after: Counts): void {
  const added = (key: keyof Counts): number | null => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null ? null : to - from;
  };
  const found = { rows: added('rows'), totals: added('totals'), stats: added('stats') };
  const wrong = Object.entries(found).filter(([, count]) => count !== null && count !== acknowledged);
  if (wrong.length === 0) return;
  const differences = wrong.map(([key, count]) => `${key} grew by ${count}`).join(', ');
  throw new BenchmarkFailed(`${who}: ${acknowledged} events were acknowledged, but ${differences}`);
}

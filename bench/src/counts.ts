import { BenchmarkFailed } from './failure.ts';

/** The number of events, by each way to find it. */
export interface Counts {
  /** Rows in `events`. */
  readonly rows: number;
  /** Sum of `event_totals`; null where nobody keeps them. */
  readonly totals: number | null;
  /** What `events.getStats` answers; null for a server without it. */
  readonly stats: number | null;
}

/**
 * Compares what was acknowledged with what was added.
 * @throws BenchmarkFailed when any two of the numbers differ
 */
export function checkCounts(who: string, acknowledged: number, before: Counts, after: Counts): void {
  const added = (key: keyof Counts): number | null => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null ? null : to - from;
  };
  const found = { rows: added('rows'), totals: added('totals'), stats: added('stats') };
  const wrong = Object.entries(found).filter(([, count]) => count !== null && count !== acknowledged);
  if (wrong.length === 0) return;
  const told = wrong.map(([key, count]) => `${key} grew by ${count}`).join(', ');
  throw new BenchmarkFailed(`${who}: ${acknowledged} events were acknowledged, but ${told}`);
}

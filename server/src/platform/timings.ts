/**
 * How often, and after how long, a service does what nobody asks it for, in milliseconds. They are no settings: an
 * installation runs with `TIMINGS`, and a test that waits for one of them shortens it.
 */
export interface Timings {
  /** How often what is cached is read anew though nothing was announced: should a message be lost, that is how late it counts. */
  readonly refreshCachesMs: number;
  /** How often deliveries of webhooks that nobody makes are looked for, and how late they are by then. */
  readonly sweepDeliveriesMs: number;
  /** How often schedules that are due, and reports that wait or whose process is gone, are looked for. */
  readonly reportRoundsMs: number;
  /** How long a process may give no sign of life before its report is begun anew. */
  readonly reportDeadMs: number;
}

export const TIMINGS: Timings = {
  refreshCachesMs: 60_000,
  sweepDeliveriesMs: 30_000,
  reportRoundsMs: 5_000,
  reportDeadMs: 15_000,
};

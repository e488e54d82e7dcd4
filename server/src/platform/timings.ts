/**
 * Intervals and time limits of background work, in milliseconds. They are not settings: an installation uses
 * `TIMINGS`, and tests shorten those they wait for.
 */
export interface Timings {
  /** How often caches are refreshed without an announced change, in case a notification was lost. */
  readonly refreshCachesMs: number;
  /** How often to look for webhook deliveries that are due, in case a notification was lost. */
  readonly sweepDeliveriesMs: number;
  /** How often to look for due schedules, and for reports that wait or whose process is gone. */
  readonly sweepReportsMs: number;
  /** How long a process may show no sign of life before its report is started again. */
  readonly reportDeadMs: number;
}

export const TIMINGS: Timings = {
  refreshCachesMs: 60_000,
  sweepDeliveriesMs: 2_000,
  sweepReportsMs: 5_000,
  reportDeadMs: 15_000,
};

/**
 * How often, and after how long, a service does what nobody asks it for, in milliseconds. They are no settings: an
 * installation runs with `TIMINGS`, and a test that waits for one of them shortens it.
 */
export interface Timings {
  /** How often caches are read again although no change was announced, in case a notification was lost. */
  readonly refreshCachesMs: number;
  /** How often deliveries of webhooks are looked for that are due, in case a notification was lost. */
  readonly sweepDeliveriesMs: number;
  /** How often schedules that are due, and reports that wait or whose process is gone, are looked for. */
  readonly sweepReportsMs: number;
  /** How long a process may give no sign of life before its report is begun again. */
  readonly reportDeadMs: number;
}

export const TIMINGS: Timings = {
  refreshCachesMs: 60_000,
  sweepDeliveriesMs: 2_000,
  sweepReportsMs: 5_000,
  reportDeadMs: 15_000,
};

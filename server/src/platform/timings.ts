/**
 * Intervals and time limits of background work, in milliseconds. They are not settings: an installation uses
 * `TIMINGS`, and tests shorten those they wait for. What no test waits for stays a
 * constant beside its use.
 */
export interface Timings {
  /** How often caches are refreshed without an announced change, in case a notification was lost. */
  readonly refreshCachesMs: number;
  /** How often to look for webhook deliveries that are due, in case a notification was lost. */
  readonly sweepDeliveriesMs: number;
  /** Longest wait for the body of a receiver's answer: its status has decided already. */
  readonly answerBodyMs: number;
  /** How often to look for due schedules, and for reports that wait or whose process is gone. */
  readonly sweepReportsMs: number;
  /** How long a process may show no sign of life before its report is started again. */
  readonly reportDeadMs: number;
  /** How often sensors are looked for that have gone silent. */
  readonly sweepSensorsMs: number;
  /** How often the last contacts of sensors are written. */
  readonly writeContactsMs: number;
  /** How often events are looked for whose follow-up was left behind. */
  readonly sweepFollowUpsMs: number;
  /** How often it is counted how many of them have waited for too long. */
  readonly countLateMs: number;
  /** How long a process may work on a device's message before another one takes it over. */
  readonly messageLeaseMs: number;
  /** How often messages are looked for whose processing was left behind. */
  readonly sweepMessagesMs: number;
  /** How often observations of one vehicle are looked for that are complete. */
  readonly sweepPassagesMs: number;
  /** How often messages of devices are removed that are old. */
  readonly removeDeviceDataMs: number;
  /** How often it is tried to store messages that wait on disk. */
  readonly playSpoolMs: number;
  /** How often a process tries to become the only one that does something, and whether it still is. */
  readonly leadershipMs: number;
  /** How often what was counted of events is folded. */
  readonly foldCountsMs: number;
  /** How often the feed of changes is read although nobody announced any: should a message be lost, that is how late it is. */
  readonly readFeedMs: number;
  /** How long a login takes that is refused because of earlier failures, whether or not there is such an account. */
  readonly refuseLoginMs: number;
  /** How often the tokens of open streams are checked: a stream ends within 5 s of its token. */
  readonly checkSessionsMs: number;
  /** How often the listener's connection is asked whether it is still there: TCP alone would notice after minutes or hours. */
  readonly probeListenerMs: number;
  /** Longest wait for the listener's connection, and for the answer to any statement on it; then it counts as lost. */
  readonly listenerAnswerMs: number;
  /** Longest time that a question waits for a connection, and then that the database works on one of its statements. */
  readonly questionMs: number;
  /** An event that waited this long for its turn is sent back; with `commitMs` this stays under 30 s. */
  readonly eventTurnMs: number;
  /** Longest wait for the commit of a group of events. */
  readonly commitMs: number;
  /** How long a stream gets to say that it ends, before its connection is closed. */
  readonly farewellMs: number;
  /** A connection on which nothing moves for this much longer than a call may take is closed: nobody reads its answer. */
  readonly stalledMs: number;
}

export const TIMINGS: Timings = {
  refreshCachesMs: 60_000,
  sweepDeliveriesMs: 2_000,
  answerBodyMs: 2_000,
  sweepReportsMs: 5_000,
  reportDeadMs: 15_000,
  sweepSensorsMs: 2_000,
  writeContactsMs: 2_000,
  sweepFollowUpsMs: 2_000,
  countLateMs: 15_000,
  messageLeaseMs: 30_000,
  sweepMessagesMs: 2_000,
  sweepPassagesMs: 1_000,
  removeDeviceDataMs: 600_000,
  playSpoolMs: 1_000,
  leadershipMs: 5_000,
  foldCountsMs: 1_000,
  readFeedMs: 1_000,
  refuseLoginMs: 500,
  checkSessionsMs: 2_000,
  probeListenerMs: 5_000,
  listenerAnswerMs: 5_000,
  questionMs: 5_000,
  eventTurnMs: 10_000,
  commitMs: 10_000,
  farewellMs: 2_000,
  stalledMs: 5_000,
};

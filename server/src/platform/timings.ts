/**
 * Intervals and time limits of background work, in milliseconds. They are not settings: an installation uses
 * `TIMINGS`, and tests shorten those they wait for. Times that no test waits for are constants beside their use.
 */
export interface Timings {
  /** How often caches are refreshed without an announced change, in case a notification was lost. */
  readonly refreshCachesMs: number;
  /** How often to look for webhook deliveries that are due, in case a notification was lost. */
  readonly sweepDeliveriesMs: number;
  /** How often to look for notices that are due, in case a notification was lost. */
  readonly sweepNoticesMs: number;
  /** Maximum wait for the body of a receiver's answer, whose status alone determines the result. */
  readonly answerBodyMs: number;
  /** How often to look for due schedules, and for reports that are waiting or whose process is gone. */
  readonly sweepReportsMs: number;
  /** How long a process may show no liveness signal before its report is started again. */
  readonly reportDeadMs: number;
  /** How often to look for imports and look-backs of hotlists that are due, in case a notification was lost. */
  readonly sweepHotlistJobsMs: number;
  /** How often to look into the sources of hotlists that have any, and for hits that expire. */
  readonly sweepHotlistsMs: number;
  /** How long the address of a hotlist may take to send its file. */
  readonly hotlistUrlMs: number;
  /** How long a process may show no liveness signal before its import or look-back is taken over. */
  readonly hotlistLeaseMs: number;
  /** When, after a change of a hotlist, the reads that processes may have missed are looked for, and looked for again. */
  readonly hotlistChangeMs: readonly [number, number];
  /** How often to look for sensors that have become silent. */
  readonly sweepSensorsMs: number;
  /** How often the times last seen of sensors are written, and what was noted about their clocks. */
  readonly writeContactsMs: number;
  /** How often rules of alarms are evaluated. */
  readonly evaluateAlarmsMs: number;
  /** How often to look for planned works that begin or end. */
  readonly turnWorksMs: number;
  /** How often to look for events for which a rule wants a case. */
  readonly openCasesMs: number;
  /** How often to look for events whose follow-up is overdue. */
  readonly sweepFollowUpsMs: number;
  /** How often to count the follow-ups that are late. */
  readonly countLateMs: number;
  /** How often sensors and deliveries are counted for the metrics. */
  readonly countForMetricsMs: number;
  /** How long a process may work on a device's message before another one takes it over. */
  readonly messageLeaseMs: number;
  /** How often to look for messages whose processing is overdue. */
  readonly sweepMessagesMs: number;
  /** How often to look for passages that are complete. */
  readonly sweepPassagesMs: number;
  /** How often to remove old messages of devices. */
  readonly removeDeviceDataMs: number;
  /** How often to try to store messages that wait on disk. */
  readonly playSpoolMs: number;
  /** How often a process tries to become the leader, and checks whether it still is. */
  readonly leadershipMs: number;
  /** How often counts of events are rolled up. */
  readonly rollUpCountsMs: number;
  /** How often traffic is rolled up. */
  readonly rollUpTrafficMs: number;
  /** How often to look for years of traffic that can be stored. */
  readonly storeYearsMs: number;
  /** How often to look for partitions of events that are due for maintenance. */
  readonly upkeepMs: number;
  /** How often the counts of repeated looks at plates are stored. */
  readonly countLooksMs: number;
  /** How often to look for entries of the activity log that are to be forwarded. */
  readonly forwardActivityMs: number;
  /** How often records are sealed. */
  readonly sealMs: number;
  /** How often to pass the stored keys of plates until they conform to new rules. */
  readonly renewPlateKeysMs: number;
  /** How often to read the feed of changes without a notification, in case one was lost. */
  readonly readFeedMs: number;
  /** After this long without an item, the subscriber of a stream is sent a note. */
  readonly streamNoteMs: number;
  /**
   * The duration of a login that is refused because of earlier failures, the same for existing and unknown accounts.
   */
  readonly refuseLoginMs: number;
  /** How often to check the tokens of open streams, which must end within 5 s of their tokens. */
  readonly checkSessionsMs: number;
  /** How often to probe the listener's connection, because TCP alone reports its loss after minutes or hours. */
  readonly probeListenerMs: number;
  /** Maximum wait for the listener's connection, and for the answer to a statement on it, before it counts as lost. */
  readonly listenerAnswerMs: number;
  /** Maximum wait of an expensive query for a connection, and maximum duration of each of its statements. */
  readonly questionMs: number;
  /** Maximum wait of an event for its turn, after which it is refused; less than 30 s together with `commitMs`. */
  readonly eventTurnMs: number;
  /** Maximum wait for the commit of a group of events. */
  readonly commitMs: number;
  /** Maximum duration of sending one e-mail, with the wait for a connection. */
  readonly mailMs: number;
  /** How long a stream may take to send its last message before its connection is closed. */
  readonly farewellMs: number;
  /** A connection is closed when nothing is transferred for this much longer than the time limit of a call. */
  readonly stalledMs: number;
}

export const TIMINGS: Timings = {
  refreshCachesMs: 60_000,
  sweepDeliveriesMs: 2_000,
  sweepNoticesMs: 2_000,
  answerBodyMs: 2_000,
  sweepReportsMs: 5_000,
  reportDeadMs: 15_000,
  sweepHotlistJobsMs: 5_000,
  sweepHotlistsMs: 60_000,
  hotlistUrlMs: 60_000,
  hotlistLeaseMs: 30_000,
  hotlistChangeMs: [2_000, 90_000],
  sweepSensorsMs: 2_000,
  writeContactsMs: 2_000,
  evaluateAlarmsMs: 10_000,
  turnWorksMs: 2_000,
  openCasesMs: 5_000,
  sweepFollowUpsMs: 2_000,
  countLateMs: 15_000,
  countForMetricsMs: 15_000,
  messageLeaseMs: 30_000,
  sweepMessagesMs: 2_000,
  sweepPassagesMs: 1_000,
  removeDeviceDataMs: 600_000,
  playSpoolMs: 1_000,
  leadershipMs: 5_000,
  rollUpCountsMs: 1_000,
  rollUpTrafficMs: 5_000,
  storeYearsMs: 10_000,
  upkeepMs: 60_000,
  countLooksMs: 10_000,
  forwardActivityMs: 2_000,
  sealMs: 30_000,
  renewPlateKeysMs: 3_600_000,
  readFeedMs: 3_000,
  streamNoteMs: 4_000,
  refuseLoginMs: 500,
  checkSessionsMs: 3_000,
  probeListenerMs: 5_000,
  listenerAnswerMs: 5_000,
  questionMs: 5_000,
  eventTurnMs: 10_000,
  commitMs: 10_000,
  mailMs: 60_000,
  farewellMs: 2_000,
  stalledMs: 5_000,
};

/**
 * The advisory locks by which processes on one database take turns. The numbers only have to differ, from one
 * another and from what other software on the same server is likely to lock on.
 */
export const locks = {
  migration: 4_202_611,
  partition: 4_202_612,
  sweep: 4_202_613,
  fold: 4_202_614,
  prune: 4_202_615,
  /** With the hash of the sensor's id as second number. */
  incidentsOfSensor: 4_202_617,
  webhooks: 4_202_616,
  traffic: 4_202_618,
  /** Shared by those who remove events, so that none is removed that is being put under a legal hold. */
  holds: 4_202_620,
} as const;

import { sql } from 'drizzle-orm';
import type { Transaction } from './transaction.ts';

/**
 * The advisory locks by which processes on one database exclude one another. The numbers must differ from one
 * another, and should differ from those of other software on the same server.
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
  /** Shared by transactions that remove events, so that they exclude those that set a legal hold. */
  holds: 4_202_620,
  /** Held by the process that receives from the MQTT broker. */
  mqtt: 4_202_621,
  /** Held by the process that maintains the partitions of events. */
  upkeep: 4_202_622,
  /** Held by the process that makes a backup. */
  backup: 4_202_629,
  /** Shared by transactions in which retention removes events and pictures, so that they exclude a backup. */
  removal: 4_202_630,
  /** Held by the transaction that opens missing incidents. */
  repair: 4_202_631,
} as const;

/** Limits how long statements of the transaction wait for a lock, in milliseconds. */
export async function waitForLocksAtMost(tx: Transaction, ms: number): Promise<void> {
  await tx.execute(sql`SELECT set_config('lock_timeout', ${`${ms}ms`}, true)`);
}

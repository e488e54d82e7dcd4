import type { SwitchableFeature } from '@gantry/contract/system';
import type { Database } from '../../platform/database/pool.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';

/** A difference between derived data and its source: a row with the computed and the stored values. */
export type Difference = Readonly<Record<string, unknown>>;

/** The kinds of derived data that `gantry db rebuild` recomputes. */
export const rebuilds = [
  'totals',
  'arrivals',
  'traffic',
  'incidents',
  'statuses',
  'alerts',
  'hits',
  'deliveries',
] as const;
export type RebuildKind = (typeof rebuilds)[number];

/** A comparison of derived data with its source. */
export interface Check {
  /** A short name. */
  readonly name: string;
  /** A sentence that says what is compared. */
  readonly compares: string;
  /** The feature without which the data is not derived. */
  readonly feature?: SwitchableFeature;
  /** Finds at most `limit` differences. */
  readonly find: (db: Executor, limit: number) => Promise<readonly Difference[]>;
  /** What corrects them. */
  readonly rebuild: RebuildKind;
}

/** What recomputing needs. */
export interface Rebuilding {
  readonly db: Database;
  /** Runs a change in a transaction; on a cluster, no event is stored until it ends. */
  readonly change: (work: (tx: Transaction) => Promise<number>) => Promise<number>;
  /** Receives the incidents and alerts that are made. */
  readonly outboxOf: (tx: Transaction) => Promise<Outbox>;
}

/**
 * Recomputes one kind of derived data through the code that maintains it, while the service is running.
 * @returns the number of rows that were written
 */
export type Rebuild = (rebuilding: Rebuilding) => Promise<number>;

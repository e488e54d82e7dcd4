import type { SwitchableFeature } from '@gantry/contract/system';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';

/** A difference between derived data and its source: a row with the computed and the stored values. */
export type Difference = Readonly<Record<string, unknown>>;

/** A kind of derived data that can be recomputed from its source. */
export interface Check {
  /** A short name. */
  readonly name: string;
  /** A sentence that says what is compared. */
  readonly compares: string;
  /** The feature without which the data is not derived. */
  readonly feature?: SwitchableFeature;
  /** Finds at most `limit` differences. */
  readonly find: (db: Executor, limit: number) => Promise<readonly Difference[]>;
  /**
   * Corrects the derived data in the transaction, while the service is running.
   * @param outbox receives the incidents and alerts that are made
   * @returns the number of rows that were changed
   */
  readonly repair: (tx: Transaction, outbox: Outbox) => Promise<number>;
}

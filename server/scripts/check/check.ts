import type { SwitchableFeature } from '@gantry/contract/system';
import type { Executor, Transaction } from '../../src/platform/database/transaction.ts';

/** A place where what is derived differs from what it is derived from: a row, with what was counted and what is kept. */
export type Difference = Readonly<Record<string, unknown>>;

/** One kind of derived data that is recomputed from its source. */
export interface Check {
  /** A few words that tell it from the others. */
  readonly name: string;
  /** What is compared with what, in a sentence. */
  readonly compares: string;
  /** Only where this is switched on is it derived at all. */
  readonly feature?: SwitchableFeature;
  /** Finds at most `limit` differences. */
  readonly find: (db: Executor, limit: number) => Promise<readonly Difference[]>;
  /**
   * Makes the derived data say what its source says, in the transaction, while the service goes on.
   * @returns the number of rows that were mended
   */
  readonly repair: (tx: Transaction) => Promise<number>;
}

import type { SwitchableFeature } from '@gantry/contract/system';
import pg from 'pg';
import { createDatabase } from '../../src/platform/database/pool.ts';
import { inTransaction } from '../../src/platform/database/transaction.ts';
import type { Difference } from './check.ts';
import { effectsChecks } from './effects-store.ts';
import { feedChecks } from './feed-store.ts';
import { totalsChecks } from './totals-store.ts';
import { trafficChecks } from './traffic-store.ts';

const checks = [...totalsChecks, ...trafficChecks, ...effectsChecks, ...feedChecks];

/** What one check found. */
export interface CheckResult {
  readonly name: string;
  readonly compares: string;
  /** At most as many as were asked for. */
  readonly differences: readonly Difference[];
  /** Rows that were mended; null where nobody asked for that. */
  readonly repaired: number | null;
}

export interface ChecksOptions {
  readonly connectionString: string;
  /** What is switched on (`FEATURES`). */
  readonly features: readonly SwitchableFeature[];
  /** Whether differences are mended. */
  readonly isRepairing: boolean;
  /** Most differences that one check reports. */
  readonly limit: number;
  /** Receives each result as soon as it is known. */
  readonly onResult: (result: CheckResult) => void;
}

/**
 * Recomputes everything that is derived from events and from what people did, while the service goes on, and reports
 * where the two differ. It reads every event once for each check: about a minute for ten million.
 * @throws Error when the database cannot be reached
 */
export async function runChecks(options: ChecksOptions): Promise<CheckResult[]> {
  const { connectionString, features, isRepairing, limit, onResult } = options;
  // A connection of its own and without time-outs, because a check may take minutes.
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'gantry check' });
  pool.on('error', () => undefined);
  const db = createDatabase(pool);
  try {
    const results: CheckResult[] = [];
    const due = checks.filter(({ feature }) => feature === undefined || features.includes(feature));
    for (const { name, compares, find, repair } of due) {
      const differences = await find(db, limit);
      const repaired = isRepairing && differences.length > 0 ? await inTransaction(db, repair) : null;
      const result = { name, compares, differences, repaired };
      onResult(result);
      results.push(result);
    }
    return results;
  } finally {
    await pool.end();
  }
}

import type { SwitchableFeature } from '@gantry/contract/system';
import pg from 'pg';
import { clientSettings } from '../../platform/database/address.ts';
import { readDatabaseTime } from '../../platform/database/database-time.ts';
import { areEventsDistributed } from '../../platform/database/nodes.ts';
import { inSnapshotOfNodes, pauseEvents } from '../../platform/database/nodes-snapshot.ts';
import { createDatabase } from '../../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import { createWebhookDispatch } from '../../webhooks/dispatch.ts';
import { listEnabledWebhooks } from '../../webhooks/store.ts';
import type { Difference } from './check.ts';
import { effectsChecks } from './effects-store.ts';
import { feedChecks } from './feed-store.ts';
import { totalsChecks } from './totals-store.ts';
import { trafficChecks } from './traffic-store.ts';

const checks = [...totalsChecks, ...trafficChecks, ...effectsChecks, ...feedChecks];

/** The result of one check. */
export interface CheckResult {
  readonly name: string;
  readonly compares: string;
  /** At most as many as requested. */
  readonly differences: readonly Difference[];
  /** Number of corrected rows; null if that was not requested. */
  readonly repaired: number | null;
}

export interface ChecksOptions {
  readonly connectionString: string;
  /** The features that are switched on (`FEATURES`). */
  readonly features: readonly SwitchableFeature[];
  /** Whether to correct differences. */
  readonly isRepairing: boolean;
  /** Maximum number of differences that one check reports. */
  readonly limit: number;
  /** Called with each result as soon as it is known. */
  readonly onResult: (result: CheckResult) => void;
}

/**
 * Recomputes all data derived from events and from actions of users, while the service is running, and reports
 * differences. It reads every event once for each check: about a minute for ten million. On a cluster, no events are
 * stored while something is corrected.
 * @throws Error when the database, or a node of a cluster, is unreachable
 */
export async function runChecks(options: ChecksOptions): Promise<CheckResult[]> {
  const { connectionString, features, isRepairing, limit, onResult } = options;
  // Separate connections without time-outs, because a check may take minutes.
  const pool = new pg.Pool(
    clientSettings(connectionString, {
      max: 2,
      application_name: 'gantry check',
      onConnect: async (client: pg.ClientBase) => void (await client.query('SET statement_timeout = 0')),
    }),
  );
  pool.on('error', () => undefined);
  const db = createDatabase(pool);
  try {
    const isDistributed = await areEventsDistributed(db);
    const results: CheckResult[] = [];
    const due = checks.filter(({ feature }) => feature === undefined || features.includes(feature));
    for (const { name, compares, find, repair } of due) {
      const differences = await (isDistributed
        ? inSnapshotOfNodes(db, (tx) => find(tx, limit))
        : find(db, limit));
      const mend = async (tx: Transaction): Promise<number> => {
        if (isDistributed) await pauseEvents(tx);
        return repair(tx, await outboxOf(tx, features));
      };
      const repaired = isRepairing && differences.length > 0 ? await inTransaction(db, mend) : null;
      const result = { name, compares, differences, repaired };
      onResult(result);
      results.push(result);
    }
    return results;
  } finally {
    await pool.end();
  }
}

/** The outbox that creates deliveries to webhooks for the incidents and alerts that a repair makes. */
async function outboxOf(tx: Transaction, features: readonly SwitchableFeature[]): Promise<Outbox> {
  const now = await readDatabaseTime(tx);
  return createWebhookDispatch(
    async () => (features.includes('webhooks') ? listEnabledWebhooks(tx) : []),
    () => now,
  );
}

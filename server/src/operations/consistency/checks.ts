import type { SwitchableFeature } from '@gantry/contract/system';
import pg from 'pg';
import { clientSettings } from '../../platform/database/address.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { inCommonSnapshot, pauseEvents } from '../../platform/database/nodes.ts';
import { createDatabase, type Database } from '../../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import { findWrongYears } from '../../traffic/years.ts';
import { createWebhookDispatch } from '../../webhooks/dispatch.ts';
import { listEnabledWebhooks } from '../../webhooks/store.ts';
import type { Check, Difference, Rebuild, RebuildKind } from './check.ts';
import {
  rebuildArrivals,
  rebuildTotals,
  rebuildTraffic,
  totalsChecks,
  trafficChecks,
} from './counts-store.ts';
import {
  effectsChecks,
  feedChecks,
  rebuildAlerts,
  rebuildDeliveries,
  rebuildIncidents,
  rebuildStatuses,
} from './effects-store.ts';
import { hitsChecks, rebuildHits } from './hits-store.ts';

const yearsCheck: Check = {
  name: 'traffic by year',
  compares: 'the stored hours of years that are over with the counts',
  find: async (db, limit) =>
    (await findWrongYears(db, await readDatabaseTime(db), limit)).map((year) => ({ ...year })),
  rebuild: 'traffic',
};

const checks = [
  ...totalsChecks,
  ...trafficChecks,
  yearsCheck,
  ...effectsChecks,
  ...feedChecks,
  ...hitsChecks,
];

const rebuildOf: Readonly<Record<RebuildKind, Rebuild>> = {
  totals: rebuildTotals,
  arrivals: rebuildArrivals,
  traffic: rebuildTraffic,
  incidents: rebuildIncidents,
  statuses: rebuildStatuses,
  alerts: rebuildAlerts,
  hits: rebuildHits,
  deliveries: rebuildDeliveries,
};

/** The result of one check. */
export interface CheckResult {
  readonly name: string;
  readonly compares: string;
  /** At most as many as requested. */
  readonly differences: readonly Difference[];
  /** What recomputes this data: `gantry db rebuild <rebuild>`. */
  readonly rebuild: RebuildKind;
}

export interface DerivedDataOptions {
  readonly connectionString: string;
  /** The features that are switched on (`FEATURES`). */
  readonly features: readonly SwitchableFeature[];
}

export interface ChecksOptions extends DerivedDataOptions {
  /** Maximum number of differences that one check reports. */
  readonly limit: number;
  /** Called with each result as soon as it is known. */
  readonly onResult: (result: CheckResult) => void;
}

/**
 * Recomputes all data derived from events and from actions of users, while the service is running, and reports
 * differences. It reads every event once for each check: about a minute for ten million.
 * @throws Error when the database, or a node of a cluster, is unreachable
 */
export function runChecks({
  connectionString,
  features,
  limit,
  onResult,
}: ChecksOptions): Promise<CheckResult[]> {
  return withDatabase(connectionString, async (db) => {
    const results: CheckResult[] = [];
    const due = checks.filter(({ feature }) => feature === undefined || features.includes(feature));
    for (const { name, compares, find, rebuild } of due) {
      const differences = await inCommonSnapshot(db, (tx) => find(tx, limit));
      const result = { name, compares, differences, rebuild };
      onResult(result);
      results.push(result);
    }
    return results;
  });
}

/**
 * Recomputes one kind of derived data, while the service is running. On a cluster, no events are stored meanwhile.
 * @returns the number of rows that were written
 * @throws Error when the database, or a node of a cluster, is unreachable
 */
export function rebuildDerived(
  kind: RebuildKind,
  { connectionString, features }: DerivedDataOptions,
): Promise<number> {
  return withDatabase(connectionString, (db) =>
    rebuildOf[kind]({
      db,
      change: (work) =>
        inTransaction(db, async (tx) => {
          await pauseEvents(tx);
          return work(tx);
        }),
      outboxOf: (tx) => outboxOf(tx, features),
    }),
  );
}

/** Separate connections without time-outs, because a statement may take minutes. */
async function withDatabase<Result>(
  connectionString: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool(
    clientSettings(connectionString, {
      max: 2,
      application_name: 'gantry check',
      onConnect: async (client: pg.ClientBase) => void (await client.query('SET statement_timeout = 0')),
    }),
  );
  pool.on('error', () => undefined);
  try {
    return await work(createDatabase(pool));
  } finally {
    await pool.end();
  }
}

/** The outbox that creates deliveries to webhooks for the incidents and alerts that are made. */
async function outboxOf(tx: Transaction, features: readonly SwitchableFeature[]): Promise<Outbox> {
  const now = await readDatabaseTime(tx);
  return createWebhookDispatch(
    async () => (features.includes('webhooks') ? listEnabledWebhooks(tx) : []),
    () => now,
  );
}

import type { Pool, PoolClient } from 'pg';
import { locks } from '../database/locks.ts';
import { transact } from '../database/transaction.ts';
import { firstIdAt } from './id.ts';

/** Longest wait for a lock; whoever waits for the partition must be answered meanwhile. */
const LOCK_TIMEOUT = '5s';

/** A month of events in UTC, as `YYYY-MM`. */
type Month = string;

/** The month in UTC that a moment (Unix milliseconds) falls into. */
const monthOf = (time: number): Month => new Date(time).toISOString().slice(0, 7);

/** The month after. */
const monthAfter = (month: Month): Month => {
  const start = new Date(`${month}-01T00:00:00Z`);
  start.setUTCMonth(start.getUTCMonth() + 1);
  return monthOf(start.getTime());
};

const startOf = (month: Month): number => Date.parse(`${month}-01T00:00:00Z`);

const usualName = (month: Month): string => `events_${month.replace('-', '_')}`;
const boundsOf = (month: Month): string =>
  `FOR VALUES FROM ('${firstIdAt(startOf(month))}') TO ('${firstIdAt(startOf(monthAfter(month)))}')`;

// A partition is known by its bounds: a table of its name may also be one that was detached and kept.
const FIND = `
  SELECT to_regclass($2) IS NOT NULL AS "nameTaken", EXISTS (
    SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'events'::regclass AND pg_get_expr(relpartbound, pg_class.oid) = $1
  ) AS present`;

const find = async (db: Pool | PoolClient, month: Month) => {
  const { rows } = await db.query<{ present: boolean; nameTaken: boolean }>(FIND, [
    boundsOf(month),
    usualName(month),
  ]);
  return { present: rows[0]?.present ?? false, nameTaken: rows[0]?.nameTaken ?? false };
};

const create = async (pool: Pool, month: Month): Promise<void> => {
  await transact(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.partition]);
    const { present, nameTaken } = await find(client, month);
    if (present) return;
    const name = nameTaken ? `${usualName(month)}_${Date.now()}` : usualName(month);
    // Made beside the table and attached, because reading and writing go on meanwhile;
    // CREATE TABLE … PARTITION OF would lock the whole of events.
    await client.query(
      `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS)`,
    );
    await client.query(`ALTER TABLE events ATTACH PARTITION ${name} ${boundsOf(month)}`);
  });
};

/** The monthly partitions of events, created ahead and on demand, by any number of processes. */
export interface Partitions {
  /** Whether the partition of an event at this time (Unix milliseconds) is known to exist. */
  has(time: number): boolean;
  /** Creates that partition, unless it exists. Those who ask for it at once share one attempt. */
  ensure(time: number): Promise<void>;
  /** Creates the partitions of this month and the next. */
  ensureAhead(): Promise<void>;
  /** Forgets which ones exist, after one turned out not to. */
  forget(): void;
}

export const createPartitions = (pool: Pool): Partitions => {
  const known = new Set<Month>();
  // The bounds of the month used last, so that the common case is two comparisons and no date arithmetic.
  let latest = { from: 0, until: 0 };
  const underway = new Map<Month, Promise<void>>();
  // Created one after another: they wait for one lock anyway, and should not each hold a connection meanwhile.
  let lastCreation: Promise<unknown> = Promise.resolve();

  const createInTurn = (month: Month): Promise<void> => {
    const creation = lastCreation.then(() => create(pool, month));
    lastCreation = creation.catch(() => undefined);
    return creation;
  };

  const provide = async (month: Month): Promise<void> => {
    const { present } = await find(pool, month);
    if (!present) await createInTurn(month);
    known.add(month);
  };

  const ensureMonth = (month: Month): Promise<void> => {
    const running = underway.get(month);
    if (running) return running;
    const started = provide(month).finally(() => underway.delete(month));
    underway.set(month, started);
    return started;
  };

  return {
    has(time) {
      if (time >= latest.from && time < latest.until) return true;
      const month = monthOf(time);
      if (!known.has(month)) return false;
      latest = { from: startOf(month), until: startOf(monthAfter(month)) };
      return true;
    },
    ensure: (time) => ensureMonth(monthOf(time)),
    async ensureAhead() {
      const now = monthOf(Date.now());
      await ensureMonth(now);
      await ensureMonth(monthAfter(now));
    },
    forget() {
      known.clear();
      latest = { from: 0, until: 0 };
    },
  };
};

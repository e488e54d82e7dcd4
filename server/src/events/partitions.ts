import { sql } from 'drizzle-orm';
import type { Pool, PoolClient } from 'pg';
import { locks } from '../platform/database/locks.ts';
import { readTableBytes } from '../platform/database/nodes.ts';
import { type Executor, transact } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { endOf, startOf } from './counts/covering.ts';
import { firstIdAt, timeOfId } from './id.ts';

/** Maximum wait for a lock, so that requests that wait for the partition are answered in time. */
const LOCK_TIMEOUT = '2s';

/** The number of months before the current one that have a partition of their own. */
const MONTHLY = 24;

/** The number of years before those months that have a partition each. All older events share one. */
const YEARLY = 5;

/**
 * The time range of the partition for a time: its month or, further back, its year or all earlier years. So a device
 * that reports events of every month since 2000 adds few partitions, all of which every list would have to search.
 */
export function sharedSpan(time: number, now: number): Interval {
  const today = new Date(now);
  const monthly = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - MONTHLY);
  if (time >= monthly) return { from: startOf('month', time), until: endOf('month', time) };
  const yearly = Date.UTC(new Date(monthly).getUTCFullYear() - YEARLY, 0);
  if (time < yearly) return { from: 0, until: yearly };
  return { from: startOf('year', time), until: Math.min(endOf('year', time), monthly) };
}

/** The partitions of events. Any number of processes may create them ahead of time and on demand. */
export interface Partitions {
  /** Whether the partition for an event at this time (Unix milliseconds) is known to exist. */
  has(time: number): boolean;
  /** Creates that partition unless it exists. Concurrent calls share one attempt. */
  ensure(time: number): Promise<void>;
  /** Creates the partitions of the current month and the next. */
  ensureAhead(): Promise<void>;
  /** Discards what is known, after a partition turned out to be missing. */
  forget(): void;
}

/**
 * @param clock returns the time of the database in Unix milliseconds, which decides which months have a partition of
 * their own
 */
export function createPartitions(pool: Pool, clock: () => number): Partitions {
  let known: Interval[] = [];
  // The partition that was used last, so that the common case takes two comparisons.
  let latest: Interval = { from: 0, until: 0 };
  /** By the start of the requested month. */
  const underway = new Map<number, Promise<void>>();
  // Partitions are created one after another: all wait for the same lock, and none should hold a connection
  // meanwhile.
  let lastCreation: Promise<unknown> = Promise.resolve();

  const createInTurn = (time: number): Promise<Interval> => {
    const creation = lastCreation.then(() => known.find(isIn(time)) ?? create(pool, time, clock()));
    lastCreation = creation.catch(() => undefined);
    return creation;
  };

  const provide = async (time: number): Promise<void> => {
    const found = (await list(pool)).find(isIn(time)) ?? (await createInTurn(time));
    if (!known.some(isIn(time))) known.push(found);
  };

  const ensure = (time: number): Promise<void> => {
    const month = startOf('month', time);
    const running = underway.get(month);
    if (running) return running;
    const started = provide(time).finally(() => underway.delete(month));
    underway.set(month, started);
    return started;
  };

  return {
    has(time) {
      if (time >= latest.from && time < latest.until) return true;
      const partition = known.find(isIn(time));
      if (partition === undefined) return false;
      latest = partition;
      return true;
    },
    ensure,
    async ensureAhead() {
      const now = clock();
      await ensure(now);
      await ensure(endOf('month', now));
    },
    forget() {
      known = [];
      latest = { from: 0, until: 0 };
    },
  };
}

/** The part of a span around a time that no partition covers. The time itself must not be covered. */
function freeAround(time: number, span: Interval, partitions: readonly Interval[]): Interval {
  return partitions.reduce(
    ({ from, until }, taken) =>
      taken.until <= time
        ? { from: Math.max(from, taken.until), until }
        : { from, until: Math.min(until, taken.from) },
    span,
  );
}

function isMonth({ from, until }: Interval): boolean {
  return from === startOf('month', from) && until === endOf('month', from);
}

function usualName(span: Interval): string {
  const month = new Date(span.from).toISOString().slice(0, 7).replace('-', '_');
  return isMonth(span) ? `events_${month}` : `events_from_${month}`;
}

function boundsOf({ from, until }: Interval): string {
  return `FOR VALUES FROM ('${firstIdAt(from)}') TO ('${firstIdAt(until)}')`;
}

async function list(db: Pool | PoolClient): Promise<Interval[]> {
  return partitionsOf((await db.query<PartitionRow>(PARTITIONS)).rows);
}

function isIn(time: number) {
  return ({ from, until }: Interval): boolean => time >= from && time < until;
}

// A table of the usual name may be a partition that was detached and kept.
async function freeName(db: PoolClient, name: string, now: number): Promise<string> {
  const { rows } = await db.query<{ taken: boolean }>('SELECT to_regclass($1) IS NOT NULL AS taken', [name]);
  return rows[0]?.taken ? `${name}_${now}` : name;
}

/** @returns the range of the partition for that time, whichever process created it */
function create(pool: Pool, time: number, now: number): Promise<Interval> {
  return transact(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.partition]);
    const partitions = await list(client);
    const present = partitions.find(isIn(time));
    if (present) return present;
    const partition = freeAround(time, sharedSpan(time, now), partitions);
    const name = await freeName(client, usualName(partition), now);
    // The table is created separately and attached, so that reads and writes continue; CREATE TABLE … PARTITION OF
    // would lock all of events.
    await client.query(
      `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS)`,
    );
    await client.query(`ALTER TABLE events ATTACH PARTITION ${name} ${boundsOf(partition)}`);
    return partition;
  });
}

/** A partition of events: one month, or several for old events. It begins and ends at months in UTC. */
export interface EventMonth extends Interval {
  /** The table name, quoted for SQL. */
  readonly table: string;
}

const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;

/** Lists the partitions in any order. A partition is identified by its bounds, not by its name. */
export const PARTITIONS = `
  SELECT pg_class.oid::regclass::text AS table, pg_get_expr(relpartbound, pg_class.oid) AS bounds
  FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'events'::regclass`;

/** A row of `PARTITIONS`. */
type PartitionRow = { table: string; bounds: string };

/** Parses the rows of `PARTITIONS`, oldest first. */
export function partitionsOf(rows: readonly PartitionRow[]): EventMonth[] {
  return rows
    .flatMap(({ table, bounds }) => {
      const [, first, last] = BOUNDS.exec(bounds) ?? [];
      if (first === undefined || last === undefined) return [];
      return [{ table, from: timeOfId(first), until: timeOfId(last) }];
    })
    .sort((a, b) => a.from - b.from);
}

/** All partitions, oldest first. */
export async function listEventMonths(db: Executor): Promise<EventMonth[]> {
  return partitionsOf((await db.execute<PartitionRow>(sql.raw(PARTITIONS))).rows);
}

/** Whether a partition contains a month (`YYYY-MM` in UTC). */
export function holdsMonth({ from, until }: Interval, month: string): boolean {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return start >= from && start < until;
}

/** The size of each month with its indexes, in bytes, by table; null where it is unknown. */
export function readMonthSizes(
  db: Executor,
  months: readonly EventMonth[],
): Promise<ReadonlyMap<string, number | null>> {
  return readTableBytes(
    db,
    months.map(({ table }) => table),
  );
}

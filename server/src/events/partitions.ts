import type { Pool, PoolClient } from 'pg';
import { locks } from '../platform/database/locks.ts';
import { transact } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { endOf, startOf } from './counts/covering.ts';
import { firstIdAt } from './id.ts';
import { PARTITIONS, type PartitionRow, partitionsOf } from './months-store.ts';

/** Longest wait for a lock; whoever waits for the partition must be answered meanwhile. */
const LOCK_TIMEOUT = '2s';

/** How many months before the current one have a partition each. */
const MONTHLY = 24;

/** How many years before those have a partition each. All that is older shares one. */
const YEARLY = 5;

/**
 * The time that shares a partition with a moment, when nothing is there yet: its month, or, the longer ago it is, its
 * year or all earlier years. So a device that tells of every month since 2000 adds few partitions, which every list would
 * have to look at.
 */
export function sharedSpan(time: number, now: number): Interval {
  const today = new Date(now);
  const monthly = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - MONTHLY);
  if (time >= monthly) return { from: startOf('month', time), until: endOf('month', time) };
  const yearly = Date.UTC(new Date(monthly).getUTCFullYear() - YEARLY, 0);
  if (time < yearly) return { from: 0, until: yearly };
  return { from: startOf('year', time), until: Math.min(endOf('year', time), monthly) };
}

/** The partitions of events, created ahead and on demand, by any number of processes. */
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

/** @param clock the time of the database, in Unix milliseconds: it decides which months have a partition each */
export function createPartitions(pool: Pool, clock: () => number): Partitions {
  let known: Interval[] = [];
  // The partition used last, so that the common case is two comparisons.
  let latest: Interval = { from: 0, until: 0 };
  /** By the start of the month that is asked for. */
  const underway = new Map<number, Promise<void>>();
  // Created one after another: they wait for one lock anyway, and should not each hold a connection meanwhile.
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

/** The part of a span around a moment in it that none of the partitions covers; none may cover the moment. */
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

// A partition is known by its bounds: a table of its name may also be one that was detached and kept.
async function freeName(db: PoolClient, name: string, now: number): Promise<string> {
  const { rows } = await db.query<{ taken: boolean }>('SELECT to_regclass($1) IS NOT NULL AS taken', [name]);
  return rows[0]?.taken ? `${name}_${now}` : name;
}

/** @returns what the partition of that moment covers, whoever created it */
function create(pool: Pool, time: number, now: number): Promise<Interval> {
  return transact(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.partition]);
    const partitions = await list(client);
    const present = partitions.find(isIn(time));
    if (present) return present;
    const partition = freeAround(time, sharedSpan(time, now), partitions);
    const name = await freeName(client, usualName(partition), now);
    // Made beside the table and attached, because reading and writing go on meanwhile;
    // CREATE TABLE … PARTITION OF would lock the whole of events.
    await client.query(
      `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS)`,
    );
    await client.query(`ALTER TABLE events ATTACH PARTITION ${name} ${boundsOf(partition)}`);
    return partition;
  });
}

import type { Pool } from 'pg';
import { firstIdAt } from './id.ts';

/** Serialises the creation of partitions over all processes. */
const LOCK = 4_202_612;

/** A month of events in UTC, as `YYYY-MM`. */
export type Month = string;

/** The month in UTC that a moment (Unix milliseconds) falls into. */
export const monthOf = (time: number): Month => new Date(time).toISOString().slice(0, 7);

/** The month after. */
export const monthAfter = (month: Month): Month => {
  const start = new Date(`${month}-01T00:00:00Z`);
  start.setUTCMonth(start.getUTCMonth() + 1);
  return monthOf(start.getTime());
};

const create = async (pool: Pool, month: Month): Promise<void> => {
  const name = `events_${month.replace('-', '_')}`;
  const from = firstIdAt(Date.parse(`${month}-01T00:00:00Z`));
  const to = firstIdAt(Date.parse(`${monthAfter(month)}-01T00:00:00Z`));
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const { rows } = await client.query<{ present: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS present',
      [name],
    );
    if (!rows[0]?.present) {
      // Made beside the table and attached, because reading and writing go on meanwhile;
      // CREATE TABLE … PARTITION OF would lock the whole of events.
      await client.query(`CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
      await client.query(
        `ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
    }
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
};

/** The monthly partitions of events, created ahead and on demand, by any number of processes. */
export interface Partitions {
  /** Creates the partitions that events at these times need and that are not known to exist. */
  ensureFor(events: readonly { time: number }[]): Promise<void>;
  /** Creates the partitions of this month and the next. */
  ensureAhead(): Promise<void>;
  /** Forgets which ones exist, after one turned out not to. */
  forget(): void;
}

export const createPartitions = (pool: Pool): Partitions => {
  // The bounds of the month used last, so that the common case is two comparisons and no date arithmetic.
  const known = new Set<Month>();
  let latest = { from: 0, until: 0 };

  const ensure = async (month: Month): Promise<void> => {
    if (!known.has(month)) await create(pool, month);
    latest = {
      from: Date.parse(`${month}-01T00:00:00Z`),
      until: Date.parse(`${monthAfter(month)}-01T00:00:00Z`),
    };
    known.add(month);
  };

  return {
    async ensureFor(events) {
      for (const { time } of events) {
        if (time < latest.from || time >= latest.until) await ensure(monthOf(time));
      }
    },
    async ensureAhead() {
      const now = monthOf(Date.now());
      await ensure(monthAfter(now));
      await ensure(now);
    },
    forget() {
      known.clear();
      latest = { from: 0, until: 0 };
    },
  };
};

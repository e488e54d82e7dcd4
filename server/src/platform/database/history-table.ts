import { type SQL, sql } from 'drizzle-orm';
import type { History } from '../history.ts';
import { moment } from './moment.ts';
import type { Executor } from './transaction.ts';

/** The past values of a property of objects, such as sensors: a table with the id of the object, `since` and the value. */
export interface HistoryTable<Value> {
  /**
   * Records a change of the value, in the transaction that makes it. The first recorded value of an id is assumed to
   * be the one it always had.
   * @param at when it changed (Unix milliseconds); now by default, and never before the previous change
   */
  record(tx: Executor, id: string, from: Value | null, to: Value | null, at?: number): Promise<void>;
  /** The values of those ids that have a history, oldest first. */
  read(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, History<Value | null>>>;
}

/** @param names the table, its columns for the id and the value, and the type of the value */
export function historyTable<Value extends string | number>(names: {
  readonly table: string;
  readonly id: string;
  readonly value: string;
  readonly type: 'uuid' | 'double precision';
}): HistoryTable<Value> {
  const table = sql.identifier(names.table);
  const idColumn = sql.identifier(names.id);
  const valueColumn = sql.identifier(names.value);
  const typed = (value: Value | null): SQL => sql`${value}::${sql.raw(names.type)}`;

  return {
    async record(tx, id, from, to, at) {
      if (from === to) return;
      const { rows } = await tx.execute(sql`SELECT FROM ${table} WHERE ${idColumn} = ${id}::uuid LIMIT 1`);
      if (rows.length === 0 && from === null) return;
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn})
        SELECT ${id}::uuid, '-infinity', ${typed(from)}
        ON CONFLICT DO NOTHING`);
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn})
        SELECT ${id}::uuid, greatest(${at === undefined ? sql`clock_timestamp()` : moment(at)}, max(since)), ${typed(to)}
        FROM ${table} WHERE ${idColumn} = ${id}::uuid
        ON CONFLICT (${idColumn}, since) DO UPDATE SET ${valueColumn} = excluded.${valueColumn}`);
    },

    async read(db, ids) {
      const { rows } = await db.execute<{ id: string; since_ms: number | null; value: Value | null }>(sql`
        SELECT ${idColumn} AS id, extract(epoch FROM nullif(since, '-infinity'))::float8 * 1000 AS since_ms,
          ${valueColumn} AS value
        FROM ${table} WHERE ${idColumn} = ANY (${sql.param(ids)}::uuid[]) ORDER BY ${idColumn}, since`);
      const histories = new Map<string, { since: number; value: Value | null }[]>();
      for (const { id, since_ms, value } of rows) {
        const history = histories.get(id) ?? [];
        histories.set(id, history);
        history.push({ since: since_ms ?? Number.NEGATIVE_INFINITY, value });
      }
      return histories;
    },
  };
}

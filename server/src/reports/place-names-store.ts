import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** The names of sensors and locations by their ids; of those that are gone there is none. */
export const findPlaceNames = async (
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  const wanted = sql`${sql.param(ids)}::uuid[]`;
  const { rows } = await db.execute<{ id: string; name: string }>(sql`
    SELECT id, name FROM sensors WHERE id = ANY(${wanted})
    UNION ALL SELECT id, name FROM locations WHERE id = ANY(${wanted})`);
  return new Map(rows.map(({ id, name }) => [id, name]));
};

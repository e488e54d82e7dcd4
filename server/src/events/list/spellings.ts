import { sql } from 'drizzle-orm';
import { foldedText } from '../../platform/database/folded.ts';
import type { Executor } from '../../platform/database/transaction.ts';

/** The spellings, in lower case, of a type among stored events that differ from the given one only in case. */
export async function findSpellings(
  db: Executor,
  column: 'violation_type' | 'vehicle_type',
  sought: string,
): Promise<string[]> {
  const name = sql.raw(column);
  // Plan: event_period_totals_pkey for the years; the unfolded rows are read whole.
  const { rows } = await db.execute<{ spelling: string }>(sql`
    SELECT DISTINCT lower(kind) AS spelling FROM (
      SELECT ${name} FROM event_period_totals WHERE period = 'year' UNION SELECT ${name} FROM event_totals_unfolded
    ) AS counted (kind) WHERE ${foldedText(sql`kind`)} = ${foldedText(sought)}`);
  return rows.map(({ spelling }) => spelling);
}

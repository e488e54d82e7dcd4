import { listEventsInput } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { countedEvents } from '../../events/counts/totals.ts';
import { countedFilters } from '../../events/list/filters.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { ORIGIN } from '../../traffic/rollups-store.ts';
import type { ReportScope } from '../document.ts';
import { untilNow } from './slices.ts';
/**
 * The number of events in a report, from the totals; null when it has a filter that the totals do not contain.
 * @param condition for the rows of totals
 */
export async function countByTotals(
  db: Executor,
  scope: ReportScope,
  condition: SQL = sql`true`,
): Promise<number | null> {
  const { eventType, processed, archived, violationType, vehicleType, ...others } = scope.filters;
  if (Object.values(others).some((value) => value !== undefined)) return null;
  const input = listEventsInput.parse({ eventType, processed, archived, violationType, vehicleType });
  const filters = (await countedFilters(db, input)).map(({ onTotals }) => onTotals);
  const { rows } = await db.execute<{ n: number }>(sql`
    SELECT coalesce(sum(n), 0)::bigint AS n FROM ${countedEvents(untilNow(scope))}
    WHERE ${sql.join([condition, ...filters], sql` AND `)}`);
  return rows[0]?.n ?? 0;
}

/** The start of the quarter hour of a time: in every time zone a local day begins with one, but not always with an hour in UTC. */
export function quarterOf(time: SQL): SQL {
  return sql`date_bin('15 minutes', ${time}, ${ORIGIN})`;
}

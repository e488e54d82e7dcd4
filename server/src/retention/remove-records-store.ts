import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** Things that went, of one month. */
export interface RemovedRecords extends Record<string, unknown> {
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Removes the oldest entries of the activity log, as far as they were written before a moment. */
export const removeActivityBefore = async (
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> => {
  // Plan: activity_pkey. Ids follow the time closely, so those that are due come first.
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH gone AS (
      DELETE FROM activity WHERE id IN (SELECT id FROM activity ORDER BY id LIMIT ${limit}) AND at < ${moment(cutoff)}
      RETURNING at
    )
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows, 0 AS bytes FROM gone GROUP BY 1`);
  return rows;
};

/** Removes reports that were finished before a moment. Their files go a while later (reports/rounds.ts). */
export const removeReportsBefore = async (
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> => {
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH gone AS (
      DELETE FROM reports WHERE id IN (
        SELECT id FROM reports WHERE finished_at < ${moment(cutoff)} ORDER BY finished_at LIMIT ${limit}
      ) RETURNING created_at, size
    )
    SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows,
      coalesce(sum(size), 0)::bigint AS bytes
    FROM gone GROUP BY 1`);
  return rows;
};

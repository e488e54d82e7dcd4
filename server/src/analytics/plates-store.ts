import { sql } from 'drizzle-orm';
import { idWithin } from '../events/counts/totals.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

const MOST = 50;

/**
 * The plates that were seen at least so often, those seen most often first. It looks at every event of the interval that
 * has a plate: keep it to some hundred thousand of them.
 */
export const listRepeatPlates = async (db: Executor, interval: Interval, from: number) => {
  // Plan: events_by_plate or events_pkey of the months that the interval touches.
  const { rows } = await db.execute<{ plate: string; n: number; last_seen: string }>(sql`
    SELECT max(plate) AS plate, count(*) AS n, max(id::text) AS last_seen FROM events
    WHERE plate_key IS NOT NULL AND ${sql.join(idWithin(interval), sql` AND `)}
    GROUP BY plate_key HAVING count(*) >= ${from} ORDER BY n DESC, plate_key LIMIT ${MOST}`);
  return rows;
};

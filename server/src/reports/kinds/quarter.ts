import { type SQL, sql } from 'drizzle-orm';
import { ORIGIN } from '../../traffic/rollups-store.ts';

/** The start of the quarter hour of a time: in every time zone a local day begins with one, but not always with an hour in UTC. */
export function quarterOf(time: SQL): SQL {
  return sql`date_bin('15 minutes', ${time}, ${ORIGIN})`;
}

import type { Pool } from 'pg';

/**
 * Tables that the service writes on its own: when it last looked for silent sensors, and when it did not look; stored years of traffic,
 * and what concerns them.
 */
const OWN = [
  'sensor_watch',
  'sensor_watch_gaps',
  'traffic_year_changes',
  'traffic_year_failures',
  'traffic_years',
];

/** The number of rows of each table, except those that are named and those that the service writes on its own. */
export const countRows = async (
  pool: Pool,
  without: readonly string[] = [],
): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`);
  const names = rows.map(({ name }) => name).filter((name) => !without.includes(name) && !OWN.includes(name));
  const counted = await pool.query(
    names.map((name) => `SELECT '${name}' AS name, count(*)::int AS n FROM ${name}`).join(' UNION ALL '),
  );
  return Object.fromEntries(counted.rows.map(({ name, n }) => [name, n]));
};

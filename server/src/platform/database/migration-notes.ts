import type pg from 'pg';

// The first line of a migration may contain a note that says how it is applied:
//   -- gantry: batched
//     One statement, which is repeated, each time in a transaction of its own, until it changes no more rows.
//     Every version that may run meanwhile must support rows of both kinds.
//   -- gantry: locks <table> <rows per second> <what waits meanwhile>
//     It locks the table while it processes its rows, which is logged beforehand.

/** How a migration is applied. */
export type MigrationNote =
  | { readonly kind: 'whole' }
  | { readonly kind: 'batched' }
  | {
      readonly kind: 'locks';
      readonly table: string;
      readonly rowsPerSecond: number;
      /** What has to wait until it is done. */
      readonly waiting: string;
    };

/** The notes of migrations that were released before notes existed and can no longer be changed. */
const notesOfOlder: Readonly<Record<string, string>> = {
  '0008-types-of-traffic.sql':
    '-- gantry: locks traffic_rollups 50000 traffic figures, and the counting of traffic',
};

/** @throws Error when the first line has the prefix of a note but is not a valid one */
export function noteOf(name: string, sql: string): MigrationNote {
  const [first = ''] = (notesOfOlder[name] ?? sql).split('\n', 1);
  if (!first.startsWith('-- gantry:')) return { kind: 'whole' };
  if (/^-- gantry: batched\s*$/.test(first)) return { kind: 'batched' };
  const [, table, rows, waiting] = /^-- gantry: locks ([a-z_]+) (\d+) (.+)$/.exec(first) ?? [];
  if (!table || !rows || !waiting) throw new Error(`Migration ${name} begins with an unknown note`);
  return { kind: 'locks', table, rowsPerSecond: Number(rows), waiting };
}

/** PostgreSQL's estimate of the number of rows in the table, and the approximate time to process them, in seconds. */
export async function estimateSeconds(
  client: pg.Client,
  { table, rowsPerSecond }: Extract<MigrationNote, { kind: 'locks' }>,
): Promise<{ rows: number; seconds: number }> {
  // Estimated as by the planner: the present size, times the density when the table was last analysed. A table that an
  // earlier migration of the same start has filled is not analysed yet; 50 rows per page are assumed.
  const { rows } = await client.query<{ n: number }>(
    `SELECT coalesce(sum(pages * CASE WHEN reltuples > 0 AND relpages > 0 THEN reltuples / relpages ELSE 50 END), 0)::float8
      AS n
    FROM pg_class, LATERAL (SELECT pg_relation_size(oid) / current_setting('block_size')::int AS pages) AS present
    WHERE oid = to_regclass($1)`,
    [table],
  );
  const n = Math.round(rows[0]?.n ?? 0);
  return { rows: n, seconds: Math.ceil(n / rowsPerSecond) };
}

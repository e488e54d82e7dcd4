import type pg from 'pg';

// What the first line of a migration may say of how it is to be applied:
//   -- gantry: batched
//     One statement, which is run again and again, each time in a transaction of its own, until it changes no more rows.
//     Every version that may serve meanwhile must get along with rows of both kinds.
//   -- gantry: locks <table> <rows a second> <what waits meanwhile>
//     It locks the table for as long as it takes to go through its rows: that is said beforehand.

/** How a migration is applied. */
export type MigrationNote =
  | { readonly kind: 'whole' }
  | { readonly kind: 'batched' }
  | {
      readonly kind: 'locks';
      readonly table: string;
      readonly rowsPerSecond: number;
      /** What waits until it is done. */
      readonly waiting: string;
    };

/** The notes of migrations that were released before there were notes, and do not change any more. */
const notesOfOlder: Readonly<Record<string, string>> = {
  '0008-types-of-traffic.sql':
    '-- gantry: locks traffic_rollups 50000 traffic figures, and the counting of traffic',
};

/** @throws Error when its first line begins like a note and is none */
export function noteOf(name: string, sql: string): MigrationNote {
  const [first = ''] = (notesOfOlder[name] ?? sql).split('\n', 1);
  if (!first.startsWith('-- gantry:')) return { kind: 'whole' };
  if (/^-- gantry: batched\s*$/.test(first)) return { kind: 'batched' };
  const [, table, rows, waiting] = /^-- gantry: locks ([a-z_]+) (\d+) (.+)$/.exec(first) ?? [];
  if (!table || !rows || !waiting) throw new Error(`Migration ${name} begins with a note that is not known`);
  return { kind: 'locks', table, rowsPerSecond: Number(rows), waiting };
}

/** About how many seconds it takes to go through the rows of the table, as PostgreSQL estimates their number. */
export async function estimateSeconds(
  client: pg.Client,
  { table, rowsPerSecond }: Extract<MigrationNote, { kind: 'locks' }>,
): Promise<{ rows: number; seconds: number }> {
  // Of a table that was never analysed the estimate is -1, and it is small, or its size tells enough.
  const { rows } = await client.query<{ n: number }>(
    `SELECT coalesce(sum(CASE WHEN reltuples >= 0 THEN reltuples ELSE relpages * 50 END), 0)::float8 AS n
    FROM pg_class WHERE oid = to_regclass($1)`,
    [table],
  );
  const n = Math.round(rows[0]?.n ?? 0);
  return { rows: n, seconds: Math.ceil(n / rowsPerSecond) };
}

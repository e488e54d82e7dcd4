import pg from 'pg';
import type { Counts } from './counts.ts';
import { BenchmarkFailed } from './failure.ts';

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  statement: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The address of another database on the same server. */
export function sibling(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Checks the settings of the server, and returns its version.
 * @throws BenchmarkFailed when its commits do not wait for the disk, which would make the figures meaningless
 */
export async function checkServer(databaseUrl: string): Promise<string> {
  const [row] = await query<{ version: string; fsync: string; commit: string }>(
    databaseUrl,
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS commit`,
  );
  if (row?.fsync !== 'on' || row.commit !== 'on') {
    throw new BenchmarkFailed('The PostgreSQL server must run with fsync and synchronous_commit on');
  }
  return row.version;
}

/** Counts the rows of `events`, and adds up `event_totals`. */
export async function countEvents(databaseUrl: string): Promise<Omit<Counts, 'stats'>> {
  const [row] = await query<{ rows: string; totals: string }>(
    databaseUrl,
    'SELECT (SELECT count(*) FROM events) AS rows, (SELECT coalesce(sum(n), 0) FROM event_totals) AS totals',
  );
  return { rows: Number(row?.rows), totals: Number(row?.totals) };
}

/**
 * Checks that every event has a value in each indexed column, without which the work of the servers would differ.
 * @throws BenchmarkFailed when one has not
 */
export async function checkIndexedColumns(who: string, databaseUrl: string): Promise<void> {
  const [row] = await query<{ n: string }>(
    databaseUrl,
    `SELECT count(*) AS n FROM events WHERE num_nulls(sensor_id, severity, violation_type, vehicle_type, location_name,
       plate_key, created_at) > 0`,
  );
  if (row?.n !== '0') throw new BenchmarkFailed(`${who}: ${row?.n} events lack a column that is indexed`);
}

/** Makes the server write all changed pages, so that no run pays for the previous one. */
export async function checkpoint(databaseUrl: string): Promise<void> {
  await query(databaseUrl, 'CHECKPOINT');
}

/** The number of connections to the database that have been idle in an open transaction for more than a second. */
export async function idleTransactions(databaseUrl: string): Promise<number> {
  const [row] = await query<{ n: string }>(
    databaseUrl,
    `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()
       AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'`,
  );
  return Number(row?.n);
}

/** The size of the database on disk in bytes. */
export async function databaseSize(databaseUrl: string): Promise<number> {
  const [row] = await query<{ bytes: string }>(
    databaseUrl,
    'SELECT pg_database_size(current_database()) AS bytes',
  );
  return Number(row?.bytes);
}

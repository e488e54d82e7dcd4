import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { countEvents, query } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import {
  firstIdAt,
  HISTORY_COLUMNS,
  type HistoryOptions,
  historyRows,
  historySensors,
  ROAD,
  TAG,
} from './history.ts';

const ROLL_UP_DEADLINE_MS = 300_000;

/** Number of registered sensors, many of which do not report. */
const SENSORS = 10_000;

const COUNT = [
  `INSERT INTO event_totals (hour, event_type, violation_type, vehicle_type, severity, processed, archived, n)
   SELECT event_hour(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), coalesce(severity, 0),
     processed, archived, count(*)
   FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7`,
  `INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', created_at, 'UTC'), count(*) FROM events GROUP BY 1`,
];

/**
 * Compares the totals with the number of created events and with a recount.
 * @throws BenchmarkFailed when they differ, in total or for any hour and key
 */
export async function checkTotals(databaseUrl: string, events: number): Promise<void> {
  const { rows, totals } = await countEvents(databaseUrl);
  if (rows !== events || totals !== events)
    throw new BenchmarkFailed(
      `${events} events were created, but there are ${rows} rows, and the totals say ${totals}`,
    );
  const [wrong] = await query<{ n: string }>(
    databaseUrl,
    `SELECT count(*) AS n FROM (
       SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, '') AS violation_type,
         coalesce(vehicle_type, '') AS vehicle_type, coalesce(severity, 0) AS severity, processed, archived, count(*) AS n
       FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
     ) AS counted FULL JOIN (
       SELECT hour, event_type, violation_type, vehicle_type, severity, processed, archived, sum(n) AS n
       FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
     ) AS totals USING (hour, event_type, violation_type, vehicle_type, severity, processed, archived)
     WHERE counted.n IS DISTINCT FROM totals.n`,
  );
  if (wrong?.n !== '0') throw new BenchmarkFailed(`${wrong?.n} of the totals do not equal a recount`);
}

/**
 * Fills the empty database of a running service with a history, in one transaction.
 * @throws BenchmarkFailed when the totals differ from a recount afterwards
 */
export async function fillHistory(databaseUrl: string, options: HistoryOptions): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL maintenance_work_mem = '512MB'; SET LOCAL work_mem = '256MB'`);
    await createSensors(client, options);
    await createPartitions(client, options);
    await withoutIndexes(client, async () => {
      const copy = client.query(copyFrom(`COPY events (${HISTORY_COLUMNS}) FROM STDIN`));
      await pipeline(Readable.from(historyRows(options)), copy);
    });
    for (const statement of COUNT) await client.query(statement);
    await client.query('COMMIT');
    await waitForRollUp(databaseUrl);
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
  await checkTotals(databaseUrl, options.events);
}

/** Creates the missing partitions for every month of the history. */
async function createPartitions(client: pg.Client, { from, until }: HistoryOptions): Promise<void> {
  const { rows } = await client.query<{ bounds: string }>(`
    SELECT replace(pg_get_expr(relpartbound, oid), '-', '') AS bounds FROM pg_class JOIN pg_inherits ON inhrelid = oid
    WHERE inhparent = 'events'::regclass`);
  const year = new Date(from).getUTCFullYear();
  for (let month = new Date(from).getUTCMonth(); ; month++) {
    const [begin, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
    if (begin >= until) return;
    if (rows.some(({ bounds }) => bounds.includes(`('${firstIdAt(begin)}')`))) continue;
    const name = `events_${new Date(begin).toISOString().slice(0, 7).replace('-', '_')}`;
    await client.query(`CREATE TABLE ${name} PARTITION OF events
      FOR VALUES FROM ('${firstIdAt(begin)}') TO ('${firstIdAt(end)}')`);
  }
}

async function createSensors(client: pg.Client, options: HistoryOptions): Promise<void> {
  const sensors = historySensors({ ...options, sensors: SENSORS });
  const reporting = sensors.slice(0, options.sensors);
  await client.query(
    `INSERT INTO locations (id, name, address, speed_limit, road, kilometre)
     SELECT id, 'Site ' || n, '', speed_limit, $4, kilometre
     FROM unnest($1::uuid[], $2::float8[], $3::numeric[]) WITH ORDINALITY AS location (id, speed_limit, kilometre, n)`,
    [
      reporting.map(({ id }) => id),
      reporting.map(({ speedLimit }) => speedLimit),
      reporting.map(({ kilometre }) => kilometre),
      ROAD,
    ],
  );
  await client.query(
    `INSERT INTO sensors (id, name, device_id, type, api_key, created_at, location_id, tags)
     SELECT id, name, 'history-' || n, type, encode(sha256(id::text::bytea), 'hex'), now() - n * interval '1 second',
       CASE WHEN n <= $5 THEN id END, CASE WHEN is_tagged THEN ARRAY[$6] ELSE '{}' END
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[]) WITH ORDINALITY AS sensor (id, name, type, is_tagged, n)`,
    [
      sensors.map(({ id }) => id),
      sensors.map(({ name }) => name),
      sensors.map(({ type }) => type),
      sensors.map(({ tags }) => tags.length > 0),
      options.sensors,
      TAG,
    ],
  );
}

/** Runs `work` while `events` has only its primary key, because creating the other indexes afterwards is much faster. */
async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    SELECT indexrelid::regclass::text AS name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition
    FROM pg_index WHERE indrelid = 'events'::regclass AND NOT indisprimary`);
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  await work();
  for (const { definition } of rows) await client.query(definition);
}

/** Waits until the running service has rolled up the totals. @throws BenchmarkFailed after five minutes */
async function waitForRollUp(databaseUrl: string): Promise<void> {
  const deadline = performance.now() + ROLL_UP_DEADLINE_MS;
  const isDue = async () =>
    (await query(databaseUrl, 'SELECT FROM event_totals WHERE NOT folded LIMIT 1')).length > 0;
  while (await isDue()) {
    if (performance.now() > deadline) throw new BenchmarkFailed('The service does not roll up its totals');
    await sleep(200);
  }
}

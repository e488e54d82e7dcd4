import pg from 'pg';

/** What PostgreSQL did since the last call of `take`. */
export interface ServerActivity {
  /** Megabytes of WAL that were generated. */
  readonly wal: number;
  /** Whether a checkpoint was being written. */
  readonly checkpoint: boolean;
  /** The tables that were being vacuumed or analysed, automatically or by a command. */
  readonly upkeep: readonly string[];
  /**
   * What its processes did: `<process> <wait event>`, or `<process> running` for one that did not wait, with the average
   * number of such processes per sample.
   */
  readonly waits: Readonly<Record<string, number>>;
}

/** Samples the activity of a PostgreSQL server. */
export interface ServerProbe extends AsyncDisposable {
  take(): Promise<ServerActivity>;
}

const LOOK_MS = 100;

interface Look {
  readonly process: string;
  readonly wait: string;
}

// Processes whose wait event is of the type Activity or Client have no work, and are left out.
const PROCESSES = `
  SELECT CASE backend_type WHEN 'client backend' THEN coalesce(nullif(application_name, ''), 'client') ELSE backend_type END AS process,
    coalesce(wait_event_type || ':' || wait_event, 'running') AS wait
  FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND (backend_type <> 'client backend' OR state <> 'idle')
    AND wait_event_type IS DISTINCT FROM 'Activity' AND wait_event_type IS DISTINCT FROM 'Client'
    AND NOT (wait_event_type IS NULL AND backend_type <> 'client backend' AND state IS NULL)`;

const UPKEEP = `
  SELECT relid::regclass::text AS name FROM pg_stat_progress_vacuum
  UNION SELECT relid::regclass::text FROM pg_stat_progress_analyze`;

const WAL = `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 / 1e6 AS megabytes`;

/** Connects to the server, and takes ten samples a second. */
export async function startServerProbe(databaseUrl: string): Promise<ServerProbe> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'probe' });
  await client.connect();
  const readWal = async (): Promise<number> =>
    (await client.query<{ megabytes: number }>(WAL)).rows[0]?.megabytes ?? Number.NaN;

  let counts = new Map<string, number>();
  let upkeep = new Set<string>();
  let looks = 0;
  let before = await readWal();
  let looking = Promise.resolve();

  const look = async (): Promise<void> => {
    const { rows } = await client.query<Look>(PROCESSES);
    for (const { process, wait } of rows) {
      const key = `${process} ${wait}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const { name } of (await client.query<{ name: string }>(UPKEEP)).rows) upkeep.add(name);
    looks++;
  };
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, LOOK_MS);

  return {
    async take() {
      await looking;
      const after = await readWal();
      const waits = Object.fromEntries([...counts].map(([key, n]) => [key, n / Math.max(1, looks)]));
      const taken = {
        wal: after - before,
        checkpoint: Object.keys(waits).some((key) => key.startsWith('checkpointer ')),
        upkeep: [...upkeep],
        waits,
      };
      before = after;
      counts = new Map();
      upkeep = new Set();
      looks = 0;
      return taken;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
      await client.end();
    },
  };
}

import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../../process/data-folder.ts';
import type { Binaries } from './binaries.ts';
import { type Account, EmbeddedDatabaseError, runAs } from './home.ts';

const run = promisify(execFile);

/** The role that owns everything, and the name of the database. */
export const OWNER = 'gantry';

/** Beginning of the name of a folder in which a new cluster is made before it moves to its place. */
const DRAFT = 'postgres.new-';

/** What PostgreSQL's server runs on and as whom. */
export interface Cluster {
  /** PostgreSQL's own data folder: the real path, as PostgreSQL itself reports it. */
  readonly folder: string;
  /** What PostgreSQL says before its own log takes over. */
  readonly startLog: string;
  readonly binaries: Binaries;
  /** Undefined: the user of this process. */
  readonly account: Account | undefined;
  readonly password: string;
  /** How many connections the service may open. */
  readonly connections: number;
  /** Settings of PostgreSQL that take the place of ours. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * The settings of the embedded server, for a machine with 2 GB of memory and more. They stand on the command line, so
 * they hold whatever a file in the cluster says. Who needs others runs a server of their own (DATABASE_URL).
 */
const SETTINGS = {
  // Only this machine gets in, and only with the password.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',

  // An acknowledged event is on the disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // Memory, and locks for queries that touch many monthly partitions with all their indexes.
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_locks_per_transaction: '256',

  // A steady stream of small inserts: few, spread checkpoints and a compact log.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',

  // Flash storage, and queries too short to be worth compiling.
  random_page_cost: '1.1',
  jit: 'off',

  // A query whose client died, for instance with the service, ends soon.
  client_connection_check_interval: '5s',

  // One log file for each day of the week, emptied when its day comes round again.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  // The details of an error repeat the values of rows, which are not for a log. The service logs the rest.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',

  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: OWNER,
} as const;

/** Connections for people and their tools; some of them PostgreSQL keeps for itself. */
const SPARE_CONNECTIONS = 20;
const FEWEST_CONNECTIONS = 100;

/**
 * The words that start the cluster's server on a port. They name the build of the programs, so that a server that
 * was left running by an older build is told from one that can be kept.
 */
export function commandFor(cluster: Cluster, port: number): [string, ...string[]] {
  const max_connections = Math.max(FEWEST_CONNECTIONS, cluster.connections + SPARE_CONNECTIONS);
  const settings = {
    ...SETTINGS,
    max_connections,
    ...cluster.settings,
    port,
    'gantry.build': cluster.binaries.build,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [cluster.binaries.postgres, '-D', cluster.folder, ...flags];
}

/**
 * Makes a new cluster. It appears in its place in one step, complete: what an interrupted attempt left is thrown away.
 *
 * @throws {EmbeddedDatabaseError} when initdb fails
 */
export async function createCluster(cluster: Cluster): Promise<void> {
  const home = dirname(cluster.folder);
  await removeDrafts(home);
  const draft = await mkdtemp(join(home, DRAFT));
  try {
    const passwordFile = join(draft, 'password');
    await writeFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
    await giveTo(cluster.account, draft, passwordFile);
    await initialise(cluster, join(draft, 'cluster'), passwordFile);
    await rename(join(draft, 'cluster'), cluster.folder);
    await syncFolder(home);
  } finally {
    await removeDrafts(home);
  }
}

/** @throws {EmbeddedDatabaseError} when the cluster was written by another major version of PostgreSQL */
export async function checkVersion(cluster: Cluster): Promise<void> {
  const written = (await readFile(join(cluster.folder, 'PG_VERSION'), 'utf8')).trim();
  const bundled = cluster.binaries.build.split('.')[0];
  if (written === bundled) return;
  throw new EmbeddedDatabaseError(
    `The database in ${cluster.folder} was written by PostgreSQL ${written}, and this Gantry brings ${bundled}. ` +
      `Convert it with pg_upgrade, or run it with a PostgreSQL ${written} of your own and set DATABASE_URL.`,
  );
}

async function initialise(cluster: Cluster, folder: string, passwordFile: string): Promise<void> {
  const flags = [
    `--pgdata=${folder}`,
    `--username=${OWNER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Locales that are part of PostgreSQL, so that a bare container works and an update of libc changes no order.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    // While a cluster is young, the next file of its log has to be written with zeros, and every commit waits for that:
    // 60 ms for the 16 MB that are usual, once in 10,000 events. With 4 MB the p99 of `events.ingest` under full load fell
    // from 69 to 38 ms (medians of five interleaved rounds); without any zeros commits are slower, and 10 % fewer events came in.
    '--wal-segsize=4',
    '--no-instructions',
  ];
  try {
    await run(cluster.binaries.initdb, flags, { ...runAs(cluster.account), timeout: 120_000 });
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `The database could not be created in ${dirname(cluster.folder)}: ${String(error)}\n` +
        'Remove the cause, or set DATABASE_URL to a PostgreSQL server of your own.',
      { cause: error },
    );
  }
}

async function giveTo(account: Account | undefined, ...paths: string[]): Promise<void> {
  if (account) await Promise.all(paths.map((path) => chown(path, account.uid, account.gid)));
}

async function removeDrafts(home: string): Promise<void> {
  const drafts = (await readdir(home)).filter((name) => name.startsWith(DRAFT));
  // An initdb whose service was killed may still be writing: try again while it does.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  await Promise.all(drafts.map((name) => rm(join(home, name), options)));
}

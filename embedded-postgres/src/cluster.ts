import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Application } from './application.ts';
import type { Binaries } from './binaries.ts';
import { syncFolder } from './data-folder.ts';
import { type Account, EmbeddedDatabaseError, runAs } from './home.ts';

const run = promisify(execFile);

/** Prefix of the folder in which a new cluster is created before it is renamed. */
const DRAFT = 'postgres.new-';

/** The folder and the account of a PostgreSQL server. */
export interface Cluster {
  readonly application: Application;
  /** PostgreSQL's data folder, as the real path, which PostgreSQL itself reports. */
  readonly folder: string;
  /** The output of PostgreSQL before its own log begins. */
  readonly startLog: string;
  readonly binaries: Binaries;
  /** Undefined for the user of this process. */
  readonly account: Account | undefined;
  readonly password: string;
  /** The number of connections that the service may open. */
  readonly connections: number;
  /** Settings of PostgreSQL that override ours. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * The settings of the embedded server, for a machine with at least 2 GB of memory. They are passed on the command
 * line, so they override files in the cluster. For other settings, run a separate server (DATABASE_URL).
 */
const SETTINGS = {
  // Access from this machine only, and only with the password.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',

  // An acknowledged event is on disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // Memory for each query, and locks for those on many monthly partitions with all their indexes.
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_locks_per_transaction: '256',

  // Checkpoints are spread by time. After the start of each, pages are written whole into the WAL. Compressing them
  // (the binaries have pglz only) made commits wait: p99 of 275 ms for seconds at 4,000 events/s, and 90 ms without.
  checkpoint_timeout: '15min',
  wal_compression: 'off',
  min_wal_size: '512MB',
  // Without it, Linux writes evicted pages every 30 s, all at once, and commits wait for up to 80 ms.
  backend_flush_after: '256kB',

  // A fifth of the usual pace of autovacuum, which visits all small tables once a minute.
  autovacuum_vacuum_cost_delay: '10ms',

  // For flash storage, and for queries too short to be worth compiling.
  random_page_cost: '1.1',
  jit: 'off',

  // A query ends soon after its client is gone, for instance with the service.
  client_connection_check_interval: '5s',

  // One log file for each day of the week, which is overwritten after a week.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  // The details of an error repeat values of rows, which do not belong in a log. The service logs the rest.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',

  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

/** The share of memory for pages of tables and indexes, and its limits in megabytes. */
const BUFFERS = { share: 1 / 8, least: 256, most: 2048 };

/** The share of memory in which the system and the server together are expected to keep such pages. */
const CACHE_SHARE = 1 / 2;

/** @param memory of the machine or, if it is smaller, the limit of the container, in bytes */
export function memorySettings(memory: number): Record<string, string> {
  const megabytes = memory / 1024 ** 2;
  const buffers = Math.min(BUFFERS.most, Math.max(BUFFERS.least, Math.floor(megabytes * BUFFERS.share)));
  return {
    shared_buffers: `${buffers}MB`,
    effective_cache_size: `${Math.max(4 * BUFFERS.least, Math.floor(megabytes * CACHE_SHARE))}MB`,
  };
}

/** The share of the disk that the WAL may take, and its limits in megabytes. */
const WAL = { share: 0.05, least: 1024, most: 8192 };

/**
 * The size of the WAL from which PostgreSQL makes a checkpoint before its time. At 4,000 events/s, a quarter of an hour
 * takes 7.5 GB. It depends on the size of the disk rather than on its free space, so that it is the same at each start.
 */
export async function walSettings(folder: string): Promise<Record<string, string>> {
  const { blocks, bsize } = await statfs(folder);
  const share = Math.floor((blocks * bsize * WAL.share) / 1024 ** 2);
  return { max_wal_size: `${Math.min(WAL.most, Math.max(WAL.least, share))}MB` };
}

/** Connections for people and their tools, some of which PostgreSQL reserves for superusers. */
const SPARE_CONNECTIONS = 20;
const MIN_CONNECTIONS = 100;

/**
 * The command that starts the cluster's server on a port. It names the build of the programs, so that a running
 * server of an older build can be told from one that can be kept.
 */
export function commandFor(cluster: Cluster, port: number): [string, ...string[]] {
  const max_connections = Math.max(MIN_CONNECTIONS, cluster.connections + SPARE_CONNECTIONS);
  const settings = {
    ...SETTINGS,
    cluster_name: cluster.application.database,
    max_connections,
    ...cluster.settings,
    port,
    [`${cluster.application.database}.build`]: cluster.binaries.build,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [cluster.binaries.postgres, '-D', cluster.folder, ...flags];
}

/**
 * Creates a cluster, which appears in its place complete and in one step. The remains of an interrupted attempt are
 * removed.
 * @throws {EmbeddedDatabaseError} when initdb fails
 */
export async function createCluster(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const home = dirname(cluster.folder);
  await removeDrafts(home);
  const draft = await mkdtemp(join(home, DRAFT));
  try {
    const passwordFile = join(draft, 'password');
    await writeFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
    await giveTo(cluster.account, draft, passwordFile);
    await initialise(cluster, join(draft, 'cluster'), passwordFile, signal);
    await rename(join(draft, 'cluster'), cluster.folder);
    await syncFolder(home);
  } finally {
    await removeDrafts(home);
  }
}

/** @throws {EmbeddedDatabaseError} when the cluster was created by another major version of PostgreSQL */
export async function checkVersion(cluster: Cluster): Promise<void> {
  const written = (await readFile(join(cluster.folder, 'PG_VERSION'), 'utf8')).trim();
  const bundled = cluster.binaries.build.split('.')[0];
  const { name, serverSetting } = cluster.application;
  if (written === bundled) return;
  throw new EmbeddedDatabaseError(
    `The database in ${cluster.folder} was written by PostgreSQL ${written}, and this version of ${name} contains ${bundled}. ` +
      `Convert it with pg_upgrade, or run it with a PostgreSQL ${written} of your own and set ${serverSetting}.`,
  );
}

async function initialise(
  cluster: Cluster,
  folder: string,
  passwordFile: string,
  signal?: AbortSignal,
): Promise<void> {
  const flags = [
    `--pgdata=${folder}`,
    `--username=${cluster.application.database}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Locales built into PostgreSQL work in a bare container, and an update of libc does not change the sort order.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    // In a young cluster, each new WAL segment is first filled with zeros while commits wait: 60 ms for the default
    // of 16 MB, once in 10,000 events. With 4 MB the p99 of `events.ingest` under full load fell from 69 to 38 ms
    // (medians of five interleaved runs). Without filling, commits are slower, and 10 % fewer events were stored.
    '--wal-segsize=4',
    '--no-instructions',
  ];
  try {
    await run(cluster.binaries.initdb, flags, { ...runAs(cluster.account), timeout: 120_000, signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw new EmbeddedDatabaseError(
      `The database could not be created in ${dirname(cluster.folder)}: ${String(error)}\n` +
        `Remove the cause, or set ${cluster.application.serverSetting} to a PostgreSQL server of your own.`,
      { cause: error },
    );
  }
}

async function giveTo(account: Account | undefined, ...paths: string[]): Promise<void> {
  if (account) await Promise.all(paths.map((path) => chown(path, account.uid, account.gid)));
}

async function removeDrafts(home: string): Promise<void> {
  const drafts = (await readdir(home)).filter((name) => name.startsWith(DRAFT));
  // The initdb of a killed service may still be writing, so removal is retried.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  await Promise.all(drafts.map((name) => rm(join(home, name), options)));
}

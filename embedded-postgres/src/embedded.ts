import { randomBytes } from 'node:crypto';
import { realpath, symlink } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE } from './address.ts';
import { findDistribution, prepareBinaries } from './binaries.ts';
import { type Cluster, checkVersion, createCluster, memorySettings, walSettings } from './cluster.ts';
import { addressOf, ensureDatabase } from './connection.ts';
import { claimDataFolder, keepSecret, makeDataFolder } from './data-folder.ts';
import { ignoreErrno } from './errno.ts';
import { NotWritten, watchGrownFiles } from './grown-files.ts';
import {
  type DatabaseHome,
  EmbeddedDatabaseError,
  findDatabaseHome,
  makeSharedFolder,
  moveFormerDatabase,
  SHARED_HOME,
} from './home.ts';
import { findFreePort } from './port.ts';
import {
  adoptPostmaster,
  crashPostmaster,
  forgetPostmaster,
  PortTaken,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { isAlive } from './processes.ts';
import { PASSWORD_FILE } from './running.ts';

/** Milliseconds between two checks of the server, and the maximum wait before another attempt to restart it. */
const WATCH_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Milliseconds between two rounds in which grown files are written to the disk. */
const WRITE_OUT_MS = 2_000;
const PORT_ATTEMPTS = 5;

type Log = (line: string) => void;

/** The embedded PostgreSQL server. It is restarted whenever it ends, until it is disposed of. */
export interface EmbeddedDatabase extends AsyncDisposable {
  /** `postgres://gantry:…@127.0.0.1:<port>/gantry`. It stays valid until disposal, even if the server is restarted. */
  readonly connectionString: string;
}

/**
 * Starts the PostgreSQL server of the data folder, or takes over one that a killed process left running. The first
 * start creates the database. The caller must hold the claim on the data folder (`claimDataFolder`).
 * @throws {EmbeddedDatabaseError} when it cannot run here; the message says what to do
 * @throws the reason of the signal, or another error, when it was interrupted; no server is left running
 */
export async function startEmbeddedDatabase(options: {
  dataDir: string;
  log: Log;
  /** The number of connections that it must serve at once, besides those of administrators. */
  connections?: number;
  /** Settings of PostgreSQL that override ours. */
  settings?: Readonly<Record<string, string>>;
  /** Interrupts the start. */
  signal?: AbortSignal | undefined;
}): Promise<EmbeddedDatabase> {
  const { log, signal } = options;
  await makeDataFolder(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  await moveFormerDatabase(dataDir, log);
  const home = await findDatabaseHome(dataDir);
  const claim = home.isOutside ? await openOutside(home, dataDir, log) : undefined;
  try {
    const cluster = await prepareCluster(home, dataDir, options);
    const adopted = await adoptPostmaster(cluster, log, signal);
    const postmaster = adopted ?? (await startOnFreePort(cluster, signal));
    await ensureDatabase(cluster, postmaster.port, DATABASE).catch(async (error: unknown) => {
      await stopPostmaster(postmaster.pid);
      throw error;
    });
    log(
      `PostgreSQL is ready on port ${postmaster.port} (pid ${postmaster.pid}), its data is in ${cluster.folder}`,
    );
    return supervise(cluster, postmaster, claim, log);
  } catch (error) {
    await claim?.[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Creates and claims the folder of a database outside the data folder. It needs a claim of its own, because a copy of
 * the data folder may refer to the same database.
 */
async function openOutside(home: DatabaseHome, dataDir: string, log: Log): Promise<AsyncDisposable> {
  const folder = dirname(home.cluster);
  log(`PostgreSQL runs as user ${home.account?.name}, who cannot enter ${dataDir}: its data is in ${folder}`);
  await makeSharedFolder(folder);
  return claimDataFolder(folder);
}

async function prepareCluster(
  home: DatabaseHome,
  dataDir: string,
  { connections = 0, settings = {}, log, signal }: Parameters<typeof startEmbeddedDatabase>[0],
): Promise<Cluster> {
  const copyHome = process.getuid?.() === 0 ? SHARED_HOME : dataDir;
  const binaries = await prepareBinaries(await findDistribution(), home.account, copyHome, log);
  const password = await keepSecret(dataDir, PASSWORD_FILE, () => {
    if (home.exists) throw missingPassword(home, dataDir);
    return randomBytes(24).toString('base64url');
  });
  const startLog = join(dataDir, 'postgres-start.log');
  const cluster = {
    folder: home.cluster,
    startLog,
    binaries,
    account: home.account,
    password,
    connections,
    settings: {
      ...memorySettings(memoryLimit()),
      ...(await walSettings(dirname(home.cluster))),
      ...settings,
    },
  };
  signal?.throwIfAborted();
  if (!home.exists) await createCluster(cluster, signal);
  await checkVersion(cluster);
  // The link leads to the database even if the data folder is moved, and shows people where the database is.
  if (home.isOutside) await ignoreErrno(symlink(home.cluster, join(dataDir, 'postgres')), 'EEXIST');
  return { ...cluster, folder: await realpath(home.cluster) };
}

/** The memory of the machine or, if it is smaller, the limit of the container, in bytes. */
function memoryLimit(): number {
  // Node reports 0 if the limit is unknown, and more than the memory of the machine if there is none.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

function missingPassword(home: DatabaseHome, dataDir: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `There is a database in ${home.cluster}, but ${join(dataDir, PASSWORD_FILE)}, which opens it, is missing. ` +
      'Restore that file, or move the database away to start with an empty one.',
  );
}

async function startOnFreePort(cluster: Cluster, signal?: AbortSignal): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await startPostmaster(cluster, await findFreePort(), signal);
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

function supervise(
  cluster: Cluster,
  first: Postmaster,
  claim: AsyncDisposable | undefined,
  log: Log,
): EmbeddedDatabase {
  const { port } = first;
  const ending = new AbortController();
  let current: Postmaster | undefined = first;
  let ended: Promise<void> | undefined;

  const watch = async () => {
    while (!ending.signal.aborted) {
      await pause(WATCH_MS, ending.signal);
      if (ending.signal.aborted || (current && (await isAlive(current.pid)))) continue;
      log(`PostgreSQL died: bringing it back on port ${port}`);
      if (current) forgetPostmaster(current.pid);
      current = undefined;
      current = await bringBack(cluster, port, ending.signal, log);
    }
  };
  const writeOut = async () => {
    const grown = watchGrownFiles(cluster.folder);
    let isReported = false;
    while (!ending.signal.aborted) {
      await pause(WRITE_OUT_MS, ending.signal);
      try {
        await grown.writeOut();
        isReported = false;
      } catch (error) {
        if (error instanceof NotWritten) {
          log(`PostgreSQL is stopped, so that it recovers from its log: ${error.message}`);
          if (current) crashPostmaster(current.pid);
        } else if (!isReported) {
          log(`Files that grow are left to the system, trying again: ${String(error)}`);
          isReported = true;
        }
      }
    }
  };
  const working = Promise.all([watch(), process.platform === 'linux' && writeOut()]);

  const end = async () => {
    ending.abort();
    try {
      await working;
      if (current) await stopPostmaster(current.pid);
      log('PostgreSQL is stopped');
    } finally {
      await claim?.[Symbol.asyncDispose]();
    }
  };

  return {
    connectionString: addressOf(cluster, port, DATABASE),
    [Symbol.asyncDispose]: () => {
      ended ??= end();
      return ended;
    },
  };
}

/** Restarts the server, with growing delays between attempts, until it runs. Returns undefined if `signal` is aborted first. */
async function bringBack(
  cluster: Cluster,
  port: number,
  signal: AbortSignal,
  log: Log,
): Promise<Postmaster | undefined> {
  for (let wait = WATCH_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      const postmaster = await startPostmaster(cluster, port, signal);
      log(`PostgreSQL is back on port ${port} (pid ${postmaster.pid})`);
      return postmaster;
    } catch (error) {
      if (signal.aborted) return undefined;
      log(`PostgreSQL did not come back, trying again in ${wait} ms: ${String(error)}`);
    }
    await pause(wait, signal);
  }
  return undefined;
}

/** Waits, at most until the signal is aborted. The wait does not keep the process alive. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await ignoreErrno(sleep(milliseconds, undefined, { signal, ref: false }), 'ABORT_ERR');
}

import { randomBytes } from 'node:crypto';
import { realpath, symlink } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { findDistribution, prepareBinaries } from './binaries.ts';
import { type Cluster, checkVersion, createCluster, memorySettings, walSettings } from './cluster.ts';
import { ensureDatabase } from './connection.ts';
import { DataFolder } from './data-folder.ts';
import { ignoreErrno } from './errno.ts';
import {
  type DatabaseHome,
  EmbeddedDatabaseError,
  findDatabaseHome,
  makeSharedFolder,
  moveFormerDatabase,
} from './home.ts';
import { findFreePort } from './port.ts';
import {
  adoptPostmaster,
  PortTaken,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { PASSWORD_FILE } from './running.ts';
import { SupervisedServer } from './supervised-server.ts';

const PORT_ATTEMPTS = 5;

export interface StartOptions {
  /** The caller must hold the claim on it. */
  readonly folder: DataFolder;
  /** Receives what happens to the server, in one line each. */
  readonly log: (line: string) => void;
  /** The number of connections that it must serve at once, besides those of administrators. */
  readonly connections?: number;
  /** Settings of PostgreSQL that override ours. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Interrupts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** The embedded PostgreSQL server. It is restarted whenever it ends, until it is disposed of. */
export interface EmbeddedDatabase extends AsyncDisposable {
  /** `postgres://<role>:…@127.0.0.1:<port>/<database>`. It stays valid until disposal, even if the server is restarted. */
  readonly connectionString: string;
}

/**
 * Starts the PostgreSQL server of the data folder, or takes over one that a killed process left running. The first
 * start creates the database.
 * @throws {EmbeddedDatabaseError} when it cannot run here; the message says what to do
 * @throws the reason of the signal, or another error, when it was interrupted; no server is left running
 */
export async function startEmbeddedDatabase(options: StartOptions): Promise<EmbeddedDatabase> {
  const { folder, log, signal } = options;
  const { application } = folder;
  await folder.make();
  const dataDir = await realpath(folder.path);
  await moveFormerDatabase(dataDir, application, log);
  const home = await findDatabaseHome(dataDir, application);
  const claim = home.isOutside ? await openOutside(home, dataDir, options) : undefined;
  try {
    const cluster = await prepareCluster(home, dataDir, options);
    const adopted = await adoptPostmaster(cluster, log, signal);
    const postmaster = adopted ?? (await startOnFreePort(cluster, signal));
    await ensureDatabase(cluster, postmaster.port, application.database).catch(async (error: unknown) => {
      await stopPostmaster(postmaster.pid);
      throw error;
    });
    log(
      `PostgreSQL is ready on port ${postmaster.port} (pid ${postmaster.pid}), its data is in ${cluster.folder}`,
    );
    return new SupervisedServer(cluster, postmaster, claim, log);
  } catch (error) {
    await claim?.[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Creates and claims the folder of a database outside the data folder. It needs a claim of its own, because a copy of
 * the data folder may refer to the same database.
 */
async function openOutside(
  home: DatabaseHome,
  dataDir: string,
  { folder: { application }, log }: StartOptions,
): Promise<AsyncDisposable> {
  const folder = dirname(home.cluster);
  log(`PostgreSQL runs as user ${home.account?.name}, who cannot enter ${dataDir}: its data is in ${folder}`);
  await makeSharedFolder(folder, application);
  return new DataFolder(folder, application).claim();
}

async function prepareCluster(
  home: DatabaseHome,
  dataDir: string,
  { folder, connections = 0, settings = {}, log, signal }: StartOptions,
): Promise<Cluster> {
  const { application } = folder;
  const { account } = home;
  const copyHome = process.getuid?.() === 0 ? application.sharedFolder : dataDir;
  const distribution = await findDistribution(application);
  const binaries = await prepareBinaries(distribution, copyHome, { application, account, log });
  const password = await folder.keepSecret(PASSWORD_FILE, () => {
    if (home.exists) throw missingPassword(home, dataDir);
    return randomBytes(24).toString('base64url');
  });
  const cluster = {
    application,
    folder: home.cluster,
    startLog: join(dataDir, 'postgres-start.log'),
    binaries,
    account,
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

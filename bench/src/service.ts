import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGantryClient, type GantryClient } from '@gantry/client';
import { BenchmarkFailed } from './failure.ts';
import { findFreePort } from './free-port.ts';
import { type Metrics, parseMetrics, residentMegabytes } from './metrics.ts';
import { root } from './root.ts';

/** `package.json`, whose `start` script is run directly. */
const { scripts } = createRequire(import.meta.url)(join(root, 'package.json')) as {
  readonly scripts: { readonly start: string };
};
const START_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 60_000;
const ADMIN = { email: 'admin@gantry.local', password: 'only-for-the-benchmark' };

/** Number of characters at the end of the service's output that are kept, and shown when it fails. */
const KEPT_CHARS = 8_000;

/** Gantry in processes of its own, started as described in README.md. */
export interface Service {
  readonly url: string;
  /** The id of its first process. */
  readonly pid: number;
  /** A client that is logged in as administrator. */
  readonly client: GantryClient;
  /** Reads its current metrics. */
  metrics(): Promise<Metrics>;
  /** Resident memory of the service's processes, in megabytes. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly dataDir: string;
  /** By default the service runs its embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl?: string;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts Gantry as `npm start` does, waits until it is ready, and logs in.
 * @throws BenchmarkFailed, with the output of the service, when it ends or is not ready within two minutes
 */
export async function startService({ dataDir, databaseUrl, env }: ServiceOptions): Promise<Service> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(scripts.start, {
    shell: true,
    cwd: root,
    // Settings are empty rather than omitted, so that a .env file has no effect on them.
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl ?? '',
      DATABASE_POOL_SIZE: '',
      WORKERS: '',
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      JWT_SECRET: '',
      LOG_LEVEL: 'warn',
      NODE_ENV: '',
      NODE_OPTIONS: '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in the terminal reaches only the benchmark, which then stops the service.
    detached: true,
  });
  const output = collectOutput(child);
  const stopInHurry = (): void => void child.kill('SIGTERM');
  process.once('exit', stopInHurry);
  const stop = async (): Promise<void> => {
    await stopProcess(child);
    process.off('exit', stopInHurry);
  };

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await isReady())) {
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (ended || performance.now() > deadline) {
      await stop();
      throw new BenchmarkFailed(
        `Gantry ${ended ? 'ended instead of starting' : 'was not ready in time'}:\n${output()}`,
      );
    }
    await sleep(100);
  }

  const client = createGantryClient(url);
  await client.login(ADMIN.email, ADMIN.password).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const metrics = async (): Promise<Metrics> => parseMetrics(await (await fetch(`${url}/metrics`)).text());
  return {
    url,
    pid: child.pid ?? Number.NaN,
    client,
    metrics,
    memory: async () => residentMegabytes(await metrics()),
    stop,
  };
}

/** The address of the embedded PostgreSQL of a running service, from its data folder. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'database-password'), 'utf8')).trim();
  const [, , , port] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  return `postgres://gantry:${encodeURIComponent(password)}@127.0.0.1:${port?.trim()}/gantry`;
}

function collectOutput(child: ChildProcess): () => string {
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      written = (written + chunk.toString()).slice(-KEPT_CHARS);
    });
  }
  return () => written;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = sleep(STOP_DEADLINE_MS, 'late', { ref: false });
  if ((await Promise.race([ended, late])) !== 'late') return;
  child.kill('SIGKILL');
  await ended;
}

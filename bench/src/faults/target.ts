import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BenchmarkFailed } from '../failure.ts';
import { readPostmaster } from '../leftover-database.ts';
import { type Metrics, parseMetrics } from '../metrics.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const START_DEADLINE_MS = 90_000;
const KEPT_CHARS = 20_000;

export const ADMIN = { email: 'admin@gantry.local', password: 'Only-for-faults-1' };

/** The options for starting a service. */
export interface TargetOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node.js before the program. */
  readonly nodeArguments?: readonly string[];
  /** The program; by default the one built from this tree. */
  readonly program?: string;
}

/** A service in a process of its own that can be killed, stopped and restarted at the same address. */
export interface Target {
  readonly url: string;
  readonly dataDir: string;
  /** The id of the running process; null if there is none. */
  readonly pid: number | null;
  /** The output since its last start, limited to the last 20,000 characters. */
  readonly output: () => string;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /**
   * Asks it to stop.
   * @returns its exit code, or the signal that ended it, and how long that took in milliseconds
   */
  stop(): Promise<{ readonly ended: number | string; readonly ms: number }>;
  isReady(): Promise<boolean>;
  metrics(): Promise<Metrics>;
  /** The process id of the embedded PostgreSQL; null if there is none. */
  postmaster(): Promise<number | null>;
}

let built: Promise<unknown> | null = null;

export function createTarget(options: TargetOptions): Target {
  const { dataDir, port } = options;
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  let written = '';

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const isOver = (process: ChildProcess): boolean => process.exitCode !== null || process.signalCode !== null;
  const untilOver = async (process: ChildProcess): Promise<number | string> => {
    if (!isOver(process)) await once(process, 'exit');
    return process.exitCode ?? process.signalCode ?? 'unknown';
  };

  const launch = (): ChildProcess => {
    const program = options.program ?? `${ROOT}server/dist/main.js`;
    const { PATH, HOME } = process.env;
    const launched = spawn(process.execPath, [...(options.nodeArguments ?? []), program], {
      cwd: dataDir,
      env: {
        PATH,
        HOME,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: dataDir,
        ADMIN_EMAIL: ADMIN.email,
        ADMIN_PASSWORD: ADMIN.password,
        LOG_LEVEL: 'warn',
        WEBHOOK_ALLOW_HOSTS: '127.0.0.1,localhost',
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // In a process group of its own, so that Ctrl-C in the terminal reaches only the harness, which then stops it.
      detached: true,
    });
    written = '';
    for (const stream of [launched.stdout, launched.stderr])
      stream?.on('data', (chunk: Buffer) => {
        written = (written + chunk.toString()).slice(-KEPT_CHARS);
      });
    return launched;
  };

  return {
    url,
    dataDir,
    get pid() {
      return child && !isOver(child) ? (child.pid ?? null) : null;
    },
    output: () => written,
    async start() {
      await build();
      const launched = launch();
      child = launched;
      const deadline = performance.now() + START_DEADLINE_MS;
      while (!(await isReady())) {
        if (isOver(launched) || performance.now() > deadline) {
          throw new BenchmarkFailed(`The service did not restart:\n${written}`);
        }
        await sleep(50);
      }
    },
    async kill() {
      if (!child) return;
      child.kill('SIGKILL');
      await untilOver(child);
    },
    signal(signal) {
      child?.kill(signal);
    },
    async stop() {
      if (!child) return { ended: 0, ms: 0 };
      const asked = performance.now();
      child.kill('SIGTERM');
      return { ended: await untilOver(child), ms: performance.now() - asked };
    },
    isReady,
    async metrics() {
      const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) });
      return parseMetrics(await answer.text());
    },
    postmaster: () => readPostmaster(dataDir),
  };
}

/** Builds the service from this tree, once. */
function build(): Promise<unknown> {
  built ??= promisify(execFile)(process.execPath, [`${ROOT}server/build.js`]);
  return built;
}

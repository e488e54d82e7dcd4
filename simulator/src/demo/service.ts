import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimulationError } from '../simulation.ts';

/**
 * Time limits for the start and the stop of the service, in milliseconds. The first start in a new data folder takes some
 * seconds, on a slow machine much longer.
 */
const START_DEADLINE_MS = 90_000;
const STOP_DEADLINE_MS = 45_000;

/** A service in a process of its own. */
export interface Service {
  readonly url: string;
  /** The file with what it writes. */
  readonly log: string;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** How a service is started. */
export interface ServiceStart {
  /** The arguments of Node.js. */
  readonly program: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly host: string;
  readonly port: number;
  /** The folder for its log. */
  readonly dataDir: string;
  /** Interrupts the start. */
  readonly signal: AbortSignal;
}

/**
 * Starts a service, and waits until it is ready. What it writes goes to a file, so that it does not interrupt what the demo
 * shows.
 * @throws SimulationError when the port is in use, the service ends or is not ready in time, or the signal is aborted
 */
export async function startService({
  program,
  env,
  host,
  port,
  dataDir,
  signal,
}: ServiceStart): Promise<Service> {
  const target = reachable(host);
  const url = `http://${target.includes(':') ? `[${target}]` : target}:${port}`;
  if (await isTaken(target, port)) {
    throw new SimulationError(
      `Something is listening on ${url} already: stop it first, or choose another port with PORT`,
    );
  }
  mkdirSync(dataDir, { recursive: true });
  const log = join(dataDir, 'service.log');
  const output = openSync(log, 'w', 0o600);
  // Detached, so that Ctrl-C in the terminal reaches only the simulator, which stops the service last.
  const child = spawn(process.execPath, program, {
    env,
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  const ended = once(child, 'exit').then(() => undefined);
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  // The service must also be stopped when this process exits early.
  process.once('exit', () => {
    if (isRunning()) child.kill('SIGTERM');
  });

  const stop = async (): Promise<void> => {
    if (!isRunning()) return;
    child.kill('SIGTERM');
    const deadline = sleep(STOP_DEADLINE_MS, 'late' as const, { ref: false });
    if ((await Promise.race([ended, deadline])) === 'late') child.kill('SIGKILL');
    await ended;
  };

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await isReady())) {
    if (!isRunning()) throw new SimulationError(`The service did not start:\n${readFileSync(log, 'utf8')}`);
    if (signal.aborted || performance.now() > deadline) {
      await stop();
      throw new SimulationError(signal.aborted ? 'Stopped' : `The service was not ready in time: see ${log}`);
    }
    await sleep(100);
  }
  return { url, log, ended, stop };
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (taken: boolean) => () => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}

/** The address at which a service that listens on `host` can be reached from this machine. */
function reachable(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

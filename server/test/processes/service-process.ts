import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Timings } from '../../src/platform/timings.ts';
import { programPath, TEST_TIMINGS } from '../build-programs.ts';
import { ADMIN, Caller, eventually } from '../harness.ts';
import { keepOutput } from '../leaks.ts';
import { startedProcesses } from '../started-processes.ts';

// The service as in an installation: built, and in a process of its own.

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** The program of the service, which is built before all tests. */
export const MAIN = fromHere('../../dist/main.js');
/** Starting takes a second on a quiet machine, and much longer on a busy one. */
const START_MS = 90_000;
/** The server of the tests may be configured for speed instead of durability. */
const UNSAFE = { ALLOW_UNSAFE_DATABASE: 'true' };
/** Several services on few cores leave none for the helper threads of V8 (vitest.config.ts). */
const NODE_OPTIONS = ['--single-threaded-gc'];
/** No load balancer has to notice that a service stops. */
const UNAWAITED = { DRAIN_SECONDS: '0' };

/** A service that was started, whether or not it became ready. */
export interface StartedProcess {
  readonly process: ChildProcess;
  /** Its output so far, on both streams. */
  readonly output: () => string;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** A service in a process of its own that is ready. */
export class ServiceProcess extends Caller {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(url: string, { process, output, ended }: StartedProcess) {
    super(url);
    this.process = process;
    this.output = output;
    this.ended = ended;
  }

  /** Asks it to stop. @returns its exit code, or the signal that ended it */
  stop(): Promise<number | NodeJS.Signals> {
    this.process.kill('SIGTERM');
    return this.ended;
  }
}

/**
 * Starts the program with only these settings (and those that every test needs), in a folder.
 * @param program the arguments of Node.js, to start something other than the service itself
 */
export const spawnService = (
  folder: string,
  settings: Readonly<Record<string, string>>,
  program: readonly string[] = [MAIN],
): StartedProcess => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...NODE_OPTIONS, ...program], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      PORT: '0',
      ADMIN_PASSWORD: ADMIN.password,
      LOG_LEVEL: 'error',
      ...UNSAFE,
      ...UNAWAITED,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  startedProcesses.add(child);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = once(child, 'exit').then(([code, signal]) => {
    startedProcesses.delete(child);
    keepOutput(printed);
    return code ?? signal;
  });
  return { process: child, output: () => printed, ended };
};

/** Starts the service with shorter intervals than those of an installation, as `startGantry` does in this process. */
export const spawnWithTimings = (
  folder: string,
  settings: Readonly<Record<string, string>>,
  timings: Partial<Timings>,
): StartedProcess =>
  spawnService(folder, { ...settings, [TEST_TIMINGS]: JSON.stringify(timings) }, [programPath('service')]);

/** Waits until the service reports its address. @throws Error with its output if it ends instead */
export const untilItServes = async (started: StartedProcess): Promise<ServiceProcess> => {
  let hasEnded = false;
  void started.ended.then(() => {
    hasEnded = true;
  });
  const url = await eventually(
    async () => /listens on ([^\s"]+)/.exec(started.output())?.[1] ?? null,
    (found) => found !== null || hasEnded,
    START_MS,
  );
  if (url === null) throw new Error(`It did not start: ${started.output()}`);
  return new ServiceProcess(url, started);
};

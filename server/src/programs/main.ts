import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { joinPrimary, type Primary } from '../http/workers/primary.ts';
import { WORKER_NUMBER } from '../http/workers/workers.ts';
import { type Config, ConfigError } from '../platform/config.ts';
import { describeError, safeText, withCauses } from '../platform/describe-error.ts';
import { loadConfig } from '../platform/load-config.ts';
import { createLog } from '../platform/log.ts';
import { stopDeadlineMs, untilSignalled } from '../platform/process/own-process.ts';
import { startWatchdog } from '../platform/process/watchdog.ts';
import { logWelcome, welcome } from '../system/welcome.ts';
import type { Service } from './app.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function messageOf(error: unknown): string {
  // The message contains examples of addresses, and no secret values.
  if (error instanceof ConfigError) return error.message;
  return error instanceof Error ? describeError(error).message : safeText(error);
}

/** Prints what failed and why to standard error, and ends the process. @param what a whole sentence */
function fail(what: string) {
  return (error: unknown): never => {
    process.stderr.write(`${what} ${withCauses(messageOf(error), error)}\n`);
    process.exit(1);
  };
}
const failToStart = fail('Gantry cannot start.');
const failToStop = fail('Gantry did not shut down cleanly.');

/** Ends the process on an uncaught error. Node itself would print it with the values of the statement that failed. */
function endOnUncaught(log: Logger): void {
  process.on('uncaughtException', (err, origin) => {
    log.fatal({ err, origin }, 'an uncaught error ends the process');
    process.exit(1);
  });
}

/** Logs warnings of Node.js and of libraries. Node itself would print them as text on standard error. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (err) => log.warn({ err }, 'a warning of Node.js or of a library'));
}

/** Ends the process although something has not finished, such as a statement that the database does not answer. */
function giveUp(log: Logger, limitMs: number): never {
  log.fatal({ seconds: limitMs / 1_000 }, 'ended in the middle of stopping, because it took too long');
  process.exit(1);
}

const PARENT_CHECK_MS = 1_000;

/** Calls `gone` when the parent process has ended. */
function onParentGone(gone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/**
 * Resolves with the reason when this process is asked to stop. It also stops when npm, which started it, is gone: an npm
 * that is killed cannot forward the signal.
 */
function untilAskedToStop(primary: Primary | null): Promise<string> {
  return new Promise((resolve) => {
    void primary?.askedToStop.then(resolve);
    void untilSignalled().then(resolve);
    if (process.env.npm_lifecycle_event) onParentGone(() => resolve('npm is gone'));
  });
}

/** The process was asked to stop before it served requests. */
class AskedToStop extends Error {
  override readonly name = 'AskedToStop';
}

interface Serving {
  readonly service: Service;
  readonly config: Config;
  readonly log: Logger;
  /** Set if this process is a worker. */
  readonly primary: Primary | null;
  /** Resolves with the reason when the process is asked to stop. */
  readonly asked: Promise<string>;
  /** Aborted when `asked` resolves. */
  readonly signal: AbortSignal;
}

/** Rejects with the reason of the signal once it is aborted. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function serveUntilAsked({ service, config, log, primary, asked, signal }: Serving): Promise<void> {
  if (primary && !(await primary.mayListen())) return;
  signal.throwIfAborted();
  // With several workers this may take long, because `listen` starts them.
  const url = await Promise.race([service.listen(), rejectionOf(signal)]);
  if (primary) primary.tellListening({ url, firstAdministrator: service.firstAdministrator });
  else if (process.stdout.isTTY) for (const line of welcome({ config, service, url })) print(line);
  else logWelcome({ config, service, url }, log);
  const reason = await asked;
  log.info({ reason }, 'stopping: finishing accepted requests');
  await service.drain();
}

/**
 * Keeps V8 from allocating the objects of requests in the old part of the heap. Under full load, they survive collections
 * of the young part, and V8 would then create them in the old part, even when the load is over: a full collection every
 * four seconds, 110 MB more memory, and three times the time for collecting (decision 52).
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Ends this process if its event loop is blocked. Only the first process of the service notifies systemd. */
function monitor(config: Config, log: Logger, primary: Primary | null): void {
  const { PATH = '', NOTIFY_SOCKET, WATCHDOG_USEC } = process.env;
  startWatchdog({
    log,
    logLevel: config.LOG_LEVEL,
    dataDir: config.DATABASE_URL ? null : config.DATA_DIR,
    notified:
      primary === null && NOTIFY_SOCKET && WATCHDOG_USEC
        ? { socket: NOTIFY_SOCKET, withinMicroseconds: Number(WATCHDOG_USEC), path: PATH }
        : null,
  });
}

async function run(): Promise<void> {
  keepRequestsYoung();
  const config = loadConfig();
  const log = createLog(config.LOG_LEVEL);
  endOnUncaught(log);
  logWarnings(log);
  const primary = joinPrimary(process.env[WORKER_NUMBER]);
  monitor(config, log, primary);
  // Registered before anything starts, so that a signal during the start is not lost.
  const asked = untilAskedToStop(primary);
  const stopping = new AbortController();
  void asked.then((reason) => {
    const limitMs = stopDeadlineMs(config);
    setTimeout(() => giveUp(log, limitMs), limitMs).unref();
    stopping.abort(new AskedToStop(reason));
  });
  try {
    await serve(config, log, primary, asked, stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    // Any failure after that results from the interruption.
    log.info(
      { reason: await asked, err: error instanceof AskedToStop ? undefined : error },
      'stopped while starting',
    );
  }
  primary?.leave();
  // Everything is closed. Handles that a library still holds, such as a half-open socket, must not keep the process
  // alive.
  process.exit(0);
}

async function serve(
  config: Config,
  log: Logger,
  primary: Primary | null,
  asked: Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  // Loaded only now: settings that cannot be used are reported at once, and a signal meanwhile is not lost.
  const { createApp, createAppOfWorkers } = await import('./app.ts');
  const isMany = config.WORKERS > 1 && !primary;
  const service = await (isMany
    ? createAppOfWorkers(config, log, signal)
    : createApp(config, log, primary, {}, signal));
  const end = async (): Promise<void> => service[Symbol.asyncDispose]();
  try {
    await serveUntilAsked({ service, config, log, primary, asked, signal });
  } catch (error) {
    // The reason why it cannot serve is more important than errors that result from it.
    await end().catch(() => undefined);
    throw error;
  }
  await end().catch(failToStop);
}

run().catch(failToStart);

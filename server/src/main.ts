import { existsSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { createApp, createAppOfWorkers, type Service } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { welcome } from './welcome.ts';
import { joinPrimary, type Primary } from './workers/primary.ts';
import { WORKER_NUMBER } from './workers/workers.ts';

/** However long requests take to finish, the process ends within this time after it was asked to. */
const STOP_DEADLINE_MS = 40_000;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const fail = (error: unknown): never => {
  const told = error instanceof Error ? error.message : String(error);
  const cause =
    error instanceof Error && error.cause instanceof Error ? `\n  because: ${error.cause.message}` : '';
  process.stderr.write(`Gantry cannot start. ${told}${cause}\n`);
  process.exit(1);
};

const PARENT_CHECK_MS = 250;

/** Calls back when the process that started this one is gone. */
const onParentGone = (gone: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, PARENT_CHECK_MS);
  timer.unref();
};

/** Resolves with the reason. npm that is killed cannot pass the signal on, so what it started ends with it. */
const untilAskedToStop = (primary: Primary | null): Promise<string> =>
  new Promise((resolve) => {
    void primary?.askedToStop.then(resolve);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    if (process.env.npm_lifecycle_event) onParentGone(() => resolve('npm is gone'));
  });

interface Serving {
  readonly service: Service;
  readonly config: Config;
  readonly log: Logger;
  /** Where this process is a worker. */
  readonly primary: Primary | null;
  /** Resolves with the reason when it is asked to stop. */
  readonly asked: Promise<string>;
}

const serveUntilAsked = async ({ service, config, log, primary, asked }: Serving): Promise<void> => {
  if (primary && !(await primary.mayListen())) return;
  const url = await service.listen();
  if (primary) primary.tellListening({ url, firstAdministrator: service.firstAdministrator });
  else
    for (const line of welcome({ config, service, url, isTerminal: process.stdout.isTTY === true }))
      print(line);
  const reason = await asked;
  log.info({ reason }, 'stopping: finishing what was accepted');
  setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
};

const run = async (): Promise<void> => {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const config = readConfig(process.env);
  const log = pino({ level: config.LOG_LEVEL });
  const primary = joinPrimary(process.env[WORKER_NUMBER]);
  // Asked for before anything starts, so that a signal during the start is not lost.
  const asked = untilAskedToStop(primary);
  const isMany = config.WORKERS > 1 && !primary;
  const service = await (isMany ? createAppOfWorkers(config, log) : createApp(config, log, primary));
  try {
    await serveUntilAsked({ service, config, log, primary, asked });
  } finally {
    await service[Symbol.asyncDispose]();
  }
  primary?.leave();
};

run().catch(fail);

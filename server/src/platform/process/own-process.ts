import { readFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Config } from '../config.ts';

/**
 * Lowers the priority of this process, and on Linux of the calling thread, to a nice value. A priority that is lower
 * already does not change, because only a privileged user may raise it.
 */
export function lowerPriorityTo(nice: number): void {
  setPriority(Math.max(nice, getPriority()));
}

/**
 * Gives ingestion and other work precedence over the calling thread (decision 13). Only on Linux do threads have a priority of
 * their own; elsewhere that of the whole service would be lowered.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') lowerPriorityTo(constants.priority.PRIORITY_BELOW_NORMAL);
}

/** The message that asks a thread to end soon. */
export const STOP = 'stop';

/** Time for a thread to end by itself, in milliseconds. */
const STOP_MS = 2_000;

/** Asks a thread to end with the message `STOP`, and ends it if it does not. */
export async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage(STOP);
  await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
  await worker.terminate();
}

/** The maximum number of open files of this process, including connections; null if the platform does not report it. */
export async function openFilesLimit(): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const limits = await ignoreErrno(readFile('/proc/self/limits', 'utf8'), 'ENOENT', 'EACCES');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits ?? '') ?? [];
  return soft === undefined ? null : Number(soft);
}

/** Time limit for a stop, in seconds. */
const MIN_SECONDS = 40;

/**
 * Time after draining that is always left, in seconds: requests in progress may take 18 s, and the rest is for closing
 * everything else. With the longest drain, the deadline is still less than the 60 s that the units and manifests in `deploy`
 * allow.
 */
const AFTER_DRAIN_SECONDS = 24;

/** The time within which a process ends after it was asked to stop, even if something has not finished, in milliseconds. */
export function stopDeadlineMs({ DRAIN_SECONDS }: Pick<Config, 'DRAIN_SECONDS'>): number {
  return Math.max(MIN_SECONDS, DRAIN_SECONDS + AFTER_DRAIN_SECONDS) * 1_000;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A terminal sends Ctrl-C to the whole process group, and npm forwards it once more to its child. Signals within this
 * time after the first one (ms) are the same request.
 */
const SAME_REQUEST_MS = 2_000;

/** Exit code after a second request, as a shell reports for a program ended by Ctrl-C. */
const INTERRUPTED = 130;

/**
 * Resolves with the name of the first signal that asks this process to stop. A later signal, more than two seconds
 * after the first, ends the process at once; use the process's `exit` event for cleaning up.
 */
export function untilSignalled(): Promise<string> {
  return new Promise((resolve) => {
    let first: number | null = null;
    for (const name of SIGNALS) {
      // Never removed: without a handler, a repeated signal would end the process during shutdown.
      process.on(name, () => {
        first ??= performance.now();
        if (performance.now() - first > SAME_REQUEST_MS) process.exit(INTERRUPTED);
        resolve(name);
      });
    }
  });
}

import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { watchdogThread } from '../installation.ts';

/** Milliseconds between two liveness signals of an event loop. */
export const BEAT_MS = 1_000;

/**
 * The number of beats without a liveness signal after which a process is ended. With the time for stopping the database, it
 * is less than the 25 s within which a process must end that cannot hear SIGTERM, because its event loop is blocked.
 */
export const MAX_SILENT_BEATS = 18;

/** How systemd is told that the service is alive. */
export interface Notified {
  /** `NOTIFY_SOCKET` as systemd sets it. */
  readonly socket: string;
  /** `WATCHDOG_USEC` as systemd sets it: after this time without a liveness signal it restarts the service. */
  readonly withinMicroseconds: number;
  /** `PATH`, where systemd-notify is. */
  readonly path: string;
}

/** What the thread of the watchdog is given. */
export interface WatchdogData {
  /** One number of 32 bits, which the main thread changes with each beat. */
  readonly beats: SharedArrayBuffer;
  /** The data folder, if this process runs the embedded server. */
  readonly dataDir: string | null;
  /** Null unless systemd watches the service (`WatchdogSec`). */
  readonly notified: Notified | null;
  readonly logLevel: string;
}

/** What the thread of the watchdog tells the main thread: why systemd could not be notified. */
export interface WatchdogMessage {
  readonly notNotified: string;
}

export interface WatchdogOptions extends Omit<WatchdogData, 'beats'> {
  readonly log: Logger;
}

/**
 * Ends this process with SIGKILL when its event loop does not turn for about 18 s, so that whoever supervises it starts
 * another. The embedded database is asked to stop first. As long as the loop turns, systemd is told so. Beats are counted, not time: a process that is suspended with its machine, or by SIGSTOP, is not ended.
 */
export function startWatchdog({ log, ...data }: WatchdogOptions): void {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const beat = new Int32Array(beats);
  setInterval(() => Atomics.add(beat, 0, 1), BEAT_MS).unref();
  const thread = new Worker(watchdogThread, {
    name: 'watchdog',
    workerData: { beats, ...data } satisfies WatchdogData,
    // Nothing that is preloaded into the main thread, by NODE_OPTIONS or arguments, can block this one.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  thread.unref();
  thread.on('message', ({ notNotified }: WatchdogMessage) =>
    log.error(
      { reason: notNotified },
      'systemd cannot be told that the service is alive, and may restart it',
    ),
  );
  thread.on('error', (err) => log.error({ err }, 'the watchdog of this process ended'));
}

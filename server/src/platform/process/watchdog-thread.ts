import { spawn } from 'node:child_process';
import { write } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { stopRunning } from '@gantry/embedded-postgres/running';
import {
  BEAT_MS,
  MAX_SILENT_BEATS,
  type Notified,
  type WatchdogData,
  type WatchdogMessage,
} from './watchdog.ts';

// The thread that watches the event loop of the main thread.

const { beats, dataDir, notified, logLevel } = workerData as WatchdogData;
const beat = new Int32Array(beats);

/** Time limits in milliseconds: for finding out what blocks the main thread, and for the embedded database to stop. */
const STACK_MS = 2_500;
const DATABASE_MS = 3_500;

/** The number of callers that are logged. */
const FRAMES = 12;

/** What the main thread executes, the innermost function first; empty if it is not JavaScript. */
function readStack(): Promise<string[]> {
  const session = new Session();
  const files = new Map<string, string>();
  const describe = ({ functionName, location, url }: Debugger.CallFrame): string =>
    `${functionName || 'anonymous'} (${url || files.get(location.scriptId)}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`;
  return new Promise((resolve) => {
    setTimeout(() => resolve([]), STACK_MS);
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => resolve(params.callFrames.slice(0, FRAMES).map(describe)));
    session.connectToMainThread();
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

async function end(): Promise<void> {
  // Even if the disk or the log does not respond.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), DATABASE_MS);
  // As at every other end of the service, but with a time limit.
  const stopped = dataDir === null ? null : stopRunning(dataDir).catch(() => undefined);
  // Loaded only now: it would take memory in every process.
  const { createLog } = await import('../log.ts');
  const log = createLog(logLevel, { write: (line) => write(1, line, () => undefined) });
  const executing = await readStack().catch(() => []);
  log.fatal(
    { seconds: (MAX_SILENT_BEATS * BEAT_MS) / 1_000, executing },
    'the event loop is blocked: the process ends itself, to be started again',
  );
  await stopped;
  await sleep(BEAT_MS / 10);
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Tells systemd that the service is alive. Node.js has no datagram sockets in the file system, so systemd-notify sends the
 * message. A shell starts it, because starting a program from a process of this size makes its main thread wait.
 */
function startNotifier({ socket, path }: Notified): () => void {
  const notifier = spawn('/bin/sh', ['-c', 'while read -r state; do systemd-notify "$state" || exit; done'], {
    env: { NOTIFY_SOCKET: socket, PATH: path },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let written = '';
  let isOver = false;
  const fail = (reason: string): void => {
    if (!isOver) parentPort?.postMessage({ notNotified: reason } satisfies WatchdogMessage);
    isOver = true;
  };
  notifier.on('error', ({ message }) => fail(message));
  notifier.stderr.on('data', (text) => (written = `${written}${text}`.slice(0, 500)));
  notifier.on('close', (code) => fail(written.trim() || `systemd-notify ended with ${code}`));
  notifier.stdin.on('error', () => undefined);
  return () => {
    if (!isOver) notifier.stdin.write('WATCHDOG=1\n');
  };
}

const notify = notified && startNotifier(notified);
const notifyBeats = Math.max(1, Math.floor((notified?.withinMicroseconds ?? 0) / 3_000 / BEAT_MS));

let known = 0;
let silent = 0;
let sinceNotified = notifyBeats;
setInterval(() => {
  const now = Atomics.load(beat, 0);
  silent = now === known ? silent + 1 : 0;
  known = now;
  if (silent === MAX_SILENT_BEATS) void end();
  sinceNotified++;
  if (notify === null || silent > 0 || sinceNotified < notifyBeats) return;
  sinceNotified = 0;
  notify();
}, BEAT_MS);

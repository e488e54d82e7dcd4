import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, commandFor } from './cluster.ts';
import { waitForAnswer } from './connection.ts';
import { hasErrno, ignoreErrno } from './errno.ts';
import { EmbeddedDatabaseError, runAs } from './home.ts';
import { isServerOf, readLock, removeStaleLock } from './lock.ts';
import { commandLineOf, isAlive } from './processes.ts';

/** Maximum start time in milliseconds. After a crash, PostgreSQL first replays its WAL, usually up to max_wal_size. */
const START_MS = 1_800_000;

/** Milliseconds for the processes of a killed server to notice that it is gone. */
const LINGERING_MS = 30_000;
const POLL_MS = 20;
const LOG_TAIL_BYTES = 4_000;

/** The signals that end a server, with the time for each in milliseconds. Acknowledged data survives all of them. */
const WAYS_TO_STOP = [
  ['SIGINT', 20_000], // fast: ends the sessions and writes a checkpoint
  ['SIGQUIT', 10_000], // immediate: leaves recovery to the next start
  ['SIGKILL', 5_000],
] as const;

/** A running PostgreSQL server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** Another program is listening on the port. */
export class PortTaken extends EmbeddedDatabaseError {
  override readonly name = 'PortTaken';
}

/** Servers that are asked to stop when this process exits, for whatever reason except SIGKILL, which cannot be caught. */
const answeredFor = new Set<number>();

/**
 * Removes a server from those that are asked to stop at exit. Call it once the server is gone, because another program
 * may soon have its process number.
 */
export function forgetPostmaster(pid: number): void {
  answeredFor.delete(pid);
  if (answeredFor.size === 0) process.off('exit', stopAllOnExit);
}

/**
 * Takes over the server of the cluster that a killed service left running. A server of an older build or with other
 * settings, one that is about to end and one that does not answer are stopped instead.
 */
export async function adoptPostmaster(
  cluster: Cluster,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<Postmaster | undefined> {
  const found = await readLock(cluster.folder);
  if (!found || !(await isServerOf(cluster.folder, found.pid))) return undefined;
  answerFor(found.pid);
  const obstacle = await findObstacle(cluster, found, signal);
  if (!obstacle) {
    log(`PostgreSQL was left running by an earlier process: using it (pid ${found.pid}, port ${found.port})`);
    return found;
  }
  log(
    `PostgreSQL was left running by an earlier process (pid ${found.pid}): stopping it, because ${obstacle}`,
  );
  await stopPostmaster(found.pid);
  return undefined;
}

/**
 * Starts the server of the cluster and waits until it answers. It gets a session of its own, so that signals to the
 * service's process group do not reach it, and it outlives the service if that is killed.
 * @throws {PortTaken} when another program is listening on the port
 * @throws {EmbeddedDatabaseError} when it does not start; the message contains the end of PostgreSQL's log
 */
export async function startPostmaster(
  cluster: Cluster,
  port: number,
  signal?: AbortSignal,
): Promise<Postmaster> {
  const patience = performance.now() + LINGERING_MS;
  for (;;) {
    const failure = await attempt(cluster, port, signal);
    if (!(failure instanceof Error)) return failure;
    const lingering = failure.message.includes('pre-existing shared memory block');
    if (!lingering || signal?.aborted || performance.now() > patience) throw failure;
    await sleep(250);
  }
}

/**
 * Stops a server and waits until it is gone: in an orderly way if possible, forcibly if that takes too long.
 * @throws {EmbeddedDatabaseError} when it does not end
 */
export async function stopPostmaster(pid: number): Promise<void> {
  for (const [signal, patienceMs] of WAYS_TO_STOP) {
    if (!(await isAlive(pid))) return forgetPostmaster(pid);
    send(signal, pid);
    const deadline = performance.now() + patienceMs;
    while ((await isAlive(pid)) && performance.now() < deadline) await sleep(POLL_MS);
  }
  if (await isAlive(pid)) {
    throw new EmbeddedDatabaseError(`PostgreSQL (pid ${pid}) cannot be stopped: its storage may hang.`);
  }
  forgetPostmaster(pid);
}

function stopAllOnExit(): void {
  for (const pid of answeredFor) send('SIGINT', pid);
}

function answerFor(pid: number): void {
  if (answeredFor.size === 0) process.on('exit', stopAllOnExit);
  answeredFor.add(pid);
}

/** The reason why a running server cannot be used as it is; undefined if it can. */
async function findObstacle(
  cluster: Cluster,
  found: Postmaster,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if ((await commandLineOf(found.pid)) !== commandFor(cluster, found.port).join(' ')) {
    return 'it was started with other settings or by another build';
  }
  try {
    await waitUntilReady(cluster, found, signal);
    return undefined;
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) return error.message;
    throw error;
  }
}

/** Ends the server at once, without writing anything. At its next start it recovers from its log. */
export function crashPostmaster(pid: number): void {
  send('SIGQUIT', pid);
}

async function attempt(
  cluster: Cluster,
  port: number,
  signal?: AbortSignal,
): Promise<Postmaster | EmbeddedDatabaseError> {
  await removeStaleLock(cluster.folder);
  const startedAt = Date.now();
  const postmaster = { pid: await launch(cluster, port), port };
  try {
    await waitUntilReady(cluster, postmaster, signal);
    return postmaster;
  } catch (error) {
    await stopPostmaster(postmaster.pid);
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    const log = await readLog(cluster, startedAt);
    if (log.includes('Address already in use'))
      return new PortTaken(`Another program listens on port ${port}.`);
    return new EmbeddedDatabaseError(`${error.message} The end of its log:\n${log}`, { cause: error });
  }
}

async function launch(cluster: Cluster, port: number): Promise<number> {
  const [program, ...words] = commandFor(cluster, port);
  // Files instead of pipes: a pipe would break when the service is killed and end the server too.
  const output = await open(cluster.startLog, 'w', 0o600);
  try {
    const options = { ...runAs(cluster.account), detached: true };
    const child = spawn(program, words, { ...options, stdio: ['ignore', output.fd, output.fd] });
    // Registered at once, because this process may be asked to exit before the `spawn` event.
    if (child.pid !== undefined) answerFor(child.pid);
    await once(child, 'spawn');
    child.unref();
    if (child.pid === undefined) throw new EmbeddedDatabaseError(`${program} did not start.`);
    return child.pid;
  } finally {
    await output.close();
  }
}

async function waitUntilReady(
  cluster: Cluster,
  { pid, port }: Postmaster,
  signal?: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const lock = await readLock(cluster.folder);
    if (lock?.pid === pid && lock.status === 'ready') return waitForAnswer(cluster, port, signal);
    if (!(await isAlive(pid))) throw new EmbeddedDatabaseError('PostgreSQL ended before it was ready.');
    if (signal?.aborted) throw new EmbeddedDatabaseError('PostgreSQL was stopped before it was ready.');
    if (performance.now() > deadline)
      throw new EmbeddedDatabaseError('PostgreSQL was not ready within half an hour.');
    await sleep(POLL_MS);
  }
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended by itself.
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

/** The last messages of PostgreSQL since `since`: from its standard error, then from its own log. */
async function readLog(cluster: Cluster, since: number): Promise<string> {
  const current = await ignoreErrno(readFile(join(cluster.folder, 'current_logfiles'), 'utf8'), 'ENOENT');
  const name = current?.split('\n')[0]?.replace(/^stderr /, '');
  const first = await readTail(cluster.startLog);
  const rest = name ? (await readTail(join(cluster.folder, name))).split('\n') : [];
  const fresh = rest.findIndex((line) => timeOf(line) >= since);
  return fresh === -1 ? first : [first, ...rest.slice(fresh)].join('\n');
}

/**
 * The time of a line such as `2026-01-31 12:00:00.000 UTC [4711] LOG: …` in milliseconds; NaN if it begins otherwise.
 */
function timeOf(line: string): number {
  return Date.parse(`${line.slice(0, 23).replace(' ', 'T')}Z`);
}

async function readTail(path: string): Promise<string> {
  const file = await ignoreErrno(open(path), 'ENOENT');
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}

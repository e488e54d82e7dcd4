import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createGantryClient } from '@gantry/client';
import { createRandom } from '@gantry/simulator/src/random.ts';
import { query } from '../database.ts';
import { stopLeftoverDatabase } from '../leftover-database.ts';
import { residentMegabytes } from '../metrics.ts';
import { createUndo } from '../undo.ts';
import { type Audit, audit, auditImages } from './audit.ts';
import { type Destination, startDevices, WATCHED_PLATE } from './devices.ts';
import type { Fault, Scene } from './fault.ts';
import { createJournal } from './journal.ts';
import { descendantsOf, isRunning } from './processes.ts';
import { arrange } from './stand.ts';
import { ADMIN } from './target.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const SENSORS = 6;
const DEVICES = 24;
const PAUSE_MS = 40;
const WARM_UP_MS = 2_000;
const AFTERWARDS_MS = 1_500;

/** How long devices retry unanswered events, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Time limit for the effects of events, in milliseconds. */
const SETTLE_MS = 60_000;

/**
 * Time limit for connections to become free, in milliseconds. On a half-open connection, a statement ends after 21 s, and
 * the ROLLBACK that follows after 5 s.
 */
const FREE_MS = 30_000;

/** Growth of resident memory that is not considered a leak, in megabytes. */
const MEMORY_ALLOWANCE_MB = 200;
const STOP_MS = 25_000;

/** Time limit for the processes of PostgreSQL, which may end slightly later than the service, in milliseconds. */
const LINGERING_MS = 5_000;

/** The result of one fault. */
export interface Outcome {
  readonly name: string;
  readonly title: string;
  readonly audit: Audit | null;
  /** From the end of the fault until the next acknowledged event, in seconds. */
  readonly recoverySeconds: number;
  /** The violations of the promise; empty if there are none. */
  readonly breaches: readonly string[];
  /** The reason why it was skipped; null if it was run. */
  readonly skipped: string | null;
}

/**
 * Runs one fault in a folder of its own. Afterwards it stops all processes that it started, and removes the folder.
 * @param signal interrupts the run
 * @throws the reason of the signal when it is aborted
 */
export async function runFault(
  fault: Fault,
  folder: string,
  seed: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const { name, title } = fault;
  const skipped = (await fault.obstacle?.()) ?? null;
  const breaches: string[] = [];
  const nothing = { name, title, audit: null, recoverySeconds: Number.NaN, breaches, skipped };
  if (skipped !== null) return nothing;

  const undo = createUndo();
  try {
    const breach = (sentence: string): void => void breaches.push(sentence);
    return { ...nothing, ...(await unlessStopped(play(fault, folder, seed, undo.add, breach), signal)) };
  } catch (error) {
    signal.throwIfAborted();
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    breaches.push(`the scene broke off: ${text.slice(0, 1_500)}`);
    return nothing;
  } finally {
    await undo.run();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function until(isSo: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if (await isSo().catch(() => false)) return true;
    await sleep(50);
  }
  return false;
}

/** Compares all derived data with a recomputation. @returns the differences, as sentences */
async function checkDerived(databaseUrl: string): Promise<string[]> {
  const { PATH, HOME } = process.env;
  const run = promisify(execFile)(process.execPath, ['server/bin/gantry.cjs', 'db', 'check', '--json'], {
    cwd: ROOT,
    env: { PATH, HOME, DATABASE_URL: databaseUrl, JWT_SECRET: 'x'.repeat(40) },
    maxBuffer: 1 << 28,
  });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  if (!stdout.startsWith('{')) return [`db:check failed: ${stderr.slice(0, 500)}`];
  const { checks } = JSON.parse(stdout) as { checks: { name: string; differences: unknown[] }[] };
  return checks
    .filter(({ differences }) => differences.length > 0)
    .map(
      ({ name, differences }) =>
        `db:check, ${name}: ${differences.length} differences, such as ${JSON.stringify(differences[0])}`,
    );
}

/** Creates sensors, a watched plate and a webhook for violations, so that events have effects. */
async function furnish(client: Scene['client'], receiver: string): Promise<string[]> {
  const apiKeys: string[] = [];
  for (let n = 1; n <= SENSORS; n++) {
    const sensor = await client.api.sensors.create.mutate({
      name: `Mast ${n}`,
      deviceId: `mast-${n}`,
      type: 'RADAR',
    });
    apiKeys.push(sensor.apiKey);
  }
  await client.api.watchlist.create.mutate({ pattern: WATCHED_PLATE, reason: 'Trial', priority: 'HIGH' });
  await client.api.webhooks.create.mutate({ url: receiver, kinds: ['event.violation', 'watchlist.alert'] });
  return apiKeys;
}

/** A receiver of webhooks that accepts everything. */
async function startReceiver(onEnd: Scene['onEnd']): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('ok'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function nothingWaits(databaseUrl: string): Promise<boolean> {
  const [row] = await query<{ n: string }>(databaseUrl, 'SELECT count(*) AS n FROM events_to_follow_up');
  return row?.n === '0';
}

/** The metrics of database connections in use, except for the writer's. When nothing is running, there should be none. */
function leftOpen(metrics: ReadonlyMap<string, number>): string[] {
  return [...metrics]
    .filter(
      ([name, value]) =>
        /^gantry_database_connections\{.*state="in_use"/.test(name) &&
        !name.includes('"writer"') &&
        value > 0,
    )
    .map(([name, value]) => `${name} ${value}`);
}

async function someRun(pids: Iterable<number>): Promise<boolean> {
  for (const pid of pids) if (await isRunning(pid)) return true;
  return false;
}

/**
 * Runs the fault while devices send, and compares the result with the promise.
 * @param breach called with each violation of the promise
 */
async function play(
  fault: Fault,
  folder: string,
  seed: number,
  onEnd: Scene['onEnd'],
  breach: Scene['breach'],
): Promise<Pick<Outcome, 'audit' | 'recoverySeconds'>> {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { recursive: true });
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  onEnd(() => stopLeftoverDatabase(dataDir));
  await fault.prepare?.({ dataDir, folder, onEnd });
  const stand = await arrange(fault, folder, dataDir, onEnd);
  const { target, second, deviceProxy } = stand;
  onEnd(() => second?.stop());
  onEnd(() => target.stop());
  await target.start();
  await second?.start();

  const client = createGantryClient(target.url);
  await client.login(ADMIN.email, ADMIN.password);
  const apiKeys = await furnish(client, await startReceiver(onEnd));
  const destination: Destination = {
    url: deviceProxy ? `http://127.0.0.1:${deviceProxy.port}` : target.url,
    apiKeys,
  };
  const journal = createJournal();
  const devices = startDevices({ journal, destination, count: DEVICES, seed, pauseMs: PAUSE_MS });
  await sleep(WARM_UP_MS);
  const memoryBefore = residentMegabytes(await target.metrics());

  await fault.run({
    ...stand,
    destination,
    client,
    folder,
    random: createRandom(seed).next,
    breach,
    onEnd,
  });
  const over = performance.now();
  const isBack = await until(
    async () => devices.lastAcknowledged > over && (await target.isReady()),
    PATIENCE_MS,
  );
  const recoverySeconds = isBack ? (devices.lastAcknowledged - over) / 1000 : Number.POSITIVE_INFINITY;
  if (recoverySeconds > fault.recoversWithin)
    breach(`back after ${recoverySeconds.toFixed(1)} s, promised within ${fault.recoversWithin} s`);
  await sleep(AFTERWARDS_MS);
  await devices.finish(PATIENCE_MS);
  const databaseUrl = await stand.databaseUrl();

  if (!(await until(() => nothingWaits(databaseUrl), SETTLE_MS)))
    breach('what follows from some events is still to be made after a minute');
  const found = await audit(databaseUrl, journal);
  for (const sentence of [...found.breaches, ...(await checkDerived(databaseUrl))]) breach(sentence);
  const reader = createGantryClient(target.url);
  await reader.login(ADMIN.email, ADMIN.password);
  for (const sentence of await auditImages(reader, target.url, journal)) breach(sentence);

  const isFree = await until(async () => leftOpen(await target.metrics()).length === 0, FREE_MS);
  if (!isFree) breach(`connections are still in use: ${leftOpen(await target.metrics()).join(', ')}`);
  const memory = residentMegabytes(await target.metrics());
  if (memory > memoryBefore + MEMORY_ALLOWANCE_MB)
    breach(`memory grew from ${memoryBefore.toFixed(0)} to ${memory.toFixed(0)} MB`);

  const family = target.pid === null ? [] : await descendantsOf(target.pid);
  const database = fault.proxies ? null : await target.postmaster();
  const { ended, ms } = await target.stop();
  if (ended !== 0) breach(`asked to stop, the service ended with ${ended}: ${target.output().slice(-500)}`);
  if (ms > STOP_MS) breach(`asked to stop, the service took ${(ms / 1000).toFixed(1)} s`);
  const kin = new Set([...family, ...(database === null ? [] : [database])]);
  await until(async () => !(await someRun(kin)), LINGERING_MS);
  for (const pid of kin) if (await isRunning(pid)) breach(`process ${pid} outlived the service`);
  return { audit: found, recoverySeconds };
}

/** Waits for the work; throws the reason of the signal as soon as it is aborted. */
async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new AbortController();
  // After an interruption the work continues, and fails when its resources are removed, which is ignored.
  work.catch(() => undefined);
  const stopped = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw signal.reason;
  });
  stopped.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, stopped]);
  } finally {
    ended.abort();
  }
}

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createGantryClient } from '@gantry/client';
import { createRandom } from '@gantry/simulator/src/random.ts';
import { query, sibling } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import { residentMegabytes } from '../metrics.ts';
import { embeddedDatabaseUrl } from '../service.ts';
import { type Audit, audit } from './audit.ts';
import { type Destination, startDevices, WATCHED_PLATE } from './devices.ts';
import type { Fault, Scene } from './fault.ts';
import { createJournal } from './journal.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { ADMIN, createVictim, descendantsOf, isRunning, type Victim } from './victim.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const SENSORS = 6;
const DEVICES = 24;
const PAUSE_MS = 40;
const WARM_UP_MS = 2_000;
const AFTERWARDS_MS = 1_500;
/** Devices try this long to bring in what was not answered, in milliseconds. */
const PATIENCE_MS = 60_000;
/** What follows from events has to be there within this time, in milliseconds. */
const SETTLE_MS = 60_000;
/** More resident memory than before the fault that is not taken for a leak, in megabytes. */
const MEMORY_ALLOWANCE_MB = 200;
const STOP_MS = 25_000;
/** Processes of PostgreSQL may end a moment after its server. */
const LINGERING_MS = 5_000;

/** What became of one fault. */
export interface Outcome {
  readonly name: string;
  readonly title: string;
  readonly audit: Audit | null;
  /** From the end of the fault until an event was acknowledged again, in seconds. */
  readonly recoverySeconds: number;
  /** Everything the promise does not allow; empty when it was kept. */
  readonly breaches: readonly string[];
  /** Why it was not tried. */
  readonly skipped: string | null;
}

export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new BenchmarkFailed('There is no free port');
  return address.port;
};

const portOf = (url: string): number => Number(new URL(url).port);

const throughPort = (databaseUrl: string, port: number): string => {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
};

const until = async (isSo: () => Promise<boolean>, ms: number): Promise<boolean> => {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if (await isSo().catch(() => false)) return true;
    await sleep(50);
  }
  return false;
};

/** Recomputes everything that is derived. @returns what differs, in sentences */
const checkDerived = async (databaseUrl: string): Promise<string[]> => {
  const { PATH, HOME } = process.env;
  const run = promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'server/scripts/check.ts', '--json'],
    {
      cwd: ROOT,
      env: { PATH, HOME, DATABASE_URL: databaseUrl, JWT_SECRET: 'x'.repeat(40) },
      maxBuffer: 1 << 28,
    },
  );
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  if (!stdout.startsWith('{')) return [`db:check failed: ${stderr.slice(0, 500)}`];
  const { checks } = JSON.parse(stdout) as { checks: { name: string; differences: unknown[] }[] };
  return checks
    .filter(({ differences }) => differences.length > 0)
    .map(
      ({ name, differences }) =>
        `db:check, ${name}: ${differences.length} differences, such as ${JSON.stringify(differences[0])}`,
    );
};

/** Undoes in reverse what was done; what cannot be undone is told and does not keep the rest. */
const createUndo = () => {
  const steps: (() => Promise<unknown> | unknown)[] = [];
  return {
    add: (step: () => Promise<unknown> | unknown) => void steps.push(step),
    async run(): Promise<void> {
      for (let step = steps.pop(); step; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          process.stderr.write(`Something is left behind: ${String(error)}\n`);
        }
      }
    },
  };
};

interface Stand {
  readonly victim: Victim;
  readonly second: Victim | null;
  readonly databaseUrl: () => Promise<string>;
  readonly postmaster: () => Promise<number>;
  readonly databaseProxy: TcpProxy | null;
  readonly deviceProxy: TcpProxy | null;
}

/** One service with its own database. */
const standAlone = async (fault: Fault, dataDir: string): Promise<Stand> => {
  const victim = createVictim({ ...fault.options, dataDir, port: await findFreePort() });
  return {
    victim,
    second: null,
    databaseUrl: () => embeddedDatabaseUrl(dataDir),
    async postmaster() {
      const pid = await victim.postmaster();
      if (pid === null) throw new BenchmarkFailed('PostgreSQL does not run');
      return pid;
    },
    databaseProxy: null,
    deviceProxy: null,
  };
};

/** A service, or two processes of it, apart from its database, with proxies before both. */
const standApart = async (
  fault: Fault,
  folder: string,
  dataDir: string,
  onEnd: Scene['onEnd'],
): Promise<Stand> => {
  const hostData = join(folder, 'host');
  await mkdir(hostData);
  const host = createVictim({ dataDir: hostData, port: await findFreePort() });
  onEnd(() => host.stop());
  await host.start();
  const hostUrl = await embeddedDatabaseUrl(hostData);
  await query(hostUrl, 'CREATE DATABASE faults');
  const databaseUrl = sibling(hostUrl, 'faults');
  const databaseProxy = await startProxy(() => portOf(databaseUrl));
  onEnd(() => databaseProxy[Symbol.asyncDispose]());
  const env = {
    ...fault.options?.env,
    DATABASE_URL: throughPort(databaseUrl, databaseProxy.port),
    JWT_SECRET: 'only-for-faults-'.repeat(3),
  };
  const make = async (folderOfIt: string): Promise<Victim> => {
    await mkdir(folderOfIt, { recursive: true });
    return createVictim({ ...fault.options, env, dataDir: folderOfIt, port: await findFreePort() });
  };
  const victim = await make(dataDir);
  const second = fault.isTwofold ? await make(join(folder, 'second')) : null;
  let turn = 0;
  const deviceProxy = await startProxy(() => {
    const serving = [victim, second].filter((each) => each?.pid);
    const next = serving[turn++ % Math.max(1, serving.length)];
    return next ? portOf(next.url) : null;
  });
  onEnd(() => deviceProxy[Symbol.asyncDispose]());
  return {
    victim,
    second,
    databaseUrl: async () => databaseUrl,
    async postmaster() {
      const pid = await host.postmaster();
      if (pid === null) throw new BenchmarkFailed('PostgreSQL does not run');
      return pid;
    },
    databaseProxy,
    deviceProxy,
  };
};

/** Sensors, a plate that is watched and a hook that follows violations, so that something follows from events. */
const furnish = async (client: Scene['client'], receiver: string): Promise<string[]> => {
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
};

/** A receiver of webhooks that takes everything. */
const startReceiver = async (onEnd: Scene['onEnd']): Promise<string> => {
  const { createServer: createHttpServer } = await import('node:http');
  const server = createHttpServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('ok'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`;
};

const nothingWaits = async (databaseUrl: string): Promise<boolean> => {
  const [row] = await query<{ n: string }>(databaseUrl, 'SELECT count(*) AS n FROM events_to_follow_up');
  return row?.n === '0';
};

/** Connections that somebody still has, when nobody should: but for that of the writer, which keeps it. */
const leftOpen = (metrics: ReadonlyMap<string, number>): string[] =>
  [...metrics]
    .filter(
      ([name, value]) =>
        /^gantry_database_connections\{.*state="in_use"/.test(name) &&
        !name.includes('"writer"') &&
        value > 0,
    )
    .map(([name, value]) => `${name} ${value}`);

const someRun = async (pids: Iterable<number>): Promise<boolean> => {
  for (const pid of pids) if (await isRunning(pid)) return true;
  return false;
};

/** Lets one fault happen to a service under load, and compares what was promised with what is there. */
export const runFault = async (fault: Fault, folder: string, seed: number): Promise<Outcome> => {
  const { name, title } = fault;
  const skipped = (await fault.obstacle?.()) ?? null;
  if (skipped !== null)
    return { name, title, audit: null, recoverySeconds: Number.NaN, breaches: [], skipped };

  const undo = createUndo();
  const breaches: string[] = [];
  const breach = (sentence: string): void => void breaches.push(sentence);
  try {
    const dataDir = join(folder, 'data');
    await mkdir(dataDir, { recursive: true });
    // Run by root, PostgreSQL is another user, who must be able to enter.
    await chmod(folder, 0o711);
    await fault.prepare?.({ dataDir, folder, onEnd: undo.add });
    const stand = fault.proxies
      ? await standApart(fault, folder, dataDir, undo.add)
      : await standAlone(fault, dataDir);
    const { victim, second, databaseProxy, deviceProxy } = stand;
    undo.add(() => second?.stop());
    undo.add(() => victim.stop());
    await victim.start();
    await second?.start();

    const client = createGantryClient(victim.url);
    await client.login(ADMIN.email, ADMIN.password);
    const apiKeys = await furnish(client, await startReceiver(undo.add));
    const destination: Destination = {
      url: deviceProxy ? `http://127.0.0.1:${deviceProxy.port}` : victim.url,
      apiKeys,
    };
    const journal = createJournal();
    const devices = startDevices({ journal, destination, count: DEVICES, seed, pauseMs: PAUSE_MS });
    await sleep(WARM_UP_MS);
    const memoryBefore = residentMegabytes(await victim.metrics());

    const scene: Scene = {
      victim,
      second,
      databaseUrl: stand.databaseUrl,
      postmaster: stand.postmaster,
      databaseProxy,
      deviceProxy,
      destination,
      client,
      folder,
      random: createRandom(seed).next,
      breach,
      onEnd: undo.add,
    };
    await fault.run(scene);
    const over = performance.now();
    const isBack = await until(
      async () => devices.lastAcknowledged > over && (await victim.isReady()),
      PATIENCE_MS,
    );
    const recoverySeconds = isBack ? (devices.lastAcknowledged - over) / 1000 : Number.POSITIVE_INFINITY;
    if (recoverySeconds > fault.recoversWithin)
      breach(`back after ${recoverySeconds.toFixed(1)} s, promised within ${fault.recoversWithin} s`);
    if (process.env.FAULTS_LOG) process.stderr.write(victim.output());
    await sleep(AFTERWARDS_MS);
    await devices.finish(PATIENCE_MS);
    await fault.afterwards?.(scene);
    const databaseUrl = await stand.databaseUrl();

    if (!(await until(() => nothingWaits(databaseUrl), SETTLE_MS)))
      breach('what follows from some events is still to be made after a minute');
    const found = await audit(databaseUrl, journal);
    breaches.push(...found.breaches, ...(await checkDerived(databaseUrl)));

    const isFree = await until(async () => leftOpen(await victim.metrics()).length === 0, 10_000);
    if (!isFree) breach(`connections are still in use: ${leftOpen(await victim.metrics()).join(', ')}`);
    const memory = residentMegabytes(await victim.metrics());
    if (memory > memoryBefore + MEMORY_ALLOWANCE_MB)
      breach(`memory grew from ${memoryBefore.toFixed(0)} to ${memory.toFixed(0)} MB`);

    const family = victim.pid === null ? [] : await descendantsOf(victim.pid);
    const database = fault.proxies ? null : await victim.postmaster();
    const { ended, ms } = await victim.stop();
    if (ended !== 0) breach(`asked to stop, the service ended with ${ended}: ${victim.output().slice(-500)}`);
    if (ms > STOP_MS) breach(`asked to stop, the service took ${(ms / 1000).toFixed(1)} s`);
    const kin = new Set([...family, ...(database === null ? [] : [database])]);
    await until(async () => !(await someRun(kin)), LINGERING_MS);
    for (const pid of kin) if (await isRunning(pid)) breach(`process ${pid} outlived the service`);
    return { name, title, audit: found, recoverySeconds, breaches, skipped: null };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      name,
      title,
      audit: null,
      recoverySeconds: Number.NaN,
      breaches: [...breaches, `the scene broke off: ${text.slice(0, 1_500)}`],
      skipped: null,
    };
  } finally {
    await undo.run();
    const leftover = await readFile(join(folder, 'data', 'postgres', 'postmaster.pid'), 'utf8').catch(
      () => '',
    );
    const pid = Number(leftover.split('\n')[0]);
    if (pid > 0 && (await isRunning(pid))) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
};

import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '@gantry/embedded-postgres/processes';
import { afterAll, describe, expect, it } from 'vitest';
import { version } from '../../src/platform/installation.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { lengthOf } from '../test-length.ts';
import {
  MAIN,
  type ServiceProcess,
  type StartedProcess,
  spawnService,
  untilItServes,
} from './service-process.ts';

// One service of several processes (WORKERS), which receives real signals.

const WORKERS = lengthOf({ gate: 2, full: 3 });
/** Only a request that is lost takes so long. */
const ANSWER_MS = 90_000;

const scratch = mkdtempSync(join(tmpdir(), 'gantry-workers-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);
const dataDir = join(scratch, 'data');
const database = await createTestDatabase();
const onDatabase = { DATABASE_URL: database.url, DATA_DIR: dataDir };
const started: StartedProcess[] = [];

const spawn = (settings: Readonly<Record<string, string>>, program?: readonly string[]): StartedProcess => {
  const service = spawnService(
    scratch,
    { WORKERS: String(WORKERS), LOG_LEVEL: 'info', ...settings },
    program,
  );
  started.push(service);
  return service;
};
const start = (settings: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
  untilItServes(spawn(settings));

afterAll(async () => {
  for (const { process } of started) process.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await database.drop();
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly worker?: number;
  readonly process?: number;
  readonly pause?: number;
}
const logOf = ({ output }: StartedProcess): LogLine[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const said = (service: StartedProcess, message: string): LogLine[] =>
  logOf(service).filter(({ msg }) => msg === message);

/** The current process of each worker, beginning with worker 1. */
const processesOf = (service: StartedProcess): number[] => {
  const newest = new Map(said(service, 'a worker serves').map(({ worker, process }) => [worker, process]));
  return Array.from({ length: WORKERS }, (_, index) => newest.get(index + 1) ?? 0);
};
const areGone = (processes: readonly number[]) => async () =>
  (await Promise.all(processes.map(isAlive))).every((alive) => !alive);
const isTrue = (answer: boolean): boolean => answer;

/** The value of a metric for each worker, from /metrics. */
const byWorker = async (service: ServiceProcess, pattern: RegExp): Promise<number[]> => {
  const { body } = await service.fetch('/metrics');
  const lines = String(body)
    .split('\n')
    .filter((line) => pattern.test(line));
  return Array.from({ length: WORKERS }, (_, index) =>
    lines
      .filter((line) => line.includes(`worker="${index + 1}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0),
  );
};

/** A few clients leave processor time for the workers that start; more clients cover more moments. */
const CLIENTS = lengthOf({ gate: 4, full: 12 });
/** How many events are acknowledged before something breaks, and after. */
const ENOUGH = lengthOf({ gate: 60, full: 200 });

/** Clients that send events, each until it is answered, until they are stopped. They tolerate lost connections. */
const sendEvents = (service: ServiceProcess, apiKey: string, clients: number) => {
  const acknowledged: string[] = [];
  let cutOff = 0;
  let isOver = false;
  const unanswered = (): Promise<never> =>
    sleep(ANSWER_MS, null, { ref: false }).then(() => {
      throw new Error('A request was never answered');
    });
  const deliver = async (event: object): Promise<void> => {
    while (!isOver) {
      // Every attempt uses a connection of its own, so that all workers are reached.
      const headers = { connection: 'close' };
      const call = service.call('events.ingest', event, { headers }).catch(() => null);
      const answer = await Promise.race([call, unanswered()]);
      if (answer?.status === 200) acknowledged.push(answer.body.result.data.json.eventId);
      else if (answer) throw new Error(`events.ingest answered ${answer.status}`);
      if (answer) return;
      cutOff++;
    }
  };
  const client = async (): Promise<void> => {
    while (!isOver) {
      const timestamp = new Date().toISOString();
      await deliver({ apiKey, eventType: 'INCIDENT', timestamp, idempotencyKey: randomUUID() });
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    acknowledged,
    cutOff: () => cutOff,
    async stop() {
      isOver = true;
      await all;
    },
  };
};

/** Fails when one of the events is not stored. */
const findAll = async (service: ServiceProcess, ids: readonly string[], token: string): Promise<void> => {
  const rest = [...ids];
  const findSome = async (): Promise<void> => {
    for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
      await service.ok('events.getById', { id }, { token });
    }
  };
  await Promise.all(Array.from({ length: 20 }, findSome));
};

describe('a service of several workers', () => {
  let service: ServiceProcess;
  let token = '';

  it('reports its address once, and all of them answer there', async () => {
    service = await start(onDatabase);
    token = await service.tokenFor('ADMIN');
    expect(service.output().match(/listens on/g)).toHaveLength(1);
    expect(said(service, 'a worker serves')).toHaveLength(WORKERS);
    const ask = () => service.call('system.health', undefined, { headers: { connection: 'close' } });
    await Promise.all(Array.from({ length: 30 }, ask));
    const calls = await byWorker(service, /^gantry_calls_total\{.*procedure="system.health"/);
    expect(Math.min(...calls)).toBeGreaterThan(0);
    expect(calls.reduce((sum, n) => sum + n)).toBe(30);
  });

  it('returns the metrics of all of them from each, each described once', async () => {
    for (let n = 0; n < WORKERS; n++) {
      const { body, headers } = await service.fetch('/metrics', { headers: { connection: 'close' } });
      expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(String(body).match(/^# TYPE process_resident_memory_bytes gauge$/gm)).toHaveLength(1);
      const workers = String(body).match(/^process_resident_memory_bytes\{worker="\d"\}/gm);
      expect(workers).toHaveLength(WORKERS);
    }
  });

  it('returns the same page of the console, with the same policy, from each', async () => {
    const headers = { accept: 'text/html', connection: 'close' };
    const answers = await Promise.all(Array.from({ length: 9 }, () => service.fetch('/', { headers })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers[0]?.headers.get('content-security-policy')).toContain("script-src 'self';");
    const known = ({ headers, body }: (typeof answers)[0]) => [headers.get('content-security-policy'), body];
    for (const answer of answers) expect(known(answer)).toEqual(answers[0] && known(answers[0]));
    const settings = () => service.fetch('/console.json', { headers: { connection: 'close' } });
    for (const { body } of await Promise.all(Array.from({ length: 9 }, settings)))
      expect(body).toEqual({ mapTiles: false, roads: null, version });
  });

  it('agrees on which tokens and keys are valid', async () => {
    const { apiKey, id } = await service.ok(
      'sensors.create',
      { name: 'Mast 1', deviceId: 'mast-1', type: 'RADAR' },
      { token },
    );
    const headers = { connection: 'close' };
    const report = () => service.call('events.ingest', { apiKey, eventType: 'INCIDENT' }, { headers });
    const outcomes = async () =>
      new Set((await Promise.all(Array.from({ length: 9 }, report))).map(({ status }) => status));
    expect(await outcomes()).toEqual(new Set([200]));
    await service.ok('sensors.delete', { id }, { token });
    await eventually(outcomes, (statuses) => statuses.size === 1 && statuses.has(401));
  });

  it('loses nothing that it acknowledged when a worker is killed under load, and starts another', async () => {
    const before = (await service.ok('events.getStats', {}, { token })).total;
    const load = sendEvents(service, await service.registerSensor(), CLIENTS);
    const enough = (count: number) =>
      eventually(
        async () => load.acknowledged.length,
        (length) => length > count,
      );
    await enough(ENOUGH);
    const [victim = 0] = processesOf(service);
    process.kill(victim, 'SIGKILL');
    await enough(load.acknowledged.length + ENOUGH);
    const [successor] = await eventually(
      async () => processesOf(service),
      ([first]) => first !== victim,
    );
    await load.stop();

    expect(successor).not.toBe(victim);
    expect(said(service, 'a worker ended and is being replaced')).toMatchObject([
      { worker: 1, process: victim, reason: 'SIGKILL' },
    ]);
    expect(new Set(load.acknowledged).size).toBe(load.acknowledged.length);
    await findAll(service, load.acknowledged, token);
    expect((await service.ok('events.getStats', {}, { token })).total).toBe(
      before + load.acknowledged.length,
    );
    const starts = await byWorker(service, /^process_start_time_seconds/);
    expect(starts.every((start) => start > 0)).toBe(true);
  });

  it('waits longer before it restarts a worker that ends soon', async () => {
    const [victim = 0] = processesOf(service);
    process.kill(victim, 'SIGKILL');
    await eventually(
      async () => processesOf(service),
      ([first]) => first !== victim,
    );
    const pauses = said(service, 'a worker ended and is being replaced').map(({ pause }) => pause);
    expect(pauses).toEqual([200, 400]);
  });

  it('ends when asked to, answers accepted requests, and leaves no process', async () => {
    const processes = processesOf(service);
    const load = sendEvents(service, await service.registerSensor(), CLIENTS);
    await eventually(
      async () => load.acknowledged.length,
      (count) => count > ENOUGH / 2,
    );
    expect(await service.stop()).toBe(0);
    await load.stop();
    expect(await areGone(processes)()).toBe(true);
    expect(said(service, 'stopping: finishing accepted requests')).toHaveLength(1 + WORKERS);

    service = await start(onDatabase);
    token = await service.tokenFor('ADMIN');
    await findAll(service, load.acknowledged, token);
  });

  it('ends in order when all of its processes receive the signal, as from a terminal', async () => {
    const processes = processesOf(service);
    for (const pid of processes) process.kill(pid, 'SIGINT');
    service.process.kill('SIGINT');
    expect(await service.ended).toBe(0);
    expect(await areGone(processes)()).toBe(true);
    expect(said(service, 'a worker ended and is being replaced')).toEqual([]);
  });

  it('reports once why it cannot start, and ends', async () => {
    // A worker finds this error. Those that the first process finds are tested in start-errors.test.ts.
    const refused = spawn({ ...onDatabase, MQTT_URL: 'mqtts://127.0.0.1', MQTT_CA_FILE: '/no/such/file' });
    expect(await refused.ended).toBe(1);
    expect(refused.output().match(/MQTT_CA_FILE/g)).toHaveLength(1);
    expect(refused.output()).toMatch(/^Gantry cannot start\. A worker/m);
    expect(refused.output()).not.toMatch(/\n\s+at /);
  });
});

describe('a service of several workers on its own database', () => {
  const own = { DATA_DIR: dataDir };
  let service: ServiceProcess;
  let token = '';
  let apiKey = '';

  it('starts the database once, for all of them', async () => {
    const npm = [
      '-e',
      `require('node:child_process').spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' })`,
      MAIN,
    ];
    service = await untilItServes(spawn({ ...own, npm_lifecycle_event: 'start' }, npm));
    expect(service.output().match(/PostgreSQL is ready/g)).toHaveLength(1);
    expect(service.output()).toContain('"administrator":"created"');
    token = await service.tokenFor('ADMIN');
    apiKey = await service.registerSensor();
  });

  it('does not outlive npm, which started it, even when npm is killed', async () => {
    const primary = said(service, 'a worker serves')[0]?.pid ?? 0;
    const processes = [primary, ...processesOf(service)];
    service.process.kill('SIGKILL');
    await eventually(areGone(processes), isTrue);
    service = await start(own);
    // The token was issued before, and is still valid.
    await service.ok('auth.me', undefined, { token });
  });

  it('leaves no worker behind when it is killed itself, and restarts with everything it acknowledged', async () => {
    const processes = processesOf(service);
    const load = sendEvents(service, apiKey, CLIENTS);
    await eventually(
      async () => load.acknowledged.length,
      (count) => count > ENOUGH / 2,
    );
    service.process.kill('SIGKILL');
    await eventually(areGone(processes), isTrue);
    await load.stop();
    await expect(service.fetch('/live')).rejects.toThrow();

    service = await start(own);
    await findAll(service, load.acknowledged, token);
    expect(await service.stop()).toBe(0);
  });
});

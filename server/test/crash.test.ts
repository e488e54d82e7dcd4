import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ADMIN, eventually } from './harness.ts';

// The service as people run it, in a process of its own with its own database, and killed like a process.

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');

const scratch = mkdtempSync(join(tmpdir(), 'gantry-crash-'));
// PostgreSQL's user, who is another one when this runs as root, must get through.
chmodSync(scratch, 0o711);
const dataDir = join(scratch, 'data');

interface Service {
  readonly process: ChildProcess;
  /** What it printed so far. */
  readonly output: () => string;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}
const running = new Set<Service>();

const spawnService = (): Service => {
  const { PATH, HOME } = process.env;
  const settings = { DATA_DIR: dataDir, PORT: '0', ADMIN_PASSWORD: ADMIN.password, LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, ['--import', TSX, MAIN], {
    cwd: scratch,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const service = { process: child, output: () => printed, ended };
  running.add(service);
  void ended.then(() => running.delete(service));
  return service;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
const answerOf = async (procedure: string, response: Response): Promise<any> => {
  const body = JSON.parse(await response.text());
  if (!body.result) throw new Error(`${procedure} answered ${body.error.json.message}`);
  return body.result.data.json;
};

/** Starts the service and waits for its first healthy answer. */
const start = async () => {
  const started = performance.now();
  const service = spawnService();
  const url = await eventually(
    async () => /listens on (\S+)/.exec(service.output())?.[1] ?? (running.has(service) ? null : 'ended'),
    (found) => found !== null,
    25_000,
  );
  if (!url || url === 'ended') throw new Error(`It did not start: ${service.output()}`);
  const health = await answerOf('system.health', await fetch(`${url}/trpc/system.health`));
  expect(health).toMatchObject({ status: 'healthy', database: 'connected' });
  return { ...service, url, startMs: performance.now() - started };
};

const postmasterPid = (): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

afterAll(async () => {
  for (const service of running) service.process.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
  try {
    process.kill(postmasterPid(), 'SIGQUIT');
  } catch {
    // It had ended, as it should.
  }
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

// ── A client that is used to being cut off ──────────────────────────────────────────────────────────

let url = '';
let token = '';
let apiKey = '';

const call = async (procedure: string, input: object) => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ json: input });
  return answerOf(procedure, await fetch(`${url}/trpc/${procedure}`, { method: 'POST', headers, body }));
};
const ask = async (procedure: string, input: object) => {
  const headers = { authorization: `Bearer ${token}` };
  const query = encodeURIComponent(JSON.stringify({ json: input }));
  return answerOf(procedure, await fetch(`${url}/trpc/${procedure}?input=${query}`, { headers }));
};

interface EventJson {
  id: string;
  eventType: string;
  processed: boolean;
  archived: boolean;
}

/** What the service acknowledged, over all its lives. */
const stored = new Set<string>();
const processed = new Set<string>();
const deleted = new Set<string>();
/** Keyed events whose answer never came. */
const unanswered: object[] = [];

/** Sends events with and without a key, and reviews some of them, until the service is gone. */
const load = async (): Promise<void> => {
  for (let n = 0; ; n++) {
    const keyed = {
      apiKey,
      eventType: 'SPEED_DETECTION',
      violationType: n % 3 === 0 ? 'SPEEDING' : null,
      timestamp: new Date().toISOString(),
      idempotencyKey: randomUUID(),
    };
    try {
      const { eventId } = await call('events.ingest', keyed);
      stored.add(eventId);
    } catch {
      unanswered.push(keyed);
      return;
    }
    try {
      const { eventId: id } = await call('events.ingest', { apiKey, eventType: 'INCIDENT' });
      stored.add(id);
      if (n % 4 === 0) {
        await call('events.markAsProcessed', { id });
        processed.add(id);
      }
      if (n % 16 === 1) {
        stored.delete(id);
        await call('events.delete', { id });
        deleted.add(id);
      }
    } catch {
      return;
    }
  }
};
const loadUntilGone = (devices = 16) => Promise.all(Array.from({ length: devices }, load));

const listEverything = async (): Promise<EventJson[]> => {
  const events: EventJson[] = [];
  for (;;) {
    const page = await ask('events.getAll', { skip: events.length, take: 100, sortOrder: 'asc' });
    events.push(...page.events);
    if (events.length >= page.total) return events;
  }
};

const expectEverythingKept = async (): Promise<void> => {
  const events = await listEverything();
  const byId = new Map(events.map((event) => [event.id, event]));
  expect([...stored].filter((id) => !byId.has(id))).toEqual([]);
  expect([...processed].filter((id) => stored.has(id) && !byId.get(id)?.processed)).toEqual([]);
  expect([...deleted].filter((id) => byId.has(id))).toEqual([]);
  const count = (wanted: (event: EventJson) => boolean) => events.filter(wanted).length;
  const stats = await ask('events.getStats', {});
  expect(stats).toMatchObject({
    total: events.length,
    processed: count((event) => event.processed),
    unprocessed: count((event) => !event.processed),
    archived: count((event) => event.archived),
  });
  expect(
    Object.fromEntries(
      stats.byType.map((each: { eventType: string; count: number }) => [each.eventType, each.count]),
    ),
  ).toEqual({
    SPEED_DETECTION: count(({ eventType }) => eventType === 'SPEED_DETECTION'),
    INCIDENT: count(({ eventType }) => eventType === 'INCIDENT'),
  });
};

describe('the service', () => {
  let service: Awaited<ReturnType<typeof start>>;

  it('starts on an empty folder within ten seconds', async () => {
    service = await start();
    url = service.url;
    ({ token } = await call('auth.login', ADMIN));
    ({ apiKey } = await call('sensors.create', { name: 'Mast 7', deviceId: 'mast-7', type: 'RADAR' }));
    expect(service.startMs).toBeLessThan(10_000);
  });

  it.each(['the service', 'the service and its database'])(
    'loses nothing that it acknowledged when %s is killed under load, and comes back by itself',
    async (victim) => {
      const before = stored.size;
      const gone = loadUntilGone();
      await eventually(
        async () => stored.size,
        (size) => size > before + 300,
      );
      service.process.kill('SIGKILL');
      if (victim !== 'the service') process.kill(postmasterPid(), 'SIGKILL');
      await Promise.all([gone, service.ended]);

      service = await start();
      url = service.url;
      expect(service.startMs).toBeLessThan(10_000);
      // The token is the one from before.
      await expectEverythingKept();

      const known = new Set((await listEverything()).map(({ id }) => id));
      const retries = unanswered.splice(0);
      expect(retries.length).toBeGreaterThan(0);
      for (const event of retries) {
        const { eventId } = await call('events.ingest', event);
        expect((await call('events.ingest', event)).eventId).toBe(eventId);
        stored.add(eventId);
        known.add(eventId);
      }
      expect((await ask('events.getStats', {})).total).toBe(known.size);
    },
  );

  it('does not let a second one into its data folder', async () => {
    const second = spawnService();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/^Gantry cannot start\. .*data folder/s);
    expect(second.output()).toContain(dataDir);
    expect(second.output()).not.toMatch(/\n\s+at /);
    stored.add((await call('events.ingest', { apiKey, eventType: 'INCIDENT' })).eventId);
    await expectEverythingKept();
  });

  it('ends within seconds when it is asked to, answers what it accepted, and leaves no process', async () => {
    const database = postmasterPid();
    const before = stored.size;
    const gone = loadUntilGone();
    await eventually(
      async () => stored.size,
      (size) => size > before + 200,
    );
    const asked = performance.now();
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(performance.now() - asked).toBeLessThan(8_000);
    expect(isAlive(database)).toBe(false);
    await gone;
    expect(service.output()).not.toMatch(/"level":(50|60)/);
  });

  it('starts again within four seconds, with everything in it', async () => {
    service = await start();
    url = service.url;
    await expectEverythingKept();
    expect(service.startMs).toBeLessThan(4_000);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it('does not outlive npm, which started it, even when npm is killed', async () => {
    const words = JSON.stringify(['--import', TSX, MAIN]);
    const npm = spawn(
      process.execPath,
      ['-e', `require('node:child_process').spawn(process.execPath, ${words}, { stdio: 'inherit' })`],
      {
        cwd: scratch,
        env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', npm_lifecycle_event: 'start' },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    let printed = '';
    npm.stdout.on('data', (text) => (printed += text));
    await eventually(
      async () => printed,
      (text) => text.includes('listens on'),
    );
    const database = postmasterPid();
    npm.kill('SIGKILL');
    await eventually(
      async () => isAlive(database),
      (alive) => !alive,
    );
    service = await start();
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});

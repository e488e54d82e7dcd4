import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, eventually } from '../harness.ts';
import { dataUrl, png } from '../sample-images.ts';
import { lengthOf } from '../test-length.ts';
import {
  MAIN,
  type ServiceProcess,
  type StartedProcess,
  spawnService,
  untilItServes,
} from './service-process.ts';

// The service in a process of its own with its own database, which is killed at various moments.

const scratch = mkdtempSync(join(tmpdir(), 'gantry-crash-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);
const dataDir = join(scratch, 'data');

const running = new Set<StartedProcess>();

const spawnHere = (program?: readonly string[]): StartedProcess => {
  const service = spawnService(
    scratch,
    { DATA_DIR: dataDir, npm_lifecycle_event: program ? 'start' : '' },
    program,
  );
  running.add(service);
  void service.ended.then(() => running.delete(service));
  return service;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
const answerOf = async (procedure: string, response: Response): Promise<any> => {
  const body = JSON.parse(await response.text());
  if (!body.result) throw new Error(`${procedure} answered ${body.error.json.message}`);
  return body.result.data.json;
};

/** Starts the service. */
const start = async (): Promise<ServiceProcess> => {
  const service = await untilItServes(spawnHere());
  expect(await service.ok('system.health')).toMatchObject({ status: 'healthy', database: 'connected' });
  return service;
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
    // It had ended, as expected.
  }
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

// ── A client that tolerates lost connections ────────────────────────────────────────────────────────

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

/** The events that the service acknowledged, over all its runs. */
const stored = new Set<string>();
const processed = new Set<string>();
const deleted = new Set<string>();
/** The SHA-256 of every image of an acknowledged event. */
const hashes = new Set<string>();
let shades = 0;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** Events with a key whose answer did not arrive, one for each device. */
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
      const image = n % 4 === 2 ? png({ shade: shades++ }) : null;
      const images = image ? [dataUrl(image, 'image/png')] : [];
      const { eventId: id } = await call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', images });
      stored.add(id);
      if (image) hashes.add(sha256(image));
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
      // The service has ended: the next event with a key is not answered either, which ends this loop.
    }
  }
};
const loadUntilGone = (devices = lengthOf({ gate: 6, full: 16 })) =>
  Promise.all(Array.from({ length: devices }, load));

/** The least number of events and images that are acknowledged before the service is killed. */
const ENOUGH = { events: lengthOf({ gate: 100, full: 300 }), images: 20 };

const listEverything = async (): Promise<EventJson[]> => {
  const events: EventJson[] = [];
  for (;;) {
    const page = await ask('events.getAll', { skip: events.length, take: 100, sortOrder: 'asc' });
    events.push(...page.events);
    if (events.length >= page.total) return events;
  }
};

const expectImagesKept = async (): Promise<void> => {
  expect(hashes.size).toBeGreaterThan(20);
  for (const key of hashes) {
    const response = await fetch(`${url}/images/${key}`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(key);
  }
};

const expectEverythingKept = async (): Promise<void> => {
  await expectImagesKept();
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
    VEHICLE_DETECTION: count(({ eventType }) => eventType === 'VEHICLE_DETECTION'),
  });
};

describe('the service', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await start();
    url = service.url;
    ({ token } = await call('auth.login', ADMIN));
    ({ apiKey } = await call('sensors.create', { name: 'Mast 7', deviceId: 'mast-7', type: 'RADAR' }));
  });

  it.each(['the service', 'the service and its database'])(
    'loses nothing that it acknowledged when %s is killed under load, and recovers by itself',
    async (victim) => {
      const [before, seen] = [stored.size, hashes.size];
      const gone = loadUntilGone();
      await eventually(
        async () => Math.min((stored.size - before) / ENOUGH.events, (hashes.size - seen) / ENOUGH.images),
        (share) => share > 1,
      );
      service.process.kill('SIGKILL');
      if (victim !== 'the service') process.kill(postmasterPid(), 'SIGKILL');
      await Promise.all([gone, service.ended]);

      service = await start();
      url = service.url;
      // The token was issued before, and is still valid.
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

  it('does not let a second one use its data folder', async () => {
    const second = spawnHere();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/^Gantry cannot start\. .*data folder/s);
    expect(second.output()).toContain(dataDir);
    expect(second.output()).not.toMatch(/\n\s+at /);
    stored.add((await call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).eventId);
    await expectEverythingKept();
  });

  it('ends when asked to, answers accepted requests, and leaves no process', async () => {
    const database = postmasterPid();
    const before = stored.size;
    const gone = loadUntilGone();
    await eventually(
      async () => stored.size,
      (size) => size > before + 200,
    );
    expect(await service.stop()).toBe(0);
    expect(isAlive(database)).toBe(false);
    await gone;
    expect(service.output()).not.toMatch(/"level":(50|60)/);
  });

  it('starts again with all of its data', async () => {
    service = await start();
    url = service.url;
    await expectEverythingKept();
    expect(await service.stop()).toBe(0);
  });

  it('does not outlive npm, which started it, even when npm is killed', async () => {
    const npm = spawnHere([
      '-e',
      "require('node:child_process').spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' })",
      MAIN,
    ]);
    await untilItServes(npm);
    const database = postmasterPid();
    npm.process.kill('SIGKILL');
    await eventually(
      async () => isAlive(database),
      (alive) => !alive,
    );
    service = await start();
    expect(await service.stop()).toBe(0);
  });
});

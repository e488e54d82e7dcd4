import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../src/platform/config.ts';
import { type App, createApp } from '../src/programs/app.ts';
import { ADMIN, Caller, createTestDatabase, eventually } from './harness.ts';

// How a process learns of the changes of others when its listener connection, or a single notification, is lost
// silently.

/** A TCP proxy in front of the database that can silently drop the listener's connection. */
const startProxy = async (target: URL) => {
  const listeners: { lost: boolean }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const link = { lost: false };
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (from === near && bytes.includes('gantry listener')) listeners.push(link);
        if (!link.lost) to.write(bytes);
      });
      from.on('close', () => {
        sockets.delete(from);
        if (!link.lost) to.destroy();
      });
      from.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    /** How many listener connections have been made so far. */
    listeners: () => listeners.length,
    loseListeners: () => {
      for (const link of listeners) link.lost = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let folder: string;
const apps: App[] = [];
let near: Caller;
let far: Caller;
let token: string;

const startOn = async (url: string, name: string): Promise<Caller> => {
  const config = readConfig({
    PORT: '0',
    DATA_DIR: join(folder, name),
    DATABASE_URL: url,
    ALLOW_UNSAFE_DATABASE: 'true',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    JWT_SECRET: 'a secret that both of the processes know',
  });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const app = await createApp(config, log, null, {
    timings: { refreshCachesMs: 1_000, probeListenerMs: 300, listenerAnswerMs: 2_000 },
  });
  apps.push(app);
  return new Caller(await app.listen());
};

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'gantry-listener-'));
  proxy = await startProxy(new URL(database.url));
  near = await startOn(database.url, 'near');
  far = await startOn(proxy.url, 'far');
  token = await near.tokenFor('ADMIN');
});

afterAll(async () => {
  for (const app of apps) await app[Symbol.asyncDispose]();
  proxy.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('a process whose listener connection is silently lost', () => {
  it('reconnects, and reads the changes made meanwhile', async () => {
    const { id, apiKey } = await near.ok(
      'sensors.create',
      { name: 'Old name', deviceId: 'one', type: 'CAMERA' },
      { token },
    );
    const nameAtFar = async () => {
      const { eventId } = await far.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
      return (await near.ok('events.getById', { id: eventId }, { token })).sensorName;
    };
    expect(await nameAtFar()).toBe('Old name');
    expect(proxy.listeners()).toBe(1);
    proxy.loseListeners();
    await near.ok('sensors.update', { id, name: 'New name' }, { token });
    await eventually(
      async () => proxy.listeners(),
      (count) => count === 2,
      40_000,
    );
    await eventually(nameAtFar, (name) => name === 'New name');
  });
});

describe('a change without an announcement', () => {
  it('applies in every process after the interval at which caches are refreshed', async () => {
    const { apiKey } = await near.ok(
      'sensors.create',
      { name: 'Mast', deviceId: 'two', type: 'CAMERA' },
      { token },
    );
    const { pool } = (apps[0] as App).context;
    await pool.query(
      `INSERT INTO watchlist_entries (pattern, reason, priority, fuzzy, created_by)
       SELECT 'LOST 1', 'Stolen', 4, false, id FROM users WHERE email = $1`,
      [ADMIN.email],
    );
    await pool.query(`UPDATE settings SET timezone = 'Asia/Tokyo'`);
    const report = async () => {
      const event = { apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'LOST 1' };
      const { eventId } = await far.ok('events.ingest', { ...event, timestamp: '2026-01-31T12:00:00' });
      return (await near.ok('events.getById', { id: eventId }, { token })).timestamp;
    };
    await eventually(report, (timestamp) => timestamp === '2026-01-31T03:00:00.000Z', 100_000);
    await eventually(
      async () => {
        await report();
        return (await near.ok('watchlist.getAlerts', {}, { token })).total;
      },
      (total) => total > 0,
    );
  });
});

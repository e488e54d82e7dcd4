import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/platform/config.ts';
import { createApp } from '../../src/programs/app.ts';
import { GANTRY } from '../build-programs.ts';
import { copyDataFolder } from '../data-folders.ts';
import { Caller, createTestDatabase, eventually } from '../harness.ts';
import { suiteLog } from '../leaks.ts';
import { dataUrl, png } from '../sample-images.ts';
import { isLong } from '../test-length.ts';
import { runGantry } from './gantry-command.ts';
import { spawnService, untilItServes } from './service-process.ts';

// A backup of a service with two workers and images in S3, restored by a command that is killed again and again into
// an embedded installation with images in a folder, which is then moved to another server.

const EVENTS = 3_000;
const IMAGES = 60;
const UNSAFE = { ALLOW_UNSAFE_DATABASE: 'true' };

let folder: string;
let home: string;
let store: S3rver;
let databases: Awaited<ReturnType<typeof createTestDatabase>>[];
let source: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-elsewhere-'));
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  home = join(folder, 'home');
  await copyDataFolder(inject('dataFolderTemplate'), home);
  databases = [await createTestDatabase(), await createTestDatabase('template1')];
  store = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'pictures', configs: [] }],
  });
  const { port }: AddressInfo = await store.run();
  source = {
    ...UNSAFE,
    DATABASE_URL: databases[0]?.url ?? '',
    DATA_DIR: join(folder, 'source'),
    WORKERS: '2',
    BACKUP_DIR: join(folder, 'backups'),
    BACKUP_SCHEDULE: 'manual',
    S3_BUCKET: 'pictures',
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_REGION: 'us-east-1',
    S3_ACCESS_KEY_ID: 'S3RVER',
    S3_SECRET_ACCESS_KEY: 'S3RVER',
    EVENT_RATE_FACTOR: '1000',
  };
});
afterAll(async () => {
  await store.close();
  for (const database of databases) await database.drop();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const embedded = () => ({ DATA_DIR: home });
const moved = () => ({ ...UNSAFE, DATA_DIR: home, DATABASE_URL: databases[1]?.url ?? '' });
const imageOf = (event: number): Buffer => png({ shade: event });

/** All events of an installation, as its command exports them. */
const eventsOf = async (settings: Readonly<Record<string, string>>, name: string): Promise<string[]> => {
  const exported = await runGantry(folder, settings, ['events', 'export', name]);
  expect(exported).toMatchObject({ code: 0 });
  return (await readFile(join(folder, name), 'utf8')).trim().split('\n');
};

const differencesIn = async (settings: Readonly<Record<string, string>>): Promise<unknown> => {
  const { code, out, err } = await runGantry(folder, settings, ['db', 'check', '--json']);
  return code === 0 ? 'none' : out + err;
};

/** Runs `gantry restore` in a process group of its own and kills the group once it has printed a step. */
const killRestoreAt = async (step: string): Promise<string> => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [GANTRY, 'restore', source.BACKUP_DIR ?? ''], {
    cwd: folder,
    env: { PATH, HOME, ...embedded() },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = once(child, 'exit');
  let printed = '';
  child.stderr.on('data', (text) => (printed += text));
  child.stdout.on('data', (text) => {
    printed += text;
    if (printed.includes(step)) process.kill(-(child.pid ?? 0), 'SIGKILL');
  });
  const how = await ended;
  expect(how, printed).toEqual([null, 'SIGKILL']);
  return printed;
};

describe.runIf(isLong)('a backup with two workers and images in S3', () => {
  it('is made while events arrive', async () => {
    const service = await untilItServes(spawnService(folder, source));
    const token = await service.tokenFor('ADMIN');
    const sensor = { name: 'Mast 7', deviceId: 'mast-7', type: 'CAMERA' };
    const { apiKey } = await service.ok('sensors.create', sensor, { token });
    const eventOf = (n: number) => ({
      eventType: n % 50 === 0 ? 'INCIDENT' : 'VEHICLE_DETECTION',
      timestamp: new Date(Date.UTC(2026, 0, 1) + n * 61_000).toISOString(),
      idempotencyKey: String(n),
      licensePlateNumber: `B ${n}`,
      ...(n < IMAGES && { images: [dataUrl(imageOf(n), 'image/png')] }),
    });
    const send = (from: number) =>
      service.ok('events.ingestBatch', {
        apiKey,
        events: Array.from({ length: 100 }, (_, n) => eventOf(from + n)),
      });
    for (let n = 0; n < EVENTS; n += 100) await send(n);
    const { id } = await service.ok('backups.create', undefined, { token });
    for (let n = EVENTS; n < EVENTS + 300; n += 100) await send(n);
    const made = await eventually(
      async () => (await service.ok('backups.getAll', {}, { token })).backups[0],
      ({ status }) => status !== 'RUNNING',
    );
    expect(made).toMatchObject({ id, status: 'COMPLETED', pictures: IMAGES, lackingPictures: 0 });
    expect(made.events).toBeGreaterThanOrEqual(EVENTS);
    expect(await service.stop()).toBe(0);
    expect(service.output()).not.toMatch(/"level":(50|60)/);
  });

  it('is restored completely by the command after it was killed at each step', async () => {
    for (const step of ['the images', 'the schema', 'the tables']) {
      expect(await killRestoreAt(`  ${step}`)).toContain(step);
    }
    const restored = await runGantry(folder, embedded(), ['restore', source.BACKUP_DIR ?? '', '--json']);
    expect(restored).toMatchObject({ code: 0, err: '' });
    const { events, pictures } = JSON.parse(restored.out);
    expect(pictures).toBe(IMAGES);
    expect(await differencesIn(embedded())).toBe('none');
    const there = await eventsOf(embedded(), 'restored.jsonl');
    expect(there).toHaveLength(events);
    const known = new Set(await eventsOf(source, 'source.jsonl'));
    expect(known.size).toBe(EVENTS + 300);
    expect(there.filter((line) => !known.has(line))).toEqual([]);
    const again = await runGantry(folder, embedded(), ['restore', source.BACKUP_DIR ?? '']);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('The database is not empty') });
  });

  it('is moved completely from the embedded database to a server by the command', async () => {
    const target = moved().DATABASE_URL;
    const result = await runGantry(folder, { ...UNSAFE, ...embedded() }, ['move-to', target]);
    expect(result).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Now set DATABASE_URL') });
    const before = await eventsOf(embedded(), 'before.jsonl');
    expect(await eventsOf(moved(), 'after.jsonl')).toEqual(before);
    expect(await differencesIn(moved())).toBe('none');

    await using app = await createApp(readConfig({ PORT: '0', ...moved() }), suiteLog(), null);
    const caller = new Caller(await app.listen());
    const token = await caller.tokenFor('ADMIN');
    const { id } = before.map((line) => JSON.parse(line)).find(({ images }) => images?.length > 0);
    const event = await caller.ok('events.getById', { id }, { token });
    const image = await fetch(`${caller.url}${event.images[0]}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(Buffer.from(await image.arrayBuffer())).toEqual(
      imageOf(Number(event.licensePlateNumber.slice(2))),
    );
    const again = await runGantry(folder, { ...UNSAFE, ...embedded() }, ['move-to', target]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('Not moved.') });
  });
});

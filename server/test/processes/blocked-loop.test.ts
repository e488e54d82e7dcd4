import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '@gantry/embedded-postgres/processes';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { copyDataFolder } from '../data-folders.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { isLong } from '../test-length.ts';
import {
  MAIN,
  type ServiceProcess,
  type StartedProcess,
  spawnService,
  untilItServes,
} from './service-process.ts';

// Services whose event loop is blocked by SIGUSR2, as by a regular expression that never ends.

// It waits in its loop, so that it takes no processor time from others.
const BLOCKING = `
  const never = new Int32Array(new SharedArrayBuffer(4));
  process.on('SIGUSR2', function blockTheEventLoop() { for (;;) Atomics.wait(never, 0, 0, 20); })`;
const PROGRAM = ['--import', `data:text/javascript,${encodeURIComponent(BLOCKING)}`, MAIN];

/** A blocked process ends after some 20 s, on a busy machine later. */
const ENDS_MS = 90_000;
const TEST_MS = 3 * ENDS_MS;
/** Longer than a loop may be blocked. */
const TOO_LONG_MS = 24_000;

const scratch = mkdtempSync(join(tmpdir(), 'gantry-blocked-'));
// If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
chmodSync(scratch, 0o711);
const database = await createTestDatabase();
const started: StartedProcess[] = [];

const start = (settings: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
  const service = spawnService(scratch, { LOG_LEVEL: 'info', ...settings }, PROGRAM);
  started.push(service);
  return untilItServes(service);
};

afterAll(async () => {
  for (const { process } of started) process.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await database.drop();
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const freePort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
};

interface LogLine {
  readonly msg: string;
  readonly executing?: readonly string[];
  readonly worker?: number;
  readonly process?: number;
  readonly reason?: string;
}
const said = ({ output }: StartedProcess, message: string): LogLine[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ msg }) => msg.startsWith(message));

const untilSaid = (service: StartedProcess, message: string, count = 1): Promise<LogLine[]> =>
  eventually(
    async () => said(service, message),
    (lines) => lines.length >= count,
    ENDS_MS,
  );

const ingest = async (service: ServiceProcess, apiKey: string): Promise<string> =>
  (await service.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).eventId;

// Side by side, because each of them waits for a blocked process most of the time.
describe.concurrent('a service whose event loop is blocked', { timeout: TEST_MS }, () => {
  it('ends by itself although it cannot hear SIGTERM, stops its database, and keeps what it acknowledged', async () => {
    const DATA_DIR = join(scratch, randomUUID());
    await copyDataFolder(inject('dataFolderTemplate'), DATA_DIR);
    const service = await start({ DATA_DIR });
    const postmaster = Number(
      readFileSync(join(DATA_DIR, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
    );
    const eventId = await ingest(service, await service.registerSensor());
    service.process.kill('SIGUSR2');
    await sleep(1_000);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe('SIGKILL');
    await eventually(
      () => isAlive(postmaster),
      (alive) => !alive,
    );
    expect(said(service, 'stopping')).toEqual([]);
    const [line] = said(service, 'the event loop is blocked');
    expect(line?.executing?.[0]).toContain('blockTheEventLoop');

    const next = await start({ DATA_DIR });
    expect(next.output()).not.toContain('left running by an earlier process');
    await next.ok('events.getById', { id: eventId }, { token: await next.tokenFor('ADMIN') });
    expect(await next.stop()).toBe(0);
  });

  it.runIf(isLong)('is no longer reported to systemd as alive', async () => {
    const folder = join(scratch, randomUUID());
    mkdirSync(folder);
    const told = join(folder, 'told');
    const notify = join(folder, 'systemd-notify');
    writeFileSync(notify, `#!/bin/sh\necho "$* $NOTIFY_SOCKET" >> ${told}\n`);
    chmodSync(notify, 0o755);
    const service = await start({
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      NOTIFY_SOCKET: '/run/systemd/notify',
      WATCHDOG_USEC: '3000000',
    });
    writeFileSync(told, '');
    const count = async (): Promise<number> => readFileSync(told, 'utf8').split('\n').length - 1;
    await eventually(count, (beats) => beats >= 3);
    expect(new Set(readFileSync(told, 'utf8').trim().split('\n'))).toEqual(
      new Set(['WATCHDOG=1 /run/systemd/notify']),
    );
    service.process.kill('SIGUSR2');
    await sleep(3_000);
    const before = await count();
    expect(await service.ended).toBe('SIGKILL');
    expect(await count()).toBe(before);
  });

  it.runIf(isLong)('goes on when it was only suspended for longer than a loop may be blocked', async () => {
    const service = await start({ DATABASE_URL: database.url, DATA_DIR: join(scratch, randomUUID()) });
    service.process.kill('SIGSTOP');
    await sleep(TOO_LONG_MS);
    service.process.kill('SIGCONT');
    await service.ok('system.health');
    await sleep(2_000);
    await service.ok('system.health');
    expect(await service.stop()).toBe(0);
  });
});

describe.concurrent('a service of several workers', { timeout: TEST_MS }, () => {
  it('replaces a worker that is blocked, and one that is stopped', async () => {
    // If both end before one is replaced, nobody holds the port meanwhile: a random one would be another one then.
    const PORT = await freePort();
    const service = await start({ DATABASE_URL: database.url, DATA_DIR: scratch, WORKERS: '2', PORT });
    const token = await service.tokenFor('ADMIN');
    const apiKey = await service.registerSensor();
    const acknowledged = [await ingest(service, apiKey)];
    const workers = said(service, 'a worker serves').map(({ process: pid }) => pid ?? 0);
    const [blocked = 0, stopped = 0] = workers;
    process.kill(blocked, 'SIGUSR2');
    process.kill(stopped, 'SIGSTOP');
    const replaced = await untilSaid(service, 'a worker ended and is being replaced', 2);
    expect(replaced.map((line) => line.process).sort()).toEqual([blocked, stopped].sort());
    expect(replaced.map(({ reason }) => reason)).toEqual(['SIGKILL', 'SIGKILL']);
    const killed = said(service, 'a worker does not turn its event loop').map((line) => line.process);
    expect(killed).toContain(stopped);
    await untilSaid(service, 'a worker serves', workers.length + 2);
    acknowledged.push(await ingest(service, apiKey));
    for (const id of acknowledged) await service.ok('events.getById', { id }, { token });
    expect(await service.stop()).toBe(0);
  });

  it.runIf(isLong)('ends with its workers although the first process cannot hear SIGTERM', async () => {
    const service = await start({ DATABASE_URL: database.url, DATA_DIR: join(scratch, 'w'), WORKERS: '2' });
    const workers = said(service, 'a worker serves').map(({ process: pid }) => pid ?? 0);
    process.kill(workers[0] ?? 0, 'SIGUSR2');
    service.process.kill('SIGUSR2');
    await sleep(500);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe('SIGKILL');
    await eventually(
      async () => (await Promise.all(workers.map(isAlive))).some(Boolean),
      (alive) => !alive,
      ENDS_MS,
    );
  });
});

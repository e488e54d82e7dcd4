import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { dataFolderAt } from '../../src/platform/database/open.ts';
import { copyDataFolder } from '../data-folders.ts';
import { ADMIN, eventually } from '../harness.ts';
import { startedProcesses } from '../started-processes.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// A primary with a synchronous standby, both named in DATABASE_URL: what was acknowledged is kept when the primary is
// killed and the standby promoted, and the service goes on by itself.

interface PostgresServer {
  readonly port: number;
  /** Kills it as a power failure would. */
  kill(): Promise<void>;
}

const WAIT_MS = 90_000;

let folder: string;
let first: PostgresServer;
let second: PostgresServer;
let service: ServiceProcess;
let start: () => Promise<ServiceProcess>;
let ask: (port: number, statement: string) => Promise<Record<string, unknown>[]>;
let startFirst: (settings: Readonly<Record<string, string>>) => Promise<PostgresServer>;

/** Starts a server with the command of another one, on a data folder, as the owner of that folder. */
const startServer = async (
  command: readonly string[],
  cluster: string,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> => {
  const { uid, gid } = await stat(cluster);
  const [program = '', ...flags] = command;
  const args = flags.map((each, at) => (flags[at - 1] === '-D' ? cluster : each));
  const more = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(program, [...args, ...more], { uid, gid, stdio: 'ignore' });
  startedProcesses.add(server);
  const ended = once(server, 'exit').then(() => startedProcesses.delete(server));
  return {
    port: Number(settings.port),
    async kill() {
      server.kill('SIGKILL');
      await ended;
    },
  };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-failover-'));
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  await copyDataFolder(inject('dataFolderTemplate'), one);
  // Only to learn how the server of this machine is started, and its password.
  const embedded = await startEmbeddedDatabase({ folder: dataFolderAt(one), log: () => undefined });
  const pid = (await readFile(join(one, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0];
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
  const url = new URL(embedded.connectionString);
  await embedded[Symbol.asyncDispose]();

  const ports = [Number(url.port), Number(url.port) + 1] as const;
  ask = async (port, statement) => {
    const client = new pg.Client({ connectionString: url.href.replace(`:${url.port}`, `:${port}`) });
    client.on('error', () => undefined);
    await client.connect();
    return client
      .query(statement)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };
  startFirst = (settings) =>
    startServer(command, join(one, 'postgres'), { ...settings, port: String(ports[0]) });
  const answers = (port: number) =>
    eventually(
      () => ask(port, 'SELECT').then(Boolean, () => false),
      (isThere) => isThere,
      WAIT_MS,
    );

  first = await startFirst({});
  await answers(ports[0]);
  const copying = new pg.Client({ connectionString: url.href });
  await copying.connect();
  await copying.query("SELECT pg_backup_start('standby', true)");
  await promisify(execFile)('cp', ['-a', one, two]);
  const { rows } = await copying.query('SELECT labelfile FROM pg_backup_stop()');
  await copying.end();
  const cluster = join(two, 'postgres');
  await rm(join(cluster, 'postmaster.pid'));
  const { uid, gid } = await stat(cluster);
  for (const [name, text] of [
    ['backup_label', rows[0].labelfile],
    ['standby.signal', ''],
  ]) {
    await writeFile(join(cluster, name), text);
    await chown(join(cluster, name), uid, gid);
  }
  second = await startServer(command, cluster, {
    port: String(ports[1]),
    primary_conninfo: `host=127.0.0.1 port=${ports[0]} user=${url.username} password=${url.password} application_name=standby`,
  });
  await answers(ports[1]);
  await ask(ports[0], "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await ask(ports[0], 'SELECT pg_reload_conf()');
  await eventually(
    () => ask(ports[0], "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'"),
    (found) => found.length === 1,
    WAIT_MS,
  );

  const address = url.href.replace(`127.0.0.1:${url.port}`, ports.map((port) => `127.0.0.1:${port}`).join());
  const own = await mkdtemp(join(folder, 'service-'));
  start = () =>
    untilItServes(
      spawnService(own, { DATABASE_URL: address, ADMIN_EMAIL: ADMIN.email, ALLOW_UNSAFE_DATABASE: '' }),
    );
  service = await start();
}, 300_000);

afterAll(async () => {
  await service?.stop();
  await Promise.all([first?.kill(), second?.kill()]);
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

describe('two servers in DATABASE_URL', () => {
  const acknowledged: string[] = [];
  const stored = async (port: number): Promise<string[]> =>
    (await ask(port, 'SELECT id::text AS id FROM events')).map(({ id }) => String(id));

  it('keep what was acknowledged when the primary is killed and the standby promoted', async () => {
    const apiKey = await service.registerSensor();
    let isOver = false;
    let refused = 0;
    const device = async (lane: number): Promise<void> => {
      while (!isOver) {
        await service
          .ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', lane: String(lane) })
          .then(
            ({ eventId }) => acknowledged.push(eventId),
            () => refused++,
          );
      }
    };
    const devices = Array.from({ length: 8 }, (_, lane) => device(lane));
    const passed = async (count: number) => {
      await eventually(
        async () => acknowledged.length,
        (length) => length >= count,
        WAIT_MS,
      );
    };
    await passed(200);
    await first.kill();
    await eventually(
      async () => refused,
      (count) => count > 0,
      WAIT_MS,
    );
    const before = acknowledged.length;
    await ask(second.port, 'SELECT pg_promote()');
    await passed(before + 200);
    isOver = true;
    await Promise.all(devices);
    expect(await stored(second.port)).toEqual(expect.arrayContaining(acknowledged));
  }, 300_000);

  it('use the promoted one although the other one is back and accepts writes', async () => {
    // As if somebody had started it by mistake. It waits for no standby.
    first = await startFirst({ synchronous_standby_names: '' });
    await eventually(
      () => ask(first.port, 'SELECT').then(Boolean, () => false),
      (isThere) => isThere,
      WAIT_MS,
    );
    expect(await ask(first.port, 'SELECT pg_is_in_recovery() AS standby')).toEqual([{ standby: false }]);
    await service.stop();
    service = await start();
    const apiKey = await service.registerSensor();
    const { eventId } = await service.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    expect(await stored(second.port)).toContain(eventId);
    expect(await stored(first.port)).not.toContain(eventId);
  }, 300_000);
});

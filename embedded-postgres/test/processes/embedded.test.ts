import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { getPriority, tmpdir, totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { programPath } from '../../../server/test/build-programs.ts';
import { PATIENCE_MS } from '../../../server/test/harness.ts';
import { isLong } from '../../../server/test/test-length.ts';
import { findDistribution, prepareBinaries } from '../../src/binaries.ts';
import { memorySettings } from '../../src/cluster.ts';
import { DataFolder } from '../../src/data-folder.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/embedded.ts';
import { findDatabaseHome } from '../../src/home.ts';
import { isServerOf, readLock } from '../../src/lock.ts';
import { isAlive } from '../../src/processes.ts';
import { lowerPriority } from '../../src/running.ts';
import { WEATHER } from '../application.ts';

const isRoot = process.getuid?.() === 0;

let template: string;
let scratch: string;
let dataDir: string;
let lines: string[];
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'weather-template-'));
  if (isRoot) await chmod(template, 0o755);
  const folder = new DataFolder(template, WEATHER);
  await stop(await startEmbeddedDatabase({ folder, log: () => undefined }));
});

afterAll(() => rm(template, { recursive: true, force: true }));

beforeEach(async () => {
  // Blanks and quotes in the path are part of the test.
  scratch = await realpath(await mkdtemp(join(tmpdir(), "a city's database ")));
  if (isRoot) await chmod(scratch, 0o755);
  dataDir = join(scratch, 'data');
  execFileSync('cp', ['-a', template, dataDir]);
  lines = [];
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await killServerOf(join(dataDir, 'postgres'));
  await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

async function start(settings: { connections?: number } = {}): Promise<EmbeddedDatabase> {
  const folder = new DataFolder(dataDir, WEATHER);
  const database = await startEmbeddedDatabase({ folder, log: (line) => lines.push(line), ...settings });
  cleanups.push(() => database[Symbol.asyncDispose]());
  return database;
}

async function stop(database: EmbeddedDatabase): Promise<void> {
  await database[Symbol.asyncDispose]();
}

/** Runs the database in a process of its own, which can be killed. */
async function startService(): Promise<{ service: ChildProcess; connectionString: string }> {
  const service = spawn(process.execPath, [programPath('embedded-service'), dataDir], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  cleanups.push(() => service.kill('SIGKILL'));
  const [text] = await once(service.stdout, 'data');
  return { service, connectionString: String(text) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function serverPid(folder = join(dataDir, 'postgres')): Promise<number> {
  return Number((await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

async function killServerOf(cluster: string): Promise<void> {
  const lock = await readLock(cluster);
  if (lock && (await isServerOf(cluster, lock.pid))) process.kill(lock.pid, 'SIGKILL');
}

/** Runs one statement on a connection of its own and returns the values of the first row. */
async function ask(connectionString: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return rows[0] ?? [];
  } finally {
    // Not awaited: on a lost connection it may never settle.
    void client.end();
  }
}

/**
 * The priorities of three connections, and those of their sessions where Linux groups processes by session: of an
 * ordinary connection, a lowered one, and one lowered for the server of another folder.
 */
async function priorities(connectionString: string): Promise<{ own: number[]; groups: (number | null)[] }> {
  const pools = [null, dataDir, scratch].map((folder) => {
    const pool = new Pool({ connectionString, max: 1 });
    pool.on('error', () => undefined);
    if (folder !== null) lowerPriority(pool, folder);
    return pool;
  });
  const pids = await Promise.all(
    pools.map(async (pool) => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid),
  );
  const read = async () => ({
    own: pids.map((pid) => getPriority(pid)),
    groups: await Promise.all(pids.map(groupPriority)),
  });
  await vi.waitFor(async () => {
    const { own, groups } = await read();
    expect([own[1], groups[1]]).not.toContain(0);
  }, PATIENCE_MS);
  const found = await read();
  await Promise.all(pools.map((pool) => pool.end()));
  return found;
}

/** @returns the priority of the session of a process; null where processes are not grouped by session */
async function groupPriority(pid: number): Promise<number | null> {
  const line = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => null);
  return line === null ? null : Number(line.split(' nice ')[1]);
}

async function giveToServerUser(...paths: string[]): Promise<void> {
  if (!isRoot) return;
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  execFileSync('chown', ['-R', `${uid}:${gid}`, ...paths]);
}

const portOf = (connectionString: string) => Number(new URL(connectionString).port);

describe('the embedded database', () => {
  it('is created by the first start, durable, private and UTF-8, and keeps its data over a restart', async () => {
    dataDir = join(scratch, 'new', 'data');
    const first = await start();
    expect(first.connectionString).toMatch(/^postgres:\/\/weather:[\w-]{32}@127\.0\.0\.1:\d+\/weather$/);
    const settings = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'listen_addresses',
      'server_encoding',
      'jit',
      'wal_segment_size',
    ];
    const values = settings.map((name) => `current_setting('${name}')`).join();
    expect(await ask(first.connectionString, `SELECT ${values}`)).toEqual([
      'on',
      'on',
      'on',
      '127.0.0.1',
      'UTF8',
      'off',
      '4MB',
    ]);
    expect(await ask(first.connectionString, "SELECT upper('é ж') , 'a' < 'B'")).toEqual(['É Ж', false]);
    await ask(first.connectionString, 'CREATE TABLE kept AS SELECT 42 AS n');
    await stop(first);

    const second = await start();
    expect(await ask(second.connectionString, 'SELECT n FROM kept')).toEqual([42]);
    if (process.platform === 'linux') {
      const usual = getPriority();
      const expected = [usual, Math.max(10, usual), usual];
      const { own, groups } = await priorities(second.connectionString);
      expect(own).toEqual(expected);
      if (!groups.includes(null)) expect(groups).toEqual([0, 10, 0]);
    }
    expect((await stat(join(dataDir, 'database-password'))).mode & 0o777).toBe(0o600);
  });

  it('requires the password', async () => {
    const { connectionString } = await start();
    const guess = connectionString.replace(/:[\w-]{32}@/, ':guess@');
    await expect(ask(guess, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  it('takes an eighth of the memory for pages, within limits', async () => {
    const buffers = (gigabytes: number) => memorySettings(gigabytes * 1024 ** 3);
    expect(buffers(1)).toEqual({ shared_buffers: '256MB', effective_cache_size: '1024MB' });
    expect(buffers(8)).toEqual({ shared_buffers: '1024MB', effective_cache_size: '4096MB' });
    expect(buffers(64)).toEqual({ shared_buffers: '2048MB', effective_cache_size: '32768MB' });
    const { connectionString } = await start();
    const size = "SELECT (pg_size_bytes(current_setting('shared_buffers')) / 1024 ^ 2)::int";
    const [megabytes] = await ask(connectionString, size);
    const limit = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    expect(`${megabytes}MB`).toBe(memorySettings(limit).shared_buffers);
  });

  it('serves as many connections as several processes may open, and some more for administrators', async () => {
    const database = await start({ connections: 200 });
    expect(await ask(database.connectionString, 'SHOW max_connections')).toEqual(['220']);
    await stop(database);
    expect(await ask((await start()).connectionString, 'SHOW max_connections')).toEqual(['100']);
  });

  it('ends when it is disposed of, which can be repeated', async () => {
    const database = await start();
    const pid = await serverPid();
    await Promise.all([stop(database), stop(database)]);
    expect(await isAlive(pid)).toBe(false);
    await sleep(700);
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  it('runs in a session of its own, so that Ctrl-C for the service does not reach it', async () => {
    await start();
    const [session, group] = execFileSync('ps', ['-o', 'sess=,pgid=', '-p', String(await serverPid())])
      .toString()
      .trim()
      .split(/\s+/)
      .map(Number);
    expect([session, group]).toEqual([await serverPid(), await serverPid()]);
  });
});

describe('after a violent end', () => {
  it('the server of a killed service is taken over, with its port and its sessions, and stopped at the end', async () => {
    const { service, connectionString } = await startService();
    const pid = await serverPid();
    const pool = new Pool({ connectionString });
    cleanups.push(() => pool.end());
    const before = (await pool.query('SELECT pg_backend_pid() AS pid')).rows;
    await kill(service);

    const database = await start();
    expect(database.connectionString).toBe(connectionString);
    expect(await serverPid()).toBe(pid);
    expect((await pool.query('SELECT pg_backend_pid() AS pid')).rows).toEqual(before);
    pool.on('error', () => undefined);
    await stop(database);
    expect(await isAlive(pid)).toBe(false);
  });

  it.each(['a server of its own', 'a server it took over'])('the service restarts %s', async (kind) => {
    if (kind.includes('took over')) await kill((await startService()).service);
    const database = await start();
    const pool = new Pool({ connectionString: database.connectionString });
    pool.on('error', () => undefined);
    cleanups.push(() => pool.end());
    await pool.query('CREATE TABLE kept AS SELECT 42 AS n');
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');

    await vi.waitFor(
      async () => expect((await pool.query('SELECT n FROM kept')).rows).toEqual([{ n: 42 }]),
      PATIENCE_MS,
    );
    await expect.poll(() => lines.join('\n')).toContain('PostgreSQL is back on port');
    expect(await serverPid()).not.toBe(pid);
  });

  it('the service and its server start again, although a session of the old server is still busy', async () => {
    const { service, connectionString } = await startService();
    await ask(connectionString, 'CREATE TABLE kept AS SELECT 42 AS n');
    const busy = ask(
      connectionString,
      'SELECT count(*) FROM (SELECT generate_series(1, 10_000_000)) AS numbers',
    );
    const outcome = busy.then(
      () => 'done',
      () => 'cut off',
    );
    await sleep(300);
    const server = await serverPid();
    await kill(service);
    process.kill(server, 'SIGKILL');

    const database = await start();
    expect(await ask(database.connectionString, 'SELECT n FROM kept')).toEqual([42]);
    expect(await outcome).toMatch(/done|cut off/);
  });

  it('the service keeps trying while another program uses the port, and continues once the port is free', async () => {
    const database = await start();
    process.kill(await serverPid(), 'SIGKILL');
    const squatter = createServer();
    await vi.waitFor(
      async () => {
        squatter.listen(portOf(database.connectionString), '127.0.0.1');
        await once(squatter, 'listening');
      },
      { interval: 5, timeout: PATIENCE_MS },
    );
    await expect.poll(() => lines.join('\n')).toMatch(/did not come back.*Another program/);
    await new Promise((resolve) => squatter.close(resolve));
    await vi.waitFor(
      async () => expect(await ask(database.connectionString, 'SELECT 1')).toEqual([1]),
      PATIENCE_MS,
    );
  });

  it.runIf(process.platform === 'linux')(
    'a disk that does not accept a file makes the server recover',
    async () => {
      await stop(await start());
      const base = join(dataDir, 'postgres', 'base', '1');
      // The system refuses to write this file out (EINVAL).
      await symlink('/proc/self/oom_score', join(base, '999999'));
      const database = await start();
      await ask(database.connectionString, 'CREATE TABLE kept AS SELECT 42 AS number');
      const first = await serverPid();
      const isBack = () => {
        expect(lines.join('\n')).toContain('999999 could not be written to the disk');
        expect(lines.at(-1)).toContain('PostgreSQL is back');
      };
      await vi.waitFor(isBack, PATIENCE_MS);
      expect(await serverPid()).not.toBe(first);
      expect(await ask(database.connectionString, 'SELECT number FROM kept')).toEqual([42]);
    },
  );

  it('disposal ends the attempts to restart the server', async () => {
    const database = await start();
    process.kill(await serverPid(), 'SIGKILL');
    await expect.poll(() => lines.join('\n'), { interval: 5 }).toContain('PostgreSQL died');
    await stop(database);
    await sleep(1_000);
    const left = await readLock(join(dataDir, 'postgres'));
    expect(left && (await isAlive(left.pid))).toBeFalsy();
  });

  it('an interrupted initialisation does not prevent the next start', async () => {
    dataDir = join(scratch, 'new');
    const service = spawn(process.execPath, [programPath('embedded-service'), dataDir], { stdio: 'ignore' });
    const isHalfDone = async () => {
      const draft = (await readdir(dataDir)).find((name) => name.startsWith('postgres.new-'));
      expect(await readdir(join(dataDir, draft ?? '', 'cluster', 'base'))).not.toEqual([]);
    };
    await vi.waitFor(isHalfDone, { timeout: PATIENCE_MS, interval: 5 });
    await kill(service);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

    const database = await start();
    expect(await ask(database.connectionString, 'SELECT 1')).toEqual([1]);
    expect((await readdir(dataDir)).sort()).toEqual(['database-password', 'postgres', 'postgres-start.log']);
  });

  it('a lock with the number of another process is ignored', async () => {
    await stop(await start());
    const { uid, gid } = await stat(join(dataDir, 'postgres'));
    const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    cleanups.push(() => stranger.kill('SIGKILL'));
    const lock = join(dataDir, 'postgres', 'postmaster.pid');
    const old = [
      stranger.pid,
      join(dataDir, 'postgres'),
      1_700_000_000,
      15_432,
      '',
      '127.0.0.1',
      '',
      'ready   ',
    ];
    await writeFile(lock, `${old.join('\n')}\n`);
    await giveToServerUser(lock);

    const database = await start();
    expect(await ask(database.connectionString, 'SELECT 1')).toEqual([1]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  it.runIf(isLong)('a lock that was never filled is ignored', async () => {
    await stop(await start());
    const lock = join(dataDir, 'postgres', 'postmaster.pid');
    await writeFile(lock, '');
    await giveToServerUser(lock);
    const database = await start();
    expect(await ask(database.connectionString, 'SELECT 1')).toEqual([1]);
  });

  it.runIf(isLong)('a server left behind with other settings is replaced by one with ours', async () => {
    await stop(await start());
    const { account } = await findDatabaseHome(dataDir, WEATHER);
    const copyHome = isRoot ? WEATHER.sharedFolder : dataDir;
    const { postgres } = await prepareBinaries(await findDistribution(WEATHER), copyHome, {
      application: WEATHER,
      account,
      log: () => undefined,
    });
    const words = [
      '-D',
      join(dataDir, 'postgres'),
      '-c',
      'port=14999',
      '-c',
      'unix_socket_directories=',
      '-c',
      'fsync=off',
    ];
    const options = {
      stdio: 'ignore',
      detached: true,
      cwd: '/',
      env: { LC_ALL: 'C' },
      ...(account && { uid: account.uid, gid: account.gid }),
    } as const;
    const server = spawn(postgres, words, options);
    await vi.waitFor(async () => {
      expect(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).toContain('ready');
    }, PATIENCE_MS);

    const database = await start();
    expect(await ask(database.connectionString, "SELECT current_setting('fsync')")).toEqual(['on']);
    expect(server.exitCode).toBe(0);
  });
});

describe('an error is explained', () => {
  it('with the end of the log when PostgreSQL does not start', async () => {
    await writeFile(join(dataDir, 'postgres', 'postgresql.conf'), 'what = is = this');
    await expect(start()).rejects.toThrow(
      /ended before it was ready.*syntax error in file .*postgresql\.conf/s,
    );
  });

  it('with the file to restore when the password is missing, and the data stays', async () => {
    await rm(join(dataDir, 'database-password'));
    await expect(start()).rejects.toThrow(/database-password, which opens it, is missing. Restore that file/);
  });

  it('with the file to restore when the password is wrong, and no server stays behind', async () => {
    await writeFile(join(dataDir, 'database-password'), 'from-some-other-backup');
    await expect(start()).rejects.toThrow(/does not open the database in .* Restore the password file/);
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  it('with what to do when another version of PostgreSQL wrote the data', async () => {
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '16\n');
    await expect(start()).rejects.toThrow(
      /written by PostgreSQL 16, and this version of Weather contains 18. Convert it/,
    );
  });

  it('with a reference to the setting where there is no PostgreSQL for the machine', async () => {
    const arch = Object.getOwnPropertyDescriptor(process, 'arch') ?? {};
    Object.defineProperty(process, 'arch', { ...arch, value: 'riscv64' });
    cleanups.push(() => Object.defineProperty(process, 'arch', arch));
    await expect(start()).rejects.toThrow(
      /no embedded PostgreSQL for this machine .*-riscv64 .* Set WEATHER_SERVER/,
    );
  });
});

describe('the programs of PostgreSQL', () => {
  const self = { application: WEATHER, account: undefined, log: (line: string) => lines.push(line) };

  /** Makes a folder like that of the package, in which `postgres` only prints its library and ends. */
  async function makeDistribution() {
    const native = join(scratch, 'package', 'native');
    const files = {
      'bin/postgres': '#!/bin/sh\nexec cat "$(dirname "$0")/../lib/libpq.so.5"\n',
      'bin/initdb': '#!/bin/sh\n',
      'lib/libpq.so.5.18': 'a library',
      'lib/postgresql/plpgsql.so': 'a module',
      'share/postgresql/postgres.bki': 'a catalogue',
      'pg-symlinks.json': '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]',
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(native, name)), { recursive: true });
      await writeFile(join(native, name), text, { mode: name.startsWith('bin/') ? 0o755 : 0o644 });
    }
    return { native, build: '18.4.0' };
  }

  it('get the library links that npm did not create', async () => {
    const distribution = await makeDistribution();
    const { postgres } = await prepareBinaries(distribution, scratch, self);
    expect(postgres).toBe(join(distribution.native, 'bin', 'postgres'));
    expect(await readlink(join(distribution.native, 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18');
    expect(lines).toEqual([]);
  });

  it('that do not run are reported with a reference to the setting', async () => {
    const distribution = await makeDistribution();
    await writeFile(join(distribution.native, 'bin', 'postgres'), '#!/lib/ld-of-another-system.so\n');
    await expect(prepareBinaries(distribution, scratch, self)).rejects.toThrow(
      /no embedded PostgreSQL for this machine .*bin\/postgres does not run.* Set WEATHER_SERVER/s,
    );
  });

  it.runIf(isRoot)('are copied, once and completely, where their user cannot reach them', async () => {
    const distribution = await makeDistribution();
    await chmod(dirname(distribution.native), 0o700);
    const other = { ...self, account: { name: 'nobody', uid: 65_534, gid: 65_534 } };
    const copy = join(scratch, 'postgresql-18.4.0');

    const { postgres } = await prepareBinaries(distribution, scratch, other);
    expect(postgres).toBe(join(copy, 'bin', 'postgres'));
    expect(lines).toEqual([expect.stringContaining(`cannot be run by user nobody: using a copy in ${copy}`)]);

    const { ino } = await stat(copy);
    await prepareBinaries(distribution, scratch, other);
    expect((await stat(copy)).ino).toBe(ino);

    await rm(join(copy, 'lib', 'libpq.so.5'));
    await writeFile(join(copy, 'share', 'postgresql', 'postgres.bki'), 'a cat');
    await prepareBinaries(distribution, scratch, other);
    expect(await readFile(join(copy, 'share', 'postgresql', 'postgres.bki'), 'utf8')).toBe('a catalogue');
    expect((await readdir(scratch)).sort()).toEqual(['data', 'package', 'postgresql-18.4.0']);
  });
});

describe.runIf(isRoot)('for root', () => {
  const kept = async () => dirname(await realpath(join(dataDir, 'postgres')));

  beforeEach(async () => {
    const closed = join(scratch, 'closed');
    await mkdir(closed, { mode: 0o700 });
    dataDir = join(closed, 'data');
  });

  it('the database is created outside a data folder that its user cannot enter, and is found again', async () => {
    const first = await start();
    const home = await kept();
    cleanups.push(() => rm(home, { recursive: true, force: true }));
    expect(dirname(home)).toBe(WEATHER.sharedFolder);
    expect(basename(home)).toMatch(/^[\w-]+-closed-data-[0-9a-f]{12}$/);
    expect(
      lines.filter((line) => line.includes(WEATHER.sharedFolder) && line.includes('cannot enter')),
    ).toHaveLength(1);
    await ask(first.connectionString, 'CREATE TABLE kept AS SELECT 42 AS n');
    await stop(first);

    const second = await start();
    expect(await ask(second.connectionString, 'SELECT n FROM kept')).toEqual([42]);
    await expect(start()).rejects.toThrow(/in use by another Weather process/);
    await stop(second);

    await rm(home, { recursive: true });
    await expect(start()).rejects.toThrow(/is a link to the database, which is gone. Restore it/);
  });

  it.runIf(isLong)(
    'a database in the former shared folder is moved to the present one, with its data',
    async () => {
      const first = await start();
      const home = await kept();
      const formerFolder = WEATHER.formerSharedFolder ?? '';
      const former = join(formerFolder, basename(home));
      for (const path of [home, former]) cleanups.push(() => rm(path, { recursive: true, force: true }));
      await ask(first.connectionString, 'CREATE TABLE kept AS SELECT 42 AS n');
      await stop(first);
      // As an earlier version left it.
      await mkdir(formerFolder, { recursive: true });
      await rename(home, former);
      await rm(join(dataDir, 'postgres'));
      await symlink(join(former, 'postgres'), join(dataDir, 'postgres'));

      const second = await start();
      expect(await kept()).toBe(home);
      expect(await ask(second.connectionString, 'SELECT n FROM kept')).toEqual([42]);
      expect(lines.filter((line) => line.includes(`was moved from ${former} to ${home}`))).toHaveLength(1);
      await stop(second);

      // A move that was interrupted before the link was replaced.
      await rm(join(dataDir, 'postgres'));
      await symlink(join(former, 'postgres'), join(dataDir, 'postgres'));
      const third = await start();
      expect(await ask(third.connectionString, 'SELECT n FROM kept')).toEqual([42]);
      await stop(third);
    },
  );

  it('a database that its user can no longer reach is not replaced by an empty one', async () => {
    await chmod(dirname(dataDir), 0o755);
    await stop(await start());
    await chmod(dirname(dataDir), 0o700);
    await expect(start()).rejects.toThrow(/who can no longer get there. Allow all users to pass/);
  });
});

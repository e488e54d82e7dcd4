import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitForDatabase } from '../../src/platform/database/wait.ts';
import { welcome } from '../../src/system/welcome.ts';
import { createTestDatabase } from '../harness.ts';
import { type OwnDatabase, startOwnDatabase } from './own-database.ts';
import { spawnService, untilItServes } from './service-process.ts';

// The conditions under which the service refuses to start, and its output when it starts.

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'gantry-start-'));
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The address of the database with a setting for its connections. */
const withSetting = (setting: string, databaseUrl = database.url): string => {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c ${setting}`);
  return url.href;
};

describe('a database server that may lose committed data', () => {
  const settings = () => ({
    DATABASE_URL: withSetting('synchronous_commit=off'),
    JWT_SECRET: 'a secret of the tests that is long enough',
  });

  it('is refused with the name of the setting and what to do', async () => {
    const started = spawnService(folder, { ...settings(), ALLOW_UNSAFE_DATABASE: 'false' });
    expect(await started.ended).toBe(1);
    expect(started.output()).toMatch(
      /Gantry cannot start.*synchronous_commit.* off.*ALLOW_UNSAFE_DATABASE=true/s,
    );
  });

  it('is accepted with a warning if the settings allow it', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    await waitForDatabase(settings().DATABASE_URL, { allowUnsafe: true, log });
    expect(lines.join('')).toMatch(/synchronous_commit.*ALLOW_UNSAFE_DATABASE/);
  });
});

describe('a database with its own setting', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await startOwnDatabase();
  });
  afterAll(() => own[Symbol.asyncDispose]());

  it.each(['on', 'local', 'remote_write'])('is safe with synchronous_commit = %s', async (value) => {
    const log = pino({ level: 'silent' });
    await waitForDatabase(withSetting(`synchronous_commit=${value}`, own.url), { allowUnsafe: false, log });
  });

  it('is not safe with synchronous_commit = off', async () => {
    const log = pino({ level: 'silent' });
    const url = withSetting('synchronous_commit=off', own.url);
    await expect(waitForDatabase(url, { allowUnsafe: false, log })).rejects.toThrow(
      'The database server runs with synchronous_commit off',
    );
  });
});

describe('the generated password of the administrator', () => {
  it('is not printed unless the output is a terminal; the file with it is named', async () => {
    const service = await untilItServes(
      spawnService(folder, { DATABASE_URL: database.url, DATA_DIR: folder, ADMIN_PASSWORD: '' }),
    );
    const path = join(folder, 'initial-admin-password');
    const password = (await readFile(path, 'utf8')).trim();
    expect(await service.stop()).toBe(0);
    const welcomed = JSON.parse(service.output().split('\n')[0] ?? '');
    expect(welcomed).toMatchObject({ level: 30, url: service.url, passwordFile: path });
    expect(welcomed.msg).toMatch(/^Gantry \S+ listens on http/);
    expect(service.output()).not.toContain(password);
  });

  it('is printed on a terminal, once', () => {
    const firstAdministrator = { email: 'a@example.org', password: 'S3cret', passwordFile: '/data/password' };
    const text = welcome({
      config: { NODE_ENV: 'production' },
      service: { firstAdministrator },
      url: 'http://x',
    }).join('\n');
    expect(text).toContain('Password: S3cret (shown this once)');
    expect(text).toContain('/data/password');
  });
});

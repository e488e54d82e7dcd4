import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passwordFlaws } from '@gantry/contract/users';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFirstAdministrator } from '../src/accounts/first-administrator.ts';
import { findLogin } from '../src/accounts/login-store.ts';
import { createPasswords, type Passwords } from '../src/accounts/passwords.ts';
import { listUsers } from '../src/accounts/users-store.ts';
import { readConfig } from '../src/platform/config.ts';
import { createDatabase, createPool } from '../src/platform/database/pool.ts';
import { createTestDatabase } from './harness.ts';

const EVERYBODY = { skip: 0, take: 100, sortBy: 'createdAt', sortOrder: 'asc' } as const;

let passwords: Passwords;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ReturnType<typeof createPool>;
let folder: string;

beforeAll(async () => {
  passwords = await createPasswords();
});
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 10, () => undefined);
  folder = await mkdtemp(join(tmpdir(), 'gantry-first-'));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const start = (settings: Record<string, string> = {}) =>
  createFirstAdministrator({
    db: createDatabase(pool),
    passwords,
    config: readConfig({ DATA_DIR: folder, ...settings }),
  });
const everybody = async () => (await listUsers(createDatabase(pool), EVERYBODY)).items;
const opens = async (email: string, password: string) => {
  const found = await findLogin(createDatabase(pool), email);
  return passwords.verify(found?.passwordHash ?? null, password);
};
const passwordFile = () => join(folder, 'initial-admin-password');
const keptPassword = async () => (await readFile(passwordFile(), 'utf8')).trim();

describe('the first start without users', () => {
  it('creates the administrator of the settings, and does not print the configured password', async () => {
    const settings = { ADMIN_EMAIL: 'Boss@Example.ORG', ADMIN_PASSWORD: 'Given-Horse-1' };
    expect(await start(settings)).toEqual({ email: 'boss@example.org', password: null, passwordFile: null });
    expect(await everybody()).toMatchObject([{ email: 'boss@example.org', role: 'ADMIN', isActive: true }]);
    expect(await opens('boss@example.org', 'Given-Horse-1')).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  it('generates a good password if none is set, prints it, and stores it for its owner only', async () => {
    const first = await start();
    expect(first).toEqual({
      email: 'admin@gantry.local',
      password: await keptPassword(),
      passwordFile: passwordFile(),
    });
    expect(passwordFlaws(first?.password ?? '')).toEqual([]);
    expect(await opens('admin@gantry.local', first?.password ?? '')).toBe(true);
    expect((await stat(passwordFile())).mode & 0o777).toBe(0o600);
  });

  it('after an interrupted one uses the stored password, and does not print it again', async () => {
    await writeFile(passwordFile(), 'Kept-Horse-1234\n', { mode: 0o600 });
    expect(await start()).toEqual({
      email: 'admin@gantry.local',
      password: null,
      passwordFile: passwordFile(),
    });
    expect(await opens('admin@gantry.local', 'Kept-Horse-1234')).toBe(true);
  });

  it('that cannot store the password creates no user', async () => {
    await writeFile(passwordFile(), '');
    await expect(start()).rejects.toThrow(/initial-admin-password/);
    expect(await everybody()).toEqual([]);
  });

  it('by several processes at once creates one administrator, whose password one of them prints', async () => {
    const results = await Promise.all(Array.from({ length: 6 }, () => start()));
    const created = results.filter((result) => result !== null);
    expect(created).toHaveLength(1);
    expect(await everybody()).toHaveLength(1);
    expect(await opens('admin@gantry.local', created[0]?.password ?? '')).toBe(true);
  });

  it('by machines with folders of their own leaves a password only where the administrator was created', async () => {
    const folders = await Promise.all([1, 2, 3, 4].map((n) => mkdtemp(join(folder, `machine-${n}-`))));
    const results = await Promise.all(folders.map((DATA_DIR) => start({ DATA_DIR })));
    expect(results.filter((result) => result !== null)).toHaveLength(1);
    const kept = await Promise.all(folders.map(async (one) => (await readdir(one)).length));
    expect(kept).toEqual(results.map((result) => (result === null ? 0 : 1)));
  });
});

describe('a later start', () => {
  it('creates no user and stores no password, whatever the settings', async () => {
    await start({ ADMIN_PASSWORD: 'Given-Horse-1' });
    const before = await everybody();
    expect(await start({ ADMIN_EMAIL: 'other@example.org', ADMIN_PASSWORD: 'Other-Horse-1' })).toBeNull();
    expect(await start()).toBeNull();
    expect(await everybody()).toEqual(before);
    expect(await opens('admin@gantry.local', 'Given-Horse-1')).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });
});

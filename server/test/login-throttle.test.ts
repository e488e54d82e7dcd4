import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { subscriberOf } from '../src/accounts/throttle.ts';
import { readConfig } from '../src/platform/config.ts';
import { createApp } from '../src/programs/app.ts';
import { ADMIN, createTestDatabase, sharedGantry } from './harness.ts';

const gantry = await sharedGantry({
  config: { TRUSTED_PROXIES: '127.0.0.1' },
  overrides: { timings: { refuseLoginMs: 50 } },
});

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const attempt = async (email: string, password: string, address: string) =>
  gantry.call('auth.login', { email, password }, from(address));
const statuses = async (attempts: Promise<{ status: number }>[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(attempts)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('guesses of one password', () => {
  it('that arrive together are counted before they are checked', async () => {
    const guesses = Array.from({ length: 60 }, () => attempt(ADMIN.email, 'a guess', '192.0.2.1'));
    expect(await statuses(guesses)).toEqual({ 401: 20, 429: 40 });
    const refused = await attempt(ADMIN.email, ADMIN.password, '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await attempt(ADMIN.email, ADMIN.password, '192.0.2.2')).status).toBe(200);
  });

  it('are cleared by the correct one', async () => {
    for (let round = 0; round < 3; round++) {
      const guesses = Array.from({ length: 15 }, () => attempt(ADMIN.email, 'a guess', '192.0.2.3'));
      expect(await statuses(guesses)).toEqual({ 401: 15 });
      expect((await attempt(ADMIN.email, ADMIN.password, '192.0.2.3')).status).toBe(200);
    }
  });

  it('do not block correct ones, however many arrive together', async () => {
    const logins = Array.from({ length: 40 }, () => attempt(ADMIN.email, ADMIN.password, '192.0.2.4'));
    expect(await statuses(logins)).toEqual({ 200: 40 });
  });
});

describe('an address', () => {
  /**
   * Simulates recent failures. On a slow machine, that many real attempts would take longer than they are remembered.
   */
  const fail = (address: string, times: number) =>
    gantry.pool.query('INSERT INTO failed_logins VALUES ($1, $2, $3)', [
      `rlflx:${hash('sha256', address, 'base64url')}`,
      times,
      Date.now() + 600_000,
    ]);

  it('that has failed too often is accepted only with the correct password of an existing account', async () => {
    await fail('192.0.2.9', 200);
    await attempt(ADMIN.email, 'a guess', '192.0.2.9');
    const unknown = await attempt('nobody@example.org', 'a guess', '192.0.2.9');
    expect(unknown.status).toBe(429);
    const wrong = await attempt(ADMIN.email, 'a guess', '192.0.2.9');
    expect(wrong.status).toBe(429);
    expect(wrong.body).toEqual(unknown.body);
    for (let n = 0; n < 3; n++) {
      expect((await attempt(ADMIN.email, ADMIN.password, '192.0.2.9')).status).toBe(200);
    }
    const guesses = Array.from({ length: 25 }, () => attempt(ADMIN.email, 'a guess', '192.0.2.9'));
    expect(await statuses(guesses)).toEqual({ 429: 25 });
    expect((await attempt(ADMIN.email, ADMIN.password, '192.0.2.9')).status).toBe(429);
  });

  it('of IPv6 counts together with its network of 64 bits', async () => {
    const guesses = Array.from({ length: 30 }, (_, n) =>
      attempt(ADMIN.email, 'a guess', `2001:db8:1:2:${n}::${n}`),
    );
    expect(await statuses(guesses)).toEqual({ 401: 20, 429: 10 });
    expect((await attempt(ADMIN.email, ADMIN.password, '2001:db8:1:3::1')).status).toBe(200);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['no address', 'no address'],
  ])('%s counts as %s', (address, subscriber) => {
    expect(subscriberOf(address)).toBe(subscriber);
  });
});

describe('an address that a proxy forwards with a port', () => {
  it.each([
    ['192.0.2.30', (port: number) => `192.0.2.30:${port}`],
    ['2001:db8::30', (port: number) => `[2001:db8::30]:${port}`],
    ['2001:db8:1::30', () => '[2001:db8:1::30]'],
    ['192.0.2.31', (port: number) => `203.0.113.1:${port}, 192.0.2.31:${port}, 127.0.0.1:${port}`],
  ])('counts as %s, whatever the port', async (address, write) => {
    for (let port = 50_000; port < 50_020; port++) {
      expect((await attempt(ADMIN.email, 'a guess', write(port))).status).toBe(401);
    }
    expect((await attempt(ADMIN.email, ADMIN.password, write(50_020))).status).toBe(429);
    expect((await attempt(ADMIN.email, ADMIN.password, address)).status).toBe(429);
  });

  it('is recorded without it', async () => {
    const { body } = await attempt(ADMIN.email, ADMIN.password, '192.0.2.32:50000');
    const { token } = body.result.data.json;
    const [current] = await gantry.ok('auth.getSessions', {}, { token });
    expect(current.ipAddress).toBe('192.0.2.32');
  });
});

describe('forwarded headers from an untrusted sender', () => {
  it.each([
    ['', 1],
    ['192.0.2.0/24', 1],
    ['127.0.0.1', 0],
  ])('are logged once when TRUSTED_PROXIES is %j: %i', async (TRUSTED_PROXIES, times) => {
    const database = await createTestDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'gantry-data-'));
    const lines: string[] = [];
    const config = readConfig({
      PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      ALLOW_UNSAFE_DATABASE: 'true',
      JWT_SECRET: 'a secret of the tests that is long enough',
      ADMIN_PASSWORD: ADMIN.password,
      TRUSTED_PROXIES,
    });
    const app = await createApp(config, pino({ level: 'warn' }, { write: (line) => void lines.push(line) }));
    try {
      const url = await app.listen();
      await fetch(`${url}/trpc/system.health`);
      expect(lines.filter((line) => line.includes('TRUSTED_PROXIES'))).toEqual([]);
      for (let n = 0; n < 3; n++) {
        await fetch(`${url}/trpc/system.health`, { headers: { 'x-forwarded-for': '198.51.100.7' } });
      }
      expect(lines.filter((line) => line.includes('TRUSTED_PROXIES'))).toHaveLength(times);
    } finally {
      await app[Symbol.asyncDispose]();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

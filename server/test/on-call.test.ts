import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOTP } from 'otpauth';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog, RefusalLog } from '../src/platform/log.ts';
import { createTestDatabase, eventually, type Gantry, startGantry } from './harness.ts';
import { type RefusingNetwork, startRefusingNetwork } from './refusing-network.ts';

// What the log and the metrics tell the person on call.

/** How long the database is unavailable, in milliseconds. Longer outages show how much is logged meanwhile. */
const OUTAGE_MS = Number(process.env.OUTAGE_MS ?? 1_200);

const lines: string[] = [];
// biome-ignore lint/suspicious/noExplicitAny: a record has whatever members were logged
const records = (): any[] => lines.map((line) => JSON.parse(line));
const saying = (text: string) => records().filter(({ msg }) => msg.includes(text));

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let network: RefusingNetwork;
let gantry: Gantry;
let apiKey: string;
let token: string;
beforeAll(async () => {
  database = await createTestDatabase();
  network = await startRefusingNetwork(database.url);
  folder = await mkdtemp(join(tmpdir(), 'gantry-on-call-'));
  await writeFile(join(folder, 'ca.pem'), '');
  const url = new URL(network.url);
  // The file is read even though the connection does not use TLS.
  url.searchParams.set('sslmode', 'disable');
  url.searchParams.set('sslrootcert', join(folder, 'ca.pem'));
  gantry = await startGantry({
    log: createLog('info', { write: (line) => lines.push(line) }),
    config: { DATABASE_URL: url.href },
    overrides: { timings: { countForMetricsMs: 50 } },
  });
  apiKey = await gantry.registerSensor();
  token = await gantry.tokenFor('ADMIN');
});
afterAll(async () => {
  await gantry.stop();
  await network[Symbol.asyncDispose]();
  await database.drop();
  await rm(folder, { recursive: true });
});

const metric = async (name: string): Promise<number | undefined> => {
  const text: string = (await gantry.fetch('/metrics')).body;
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

/** Devices that report events and users that ask for them, until `stop`. */
const load = () => {
  let isOn = true;
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (isOn) {
      await work().catch(() => undefined);
      await sleep(5);
    }
  };
  const event = { apiKey, eventType: 'VEHICLE_DETECTION' };
  const callers = Array.from({ length: 12 }, (_, n) =>
    repeat(() =>
      n % 3 === 0
        ? gantry.call('events.getAll', { take: 5 }, { token })
        : gantry.call(n % 3 === 1 ? 'events.ingest' : 'sensors.heartbeat', n % 3 === 1 ? event : { apiKey }),
    ),
  );
  return async () => {
    isOn = false;
    await Promise.all(callers);
  };
};

describe('an outage of the database', () => {
  it('is two lines and a counter, whatever the load', async () => {
    const stop = load();
    await sleep(200);
    lines.length = 0;
    await network.refuse();
    await eventually(
      () => metric('gantry_database_away'),
      (value) => value === 1,
    );
    await sleep(OUTAGE_MS);
    await network.accept();
    await eventually(
      async () => saying('the database is back'),
      (found) => found.length === 1,
    );
    await stop();
    await eventually(
      () => gantry.ingest(apiKey).catch(() => null),
      (id) => id !== null,
    );
    if (process.env.OUTAGE_MS) {
      process.stdout.write(
        `${lines.length} lines, ${lines.join('').length} bytes\n${lines.join('').slice(0, 2_000)}`,
      );
    }

    const [away, back, ...others] = records();
    expect(away).toMatchObject({ level: 50, msg: expect.stringContaining('the database is away') });
    expect(away.reason).toMatch(/connect ECONNREFUSED|Connection terminated/);
    expect(back).toMatchObject({ level: 40, msg: expect.stringMatching(/is back after \d+(\.\d)? s$/) });
    expect(back.unloggedMessages).toBeGreaterThan(5);
    expect(others).toEqual([]);
    expect(await metric('gantry_database_away')).toBe(0);
    expect(await metric('gantry_database_outages_total')).toBe(1);
    expect(await metric('gantry_unlogged_messages_total')).toBe(back.unloggedMessages);
    expect(await metric('gantry_queued_events')).toBe(0);
  });

  it('is not assumed because one connection failed', async () => {
    lines.length = 0;
    await gantry.pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    // Repeated, because the listener may not be connected again yet after the outage.
    await eventually(
      async () => {
        await gantry.pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gantry listener' AND datname = current_database()",
        );
        return saying('listener connection failed');
      },
      (found) => found.length > 0,
    );
    expect(saying('the database is')).toEqual([]);
    expect(await metric('gantry_database_outages_total')).toBe(1);
  });

  it('is two lines, too, if only new connections cannot be opened, because a file of TLS is missing', async () => {
    const file = join(folder, 'ca.pem');
    const server = new pg.Client({ connectionString: database.url });
    await server.connect();
    const stop = load();
    await sleep(200);
    lines.length = 0;
    await rename(file, `${file}.away`);
    // The connection of the health check is kept.
    await server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name IN ('gantry', 'gantry devices', 'gantry questions') AND datname = current_database()",
    );
    await server.end();
    await eventually(
      () => metric('gantry_database_away'),
      (value) => value === 1,
    );
    expect((await gantry.call('events.getAll', { take: 5 }, { token })).status).toBe(503);
    await rename(`${file}.away`, file);
    await eventually(
      async () => saying('the database is back'),
      (found) => found.length === 1,
    );
    await stop();
    expect((await gantry.call('events.getAll', { take: 5 }, { token })).status).toBe(200);
    expect(records().map(({ msg }) => msg)).toEqual([
      expect.stringContaining('the database is away'),
      expect.stringContaining('the database is back'),
    ]);
    expect(records()[0].reason).toBe(`DATABASE_URL names the file ${file}, which cannot be read (ENOENT)`);
  });
});

describe('refusals in the log', () => {
  it('name the address and the user of a failed login, not what was entered', async () => {
    lines.length = 0;
    const email = 'nobody.special@example.org';
    for (let times = 0; times < 3; times++)
      await gantry.refusal('auth.login', { email, password: 'Wrong-1' });
    await gantry.refusal('auth.login', { email: 'admin@gantry.local', password: 'Wrong-1' });
    const { user } = await gantry.ok('auth.login', {
      email: 'admin@gantry.local',
      password: 'Correct-horse-1',
    });
    expect(saying('a login failed')).toMatchObject([
      { level: 30, address: '127.0.0.1', userId: null },
      { level: 30, address: '127.0.0.1', userId: user.id },
    ]);
    expect(lines.join('')).not.toContain('nobody.special');
  });

  it.each(['secondFactor.confirm', 'auth.login'])(
    'name the address and the user of a wrong code, and of the refusal after too many: %s',
    async (procedure) => {
      const password = 'Correct-horse-1';
      const email = `${procedure}@example.org`.toLowerCase();
      const { id } = await gantry.ok(
        'users.create',
        { email, password, firstName: 'On', lastName: 'Call', role: 'VIEWER' },
        { token },
      );
      const own = { token: await gantry.login(email, password) };
      const { secret } = await gantry.ok('secondFactor.start', { password }, own);
      if (procedure === 'auth.login') {
        const code = new TOTP({ secret, digits: 6, period: 30, algorithm: 'SHA1' }).generate();
        await gantry.ok('secondFactor.confirm', { code }, own);
      }
      lines.length = 0;
      for (let times = 0; times < 11; times++)
        await gantry.call(procedure, { email, password, code: 'no code' }, own);
      const logged = { level: 30, address: '127.0.0.1', userId: id };
      expect(saying('a login failed')).toMatchObject([logged]);
      expect(saying('logins were refused after too many failures')).toMatchObject([logged]);
      expect(lines.join('')).not.toContain('no code');
    },
  );

  it('name the sensor, the address and the reason of a refused call of a device', async () => {
    lines.length = 0;
    const wrong = { apiKey, eventType: 'VEHICLE_DETECTION', timestamp: 'yesterday' };
    for (let times = 0; times < 3; times++) await gantry.refusal('events.ingest', wrong);
    await gantry.refusal('events.ingest', { ...wrong, apiKey: 'f'.repeat(64) });
    await gantry.call('events.ingestBatch', { apiKey, events: [{ eventType: 'NOTHING' }] });
    const post = await gantry.fetch(`/gateway/tvt/${'a'.repeat(24)}`, { method: 'POST', body: '{}' });
    expect(post.status).toBe(404);
    expect(saying('a call of a device was refused')).toMatchObject([
      {
        level: 30,
        address: '127.0.0.1',
        sensor: 'Mast 7',
        procedure: 'events.ingest',
        code: 'BAD_REQUEST',
        reason: expect.stringContaining('timestamp'),
      },
      { sensorId: null, procedure: 'events.ingest', code: 'UNAUTHORIZED' },
      { sensor: 'Mast 7', procedure: 'events.ingestBatch', code: 'BAD_REQUEST' },
    ]);
    expect(saying('a message of a device was refused')).toMatchObject([
      { address: '127.0.0.1', sensorId: null, status: 404 },
    ]);
    expect(lines.join('')).not.toContain(apiKey);
  });

  it('are limited in rate: repetitions and kinds beyond the limit are counted', async () => {
    const written: string[] = [];
    const log = createLog('info', { write: (line) => written.push(line) });
    using refusals = new RefusalLog(log, 30);
    for (let n = 0; n < 1_000; n++) refusals.note(`kind ${n % 60}`, 'refused', () => ({ n }));
    expect(written).toHaveLength(50);
    await eventually(
      async () => written.length,
      (n) => n === 101,
    );
    expect(JSON.parse(written[50] ?? '')).toMatchObject({ n: 0, repeats: 16, msg: 'refused, repeatedly' });
    expect(JSON.parse(written[100] ?? '')).toMatchObject({ refusals: 160 });
    refusals.note('kind 1', 'refused', () => ({}));
    expect(written).toHaveLength(102);
  });
});

describe('the metrics of the installation', () => {
  it('count sensors by status and deliveries, and report the free disk space', async () => {
    expect(await metric('gantry_sensors{status="ONLINE"}')).toBeDefined();
    await eventually(
      () => metric('gantry_sensors{status="ONLINE"}'),
      (n) => n === 1,
    );
    expect(await metric('gantry_webhook_deliveries{state="dead"}')).toBe(0);
    expect(await metric('gantry_webhook_deliveries{state="pending"}')).toBe(0);
    const free = (await metric('gantry_disk_free_bytes{folder="data"}')) ?? 0;
    expect(free).toBeGreaterThan(0);
    expect(await metric('gantry_disk_size_bytes{folder="data"}')).toBeGreaterThanOrEqual(free);
  });
});

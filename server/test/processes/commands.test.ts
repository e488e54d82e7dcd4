import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkWrites } from '../../src/operations/doctor/database.ts';
import { readDirtyExpiry } from '../../src/operations/doctor/store.ts';
import { createDatabase, createPool } from '../../src/platform/database/pool.ts';
import { ADMIN, createTestDatabase, eventually } from '../harness.ts';
import { startMailServer } from '../mail-server.ts';
import { isLong } from '../test-length.ts';
import { runGantry, runGantryWithoutOutput } from './gantry-command.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// The commands, run while a service uses the same database.

const SECRET = 'a secret of the tests that is long enough';
let folder: string;
let databases: Awaited<ReturnType<typeof createTestDatabase>>[];
let services: ServiceProcess[];

const settingsOf = (index: number) => ({
  DATABASE_URL: databases[index]?.url ?? '',
  DATA_DIR: join(folder, String(index)),
  JWT_SECRET: SECRET,
});

/** Runs a command in the installation with this number. */
const gantry = (index: number, args: readonly string[], input?: string, more: Record<string, string> = {}) =>
  runGantry(folder, { ...settingsOf(index), ...more }, args, input);

const serviceAt = (index: number): ServiceProcess => {
  const service = services[index];
  if (!service) throw new Error('It was not started');
  return service;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-commands-'));
  databases = [await createTestDatabase(), await createTestDatabase()];
  services = await Promise.all([0, 1].map((index) => untilItServes(spawnService(folder, settingsOf(index)))));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  for (const database of databases) await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('gantry', () => {
  it('exits with 2 for wrong usage, and explains the error', async () => {
    expect(await gantry(0, ['bogus'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown command 'bogus'"),
    });
    expect(await gantry(0, ['db', 'check', '--limit', '0'])).toMatchObject({ code: 2 });
    expect(await gantry(0, ['db', 'rebuild', 'everything'])).toMatchObject({ code: 2 });
    for (const day of ['2026-02-30', '2026-05'])
      expect(await gantry(0, ['evidence', 'check', '--since', day])).toMatchObject({
        code: 2,
        err: expect.stringContaining('Use a time such as'),
      });
  });

  it.each([['repair'], ['repair', '--json'], ['check', '--repair']])(
    'db %s %s answers with the command that replaced it',
    async (...args) => {
      expect(await gantry(0, ['db', ...args.filter(Boolean)])).toMatchObject({
        code: 2,
        err: expect.stringContaining('gantry db rebuild <what>'),
      });
    },
  );

  it('lists no former command', async () => {
    const { out } = await gantry(0, ['db', '--help']);
    expect(out).toContain('rebuild');
    expect(out).not.toContain('repair');
  });

  it('has a help text for every command', async () => {
    const commands = [
      'start',
      'demo',
      'simulate',
      'doctor',
      'db rebuild',
      'admin create',
      'events import',
      'gateway try',
    ];
    await Promise.all(
      commands.map(async (command) =>
        expect(await gantry(0, [...command.split(' '), '--help'])).toMatchObject({
          code: 0,
          out: expect.stringMatching(new RegExp(`^Usage: gantry ${command} `)),
        }),
      ),
    );
  });
});

describe('gantry mail test', () => {
  const send = (settings: Record<string, string>, ...args: string[]) =>
    runGantry(folder, settings, ['mail', 'test', ...args]);

  it('sends a message without a database, and prints what the mail server answers', async () => {
    await using server = await startMailServer();
    const settings = { SMTP_URL: server.url, SMTP_FROM: 'Gantry <gantry@example.org>' };
    const { code, out, err } = await send(settings, 'Jane@Example.org');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('The mail server took the message to jane@example.org: 250 ');
    const [message] = server.messages;
    expect(message).toMatchObject({ from: 'gantry@example.org', to: ['jane@example.org'] });
    expect(message?.part('text/plain').toString()).toContain('Gantry can send e-mail to jane@example.org');
    const json = await send(settings, 'jane@example.org', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ accepted: true, response: expect.stringMatching(/^250/) });
  });

  it('says why it was not sent, and what to do', async () => {
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        password === 'right' ? done(null, { user: 'a' }) : done(new Error('Invalid username or password')),
    });
    const at = (user: string) => ({
      SMTP_URL: server.url.replace('//', `//${user}@`),
      SMTP_FROM: 'gantry@example.org',
    });
    server.refuse('recipient', 550);
    server.refuse('recipient', 450);
    const refused = await send(at('jane:right'), 'jane@example.org');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^Not sent\. .*No such mailbox[\s\S]*check the address/);
    expect((await send(at('jane:right'), 'jane@example.org')).err).toMatch(/ask to try again later/);
    const { code, err } = await send(at('jane:hunter2hunter2'), 'jane@example.org');
    expect(code).toBe(1);
    expect(err).toMatch(/refused the user or the password of SMTP_URL[\s\S]*Check SMTP_URL/);
    expect(err).not.toContain('hunter2');
    expect(await send({}, 'jane@example.org')).toEqual({
      code: 1,
      out: '',
      err: 'Not sent. No mail server is configured: set SMTP_URL and SMTP_FROM\n',
    });
    expect(await send(at('jane:right'), 'jane')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Use an e-mail address such as'),
    });
    const json = await send(at('jane:wrong'), 'jane@example.org', '--json');
    expect([json.code, JSON.parse(json.out).accepted]).toEqual([1, false]);
    expect(server.messages).toEqual([]);
  });
});

describe('gantry admin', () => {
  it('creates an administrator, resets the password and ends the sessions while the service runs', async () => {
    const service = serviceAt(0);
    const created = await gantry(0, ['admin', 'create', 'Jane@Example.org', '--json']);
    expect(created).toMatchObject({ code: 0, err: '' });
    const { id, role, email, password } = JSON.parse(created.out);
    expect({ role, email }).toEqual({ role: 'ADMIN', email: 'jane@example.org' });
    const token = await service.login(email, password);
    const api = await service.ok('apiTokens.create', { name: 'Screens', password }, { token });

    const reset = await gantry(0, ['admin', 'reset-password', email]);
    expect(reset).toMatchObject({ code: 0, out: expect.stringContaining('that were revoked: 1') });
    expect((await service.call('auth.me', undefined, { token: api.token })).status).toBe(401);
    const [, next = ''] = /Password: (\S+)/.exec(reset.out) ?? [];
    expect((await service.call('auth.me', undefined, { token })).status).toBe(401);
    expect((await service.call('auth.login', { email, password })).status).toBe(401);
    const now = await service.login(email, next);
    const log = await service.ok('users.getActivity', { userId: id }, { token: now });
    expect(JSON.stringify(log)).toContain('"userAgent":"gantry admin reset-password"');

    const given = await gantry(
      0,
      ['admin', 'reset-password', email, '--password-stdin'],
      `${ADMIN.password}\n`,
    );
    expect(given).toMatchObject({ code: 0, out: expect.not.stringContaining('Password:') });
    await service.login(email, ADMIN.password);
  });

  it('removes a second factor on request, and refuses a common password', async () => {
    const service = serviceAt(0);
    const { email, password } = JSON.parse(
      (await gantry(0, ['admin', 'create', 'tara@example.org', '--json'])).out,
    );
    const token = await service.login(email, password);
    const { secret } = await service.ok('secondFactor.start', { password }, { token });
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    await service.ok('secondFactor.confirm', { code }, { token });
    const reset = JSON.parse((await gantry(0, ['admin', 'reset-password', email, '--json'])).out);
    expect((await service.call('auth.login', { email, password: reset.password })).status).toBe(401);
    const { out } = await gantry(0, ['admin', 'reset-password', email, '--remove-second-factor']);
    expect(out).toContain('The second factor was removed.');
    await service.login(email, /Password: (\S+)/.exec(out)?.[1] ?? '');
    expect(
      await gantry(0, ['admin', 'reset-password', email, '--password-stdin'], 'Password1!\n'),
    ).toMatchObject({ code: 2, err: expect.stringContaining('The password is one of') });
  });

  it('activates a deactivated account on request', async () => {
    const service = serviceAt(0);
    const token = await service.tokenFor('ADMIN');
    const { id, email } = JSON.parse(
      (await gantry(0, ['admin', 'create', 'rita@example.org', '--json'])).out,
    );
    await service.ok('users.update', { id, isActive: false }, { token });
    expect((await gantry(0, ['admin', 'reset-password', email])).out).toContain('add --activate');
    const { out } = await gantry(0, ['admin', 'reset-password', email, '--activate', '--json']);
    await service.login(email, JSON.parse(out).password);
  });

  it('refuses what cannot be done with a sentence', async () => {
    expect(await gantry(0, ['admin', 'reset-password', 'nobody@example.org'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Not reset. There is no user nobody@example.org'),
    });
    expect(await gantry(0, ['admin', 'create', ADMIN.email])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is already in use'),
    });
    expect(await gantry(0, ['admin', 'create', 'x@example.org', '--password-stdin'], 'short')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Use at least 8 characters'),
    });
  });
});

describe('gantry doctor', () => {
  it('finds what must be corrected, and exits with 1', async () => {
    const { code, out } = await gantry(0, ['doctor', '--json']);
    const { isHealthy, findings } = JSON.parse(out);
    // The server of the tests is configured for speed instead of durability.
    expect({ code, isHealthy }).toEqual({ code: 1, isHealthy: false });
    const problems = findings.filter(({ level }: { level: string }) => level === 'PROBLEM');
    expect(problems).toMatchObject([
      {
        code: 'databaseUnsafe',
        about: 'database',
        finding: expect.stringContaining('fsync'),
        values: { settings: expect.arrayContaining(['fsync']) },
      },
    ]);
    expect(JSON.stringify(findings)).toContain('The schema is that of this version.');
    expect((await gantry(0, ['doctor'])).out).toMatch(/^PROBLEM {2}The database runs with fsync/);
  });

  it('exits with the same code when nobody reads what it writes, and with a sentence when the disk is full', async () => {
    const run = (command: string, output: string) =>
      runGantryWithoutOutput(folder, settingsOf(0), command.split(' '), output);
    expect(await run('doctor', '| true')).toBe('code 1');
    expect(await run('events export --format csv', '| true')).toBe('code 0');
    for (const command of ['doctor', 'db check', 'events export --format csv'])
      expect(await run(command, '> /dev/full')).toMatch(
        /^Standard output cannot be written: ENOSPC: no space left on device, write\ncode 1$/,
      );
  });

  it('is a procedure for administrators', async () => {
    const service = serviceAt(0);
    const report = await service.ok('system.doctor', undefined, { token: await service.tokenFor('ADMIN') });
    expect(report).toMatchObject({ isHealthy: false, findings: expect.arrayContaining([]) });
    expect(report.findings.length).toBeGreaterThan(5);
    const refused = await service.call('system.doctor', undefined, {
      token: await service.tokenFor('OPERATOR'),
    });
    expect(refused.status).toBe(403);
  });

  it('sees settings of the server that make commits wait', async () => {
    const checkpoints = { requested: 30, timed: 5, limit: '1GB' };
    expect(checkWrites({ wal_compression: 'pglz', buffers: 128 }, checkpoints, null)).toMatchObject([
      { code: 'fewBuffers', level: 'ADVICE', finding: expect.stringContaining('keeps 128 MB of pages') },
      { code: 'walCompression', level: 'ADVICE' },
      {
        code: 'checkpointsBySize',
        finding: expect.stringContaining('Most checkpoints (30 of 35)'),
        values: { requested: 30, all: 35, limit: '1GB' },
      },
    ]);
    const good = { wal_compression: 'lz4', buffers: 256 };
    expect(checkWrites(good, { ...checkpoints, timed: 31 }, 200)).toEqual([]);
    const few = { ...checkpoints, requested: 20 };
    expect(checkWrites({ ...good, wal_compression: 'off' }, few, 3_000)).toMatchObject([
      { code: 'pagesWrittenLate', level: 'ADVICE', finding: expect.stringContaining('after 30 s') },
    ]);
    const pool = createPool(settingsOf(0).DATABASE_URL, 1, () => undefined);
    await pool.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET wal_compression = pglz', current_database()); END $$`,
    );
    // A role that may not read files of the server.
    await pool.query('SET ROLE pg_monitor');
    expect(await readDirtyExpiry(createDatabase(pool))).toBe(null);
    await pool.end();
    const { findings } = JSON.parse((await gantry(0, ['doctor', '--json'])).out);
    const codes = findings.map(({ code }: { code: string }) => code);
    expect(codes).toContain('walCompression');
    // The owner of the server of the tests may read files of its machine.
    const expiry = Number(
      await ignoreErrno(readFile('/proc/sys/vm/dirty_expire_centisecs', 'utf8'), 'ENOENT'),
    );
    expect(codes.includes('pagesWrittenLate')).toBe(expiry >= 1_000);
  });

  it('sees messages on disk, backups, the store of images, second factors and tokens', async () => {
    const service = serviceAt(0);
    const token = await service.tokenFor('ADMIN');
    const create = { name: 'Importer', expiresInDays: 3, password: ADMIN.password };
    const api = await service.ok('apiTokens.create', create, { token });
    await service.ok('sensors.getAll', {}, { token: api.token });
    await eventually(
      () => service.ok('apiTokens.getAll', undefined, { token }),
      ([first]) => first.lastUsedAt !== null,
    );
    const other = join(folder, 'other');
    const spool = join(other, 'gateway-spool');
    await mkdir(spool, { recursive: true });
    const receivedAt = String(Date.now() - 10 * 60_000).padStart(15, '0');
    await writeFile(join(spool, `${receivedAt}-3-a.messages`), Buffer.alloc(800_000));
    await writeFile(join(spool, `${receivedAt}-b.message`), Buffer.alloc(100_000));
    await writeFile(join(spool, `${receivedAt}-c.message.damaged`), 'x');
    const settings = { ...settingsOf(0), DATA_DIR: other, NODE_ENV: 'production', GATEWAY_SPOOL_MB: '1' };
    const S3 = { S3_BUCKET: 'none', S3_ENDPOINT: 'http://127.0.0.1:1', S3_REGION: 'eu-1' };
    const codesFor = async (more: Record<string, string>) => {
      const { out } = await runGantry(folder, { ...settings, ...more }, ['doctor', '--json']);
      const { findings } = JSON.parse(out);
      return new Map(findings.map(({ code, ...rest }: { code: string }) => [code, rest]));
    };
    const found = await codesFor(S3);
    expect(Object.fromEntries(found)).toMatchObject({
      spoolFull: { about: 'gateways', level: 'PROBLEM', values: { percent: 90, megabytes: 1 } },
      spoolWaiting: { level: 'PROBLEM', values: { messages: 4, minutes: 10 } },
      spoolAside: { level: 'ADVICE', values: { files: 1, folder: spool } },
      pictureStore: { level: 'PROBLEM' },
      noBackup: { about: 'backups', level: 'PROBLEM' },
      withoutSecondFactor: { about: 'accounts', level: 'ADVICE' },
      tokensExpire: { finding: 'API tokens in use that expire within 14 days: Importer.' },
    });
    const awaited = await codesFor({ BACKUP_DIR: join(folder, 'backups') });
    expect(awaited.get('noBackupYet')).toMatchObject({
      remedy: expect.stringMatching(/^Wait for the first/),
    });
    expect([...awaited.keys()]).not.toContain('noBackup');
    expect((await gantry(0, ['backup', 'backups'])).code).toBe(0);
    const backed = await codesFor({ BACKUP_DIR: join(folder, 'backups') });
    expect(Object.fromEntries(backed)).toMatchObject({
      backupFine: { level: 'OK', values: { hours: 0 } },
      backupSameDisk: { level: 'ADVICE' },
    });
    expect([...backed.keys()]).not.toContain('noBackup');
  });

  it('reports a database that cannot be reached, and settings that cannot be used', async () => {
    const unreachable = { ...settingsOf(0), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
    expect(await runGantry(folder, unreachable, ['doctor'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('The database server 127.0.0.1:1 cannot be reached'),
    });
    expect(await runGantry(folder, unreachable, ['db', 'check'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^Not checked\. The database server 127\.0\.0\.1:1 cannot be reached, [^\n]*\n$/,
      ),
    });
    expect(await runGantry(folder, { WORKERS: 'many' }, ['doctor'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('WORKERS must be a number'),
    });
  });
});

describe('gantry events', () => {
  const COMPARED = [
    'timestamp',
    'deviceId',
    'eventType',
    'severity',
    'licensePlateNumber',
    'vehicleType',
    'vehicleSpeed',
    'violationType',
    'description',
    'location',
    'metadata',
    'images',
    'tags',
  ];
  const readEvents = async (file: string) =>
    (await readFile(join(folder, file), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((event) => Object.fromEntries(COMPARED.map((name) => [name, event[name]])));

  const registerAt = async (index: number, deviceId: string) => {
    const service = serviceAt(index);
    const sensor = { name: deviceId, deviceId, type: 'CAMERA' };
    const { apiKey } = await service.ok('sensors.create', sensor, { token: await service.tokenFor('ADMIN') });
    return { service, apiKey };
  };

  it.each(isLong ? ['jsonl', 'csv'] : ['csv'])(
    'exports as %s what another installation imports as equal events, once',
    async (format) => {
      const [from, to] = [serviceAt(0), serviceAt(1)];
      const sensor = { name: 'Mast "7", north', deviceId: `mast-${format}`, type: 'CAMERA' };
      const { apiKey } = await from.ok('sensors.create', sensor, { token: await from.tokenFor('ADMIN') });
      await to.ok('sensors.create', sensor, { token: await to.tokenFor('ADMIN') });
      const timestamp = '2026-01-31T08:15:00.123Z';
      await from.ingest(apiKey, {
        timestamp,
        idempotencyKey: 'first',
        eventType: 'TRAFFIC_VIOLATION',
        violationType: 'SPEEDING',
        licensePlateNumber: 'B-MW 4711',
        vehicleSpeed: 87.5,
        vehicleType: 'CAR',
        severity: 'HIGH',
        description: '=1+1, "quoted"\nand a second line; ä',
        metadata: { lane: 2, nested: { list: [1, null, 'x'] } },
        location: { latitude: 52.5, longitude: 13.4 },
        images: ['https://example.org/1.jpg'],
        tags: ['urgent', 'a,b'],
      });
      await from.ingest(apiKey, { timestamp: '2026-02-01T00:00:00.000Z' });
      const file = `events.${format}`;
      const filter = ['--device-id', sensor.deviceId];
      expect(await gantry(0, ['events', 'export', file, ...filter, '--json'])).toMatchObject({
        code: 0,
        out: JSON.stringify({ file, events: 2 }, null, 2).concat('\n'),
      });

      const url = ['--url', to.url];
      const imported = await gantry(1, ['events', 'import', file, ...url, '--json']);
      expect(imported).toMatchObject({ code: 0, err: '' });
      expect(JSON.parse(imported.out)).toEqual({ stored: 2, known: 0, failed: 0, failures: [] });
      const again = await gantry(1, ['events', 'import', file, ...url]);
      expect(again.out).toBe('0 events stored, 2 known already, 0 failed\n');
      const back = await gantry(0, ['events', 'import', file, '--url', from.url]);
      expect(back.out).toBe('0 events stored, 2 known already, 0 failed\n');

      await gantry(0, ['events', 'export', 'before.jsonl', ...filter]);
      await gantry(1, ['events', 'export', 'after.jsonl', ...filter]);
      const before = await readEvents('before.jsonl');
      expect(before).toMatchObject([{ timestamp, vehicleSpeed: 87.5 }, {}]);
      expect(await readEvents('after.jsonl')).toEqual(before);

      const limited = await gantry(0, [
        'events',
        'export',
        '--from',
        '2026-02-01',
        '--to',
        '2026-02-02',
        ...filter,
      ]);
      expect(limited.out.trim().split('\n')).toHaveLength(1);
      expect(limited.err).toBe('1 events\n');
    },
  );

  it('writes to standard output for -, and nothing else there', async () => {
    const { apiKey } = await registerAt(0, 'dash');
    await serviceAt(0).ingest(apiKey, { timestamp: '2026-01-31T08:15:00Z' });
    const filter = ['--device-id', 'dash'];
    const { code, out, err } = await gantry(0, ['events', 'export', '-', ...filter]);
    expect({ code, err }).toEqual({ code: 0, err: '1 events\n' });
    expect(JSON.parse(out)).toMatchObject({ deviceId: 'dash' });
    expect(await gantry(0, ['events', 'export', '-', '--json'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('--json needs a file'),
    });
    expect(await readdir(folder)).not.toContain('-');
  });

  it('takes times without an offset in the time zone of the settings, and refuses days that do not exist', async () => {
    const { service, apiKey } = await registerAt(0, 'zoned');
    const times = [
      '2026-01-31T14:59:59Z',
      '2026-01-31T15:00:00Z',
      '2026-02-01T14:59:59Z',
      '2026-02-01T15:00:00Z',
    ];
    for (const timestamp of times) await service.ingest(apiKey, { timestamp });
    const token = await service.tokenFor('ADMIN');
    const exported = async (...range: string[]) =>
      (
        await gantry(0, ['events', 'export', '--device-id', 'zoned', ...range], '', {
          TZ: 'America/New_York',
        })
      ).err;
    await service.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Tokyo' }, { token });
    try {
      expect(await exported('--from', '2026-02-01', '--to', '2026-02-02')).toBe('2 events\n');
      expect(await exported('--from', '2026-02-01T00:00', '--to', '2026-02-01 23:59:59')).toBe('1 events\n');
      expect(await exported('--from', '2026-01-31T14:59:59Z')).toBe('4 events\n');
    } finally {
      await service.ok('system.timezone.updateTimezoneSettings', { timezone: 'UTC' }, { token });
    }
    expect(await gantry(0, ['events', 'export', '--from', '2026-02-02', '--to', '2026-02-01'])).toMatchObject(
      {
        code: 2,
        out: '',
        err: 'Not exported. --to is before --from: swap the times\n',
      },
    );
    for (const time of ['2026-02-31', '2026-01-31T25:00', '2026-01-31 tea time'])
      expect(await gantry(0, ['events', 'export', '--from', time])).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('Use a time such as'),
      });
  });

  it('reports lines that cannot be imported, imports the others, and exits with 1', async () => {
    const to = serviceAt(1);
    await to.ok(
      'sensors.create',
      { name: 'Mast 8', deviceId: 'mast-8', type: 'RADAR' },
      { token: await to.tokenFor('ADMIN') },
    );
    const good = { deviceId: 'mast-8', eventType: 'VEHICLE_DETECTION', timestamp: '2026-01-01T00:00:00Z' };
    const lines = [
      JSON.stringify(good),
      'nonsense',
      JSON.stringify({ ...good, eventType: 'NIX' }),
      '',
      JSON.stringify({ ...good, deviceId: 'unknown' }),
      JSON.stringify({ ...good, timestamp: undefined }),
      JSON.stringify({ ...good, vehicleSpeed: 50 }),
    ];
    await writeFile(join(folder, 'bad.jsonl'), lines.join('\n'));
    const { code, out, err } = await gantry(1, ['events', 'import', 'bad.jsonl', '--url', to.url]);
    expect({ code, out }).toEqual({ code: 1, out: '2 events stored, 0 known already, 4 failed\n' });
    expect(err.trim().split('\n').sort()).toEqual([
      'Line 2: it is not JSON',
      expect.stringMatching(/^Line 3: eventType: /),
      'Line 5: there is no sensor with the deviceId unknown: register it first',
      'Line 6: it has no timestamp',
    ]);
  });

  it('reports that the service must run, and names a missing file', async () => {
    await writeFile(
      join(folder, 'one.jsonl'),
      JSON.stringify({
        deviceId: 'mast-8',
        eventType: 'VEHICLE_DETECTION',
        timestamp: '2026-01-01T00:00:01Z',
      }),
    );
    expect(await gantry(1, ['events', 'import', 'one.jsonl', '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The service at http://127.0.0.1:1 cannot be reached: start it'),
    });
    expect(await gantry(1, ['events', 'import', 'none.jsonl'])).toMatchObject({
      code: 2,
      err: 'Not imported. There is no file none.jsonl\n',
    });
  });
});

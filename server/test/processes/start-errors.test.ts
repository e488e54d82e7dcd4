import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { configKeys, readConfig } from '../../src/platform/config.ts';
import { meantBy } from '../../src/platform/load-config.ts';
import { GANTRY } from '../build-programs.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { spawnService } from './service-process.ts';

// The output of a service that cannot start: one sentence that names the setting, before anything is started.

/** Within this time, a service that waits for its database tries again. */
const TWO_ATTEMPTS_MS = 1_200;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-errors-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const failure = async (settings: Readonly<Record<string, string>>): Promise<string> => {
  const started = spawnService(folder, settings);
  expect(await started.ended).toBe(1);
  expect(started.output()).toMatch(/^Gantry cannot start\. /);
  expect(started.output()).not.toMatch(/^\s+at /m);
  expect(existsSync(join(folder, 'data'))).toBe(false);
  return started.output();
};

describe('a service that cannot start names the setting', () => {
  // A process for each way in which a setting is found out: by itself, beside others, in the file that it names, on this
  // machine, and by its name.
  it.each([
    [
      { OIDC_ISSUER: 'login', OIDC_REDIRECT_URL: 'here' },
      /OIDC_ISSUER must be an .*\n {2}OIDC_REDIRECT_URL must be/,
    ],
    [{ DATABASE_URL: 'postgres://u@host/db?sslrootcert=/no/ca' }, /DATABASE_URL names the file \/no\/ca/],
    [{ HOST: '203.0.113.7', PORT: '4000' }, /HOST 203\.0\.113\.7 is no address of this machine/],
    // The value is the default, but setting it shows that backups are wanted.
    [{ BACKUP_SCHEDULE: '02:00' }, /BACKUP_DIR must be set too, because BACKUP_SCHEDULE is set/],
    [{ DATABSE_URL: 'postgres://host/db' }, /DATABSE_URL is unknown: did you mean DATABASE_URL\?/],
  ])('%o', async (settings, message) => {
    expect(await failure({ DATA_DIR: join(folder, 'data'), ...settings })).toMatch(message);
  });

  it.each([
    [{ TRUSTED_PROXIES: '10.0.0.7, proxy' }, /TRUSTED_PROXIES must be addresses or networks .* not proxy/],
    [{ DATABASE_URL: 'postgres://u:a#b@host/db' }, /DATABASE_URL cannot be understood: .*%23/],
    [{ DATABASE_URL: 'mysql://host/db' }, /DATABASE_URL must be an address such as postgres:/],
    [{ DATABASE_URL: 'postgres://u:p@one,two:0/db' }, /DATABASE_URL has no valid port: 0/],
    [{ DATABASE_URL: 'postgres://one:5432,/db' }, /DATABASE_URL names an empty host: write host1,host2/],
    [{ DATABASE_URL: 'postgres:///db?host=one,two' }, /DATABASE_URL names several hosts after the \?: write/],
    [{ MQTT_URL: 'broker' }, /MQTT_URL must be an address such as mqtts:\/\/user:password@broker/],
    [{ SECOND_FACTOR_FOR: 'ADMIN, boss, chief' }, /\n {2}SECOND_FACTOR_FOR must be roles [^\n]*$/],
    [{ OIDC_CLIENT_ID: 'gantry' }, /OIDC_ISSUER must be set too, because OIDC_CLIENT_ID is set/],
    [{ S3_ENDPOINT: 'http://127.0.0.1:1' }, /S3_BUCKET must be set too, because S3_ENDPOINT is set/],
    [{ MQTT_CLIENT_ID: 'city' }, /MQTT_URL must be set too, because MQTT_CLIENT_ID is set/],
    [{ MQTT_CA_FILE: '/ca.pem' }, /MQTT_URL must be set too, because MQTT_CA_FILE is set/],
    [
      { MQTT_CERT_FILE: '/service.pem', MQTT_KEY_FILE: '/service.key' },
      /MQTT_URL must be set too, because MQTT_CERT_FILE is set/,
    ],
    [
      { MQTT_URL: 'mqtt://127.0.0.1', MQTT_CA_FILE: '/ca.pem' },
      /MQTT_URL must begin with mqtts: or wss:, because MQTT_CA_FILE is set/,
    ],
    [{ GATEWAY_URL: 'http://host:80' }, /GATEWAY_URL must be .* or the default port: write http:\/\/host$/],
    [{ PREVIEW_ORIGINS: 'https://a.example.org' }, /PREVIEW_ORIGINS must be .* with \* as the first label/],
    [{ PORT: ' ' }, /PORT must be a number/],
  ])('in the same words: %o', (settings, message) => {
    expect(() => readConfig(settings)).toThrow(message);
  });

  it('for a port that is taken, before the database is started', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const settings = { DATA_DIR: join(folder, 'data'), PORT: String(port) };
    expect(await failure(settings)).toContain(`PORT ${port} is taken by another program on 127.0.0.1`);
    expect(await failure({ ...settings, WORKERS: '2' })).toContain(`PORT ${port} is taken`);
    // The cause, which the message contains, is not repeated.
    expect(await failure({ DATA_DIR: '/dev/null/data' })).toMatch(
      /^Gantry cannot start\. [^\n]*ENOTDIR[^\n]*\n$/,
    );
    // Linux refuses this path as if its parent folder were missing.
    expect(await failure({ DATA_DIR: '/proc/gantry/data' })).toMatch(
      /^Gantry cannot start\. The data folder \/proc\/gantry\/data cannot be used \([^\n]*\n$/,
    );
    other.close();
  });

  it('for a misspelt name in .env', async () => {
    await writeFile(join(folder, '.env'), 'PROT=4000\nGANTRY_WORKERS=2\nPOSTGRES_PASSWORD=x\n');
    const message = await failure({ PORT: '' });
    expect(message).toMatch(/PROT is unknown: did you mean PORT\? \(in .*\.env\)/);
    expect(message).toContain('GANTRY_WORKERS is unknown: did you mean WORKERS?');
    expect(message).not.toContain('POSTGRES_PASSWORD');
  });
});

describe('a Node.js that is too old', () => {
  it.each(['16.20.2', '18.20.8', '20.18.3'])('is refused with one sentence (%s)', async (version) => {
    const old = join(folder, 'old.cjs');
    await writeFile(old, `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });`);
    const started = spawnService(folder, {}, ['-r', old, GANTRY, 'start']);
    expect(await started.ended).toBe(1);
    expect(started.output()).toMatch(
      new RegExp(`^Gantry needs Node\\.js 20\\.19 or newer, and this is ${version} \\(.*\\n$`),
    );
  });
});

describe('a name that was probably meant', () => {
  const known = Object.keys(configKeys);
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['WORKER', 'WORKERS'],
    ['TRUSTED_PROXY', null],
    ['PATH', null],
    ['HOME', null],
    ['host', null],
    ['POST', null],
    ['NODE_OPTIONS', null],
    ['AWS_REGION', null],
    ['GANTRY_PORT', null],
    ['PORT', null],
  ])('%s in the environment: %s', (name, meant) => {
    expect(meantBy(name, known, false)).toBe(meant);
  });
});

describe('a database that cannot be used', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  const role = `limited_${process.pid}`;
  const asOwner = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  const urlOf = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
    await asOwner(`CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-role'`);
  });
  afterAll(async () => {
    await asOwner(`DROP ROLE ${role}`);
    await database.drop();
  });

  const secret = { JWT_SECRET: 'a secret of the tests that is long enough' };

  it('is named with its address and the role for a wrong password, and the password is not shown', async () => {
    const url = urlOf((wrong) => {
      wrong.username = role;
      wrong.password = 'a-wrong-guess';
    });
    const message = await failure({ ...secret, DATABASE_URL: url });
    expect(message).toMatch(
      /The database server 127\.0\.0\.1:\d+ refuses the password of the role limited_\d+: correct it in DATABASE_URL/,
    );
    expect(message).not.toContain('a-wrong-guess');
  });

  it('is named if it does not offer the TLS that the address requires', async () => {
    const url = urlOf((encrypted) => encrypted.searchParams.set('sslmode', 'verify-full'));
    expect(await failure({ ...secret, DATABASE_URL: url })).toMatch(
      /The database server 127\.0\.0\.1:\d+ does not offer TLS: set ssl = on there, or remove sslmode/,
    );
  });

  it.each(['-c work_memory=5MB', '-c work_mem=much', '--jit', '-c max_connections=5'])(
    'refuses the options %s',
    async (options) => {
      const url = urlOf((wrong) => wrong.searchParams.set('options', options));
      expect(await failure({ ...secret, DATABASE_URL: url })).toMatch(
        /The database server 127\.0\.0\.1:\d+ refuses a setting in the options of DATABASE_URL: correct it\n {2}because: \S/,
      );
    },
  );

  it('is named if it does not exist', async () => {
    const url = urlOf((wrong) => {
      wrong.pathname = '/no_such_database';
    });
    expect(await failure({ ...secret, DATABASE_URL: url })).toMatch(
      /There is no database no_such_database on/,
    );
  });

  it('needs a role that may create tables', async () => {
    const url = urlOf((limited) => {
      limited.username = role;
      limited.password = 'secret-of-role';
    });
    expect(await failure({ ...secret, DATABASE_URL: url })).toContain(
      `GRANT CREATE ON SCHEMA public TO ${role}`,
    );
    await asOwner(`GRANT CREATE ON SCHEMA public TO ${role}`);
    expect(await failure({ ...secret, DATABASE_URL: url })).toMatch(
      /The tables in the database .* belong to the role/,
    );
    await asOwner(`REVOKE CREATE ON SCHEMA public FROM ${role}`);
    await asOwner(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    expect(await failure({ ...secret, DATABASE_URL: url })).toContain('default_transaction_read_only is on');
    await asOwner(`ALTER ROLE ${role} RESET default_transaction_read_only`);
    await asOwner(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await asOwner(`ALTER ROLE ${role} SET search_path = app`);
    expect(await failure({ ...secret, DATABASE_URL: url })).toMatch(/search_path of the role .*: add public/);
    await asOwner(`ALTER ROLE ${role} RESET search_path`);
    await asOwner(`REVOKE CREATE ON SCHEMA public FROM ${role}`);
  });

  it('needs as many connections as the start opens', async () => {
    const owner = new URL(database.url).username;
    await asOwner(`GRANT ${owner} TO ${role}`);
    await asOwner(`ALTER ROLE ${role} CONNECTION LIMIT 1`);
    const url = urlOf((limited) => {
      limited.username = role;
      limited.password = 'secret-of-role';
    });
    // Unlike in the other cases, the data folder exists afterwards: it is created before the pools are opened.
    const started = spawnService(folder, { ...secret, DATABASE_URL: url });
    expect(await started.ended).toBe(1);
    expect(started.output()).toMatch(
      /^Gantry cannot start\. The database server 127\.0\.0\.1:\d+ has no connection left for this role: raise its max_conn/m,
    );
    await asOwner(`REVOKE ${owner} FROM ${role}`);
    await asOwner(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
  });

  it('is refused with a schema of a newer version, and stays as it is', async () => {
    const newer = await createTestDatabase(inject('databaseTemplate'));
    const client = new pg.Client({ connectionString: newer.url });
    await client.connect();
    await client.query(
      "INSERT INTO schema_migrations (name, checksum) VALUES ('9999-of-the-future.sql', 'x')",
    );
    const before = await client.query('SELECT * FROM schema_migrations');
    expect(await failure({ ...secret, DATABASE_URL: newer.url })).toMatch(
      /The database has migration 9999-of-the-future\.sql, which this version does not know: start a newer version/,
    );
    expect((await client.query('SELECT * FROM schema_migrations')).rows).toEqual(before.rows);
    await client.end();
    await newer.drop();
  });

  it('does not keep a service from stopping while it waits for it', async () => {
    const started = spawnService(folder, {
      ...secret,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      LOG_LEVEL: 'info',
    });
    await eventually(
      async () => started.output(),
      (text) => text.includes('waiting for the database'),
    );
    expect(started.output()).toContain(
      'The database server 127.0.0.1:1 cannot be reached, because nothing listens',
    );
    await sleep(TWO_ATTEMPTS_MS);
    started.process.kill('SIGTERM');
    // Otherwise it would wait until 30 s have passed, and then fail.
    expect(await started.ended).toBe(0);
    expect(started.output()).toContain('stopped while starting');
    // The message appears once, and not at every attempt.
    expect(started.output().match(/waiting for the database/g)).toHaveLength(1);
  });
});

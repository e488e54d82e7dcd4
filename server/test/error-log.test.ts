import { randomUUID } from 'node:crypto';
import { DrizzleQueryError } from 'drizzle-orm';
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeError, safeText } from '../src/platform/describe-error.ts';
import { createLog } from '../src/platform/log.ts';
import { ADMIN, eventually, sharedGantry } from './harness.ts';

const lines: string[] = [];
const log = createLog('debug', { write: (line) => lines.push(line) });

const gantry = await sharedGantry({ log, config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1:9' } });

const rename = (from: string, to: string) => gantry.pool.query(`ALTER TABLE ${from} RENAME TO ${to}`);
/** Calls `work` while the table is missing. */
const without = async (table: string, work: () => Promise<unknown>): Promise<void> => {
  await rename(table, `${table}_away`);
  try {
    await work();
  } finally {
    await rename(`${table}_away`, table);
  }
};

describe('the log of a service whose database fails', () => {
  it('contains no secret of the failed statements, but describes the failure', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const { id: sensorId } = (await gantry.ok('sensors.getAll', {}, { token })).sensors[0];
    const plate = '34 SECRET 77';
    const email = 'somebody.secret@example.org';
    const password = 'Very-secret-password-9';
    const webhookSecret = 'webhook-secret-0123456789';
    const user = { email, password, firstName: 'S', lastName: 'Ecret' };
    const webhook = { url: 'http://127.0.0.1:9/x', kinds: ['event.ingested'], secret: webhookSecret };
    const ask = (procedure: string, input?: unknown, as: { token?: string } = { token }) =>
      gantry.call(procedure, input, as);

    await without('users', async () => {
      expect((await ask('auth.login', { email, password }, {})).status).toBe(500);
      expect((await ask('auth.me')).status).toBe(500);
    });
    await without('activity', async () => {
      for (const [procedure, input] of [
        ['users.create', user],
        ['webhooks.create', webhook],
        ['events.getAll', { licensePlateNumber: plate }],
        ['sensors.rotateKey', { id: sensorId }],
        ['auth.logout', undefined],
      ] as const) {
        expect([procedure, (await ask(procedure, input)).status]).toEqual([procedure, 500]);
      }
    });
    await without('revoked_tokens', async () => {
      expect((await ask('auth.logout', undefined)).status).toBe(500);
    });
    const event = { apiKey, eventType: 'INCIDENT', licensePlateNumber: plate };
    await without('sensors', async () => {
      await ask('events.ingest', { ...event, apiKey: apiKey.replace(/./g, 'a') }, {});
      await ask('sensors.heartbeat', { apiKey, firmware: plate }, {});
    });
    await without('event_totals', () => ask('events.ingest', event, {}));
    await without('watchlist_alerts', () =>
      ask('watchlist.create', { plate, reason: 'x', severity: 'HIGH' }),
    );
    await gantry.pool.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await Promise.all([ask('auth.login', { email, password }, {}), ask('events.ingest', event, {})]);

    const { rows } = await eventually(
      () => gantry.pool.query('SELECT password_hash FROM users WHERE email = $1', [ADMIN.email]),
      () => true,
    );
    const written = lines.join('');
    const secrets = { apiKey, token, plate, email, password, webhookSecret, hash: rows[0].password_hash };
    const leaked = Object.entries(secrets).filter(([, secret]) => written.includes(secret));
    expect(leaked).toEqual([]);
    expect(written).not.toMatch(/Failed query|params|\$argon2|eyJ[\w-]+\.eyJ/);

    const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a call failed');
    expect(failures.length).toBeGreaterThan(5);
    const [first] = failures;
    expect(first).toMatchObject({
      procedure: 'auth.login',
      err: {
        type: 'DrizzleQueryError',
        message: 'A statement failed',
        cause: { type: 'DatabaseError', code: '42P01', message: 'relation "users" does not exist' },
      },
    });
    expect(first.err.stack).toMatch(/^ {4}at /);
    expect(first.err.stack).toContain('findLogin');
  });

  it('leaves no values where administrators read about a failed run of retention', async () => {
    const token = await gantry.tokenFor('ADMIN');
    await gantry.ok('storage.setRetention', { events: { default: 30, byType: {} } }, { token });
    await without('events', async () => {
      // The connections that were cut above are found broken when they are next used.
      await eventually(
        () => gantry.call('storage.runRetention', undefined, { token }),
        ({ status }) => status === 200,
      );
      await eventually(
        async () => (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs[0].status,
        (status) => status !== 'RUNNING',
        60_000,
      );
    });
    const [run] = (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs;
    expect(run.status).toBe('FAILED');
    expect(run.error).not.toMatch(/Failed query|params|SELECT/);
    expect(run.error).toContain('SQLSTATE 42P01');
  });
});

describe('the description of an error', () => {
  const secret = 'secret-value-1';
  const databaseError = (code: string, message: string): DatabaseError =>
    Object.assign(new DatabaseError(message, 1, 'error'), {
      code,
      detail: `Key (email)=(${secret}) already exists.`,
      where: `unnamed portal parameter $1 = '${secret}'`,
    });

  it.each([
    ['of drizzle', new DrizzleQueryError(`SELECT $1`, [secret], new Error('x'))],
    [
      'that repeats one of drizzle',
      new Error(new DrizzleQueryError('SELECT $1', [secret], undefined).message),
    ],
    ['of a value', databaseError('22P02', `invalid input syntax for type uuid: "${secret}"`)],
    ['of a key', databaseError('23505', 'duplicate key value violates unique constraint "users_email_key"')],
    [
      'of JSON',
      (() => {
        try {
          return JSON.parse(`{"a": ${secret}`);
        } catch (error) {
          return error;
        }
      })(),
    ],
    [
      'of a schema',
      z
        .object({ a: z.literal('b') })
        .strict()
        .safeParse({ [secret]: secret }).error,
    ],
    ['with a frame in its message', new Error(`Failed query: x\nparams: \n    at ${secret} (/a/b.ts:1:2)`)],
    ['with properties', Object.assign(new Error('x'), { query: `SELECT '${secret}'`, params: [secret] })],
    ['that carries an address', new Error(`cannot reach postgres://gantry:${secret}@db/gantry`)],
    ['of an argument', new TypeError(`The "path" argument must be of type string. Received '${secret}'`)],
    ['behind others', new AggregateError([new Error('a', { cause: databaseError('22001', secret) })], 'b')],
    ['that is none', { toString: () => secret, secret }],
  ])('contains no value: %s', (_, error) => {
    expect(JSON.stringify(describeError(error))).not.toContain(secret);
    expect(safeText(error)).not.toContain(secret);
    const written: string[] = [];
    const own = createLog('info', { write: (line) => written.push(line) });
    own.warn({ err: error }, 'a');
    own.warn({ error, reason: error, cause: error }, 'b');
    own.warn(error as Error);
    if (error instanceof Error) expect(written.join('')).not.toContain(secret);
    else expect(written[0]).not.toContain(secret);
  });

  it.each(['', 'gantry_'])('contains no key after %j', (prefix) => {
    const key = `${prefix}${'0a1b2c3d'.repeat(8)}`;
    expect(safeText(new Error(`refused ${key}.`))).toBe(`refused ${prefix}[64 hexadecimal digits].`);
  });

  it('keeps what an operator needs', () => {
    const cause = databaseError('53100', 'could not extend file "base/1/2": No space left on device');
    const error = new Error('The image cannot be stored', { cause });
    expect(describeError(error)).toMatchObject({
      type: 'Error',
      message: 'The image cannot be stored',
      cause: { type: 'DatabaseError', code: '53100', message: cause.message },
    });
    expect(describeError(error).stack).toContain('error-log.test.ts');
    expect(safeText(error)).toBe(`The image cannot be stored: ${cause.message} (SQLSTATE 53100)`);
    const store = 'client certificates can only be checked if a root certificate store is available';
    expect(safeText(databaseError('F0000', store))).toBe(`${store} (SQLSTATE F0000)`);
    expect(safeText(new Error('connect ECONNREFUSED 127.0.0.1:5432'))).toBe(
      'connect ECONNREFUSED 127.0.0.1:5432',
    );
  });

  it('is finite, however long the chain of its causes is', () => {
    const loop = new Error(randomUUID());
    loop.cause = loop;
    expect(JSON.stringify(describeError(loop)).length).toBeLessThan(50_000);
    expect(safeText(loop)).toBe(loop.message);
  });
});

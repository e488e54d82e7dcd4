import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { clientSettings } from '../src/platform/database/address.ts';
import { isDatabaseAway } from '../src/platform/database/failure.ts';
import { createPool, openPools } from '../src/platform/database/pool.ts';
import { type Executor, inSnapshot, inTransaction } from '../src/platform/database/transaction.ts';
import { UnsuitableDatabase, waitForDatabase } from '../src/platform/database/wait.ts';
import { TIMINGS } from '../src/platform/timings.ts';
import { createTestDatabase } from './harness.ts';

const database = await createTestDatabase();
const pool = createPool(database.url, 2, () => undefined);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('a connection that is closed between two statements of a transaction', () => {
  it('makes only the next statement fail', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await sleep(200);
    const failure: unknown = await client.query('SELECT 1').catch((error: unknown) => error);
    client.release(true);
    expect(isDatabaseAway(failure)).toBe(true);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('statements that a transaction sends at once', () => {
  it.each([
    ['write', inTransaction],
    ['read', inSnapshot],
  ] as const)('run one after another, and cost no connection if one fails: to %s', async (_, run) => {
    const db = drizzle({ client: createPool(database.url, 1, () => undefined) });
    const read = async (what: SQL, on: Executor = db) => (await on.execute(sql`SELECT ${what} AS x`)).rows[0];
    const pid = await read(sql`pg_backend_pid()`);
    const both = await run(db, (tx) => Promise.all([sql`1 + 1`, sql`1 + 2`].map((each) => read(each, tx))));
    expect(both).toEqual([{ x: 2 }, { x: 3 }]);
    const failing = run(db, (tx) =>
      Promise.all([sql`1 / 0`, ...Array(9).fill(sql`1`)].map((each) => read(each, tx))),
    );
    await expect(failing).rejects.toThrow();
    expect(await read(sql`pg_backend_pid()`)).toEqual(pid);
    await db.$client.end();
  });
});

describe('a Unix socket that a stopped server has removed', () => {
  it('is an outage like a port on which nothing listens', async () => {
    const own = createPool('postgres://city@/city?host=/nonexistent', 1, () => undefined);
    const failure: unknown = await own.query('SELECT 1').catch((error: unknown) => error);
    await own.end();
    expect(isDatabaseAway(failure)).toBe(true);
  });
});

describe('a connection string with parameters', () => {
  it('adds options, and changes no setting that the service needs', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c work_mem=5MB -c jit=on');
    url.searchParams.set('application_name', 'city');
    url.searchParams.set('statement_timeout', '1');
    url.searchParams.set('sslmode', 'disable');
    const own = createPool(url.href, 1, () => undefined, { name: 'gantry own' });
    const { rows } = await own.query(
      `SELECT current_setting('work_mem') AS memory, current_setting('jit') AS jit,
        current_setting('application_name') AS name, current_setting('statement_timeout') AS statement,
        current_setting('random_page_cost') AS page`,
    );
    await own.end();
    expect(rows).toEqual([{ memory: '5MB', jit: 'off', name: 'gantry own', statement: '20s', page: '1.1' }]);
  });

  it.each([
    ['sslmode=require', 'sslmode=verify-full'],
    ['sslmode=prefer&sslnegotiation=direct', 'sslmode=verify-full&sslnegotiation=direct'],
    ['sslmode=no-verify', 'sslmode=no-verify'],
    ['uselibpqcompat=true&sslmode=require', 'uselibpqcompat=true&sslmode=require'],
  ])('checks the certificate without a warning of pg: %s', (given, used) => {
    const { connectionString } = clientSettings(`postgres://city@host/city?${given}`, {});
    expect(connectionString).toBe(`postgres://city@host/city?${used}`);
  });
});

describe('a server that refuses connections', () => {
  it.each([
    // As PgBouncer 1.18 answers the first message of a connection.
    [
      'C08P01\0Munsupported startup parameter: statement_timeout',
      /as poolers such as PgBouncer do: name the PostgreSQL server/,
    ],
    [
      'CF0000\0Mclient certificates can only be checked if a root certificate store is available',
      /cannot use its configuration: correct pg_hba\.conf or postgresql\.conf there/,
    ],
  ])('is recognized before the service starts: %s', async (error, explanation) => {
    const server = createServer((socket) =>
      // The service may break the connection first.
      socket
        .on('error', () => undefined)
        .once('data', (startup) => {
          expect(startup.toString()).toContain('statement_timeout');
          const fields = `SFATAL\0${error}\0\0`;
          const length = Buffer.alloc(4);
          length.writeInt32BE(4 + fields.length);
          socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]));
        }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stopping = new AbortController();
    const logged: string[] = [];
    const log = pino({
      hooks: {
        logMethod: ([record]) => {
          logged.push(String((record as { reason?: unknown }).reason));
          stopping.abort();
        },
      },
    });
    const options = { allowUnsafe: false, log, signal: stopping.signal };
    await waitForDatabase(`postgres://g@127.0.0.1:${port}/g`, options).catch((error: unknown) => {
      if (error instanceof UnsuitableDatabase) logged.push(error.message);
    });
    server.close();
    expect(logged).toEqual([expect.stringMatching(explanation)]);
  });
});

describe('a pooler that ignores parameters of its connections', () => {
  /** The first message of a connection without some of its parameters, as PgBouncer passes it with ignore_startup_parameters. */
  const without = (startup: Buffer, ignored: readonly string[]): Buffer => {
    const words = startup.toString('utf8', 8).split('\0');
    const pairs = words.flatMap((name, at) => (at % 2 === 0 && name !== '' ? [[name, words[at + 1]]] : []));
    const kept = pairs.filter(([name]) => !ignored.includes(name ?? ''));
    const body = Buffer.from(`${kept.flat().join('\0')}\0\0`);
    const head = Buffer.from(startup.subarray(0, 8));
    head.writeInt32BE(8 + body.length);
    return Buffer.concat([head, body]);
  };

  it.each([['statement_timeout', 'options'], ['options'], ['statement_timeout']])(
    'is recognized before the service starts: %s',
    async (...ignored) => {
      const target = new URL(database.url);
      const server = createServer((near) => {
        const far = connect(Number(target.port), target.hostname);
        for (const socket of [near, far]) socket.on('error', () => undefined);
        near.once('data', (startup) => {
          far.write(without(startup, ignored));
          near.pipe(far);
        });
        far.pipe(near);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const pooler = new URL(database.url);
      pooler.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const options = { allowUnsafe: true, log: pino({ level: 'silent' }) };
      const waiting = waitForDatabase(pooler.href, options);
      await expect(waiting).rejects.toThrow(UnsuitableDatabase);
      await expect(waiting).rejects.toThrow(
        /refuses a parameter of the connection, as poolers such as PgBouncer do: name the PostgreSQL server itself/,
      );
      server.close();
      await waitForDatabase(database.url, options);
    },
  );
});

describe('a server that asks for a password', () => {
  it('is recognized if the address contains none', async () => {
    // As PostgreSQL begins SCRAM, which the tests' own server does not use.
    const message = (step: number, text: string): Buffer => {
      const head = Buffer.from('R\0\0\0\0\0\0\0\0');
      head.writeInt32BE(8 + text.length, 1);
      head.writeInt32BE(step, 5);
      return Buffer.concat([head, Buffer.from(text)]);
    };
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(message(10, 'SCRAM-SHA-256\0\0'));
        socket.once('data', () => socket.write(message(11, 'r=nonce,s=salt,i=4096')));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const options = { allowUnsafe: false, log: pino({ level: 'silent' }) };
    await expect(waitForDatabase(`postgres://city@127.0.0.1:${port}/g`, options)).rejects.toThrow(
      `The database server 127.0.0.1:${port} asks for the password of the role city: add it to DATABASE_URL`,
    );
    server.close();
  });
});

describe('a connection that the server closes while nobody uses it', () => {
  it('is reported, but no more once the pools are closed', async () => {
    const reported: string[] = [];
    const pools = openPools(database.url, 1, TIMINGS, ({ message }) => reported.push(message));
    const client = await pools.ordinary.connect();
    client.release();
    client.emit('error', new Error('closed in between'));
    const next = await pools.ordinary.connect();
    next.release();
    const ending = pools[Symbol.asyncDispose]();
    next.emit('error', new Error('closed at the end'));
    await ending;
    expect(reported).toEqual(['closed in between']);
  });
});

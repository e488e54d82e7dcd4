import { createHmac, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQL } from 'drizzle-orm';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JITTER } from '../src/platform/back-off.ts';
import { listen } from '../src/platform/database/notify.ts';
import { createDatabase, createPool, type Database } from '../src/platform/database/pool.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { AddressRules, type Resolve } from '../src/platform/outbound.ts';
import { Resources } from '../src/platform/start.ts';
import { createWebhookDeliverer, startDelivering } from '../src/webhooks/deliver.ts';
import {
  insertDeliveries,
  markDelivered,
  markFailed,
  redeliverOne,
  removeOldDeliveries,
} from '../src/webhooks/deliveries-store.ts';
import { createSender } from '../src/webhooks/send.ts';
import { createTestDatabase, eventually } from './harness.ts';
import { answer, type Received, type Receiver, startReceiver } from './webhook-receiver.ts';

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const SECRET = 'sixteen-characters';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 4, () => undefined);
  db = createDatabase(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let resources = new Resources();
afterEach(async () => {
  await resources[Symbol.asyncDispose]();
  resources = new Resources();
  await pool.query('DELETE FROM webhooks');
});

interface Options {
  readonly limitMs?: number;
  readonly backOff?: readonly number[];
  readonly sweepMs?: number;
  readonly leaseMarginMs?: number;
  readonly resolve?: Resolve;
}

/** Starts the deliveries of one process, with shorter waits. */
const startProcess = async (allowed: readonly string[], options: Options = {}): Promise<Resources> => {
  const { limitMs = 2_000, backOff = [10, 10], sweepMs = 100, leaseMarginMs = 10_000, resolve } = options;
  const process = resources.use(new Resources());
  const send = createSender(new AddressRules(allowed, resolve), Date.now, { limitMs });
  const listener = process.use(await listen(database.url, log));
  process.use(startDelivering({ db, log, listener, send, limitMs, leaseMarginMs, backOff, sweepMs }));
  return process;
};

const receive = async (respond = answer(200)): Promise<Receiver> =>
  resources.use(await startReceiver(respond));

const addHook = async (url: string): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO webhooks (url, secret, kinds, filter, created_by)
     VALUES ($1, $2, '{event.ingested}', '{}', gen_random_uuid()) RETURNING id`,
    [url, SECRET],
  );
  return rows[0]?.id ?? '';
};
const enqueue = async (webhookId: string, count = 1): Promise<string[]> => {
  const deliveries = Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    return { id, webhookId, kind: 'event.ingested' as const, body: `{"id":"${id}","n":${index},"ä":"€"}` };
  });
  await insertDeliveries(db, deliveries);
  return deliveries.map(({ id }) => id);
};

interface Row {
  id: string;
  status: string;
  attempts: number;
  due_at: Date;
  last_status: number | null;
  last_answer: string | null;
  last_error: string | null;
  finished_at: Date | null;
}
const findDelivery = async (id = ''): Promise<Row | undefined> =>
  (await pool.query<Row>('SELECT * FROM webhook_deliveries WHERE id = $1', [id])).rows[0];
const settled = async (id = '', status = 'DELIVERED', ms = 20_000): Promise<Row> => {
  const row = await eventually(
    () => findDelivery(id),
    (found) => found?.status === status,
    ms,
  );
  if (!row) throw new Error('there is no such delivery');
  return row;
};
const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['x-gantry-delivery']);

/** Adds a delivery without a notification: the next sweep finds it. @returns its id */
const insertUnannounced = async (webhookId: string): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO webhook_deliveries (webhook_id, kind, body) VALUES ($1, 'test', '{}') RETURNING id`,
    [webhookId],
  );
  return rows[0]?.id ?? '';
};
/**
 * Waits for a sweep, which has then also found everything that was due before.
 * @returns the id of the delivery that shows it
 */
const aSweepHasPassed = async (receiver: Receiver): Promise<string> => {
  const id = await insertUnannounced(await addHook(receiver.url));
  await eventually(
    async () => idsOf(receiver.received),
    (ids) => ids.includes(id),
  );
  return id;
};

describe('an attempt', () => {
  it('is a POST of exactly the stored bytes, signed over timestamp and body', async () => {
    const receiver = await receive();
    await startProcess([receiver.host]);
    const [id] = await enqueue(await addHook(`${receiver.url}?a=b%20c`));
    const row = await settled(id);
    const [got] = receiver.received;
    const { headers } = got as Received;
    expect(got?.path).toBe('/hook?a=b%20c');
    expect(got?.body).toBe(`{"id":"${id}","n":0,"ä":"€"}`);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['user-agent']).toMatch(/^Gantry\/\d+\.\d+\.\d+/);
    expect(headers['x-gantry-delivery']).toBe(id);
    expect(headers['x-gantry-kind']).toBe('event.ingested');
    const timestamp = String(headers['x-gantry-timestamp']);
    expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).toBeLessThan(30);
    const mac = createHmac('sha256', SECRET)
      .update(Buffer.from(`${timestamp}.${got?.body}`, 'utf8'))
      .digest('hex');
    expect(headers['x-gantry-signature']).toBe(`sha256=${mac}`);
    expect(row).toMatchObject({ attempts: 1, last_status: 200, last_error: null });
    expect(row.finished_at).not.toBe(null);
  });

  it.each([200, 201, 202, 204, 299])('is delivered with status %i', async (status) => {
    const receiver = await receive(answer(status));
    await startProcess([receiver.host]);
    const [id] = await enqueue(await addHook(receiver.url));
    expect(await settled(id)).toMatchObject({ attempts: 1, last_status: status });
  });

  it.each([400, 404, 410, 429, 500, 503])('has failed with status %i', async (status) => {
    const receiver = await receive(answer(status, 'no'));
    await startProcess([receiver.host], { backOff: [] });
    const [id] = await enqueue(await addHook(receiver.url));
    expect(await settled(id, 'DEAD')).toMatchObject({
      last_status: status,
      last_answer: 'no',
      last_error: `It answered with status ${status}`,
    });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with status %i', async (status) => {
    const elsewhere = await receive();
    const receiver = await receive((response) => {
      response.writeHead(status, { location: elsewhere.url }).end();
    });
    await startProcess([receiver.host, elsewhere.host], { backOff: [] });
    const [id] = await enqueue(await addHook(receiver.url));
    const row = await settled(id, 'DEAD');
    expect(row.last_status).toBe(status);
    expect(row.last_error).toContain('redirect');
    expect(elsewhere.received).toEqual([]);
  });

  it('is abandoned at the time limit when the receiver never answers', async () => {
    const receiver = await receive(() => undefined);
    await startProcess([receiver.host], { limitMs: 500, backOff: [] });
    const [id] = await enqueue(await addHook(receiver.url));
    // The attempt is settled although the receiver holds the request open.
    expect((await settled(id, 'DEAD')).last_error).toBe('It did not answer within 0.5 s');
  });

  it('stores the first 1 KB of the answer and discards the rest', async () => {
    let sent = 0;
    const receiver = await receive((response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && sent < 1e9 && response.write('€'.repeat(10_000))) sent += 30_000;
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    await startProcess([receiver.host]);
    const [id] = await enqueue(await addHook(receiver.url));
    const { last_answer: kept } = await settled(id);
    expect(kept).toMatch(/^€+$/);
    expect(Buffer.byteLength(String(kept))).toBeGreaterThan(1_000);
    expect(Buffer.byteLength(String(kept))).toBeLessThanOrEqual(1_024);
    expect(sent).toBeLessThan(20e6);
  });

  it('stores an answer that is not text as far as possible', async () => {
    const receiver = await receive((response) => {
      response.writeHead(200).end(Buffer.from([0x00, 0xff, 0x41, 0xc3]));
    });
    await startProcess([receiver.host]);
    const [id] = await enqueue(await addHook(receiver.url));
    expect((await settled(id)).last_answer).toMatch(/^\ufffd\ufffdA/);
  });

  it('has failed when the connection is refused or breaks, and when the answer is not HTTP', async () => {
    const gone = await startReceiver();
    await gone[Symbol.asyncDispose]();
    const breaking = await receive((response) => response.destroy());
    const strange = createServer((socket) => {
      // The service breaks the connection, which this end may see as an error.
      socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n');
    }).listen(0, '127.0.0.1');
    await once(strange, 'listening');
    resources.onClose(() => strange.close());
    const { port } = strange.address() as AddressInfo;
    await startProcess(['127.0.0.1'], { backOff: [] });
    for (const url of [gone.url, breaking.url, `http://127.0.0.1:${port}/`]) {
      const [id] = await enqueue(await addHook(url));
      const row = await settled(id, 'DEAD');
      expect(row.last_status, url).toBe(null);
      expect(row.last_error?.length, url).toBeGreaterThan(5);
    }
  });

  it.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'])(
    'has failed when only interim answers arrive, without waiting for the time limit: %j',
    async (head) => {
      const url = await startFlood(head);
      await startProcess(['127.0.0.1'], { limitMs: 30_000, backOff: [] });
      const [id] = await enqueue(await addHook(url));
      expect((await settled(id, 'DEAD')).last_error).toBe('It sends interim answers (1xx) only');
    },
  );
});

/** A receiver that sends one answer after another, as fast as they are read. */
const startFlood = async (head: string): Promise<string> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    const pour = () => {
      while (!socket.destroyed && socket.write(head.repeat(100)));
    };
    socket.on('drain', pour);
    pour();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.onClose(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

describe('an internal address', () => {
  it('is refused again when a delivery is sent', async () => {
    const receiver = await receive();
    await startProcess([], { backOff: [] });
    const [id] = await enqueue(await addHook(receiver.url));
    expect((await settled(id, 'DEAD')).last_error).toContain('not on the public internet');
    expect(receiver.received).toEqual([]);
  });

  it('is refused when the name resolves to another address than before', async () => {
    const receiver = await receive();
    const port = new URL(receiver.url).port;
    let asked = 0;
    // The address is public at the first look-up, and internal when the connection is made.
    const rebinding: Resolve = async () => [
      { address: ++asked === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 },
    ];
    const rules = new AddressRules([], rebinding);
    await rules.resolve(rules.parse(`http://rebinding.example:${port}/`));
    await startProcess([], { backOff: [], resolve: rebinding });
    const [id] = await enqueue(await addHook(`http://rebinding.example:${port}/`));
    expect((await settled(id, 'DEAD')).last_error).toContain('not on the public internet');
    expect(asked).toBe(2);
    expect(receiver.received).toEqual([]);
  });

  it('is used as it was checked: the name is resolved once', async () => {
    const receiver = await receive();
    const port = new URL(receiver.url).port;
    let asked = 0;
    const resolve: Resolve = async () => {
      asked++;
      return [{ address: '127.0.0.1', family: 4 }];
    };
    await startProcess(['allowed.example'], { resolve });
    const [id] = await enqueue(await addHook(`http://allowed.example:${port}/`));
    await settled(id);
    expect(asked).toBe(1);
    expect(receiver.received[0]?.headers.host).toBe(`allowed.example:${port}`);
  });
});

describe('a delivery that fails', () => {
  it('is retried until it succeeds, with the same id and body and a new timestamp', async () => {
    const receiver = await receive((response, _received, count) => {
      response.writeHead(count < 4 ? 503 : 200).end();
    });
    await startProcess([receiver.host], { backOff: [10, 10, 10, 10] });
    const [id] = await enqueue(await addHook(receiver.url));
    expect(await settled(id)).toMatchObject({ attempts: 4, last_status: 200, last_error: null });
    expect(idsOf(receiver.received)).toEqual([id, id, id, id]);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it('is dead after the last attempt, and is not retried', async () => {
    const receiver = await receive(answer(500));
    await startProcess([receiver.host], { backOff: [10, 10] });
    const [id] = await enqueue(await addHook(receiver.url));
    const dead = await settled(id, 'DEAD');
    expect(dead).toMatchObject({ attempts: 3, last_status: 500 });
    expect(dead.finished_at).not.toBe(null);
    await aSweepHasPassed(receiver);
    expect(idsOf(receiver.received).filter((received) => received === id)).toHaveLength(3);
  });

  it('is not attempted before it is due', async () => {
    const receiver = await receive(answer(500));
    await startProcess([receiver.host], { backOff: [1_000] });
    const [id] = await enqueue(await addHook(receiver.url));
    await eventually(
      () => findDelivery(id),
      (row) => row?.last_status === 500,
    );
    const began = Date.now();
    await settled(id, 'DEAD');
    expect(Date.now() - began).toBeGreaterThan(1_000 * (1 - JITTER) - 200);
    expect(receiver.received.length).toBe(2);
  });
});

describe('deliveries of a transaction', () => {
  it('are made after its commit, without waiting for a sweep', async () => {
    const receiver = await receive();
    await startProcess([receiver.host], { sweepMs: 3_600_000 });
    const hook = await addHook(receiver.url);
    await settled((await enqueue(hook))[0]);
    const [id] = await enqueue(hook);
    await settled(id, 'DELIVERED', 5_000);
  });

  it('are made by a sweep when the notification was lost', async () => {
    const receiver = await receive();
    await startProcess([receiver.host]);
    const hook = await addHook(receiver.url);
    await settled((await enqueue(hook))[0]);
    await settled(await insertUnannounced(hook));
  });

  it('are not made when it is rolled back', async () => {
    const receiver = await receive();
    await startProcess([receiver.host]);
    const hook = await addHook(receiver.url);
    const rolledBack = inTransaction(db, async (tx) => {
      await insertDeliveries(tx, [{ id: randomUUID(), webhookId: hook, kind: 'event.ingested', body: '{}' }]);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    const [id] = await enqueue(hook);
    await settled(id);
    const later = await aSweepHasPassed(receiver);
    expect(idsOf(receiver.received)).toEqual([id, later]);
  });

  it('leave out a webhook that was deleted or disabled meanwhile', async () => {
    const hook = await addHook('http://127.0.0.1:1/');
    await pool.query('UPDATE webhooks SET enabled = false WHERE id = $1', [hook]);
    expect(await findDelivery((await enqueue(hook))[0])).toBe(undefined);
    expect(await findDelivery((await enqueue(randomUUID()))[0])).toBe(undefined);
  });

  it('are stored, or left out, when their webhook is deleted at the same time', async () => {
    const hook = await addHook('http://127.0.0.1:1/');
    const deleting = await pool.connect();
    await deleting.query('BEGIN');
    await deleting.query('DELETE FROM webhooks WHERE id = $1', [hook]);
    const enqueued = enqueue(hook);
    await eventually(
      async () =>
        (
          await pool.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        ).rowCount,
      (waiting) => waiting === 1,
    );
    await deleting.query('COMMIT');
    deleting.release();
    expect(await findDelivery((await enqueued)[0])).toBe(undefined);
  });
});

describe('a recorded result', () => {
  const result = { status: 500, answer: 'late', error: 'It answered with status 500' };

  it('stays when an older attempt fails afterwards', async () => {
    const [id = ''] = await enqueue(await addHook('http://127.0.0.1:1/'));
    for (const status of ['DELIVERED', 'DEAD']) {
      await pool.query('UPDATE webhook_deliveries SET status = $2, attempts = 1 WHERE id = $1', [id, status]);
      await markFailed(db, { id, number: 1, byHand: 0 }, result, null);
      await markFailed(db, { id, number: 1, byHand: 0 }, result, 10);
      expect(await findDelivery(id)).toMatchObject({ status, last_status: null });
    }
    await markDelivered(db, id, { status: 200, answer: '', error: null });
    expect((await findDelivery(id))?.status).toBe('DEAD');
  });

  it('is that of the attempt in progress: an older one that fails changes nothing', async () => {
    const [id = ''] = await enqueue(await addHook('http://127.0.0.1:1/'));
    await pool.query('UPDATE webhook_deliveries SET attempts = 2 WHERE id = $1', [id]);
    await markFailed(db, { id, number: 1, byHand: 0 }, result, null);
    expect(await findDelivery(id)).toMatchObject({ status: 'PENDING', last_status: null });
    await markFailed(db, { id, number: 2, byHand: 0 }, result, null);
    expect(await findDelivery(id)).toMatchObject({ status: 'DEAD', last_status: 500 });
  });

  it('does not delay an attempt that was requested by hand meanwhile', async () => {
    const [id = ''] = await enqueue(await addHook('http://127.0.0.1:1/'));
    const inProgress = "attempts = 1, due_at = now() + interval '20 seconds'";
    await pool.query(`UPDATE webhook_deliveries SET ${inProgress} WHERE id = $1`, [id]);
    await redeliverOne(db, id);
    const requested = await findDelivery(id);
    await markFailed(db, { id, number: 1, byHand: 0 }, result, 60_000);
    expect(await findDelivery(id)).toEqual(requested);
    expect(requested?.due_at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  });
});

describe('many deliveries', () => {
  it('are found even when they arrive during the search', async () => {
    const hook = await addHook('http://127.0.0.1:1/');
    const steps = new EventEmitter();
    const looked = once(steps, 'looked');
    const mayGoOn = once(steps, 'goOn');
    const sent: string[] = [];
    const slow = {
      execute: async (query: SQL) => {
        const rows = await db.execute(query);
        steps.emit('looked');
        await mayGoOn;
        return rows;
      },
    } as unknown as Database;
    const deliverer = createWebhookDeliverer({
      db: slow,
      log,
      limitMs: 1_000,
      send: async ({ id }) => {
        sent.push(id);
        return { status: 200, answer: '', error: null };
      },
    });
    deliverer.wake(hook);
    await looked;
    const ids = await enqueue(hook, 2);
    deliverer.wake(hook);
    steps.emit('goOn');
    await eventually(
      async () => sent.length,
      (length) => length === 2,
      2_000,
    );
    await deliverer[Symbol.asyncDispose]();
    expect(sent.sort()).toEqual(ids.sort());
  });

  it('all arrive, each once, at most four at a time', async () => {
    let open = 0;
    let most = 0;
    const receiver = await receive((response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.writeHead(200).end();
      }, 5);
    });
    await startProcess([receiver.host]);
    const hook = await addHook(receiver.url);
    const ids = [...(await enqueue(hook, 150)), ...(await enqueue(hook, 150))];
    await eventually(
      async () => receiver.received.length,
      (length) => length >= 300,
      30_000,
    );
    await settled(ids.at(-1));
    expect(idsOf(receiver.received).sort()).toEqual([...ids].sort());
    expect(most).toBe(4);
  });

  it('are shared by processes, each of them made once', async () => {
    const receiver = await receive((response) => {
      setTimeout(() => response.writeHead(200).end(), 5);
    });
    await startProcess([receiver.host]);
    await startProcess([receiver.host]);
    const hook = await addHook(receiver.url);
    const batches = await Promise.all(Array.from({ length: 20 }, () => enqueue(hook, 10)));
    await eventually(
      async () => receiver.received.length,
      (length) => length >= 200,
      30_000,
    );
    const last = await aSweepHasPassed(receiver);
    expect(idsOf(receiver.received).sort()).toEqual([...batches.flat(), last].sort());
  });

  it('do not wait for those of receivers that never answer', async () => {
    const held: ServerResponse[] = [];
    const hanging = await receive((response) => held.push(response));
    const quick = await receive();
    const process = await startProcess([hanging.host, quick.host], { limitMs: 30_000, backOff: [] });
    for (let n = 0; n < 10; n++) await enqueue(await addHook(`${hanging.url}/${n}`), 20);
    const hook = await addHook(quick.url);
    await eventually(
      async () => hanging.received.length,
      (length) => length >= 40,
    );
    for (let n = 0; n < 5; n++) {
      const [id] = await enqueue(hook);
      await settled(id);
      // No hanging attempt has made room for another one to these receivers.
      expect(hanging.received.length).toBe(40);
    }
    const ended = process[Symbol.asyncDispose]();
    for (const response of held) response.destroy();
    await ended;
  });
});

describe('when something fails', () => {
  it('everything arrives, though all connections to the database are closed again and again', async () => {
    const receiver = await receive((response) => {
      setTimeout(() => response.writeHead(200).end(), 10);
    });
    await startProcess([receiver.host], { limitMs: 1_000, leaseMarginMs: 500 });
    const hook = await addHook(receiver.url);
    const ids = await enqueue(hook, 300);
    for (let round = 0; round < 8; round++) {
      await sleep(100);
      await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    }
    expect(receiver.received.length).toBeLessThan(300);
    ids.push(...(await enqueue(hook, 5)));
    await eventually(
      async () => (await pool.query(`SELECT FROM webhook_deliveries WHERE status <> 'DELIVERED'`)).rowCount,
      (open) => open === 0,
      50_000,
    );
    expect(new Set(idsOf(receiver.received))).toEqual(new Set(ids));
  });

  it('a delivery whose process has ended is made by another one', async () => {
    const receiver = await receive();
    const hook = await addHook(receiver.url);
    const [id] = await enqueue(hook);
    const leased = performance.now();
    // Claimed by a process that then died.
    await pool.query(
      `UPDATE webhook_deliveries SET attempts = 1, due_at = now() + interval '1 second' WHERE id = $1`,
      [id],
    );
    await startProcess([receiver.host]);
    expect((await settled(id)).attempts).toBe(2);
    // Not before the lease ended, although sweeps looked for due deliveries in the meantime.
    expect(performance.now() - leased).toBeGreaterThan(900);
  });

  it('stopping waits for attempts in progress and begins no others', async () => {
    const receiver = await receive((response) => {
      setTimeout(() => response.writeHead(200).end(), 500);
    });
    const process = await startProcess([receiver.host]);
    const ids = await enqueue(await addHook(receiver.url), 10);
    await eventually(
      async () => receiver.received.length,
      (length) => length === 4,
    );
    await process[Symbol.asyncDispose]();
    const rows = await Promise.all(ids.map(findDelivery));
    expect(rows.filter((row) => row?.status === 'DELIVERED').length).toBe(4);
    expect(rows.filter((row) => row?.attempts === 0).length).toBe(6);
    expect(receiver.received.length).toBe(4);
  });

  it('an attempt that fails while its process stops is not the last one, but repeated by another process', async () => {
    const held: ServerResponse[] = [];
    const receiver = await receive((response) => held.push(response));
    const short = { limitMs: 2_000, leaseMarginMs: 100, backOff: [] };
    const process = await startProcess([receiver.host], short);
    const [id] = await enqueue(await addHook(receiver.url));
    await eventually(
      async () => held.length,
      (length) => length === 1,
    );
    const stopped = process[Symbol.asyncDispose]();
    held[0]?.destroy();
    await stopped;
    expect(await findDelivery(id)).toMatchObject({ status: 'PENDING', attempts: 1, last_error: null });
    receiver.respond = answer(200);
    await startProcess([receiver.host], short);
    expect((await settled(id)).attempts).toBe(2);
  });
});

describe('old deliveries', () => {
  const never = () => false;
  it('are removed 30 days after they were created; dead and pending ones are kept', async () => {
    const hook = await addHook('http://127.0.0.1:1/');
    const [old, recent, dead, pending] = await enqueue(hook, 4);
    const age = (id: string | undefined, days: number, status: string) =>
      pool.query(
        `UPDATE webhook_deliveries SET status = $3, created_at = now() - $2 * interval '1 day',
           finished_at = CASE $3 WHEN 'PENDING' THEN NULL ELSE now() - $2 * interval '1 day' END WHERE id = $1`,
        [id, days, status],
      );
    await age(old, 31, 'DELIVERED');
    await age(recent, 29, 'DELIVERED');
    await age(dead, 400, 'DEAD');
    await age(pending, 400, 'PENDING');
    await removeOldDeliveries(db, 100, never);
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM webhook_deliveries');
    expect(rows.map(({ id }) => id).sort()).toEqual([recent, dead, pending].sort());
  });

  it('are all removed in one run, however many there are', async () => {
    const hook = await addHook('http://127.0.0.1:1/');
    await enqueue(hook, 25);
    const old = "now() - interval '31 days'";
    await pool.query(
      `UPDATE webhook_deliveries SET status = 'DELIVERED', created_at = ${old}, finished_at = ${old}`,
    );
    await removeOldDeliveries(db, 10, never);
    expect((await pool.query('SELECT FROM webhook_deliveries')).rowCount).toBe(0);
  });
});

import { createHmac, randomUUID } from 'node:crypto';
import { permissions, role } from '@gantry/contract/permissions';
import { listDeliveriesInput, webhookKind } from '@gantry/contract/webhooks';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { createApp } from '../src/programs/app.ts';
import { publish } from '../src/realtime/publish.ts';
import { insertDeliveries, listDeliveries, redeliverDead } from '../src/webhooks/deliveries-store.ts';
import { matchesKind, occurrencesOf } from '../src/webhooks/matching.ts';
import { eventually, type Gantry, sharedGantry } from './harness.ts';
import { processorMs } from './processor-time.ts';
import { answer, type Received, startReceiver } from './webhook-receiver.ts';

interface WebhookJson {
  id: string;
  url: string;
  description: string | null;
  kinds: string[];
  filter: Record<string, unknown>;
  enabled: boolean;
  createdBy: { id: string; name: string };
  secret?: string;
  pending: number;
  dead: number;
  lastDelivery: { at: string; status: string; error: string | null } | null;
}
interface DeliveryJson {
  id: string;
  webhookId: string;
  kind: string;
  status: string;
  attempts: number;
  dueAt: string | null;
  lastStatus: number | null;
  lastAnswer: string | null;
  lastError: string | null;
  finishedAt: string | null;
  body: string;
}

const receiver = await startReceiver();
const gantry = await sharedGantry({
  config: { WEBHOOK_ALLOW_HOSTS: `localhost, ${receiver.host}` },
  overrides: { timings: { sweepDeliveriesMs: 100 } },
});
const token = await gantry.tokenFor('ADMIN');
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
});
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.respond = answer(200, 'thank you');
  await gantry.pool.query('DELETE FROM webhooks');
  await gantry.app.context.webhooks.refresh();
});

const ok = <Output = WebhookJson>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input?: unknown) => gantry.refusal(procedure, input, { token });
const addHook = (fields: Record<string, unknown> = {}): Promise<WebhookJson & { secret: string }> =>
  ok('webhooks.create', { url: receiver.url, kinds: ['event.ingested'], ...fields });
const deliveries = async (input: Record<string, unknown> = {}): Promise<DeliveryJson[]> =>
  (await ok<{ deliveries: DeliveryJson[] }>('webhooks.getDeliveries', input)).deliveries;
const arrivals = (count: number) =>
  eventually(
    async () => receiver.received,
    ({ length }) => length >= count,
  );

/** Another process on the same database. */
const startGantryOn = ({ app }: Gantry) => createApp({ ...app.context.config }, pino({ level: 'silent' }));

const KEYS = [
  'createdAt',
  'createdBy',
  'description',
  'enabled',
  'filter',
  'id',
  'kinds',
  'updatedAt',
  'url',
] as const;
const STRANGE_IDS = ['x', 'constructor', "'; DROP TABLE webhooks; --", '\u0000', '\ud800', randomUUID()];

const signed = ({ headers, body }: Received, secret: string): boolean =>
  headers['x-gantry-signature'] ===
  `sha256=${createHmac('sha256', secret).update(`${headers['x-gantry-timestamp']}.${body}`).digest('hex')}`;

const settled = (id: string, status = 'DELIVERED') =>
  eventually(
    async () => (await deliveries()).find((delivery) => delivery.id === id),
    (delivery) => delivery?.status === status,
  );

describe('webhooks.create', () => {
  it('returns the webhook with a generated secret, which is never returned again', async () => {
    const hook = await addHook({ description: '  Dispatch centre ', filter: { minSeverity: 'HIGH' } });
    expect(Object.keys(hook).sort()).toEqual([...KEYS, 'secret'].sort());
    expect(hook).toMatchObject({
      url: receiver.url,
      description: 'Dispatch centre',
      kinds: ['event.ingested'],
      filter: { minSeverity: 'HIGH' },
      enabled: true,
      createdBy: { name: 'First Administrator' },
    });
    expect(hook.secret).toMatch(/^whsec_[0-9a-f]{64}$/);
    const { secret: _, ...shown } = hook;
    const found = await ok('webhooks.getById', { id: hook.id });
    expect(found).toEqual({ ...shown, pending: 0, dead: 0, lastDelivery: null });
    const everything = JSON.stringify([
      await ok('webhooks.getAll'),
      await ok('webhooks.update', { id: hook.id, description: 'x' }),
      (await gantry.pool.query('SELECT * FROM activity')).rows,
    ]);
    expect(everything).not.toContain(hook.secret);
    expect(everything).not.toContain('"secret":');
  });

  it('accepts a secret of the caller and signs with it', async () => {
    const secret = 'Ω'.repeat(16);
    const hook = await addHook({ secret });
    expect(hook.secret).toBe(secret);
    await ok('webhooks.test', { id: hook.id });
    const [got] = await arrivals(1);
    expect(signed(got as Received, secret)).toBe(true);
  });

  it.each([
    [{ url: '' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ url: 'ftp://example.org/' }, 'url'],
    [{ url: `http://93.184.216.34/${'x'.repeat(2048)}` }, 'url'],
    [{ url: 'http://user:pass@93.184.216.34/' }, 'url'],
    [{ url: 'http://127.0.0.1:1/' }, 'url'],
    [{ url: 'http://2130706433/' }, 'url'],
    [{ url: 'http://[::ffff:7f00:1]/' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://no-such-host.invalid/' }, 'url'],
    [{ url: 7 }, 'url'],
    [{ kinds: [] }, 'kinds'],
    [{ kinds: ['test'] }, 'kinds'],
    [{ kinds: ['event.deleted'] }, 'kinds'],
    [{ kinds: 'event.ingested' }, 'kinds'],
    [{ secret: 'x'.repeat(15) }, 'secret'],
    [{ secret: 'x'.repeat(201) }, 'secret'],
    [{ secret: '\u0000'.repeat(16) }, 'secret'],
    [{ description: 'd'.repeat(501) }, 'description'],
    [{ enabled: 'yes' }, 'enabled'],
    [{ filter: { minSeverity: 'WORST' } }, 'filter'],
    [{ filter: { eventType: 'PARTY' } }, 'filter'],
    [{ filter: { licensePlateNumber: '\u0000' } }, 'filter'],
    [{ filter: { sensorId: '\u0000' } }, 'filter'],
    [{ filter: { sensorId: '\ud800' } }, 'filter'],
    [{ filter: { plateRegion: 'ZZ' } }, 'filter'],
    [{ filter: { minConfidence: 0.5 } }, 'filter'],
    [{ filter: { lane: 17 } }, 'filter'],
    [{ filter: { direction: 'UP' } }, 'filter'],
    [{ filter: 'all' }, 'filter'],
  ])('refuses %j and stores nothing', async (fields, path) => {
    const { status, data } = await refusal('webhooks.create', {
      url: receiver.url,
      kinds: ['event.ingested'],
      ...fields,
    });
    expect(status).toBe(400);
    expect(data.issues[0].path.split('.')[0]).toBe(path);
    expect((await ok<{ total: number }>('webhooks.getAll')).total).toBe(0);
  });

  it('explains why an address is refused', async () => {
    const at = async (url: string) =>
      (await refusal('webhooks.create', { url, kinds: ['event.ingested'] })).data.issues[0].message;
    expect(await at('http://10.1.2.3/')).toContain('10.1.2.3 is not on the public internet');
    expect(await at('http://no-such-host.invalid/')).toContain('cannot be resolved');
    expect(await at('http://a:b@93.184.216.34/')).toContain('user name and password');
  });

  it('stores an address in its canonical form, and accepts a name that is an exception', async () => {
    expect((await addHook({ url: 'http://93.184.216.34' })).url).toBe('http://93.184.216.34/');
    expect((await addHook({ url: 'http://LOCALHOST:80/ä' })).url).toBe('http://localhost/%C3%A4');
  });

  it('is limited to a hundred, even for concurrent calls', async () => {
    await gantry.pool.query(
      `INSERT INTO webhooks (url, secret, kinds, filter, created_by)
       SELECT 'http://93.184.216.34/', 'x', '{event.ingested}', '{}', gen_random_uuid() FROM generate_series(1, 97)`,
    );
    const input = { url: receiver.url, kinds: ['sensor.statusChanged'] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => gantry.call('webhooks.create', input, { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
    expect((await refusal('webhooks.create', input)).message).toContain('There are 100 webhooks already');
  });
});

describe('webhooks.update', () => {
  it('changes the given fields, replaces the filter and clears the description', async () => {
    const hook = await addHook({
      description: 'words',
      filter: { eventType: 'INCIDENT', vehicleType: 'BUS' },
    });
    const changed = await ok('webhooks.update', {
      id: hook.id,
      kinds: ['watchlist.alert', 'incident.changed', 'watchlist.alert'],
      filter: { locationName: 'Main Street' },
      description: null,
    });
    expect(changed).toMatchObject({
      url: hook.url,
      kinds: ['watchlist.alert', 'incident.changed'],
      filter: { locationName: 'Main Street' },
      description: null,
      enabled: true,
    });
    expect(changed.secret).toBe(undefined);
  });

  it('returns a new secret once on request, and signs with it from then on', async () => {
    const hook = await addHook();
    const { secret } = await ok('webhooks.update', { id: hook.id, rotateSecret: true });
    expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
    expect(secret).not.toBe(hook.secret);
    await ok('webhooks.test', { id: hook.id });
    const [got] = await arrivals(1);
    expect(signed(got as Received, String(secret))).toBe(true);
    expect(signed(got as Received, hook.secret)).toBe(false);
  });

  it('checks a new address like the first one', async () => {
    const hook = await addHook();
    const { status, data } = await refusal('webhooks.update', { id: hook.id, url: 'http://127.1:1/' });
    expect(status).toBe(400);
    expect(data.issues[0].path).toBe('url');
    expect((await ok('webhooks.getById', { id: hook.id })).url).toBe(hook.url);
  });

  it('keeps pending deliveries while it is disabled, and sends them once it is enabled', async () => {
    receiver.respond = answer(500);
    const hook = await addHook();
    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id: hook.id });
    await arrivals(1);
    await ok('webhooks.update', { id: hook.id, enabled: false });
    await gantry.pool.query('UPDATE webhook_deliveries SET due_at = now()');
    await ok('webhooks.redeliver', { id: deliveryId });
    // Another delivery without a notification: when it arrives, a sweep has found everything that is due.
    const other = await addHook();
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body) VALUES ($1, 'test', '{}')`,
      [other.id],
    );
    await arrivals(2);
    const received = () => receiver.received.map(({ headers }) => headers['x-gantry-delivery']);
    expect(received().filter((id) => id === deliveryId)).toHaveLength(1);
    await ok('webhooks.delete', { id: other.id });
    expect(await ok('webhooks.getById', { id: hook.id })).toMatchObject({
      enabled: false,
      pending: 1,
      lastDelivery: { status: 'PENDING', error: expect.stringContaining('500') },
    });
    expect((await refusal('webhooks.test', { id: hook.id })).message).toContain('disabled');
    receiver.respond = answer(200);
    await ok('webhooks.update', { id: hook.id, enabled: true });
    await settled(deliveryId);
    expect(received().filter((id) => id === deliveryId)).toHaveLength(2);
  });
});

describe('webhooks.delete', () => {
  it('deletes the webhook with its pending deliveries', async () => {
    receiver.respond = answer(500);
    const hook = await addHook();
    await ok('webhooks.test', { id: hook.id });
    await arrivals(1);
    expect(await ok('webhooks.delete', { id: hook.id })).toEqual({ success: true, id: hook.id });
    expect((await refusal('webhooks.getById', { id: hook.id })).status).toBe(404);
    expect(await deliveries()).toEqual([]);
    expect(gantry.app.context.webhooks.wantsEvents()).toBe(false);
  });

  it('delays no transaction that adds deliveries while the present ones are removed', async () => {
    const hook = await addHook();
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status) SELECT $1, 'test', '{}', 'DEAD' FROM generate_series(1, 20001)`,
      [hook.id],
    );
    const busy = await gantry.pool.connect();
    await busy.query('BEGIN');
    await busy.query(
      'SELECT FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1 FOR UPDATE',
      [hook.id],
    );
    const deleted = ok('webhooks.delete', { id: hook.id });
    try {
      await eventually(
        async () =>
          (
            await gantry.pool.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            )
          ).rowCount,
        (waiting) => waiting === 1,
      );
      const late = { id: randomUUID(), webhookId: hook.id, kind: 'test' as const, body: '{}' };
      await inTransaction(gantry.app.context.db, async (tx) => {
        await tx.execute(sql`SET LOCAL lock_timeout = '2s'`);
        await insertDeliveries(tx, [late]);
      });
    } finally {
      await busy.query('COMMIT');
      busy.release();
    }
    expect(await deleted).toEqual({ success: true, id: hook.id });
    expect(await deliveries()).toEqual([]);
  });
});

describe('webhooks.getAll', () => {
  it('pages in the order of creation, with the state of deliveries', async () => {
    const hooks = [await addHook(), await addHook(), await addHook()];
    const page = await ok<{ webhooks: WebhookJson[]; total: number; pageCount: number }>('webhooks.getAll', {
      skip: 1,
      take: 1,
    });
    expect(page).toMatchObject({ total: 3, pageCount: 3 });
    expect(page.webhooks.map(({ id }) => id)).toEqual([hooks[1]?.id]);
    const backwards = await ok<{ webhooks: WebhookJson[] }>('webhooks.getAll', { sortOrder: 'desc' });
    expect(backwards.webhooks.map(({ id }) => id)).toEqual(hooks.map(({ id }) => id).reverse());

    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id: hooks[0]?.id });
    await settled(deliveryId);
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, due_at)
       SELECT $1, 'test', '{}', status, now() + interval '1 day' FROM unnest('{PENDING,PENDING,DEAD}'::text[]) AS status`,
      [hooks[0]?.id],
    );
    const [first] = (await ok<{ webhooks: WebhookJson[] }>('webhooks.getAll')).webhooks;
    expect(first).toMatchObject({ pending: 2, dead: 1, lastDelivery: { status: 'DELIVERED', error: null } });
  });
});

describe('webhooks.getDeliveries', () => {
  it('returns what was sent, when, and the answer', async () => {
    const hook = await addHook();
    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id: hook.id });
    await settled(deliveryId);
    const [got] = receiver.received;
    const [delivery] = await deliveries({ webhookId: hook.id });
    expect(delivery).toEqual({
      id: deliveryId,
      webhookId: hook.id,
      kind: 'test',
      status: 'DELIVERED',
      attempts: 1,
      dueAt: null,
      createdAt: expect.any(String),
      lastAttemptAt: expect.any(String),
      finishedAt: expect.any(String),
      lastStatus: 200,
      lastAnswer: 'thank you',
      lastError: null,
      body: got?.body,
    });
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      id: deliveryId,
      kind: 'test',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      data: { webhookId: hook.id, message: 'This is a test.' },
    });
  });

  it('filters and pages, newest first', async () => {
    const [one, two] = [await addHook(), await addHook()];
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, due_at, created_at)
       SELECT CASE WHEN n % 2 = 0 THEN $1::uuid ELSE $2::uuid END,
         CASE WHEN n % 3 = 0 THEN 'test' ELSE 'event.ingested' END, n::text,
         CASE WHEN n % 5 = 0 THEN 'DEAD' ELSE 'PENDING' END, now() + interval '1 day', now() + n * interval '1 second'
       FROM generate_series(1, 30) AS n`,
      [one.id, two.id],
    );
    const found = async (input: Record<string, unknown>) =>
      (await deliveries(input)).map(({ body }) => Number(body));
    const all = Array.from({ length: 30 }, (_, index) => 30 - index);
    expect(await found({})).toEqual(all);
    expect(await found({ sortOrder: 'asc', skip: 5, take: 3 })).toEqual([6, 7, 8]);
    expect(await found({ webhookId: one.id })).toEqual(all.filter((n) => n % 2 === 0));
    expect(await found({ kind: 'test', status: 'DEAD' })).toEqual([30, 15]);
    expect(await ok('webhooks.getDeliveries', { webhookId: two.id, status: 'DEAD', take: 2 })).toMatchObject({
      total: 3,
      pageCount: 2,
    });
    expect((await refusal('webhooks.getDeliveries', { take: 101 })).status).toBe(400);
    expect((await refusal('webhooks.getDeliveries', { status: 'LOST' })).status).toBe(400);
  });
});

describe('webhooks.getDeliveries within a range', () => {
  it('lists and counts only deliveries that were created in it', async () => {
    const hook = await addHook({ enabled: false });
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, created_at)
       SELECT $1, 'test', n::text, 'DELIVERED', timestamptz '2026-03-01 12:00Z' + n * interval '1 day'
       FROM generate_series(0, 9) AS n`,
      [hook.id],
    );
    const list = async (range: object) => {
      const page = await ok<{ total: number; deliveries: DeliveryJson[] }>('webhooks.getDeliveries', {
        webhookId: hook.id,
        sortOrder: 'asc',
        ...range,
      });
      return [page.total, page.deliveries.map(({ body }) => Number(body))];
    };
    expect(await list({ startDate: '2026-03-03', endDate: '2026-03-06', skip: 1, take: 2 })).toEqual([
      4,
      [3, 4],
    ]);
    expect(await list({ startDate: '2026-03-09T12:00:00Z' })).toEqual([2, [8, 9]]);
    expect(await list({ endDate: '2026-03-01' })).toEqual([1, [0]]);
    const reversed = { startDate: '2026-03-02', endDate: '2026-03-01' };
    expect((await refusal('webhooks.getDeliveries', reversed)).status).toBe(400);
  });

  it('uses an index', async () => {
    const hook = await addHook({ enabled: false });
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, created_at)
       SELECT $1, 'test', '{}', 'DELIVERED', now() - n * interval '1 minute' FROM generate_series(1, 20000) AS n`,
      [hook.id],
    );
    await gantry.pool.query('ANALYZE webhook_deliveries');
    const sent: { text: string; values: unknown[] }[] = [];
    const logQuery = (text: string, values: unknown[]) => sent.push({ text, values });
    const db = drizzle({ client: gantry.pool, logger: { logQuery } });
    const now = Date.now();
    const day = { from: now - 2 * 86_400_000, until: now - 86_400_000 };
    for (const interval of [day, { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }]) {
      sent.length = 0;
      await listDeliveries(db, listDeliveriesInput.parse({}), interval);
      const plans = await Promise.all(
        sent.map(async ({ text, values }) => {
          const { rows } = await gantry.pool.query(`EXPLAIN ${text}`, values);
          return rows.map((row) => row['QUERY PLAN']).join('\n');
        }),
      );
      expect(plans[0]).toMatch(/Scan Backward using webhook_deliveries_by_time/);
      // Which one depends on whether the table was vacuumed meanwhile.
      if (interval === day) expect(plans[1]).toMatch(/Index (Only )?Scan using webhook_deliveries_/);
    }
    await ok('webhooks.delete', { id: hook.id });
  });
});

describe('webhooks.redeliver', () => {
  it('sends a dead or delivered one again, with the same id and body', async () => {
    const hook = await addHook();
    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id: hook.id });
    await settled(deliveryId);
    await gantry.pool.query(`UPDATE webhook_deliveries SET attempts = 13, status = 'DEAD'`);
    expect(await ok('webhooks.redeliver', { id: deliveryId })).toEqual({ count: 1 });
    expect((await settled(deliveryId))?.attempts).toBe(1);
    expect(await ok('webhooks.redeliver', { id: deliveryId })).toEqual({ count: 1 });
    await arrivals(3);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    await settled(deliveryId);
  });

  it('makes a pending one due at once', async () => {
    receiver.respond = answer(500);
    const hook = await addHook();
    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id: hook.id });
    await arrivals(1);
    receiver.respond = answer(200);
    await eventually(deliveries, ([delivery]) => delivery?.lastStatus === 500);
    await ok('webhooks.redeliver', { id: deliveryId });
    expect((await settled(deliveryId))?.attempts).toBe(2);
  });

  it('sends all dead ones of a webhook again, and no others', async () => {
    const [hook, other] = [await addHook(), await addHook()];
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, finished_at)
       SELECT hook, 'test', n::text, CASE WHEN n > 3 THEN 'DEAD' ELSE 'DELIVERED' END, now()
       FROM unnest($1::uuid[]) AS hook, generate_series(1, 10) AS n`,
      [[hook.id, other.id]],
    );
    expect(await ok('webhooks.redeliver', { webhookId: hook.id, status: 'DEAD' })).toEqual({ count: 7 });
    await arrivals(7);
    await eventually(
      () => deliveries({ webhookId: hook.id, status: 'DELIVERED' }),
      ({ length }) => length === 10,
    );
    expect(receiver.received.map(({ body }) => Number(body)).sort((a, b) => a - b)).toEqual([
      4, 5, 6, 7, 8, 9, 10,
    ]);
    expect((await deliveries({ webhookId: other.id, status: 'DEAD' })).length).toBe(7);
    expect(await ok('webhooks.redeliver', { webhookId: hook.id, status: 'DEAD' })).toEqual({ count: 0 });
  });

  it('makes very many dead ones due in several transactions, each of them once', async () => {
    const [hook, other] = [await addHook({ enabled: false }), await addHook()];
    await gantry.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, finished_at)
       SELECT hook, 'test', n::text, 'DEAD', now() FROM unnest($1::uuid[]) AS hook, generate_series(1, 10) AS n`,
      [[hook.id, other.id]],
    );
    const record = vi.fn(async () => undefined);
    expect(await redeliverDead(gantry.app.context.db, hook.id, 3, record)).toBe(10);
    expect(record.mock.calls.map(([, count]: unknown[]) => count)).toEqual([3, 3, 3, 1]);
    expect((await deliveries({ webhookId: hook.id, status: 'PENDING' })).length).toBe(10);
    expect((await deliveries({ webhookId: other.id, status: 'DEAD' })).length).toBe(10);
  });

  it.each([{}, { webhookId: 'x' }, { webhookId: 'x', status: 'PENDING' }, { id: '' }])(
    'refuses %j',
    async (input) => {
      expect((await refusal('webhooks.redeliver', input)).status).toBe(400);
    },
  );
});

describe('an occurrence', () => {
  const change = {
    sensorId: randomUUID(),
    sensorName: 'Mast 7',
    from: 'ONLINE',
    to: 'OFFLINE',
    at: new Date('2026-01-31T08:15:00.000Z'),
    reason: 'silence',
  } as const;
  const publishChange = (body = change): Promise<void> =>
    inTransaction(gantry.app.context.db, (tx) =>
      publish(gantry.app.context, tx, [{ topic: 'sensors', body }]),
    );
  const ingest = async (apiKey: string, fields: Record<string, unknown> = {}): Promise<string> =>
    (await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', ...fields })).eventId;

  it('reaches subscribers of its kind, in the form of the contract', async () => {
    const hook = await addHook({ kinds: ['sensor.statusChanged'] });
    await addHook({ kinds: ['watchlist.alert', 'incident.changed', 'event.violation'] });
    await publishChange();
    const [got] = await arrivals(1);
    expect(JSON.parse(String(got?.body))).toEqual({
      id: got?.headers['x-gantry-delivery'],
      kind: 'sensor.statusChanged',
      createdAt: expect.any(String),
      data: { ...change, at: '2026-01-31T08:15:00.000Z' },
    });
    expect(signed(got as Received, hook.secret)).toBe(true);
    expect((await deliveries()).length).toBe(1);
  });

  it('is sent for a change of a case, as the stream sends it', async () => {
    const hook = await addHook({ kinds: ['case.changed'], filter: { violationType: 'red_light' } });
    const apiKey = await gantry.registerSensor();
    const open = async (violationType: string) =>
      ok('cases.open', { eventId: await ingest(apiKey, { eventType: 'TRAFFIC_VIOLATION', violationType }) });
    await open('SPEEDING');
    const { id } = await open('RED_LIGHT');
    const [got] = await arrivals(1);
    expect(JSON.parse(String(got?.body))).toMatchObject({
      kind: 'case.changed',
      data: {
        action: 'opened',
        case: { id, violationType: 'RED_LIGHT', state: 'NEW' },
        by: { name: expect.any(String) },
      },
    });
    expect(signed(got as Received, hook.secret)).toBe(true);
    expect((await deliveries()).length).toBe(1);
  });

  it('is not sent when its transaction is rolled back', async () => {
    await addHook({ kinds: ['sensor.statusChanged'] });
    const { context } = gantry.app;
    const rolledBack = inTransaction(context.db, async (tx) => {
      await publish(context, tx, [{ topic: 'sensors', body: change }]);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(await deliveries()).toEqual([]);
  });

  it('is sent for an event, and for a violation as both kinds', async () => {
    await addHook({ kinds: ['event.ingested', 'event.violation'] });
    const apiKey = await gantry.registerSensor();
    const ids = [
      await ingest(apiKey),
      await ingest(apiKey, { eventType: 'TRAFFIC_VIOLATION' }),
      await ingest(apiKey, { eventType: 'SEATBELT_VIOLATION' }),
      await ingest(apiKey, { eventType: 'SPEED_DETECTION', violationType: 'SPEEDING' }),
    ];
    await arrivals(7);
    const sent = (kind: string) =>
      receiver.received
        .filter(({ headers }) => headers['x-gantry-kind'] === kind)
        .map(({ body }) => JSON.parse(body).data.id)
        .sort();
    expect(sent('event.ingested')).toEqual([...ids].sort());
    expect(sent('event.violation')).toEqual(ids.slice(1).sort());
    const listed = await ok('events.getById', { id: ids[3] });
    const event = receiver.received.map(({ body }) => JSON.parse(body).data).find(({ id }) => id === ids[3]);
    expect(listed).toMatchObject(event);
  });

  it('is sent by every process of a database within a second, and no longer after a deletion', async () => {
    await using second = await startGantryOn(gantry);
    const hook = await addHook();
    const { webhooks } = second.context;
    await eventually(
      async () => webhooks.wantsEvents(),
      (wants) => wants,
      1_000,
    );
    await ok('webhooks.delete', { id: hook.id });
    await eventually(
      async () => webhooks.wantsEvents(),
      (wants) => !wants,
      1_000,
    );
  });
});

describe('a filter', () => {
  const event = {
    id: randomUUID(),
    eventType: 'TRAFFIC_VIOLATION',
    description: null,
    timestamp: new Date(),
    sensorId: randomUUID(),
    sensorName: 'Mast 7',
    processed: false,
    archived: false,
    violationType: 'SPEEDING',
    licensePlateNumber: '1AB 2345',
    vehicleType: 'Car',
    vehicleSpeed: 63,
    plateRegion: 'US-CA',
    plateConfidence: 97,
    lane: 2,
    direction: 'NB',
    locationName: 'Main Street',
    severity: 'MEDIUM',
    createdAt: new Date(),
  } as const;
  const incident = { incident: { sensorId: event.sensorId, severity: 'MEDIUM' } };
  const status = { sensorId: event.sensorId };
  const alert = {
    sensorId: event.sensorId,
    licensePlateNumber: '1ab2345',
    locationName: 'MAIN STREET',
    priority: 'MEDIUM',
  };

  it.each([
    [{}, 'event incident status alert'],
    [{ eventType: 'TRAFFIC_VIOLATION' }, 'event incident status alert'],
    [{ eventType: 'INCIDENT' }, 'incident status alert'],
    [{ violationType: 'speeding' }, 'event incident status alert'],
    [{ violationType: 'RED_LIGHT' }, 'incident status alert'],
    [{ vehicleType: 'CAR' }, 'event incident status alert'],
    [{ vehicleType: 'BUS' }, 'incident status alert'],
    [{ licensePlateNumber: '1ab-*45' }, 'event incident status alert'],
    [{ licensePlateNumber: '9*' }, 'incident status'],
    [{ locationName: 'main street' }, 'event incident status alert'],
    [{ locationName: 'Main' }, 'incident status'],
    [{ sensorId: event.sensorId.toUpperCase() }, 'event incident status alert'],
    [{ sensorId: randomUUID() }, ''],
    [{ plateRegion: 'US', minConfidence: 97, lane: 2, direction: 'NB' }, 'event incident status alert'],
    [{ plateRegion: 'US-CA' }, 'event incident status alert'],
    [{ plateRegion: 'US-TX' }, 'incident status alert'],
    [{ minConfidence: 98 }, 'incident status alert'],
    [{ lane: 'bus' }, 'incident status alert'],
    [{ direction: 'SB' }, 'incident status alert'],
    [{ minSeverity: 'MEDIUM' }, 'event incident status alert'],
    [{ minSeverity: 'HIGH' }, 'status'],
    [{ minSeverity: 'LOW', locationName: 'Elsewhere' }, 'incident status'],
  ] as const)('of %j matches: %s', (filter, expected) => {
    const passing = {
      event: matchesKind('event.ingested', filter)(event),
      incident: matchesKind('incident.changed', filter)(incident),
      status: matchesKind('sensor.statusChanged', filter)(status),
      alert: matchesKind('watchlist.alert', filter)(alert),
    };
    const names = Object.entries(passing).flatMap(([name, passes]) => (passes ? [name] : []));
    expect(names.join(' ')).toBe(expected);
  });

  it('does not match an unknown severity or field', () => {
    expect(matchesKind('event.ingested', { minSeverity: 'LOW' })({ ...event, severity: null })).toBe(false);
    expect(matchesKind('event.violation', { locationName: 'x' })({ ...event, locationName: null })).toBe(
      false,
    );
  });

  it('excludes other occurrences from the deliveries', async () => {
    const { webhooks, db } = gantry.app.context;
    await addHook({ filter: { minSeverity: 'HIGH' } });
    const urgent = { ...event, id: randomUUID(), severity: 'CRITICAL' } as const;
    expect([event, urgent].map(webhooks.wantsEvent)).toEqual([false, true]);
    await webhooks.enqueue(db, [event, urgent].flatMap(occurrencesOf));
    expect((await deliveries()).map(({ body }) => JSON.parse(body).data.id)).toEqual([urgent.id]);
  });

  it('takes little processor time for each event', async () => {
    const { webhooks } = gantry.app.context;
    await addHook({ filter: { licensePlateNumber: 'XY*' } });
    await addHook({ kinds: ['event.violation'], filter: { minSeverity: 'CRITICAL' } });
    const events = Array.from({ length: 20_000 }, () => event);
    for (const each of events) webhooks.wantsEvent(each);
    const work = await processorMs(() => {
      for (const each of events) webhooks.wantsEvent(each);
    });
    expect(work / events.length).toBeLessThan(0.05);
  });
});

describe('every webhooks procedure', () => {
  const VERBS = ['getAll', 'getById', 'create', 'update', 'delete', 'test', 'getDeliveries', 'redeliver'];

  it('finds nothing by an unusual id, whatever its format', async () => {
    for (const id of STRANGE_IDS) {
      for (const verb of ['getById', 'update', 'delete', 'test', 'redeliver'])
        expect((await refusal(`webhooks.${verb}`, { id })).status, `${verb} ${id}`).toBe(404);
      const dead = { webhookId: id, status: 'DEAD' };
      expect((await refusal('webhooks.redeliver', dead)).status, id).toBe(404);
    }
    expect((await refusal('webhooks.getById', { id: '' })).status).toBe(400);
  });

  it.each(role.options)('requires System Settings: %s', async (name) => {
    const own = await gantry.tokenFor(name);
    const may = (permissions.systemSettings as readonly string[]).includes(name);
    for (const verb of VERBS) {
      const { status } = await gantry.call(`webhooks.${verb}`, { take: 'x' }, { token: own });
      expect(status, verb).toBe(may ? 400 : 403);
      expect((await gantry.call(`webhooks.${verb}`, { take: 'x' })).status, verb).toBe(401);
    }
  });

  it('records changes in the activity log', async () => {
    const { id } = await addHook();
    await ok('webhooks.update', { id, enabled: true, rotateSecret: true });
    const { deliveryId } = await ok<{ deliveryId: string }>('webhooks.test', { id });
    await settled(deliveryId);
    await ok('webhooks.redeliver', { id: deliveryId });
    await ok('webhooks.redeliver', { webhookId: id, status: 'DEAD' });
    await ok('webhooks.delete', { id });
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'webhookId' = $1 OR details ->> 'deliveryId' = $2 ORDER BY id`,
      [id, deliveryId],
    );
    const { url } = receiver;
    expect(rows).toEqual([
      { action: 'webhooks.create', details: { webhookId: id, url, kinds: ['event.ingested'] } },
      { action: 'webhooks.update', details: { webhookId: id, url, fields: ['enabled', 'rotateSecret'] } },
      { action: 'webhooks.test', details: { webhookId: id, deliveryId } },
      { action: 'webhooks.redeliver', details: { deliveryId } },
      { action: 'webhooks.redeliver', details: { webhookId: id, count: 0 } },
      { action: 'webhooks.delete', details: { webhookId: id, url } },
    ]);
  });

  it('supports every kind', () => {
    for (const kind of webhookKind.options) expect(typeof matchesKind(kind, {})).toBe('function');
  });
});

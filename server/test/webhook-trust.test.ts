import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { AddressRules } from '../src/platform/outbound.ts';
import { retryAfterOf } from '../src/platform/retry-after.ts';
import { createApp } from '../src/programs/app.ts';
import { createSender } from '../src/webhooks/send.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { answer, type Respond, startReceiver } from './webhook-receiver.ts';

// Behaviour of receivers and input of users that must not be misunderstood.
const receiver = await startReceiver();
const gantry = await sharedGantry({
  config: { WEBHOOK_ALLOW_HOSTS: receiver.host },
  overrides: { timings: { answerBodyMs: 500 } },
});
const token = await gantry.tokenFor('ADMIN');
afterEach(async () => {
  await gantry.pool.query('DELETE FROM webhooks');
  receiver.received.length = 0;
  receiver.respond = answer(200);
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
});

interface DeliveryJson {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly dueAt: string | null;
  readonly lastStatus: number | null;
  readonly lastAnswer: string | null;
  readonly lastAttemptAt: string | null;
}

const ok = <Answer>(procedure: string, input?: unknown): Promise<Answer> =>
  gantry.ok<Answer>(procedure, input, { token });
const addHook = (fields: object = {}): Promise<{ id: string }> =>
  ok('webhooks.create', { url: receiver.url, kinds: ['event.ingested'], ...fields });
const sendTest = async (id: string): Promise<string> =>
  (await ok<{ deliveryId: string }>('webhooks.test', { id })).deliveryId;
const deliveryOf = async (id: string): Promise<DeliveryJson | undefined> =>
  (await ok<{ deliveries: DeliveryJson[] }>('webhooks.getDeliveries')).deliveries.find(
    (delivery) => delivery.id === id,
  );
const answered = async (id: string, status: number): Promise<DeliveryJson> => {
  const delivery = await eventually(
    () => deliveryOf(id),
    (found) => found?.lastStatus === status,
    20_000,
  );
  return delivery as DeliveryJson;
};
/** The time from the last attempt to the next one, in seconds. */
const waitOf = ({ dueAt, lastAttemptAt }: DeliveryJson): number =>
  (Date.parse(dueAt ?? '') - Date.parse(lastAttemptAt ?? '')) / 1_000;

describe('without the feature webhooks', () => {
  /** Waits until the process has looked for unannounced reports: by then it has looked for other work too. */
  const untilItSwept = async (pool: Pool): Promise<void> => {
    const { rows } = await pool.query(
      `INSERT INTO reports (kind, format, filters, starts_at, ends_at, settings, created_by)
       VALUES ('TRAFFIC', 'CSV', '{}', now() - interval '1 day', now(), '{"timezone":"UTC"}', gen_random_uuid()) RETURNING id`,
    );
    await eventually(
      async () => (await pool.query('SELECT status FROM reports WHERE id = $1', [rows[0].id])).rows[0].status,
      (status) => status !== 'QUEUED',
      20_000,
    );
  };

  it('nothing is sent, not even pending deliveries, which continue when it is switched on again', async () => {
    await using first = await startGantry({ config: { WEBHOOK_ALLOW_HOSTS: receiver.host } });
    const own = { token: await first.tokenFor('ADMIN') };
    receiver.respond = answer(500);
    const hook = { url: receiver.url, kinds: ['event.ingested'] };
    const { id } = await first.ok('webhooks.create', hook, own);
    const { deliveryId } = await first.ok('webhooks.test', { id }, own);
    const stored = async () =>
      (await first.pool.query('SELECT * FROM webhook_deliveries WHERE id = $1', [deliveryId])).rows[0];
    await eventually(stored, ({ last_status }) => last_status === 500);
    const { config } = first.app.context;
    const features = config.FEATURES.filter((feature) => feature !== 'webhooks');
    await first.app[Symbol.asyncDispose]();

    const silent = { ...config, FEATURES: features };
    const second = await createApp(silent, pino({ level: 'silent' }), null, {
      timings: { sweepDeliveriesMs: 50, sweepReportsMs: 500 },
    });
    const { pool } = second.context;
    try {
      const before = receiver.received.length;
      await pool.query(`UPDATE webhook_deliveries SET due_at = now() - interval '1 hour'`);
      await pool.query(`SELECT pg_notify('gantry_deliveries', $1)`, [id]);
      await untilItSwept(pool);
      const { rows } = await pool.query('SELECT status, attempts FROM webhook_deliveries');
      expect(rows).toEqual([{ status: 'PENDING', attempts: 1 }]);
      expect(receiver.received.length).toBe(before);
    } finally {
      await second[Symbol.asyncDispose]();
    }

    receiver.respond = answer(200);
    const third = await createApp(config, pino({ level: 'silent' }), null, {
      timings: { sweepDeliveriesMs: 50 },
    });
    try {
      await eventually(
        async () => (await third.context.pool.query('SELECT status FROM webhook_deliveries')).rows[0].status,
        (status) => status === 'DELIVERED',
        90_000,
      );
    } finally {
      await third[Symbol.asyncDispose]();
    }
  });
});

/** Sends the head of an answer and the beginning of its body, and then calls `goOn`. */
const begin =
  (status: number, goOn: (response: Parameters<Respond>[0]) => void): Respond =>
  (response) => {
    response.writeHead(status, { 'content-length': 1_000_000 });
    response.write('taken', () => goOn(response));
  };
const drip = (response: Parameters<Respond>[0]): void => {
  const timer = setInterval(() => response.write('.'), 100);
  response.on('close', () => clearInterval(timer));
};
const cut = (response: Parameters<Respond>[0]): void => {
  response.destroy();
};

describe('an answer whose body is slow or interrupted', () => {
  it.each([
    ['drips', drip],
    ['is cut', cut],
  ])('counts by its status when it %s', async (_, goOn) => {
    const hook = await addHook();
    receiver.respond = begin(200, goOn);
    const taken = await answered(await sendTest(hook.id), 200);
    expect(taken).toMatchObject({ status: 'DELIVERED', attempts: 1 });
    expect(taken.lastAnswer).toMatch(/^taken/);
    receiver.respond = begin(500, goOn);
    const refused = await answered(await sendTest(hook.id), 500);
    expect(refused).toMatchObject({ status: 'PENDING', attempts: 1 });
    expect(refused.lastAnswer).toMatch(/^taken/);
  });

  it('has failed when not even its head arrived in time', async () => {
    const send = createSender(new AddressRules([receiver.host]), Date.now, { limitMs: 500 });
    receiver.respond = () => undefined;
    const attempt = {
      id: randomUUID(),
      kind: 'test',
      body: '{}',
      number: 1,
      byHand: 0,
      isWithheld: false,
    } as const;
    const result = await send({ ...attempt, url: receiver.url, secret: 'sixteen-characters' });
    expect(result).toMatchObject({ status: null, error: 'It did not answer within 0.5 s' });
  });
});

describe('a filter with an unknown condition', () => {
  it('is refused with its name and the known ones, and nothing is stored or changed', async () => {
    const filter = { severity: 'CRITICAL', sensorId: randomUUID() };
    const message = expect.stringMatching(/severity.*: use eventType, .*minSeverity/);
    const input = { url: receiver.url, kinds: ['event.ingested'], filter };
    const created = await gantry.call('webhooks.create', input, { token });
    expect(created.status).toBe(400);
    expect(created.body.error.json.data.issues).toEqual([{ path: 'filter', message }]);
    expect((await ok<{ total: number }>('webhooks.getAll')).total).toBe(0);

    const { id } = await addHook({ filter: { minSeverity: 'HIGH' } });
    const changed = await gantry.call('webhooks.update', { id, filter }, { token });
    expect(changed.status).toBe(400);
    expect(changed.body.error.json.data.issues).toEqual([{ path: 'filter', message }]);
    expect(await ok('webhooks.getById', { id })).toMatchObject({ filter: { minSeverity: 'HIGH' } });
  });
});

describe('a delivery that is requested again by hand while it is pending', () => {
  it('has as many attempts left as before', async () => {
    const hook = await addHook();
    receiver.respond = answer(500);
    const id = await sendTest(hook.id);
    await answered(id, 500);
    // As if the last but one of the automatic attempts had failed, so that one is left.
    await gantry.pool.query(
      `UPDATE webhook_deliveries SET attempts = 12, last_status = NULL, due_at = now() + interval '7 hours'`,
    );
    expect(await ok('webhooks.redeliver', { id })).toEqual({ count: 1 });
    const failed = await answered(id, 500);
    expect(failed).toMatchObject({ status: 'PENDING', attempts: 13 });
    expect(waitOf(failed)).toBeGreaterThan(5 * 3_600);
  });

  it('is attempted once more however often it was requested', async () => {
    const hook = await addHook();
    receiver.respond = answer(500);
    const id = await sendTest(hook.id);
    await answered(id, 500);
    await gantry.pool.query(`UPDATE webhooks SET enabled = false`);
    await gantry.pool.query(`UPDATE webhook_deliveries SET due_at = now() + interval '7 hours'`);
    for (let n = 0; n < 3; n++) await ok('webhooks.redeliver', { id });
    const { rows } = await gantry.pool.query('SELECT attempts, by_hand FROM webhook_deliveries');
    expect(rows).toEqual([{ attempts: 1, by_hand: 1 }]);
  });
});

describe('Retry-After', () => {
  const asking =
    (status: number, value: string): Respond =>
    (response) => {
      response.writeHead(status, { 'retry-after': value }).end();
    };

  it.each([
    [429, '600', 600],
    [503, new Date(Date.now() + 1_200_000).toUTCString(), 1_200],
    [429, '99999999', 86_400],
    // The header never shortens the wait, and counts only with statuses to which it applies.
    [429, '0', 10],
    [503, 'soon', 10],
    [500, '600', 10],
  ])('of a %i with %s counts', async (status, value, seconds) => {
    const hook = await addHook();
    receiver.respond = asking(status, value);
    const delivery = await answered(await sendTest(hook.id), status);
    expect(delivery.status).toBe('PENDING');
    expect(waitOf(delivery)).toBeGreaterThan(seconds * 0.75);
    expect(waitOf(delivery)).toBeLessThan(seconds * 1.25 + 15);
  });

  it('is relative to the clock of the receiver, if the answer contains it', () => {
    const head = { date: 'Wed, 01 Jan 2020 00:00:00 GMT', 'retry-after': 'Wed, 01 Jan 2020 00:02:00 GMT' };
    expect(retryAfterOf(head, Date.now())).toBe(120_000);
    expect(retryAfterOf({ ...head, 'retry-after': 'Wed, 01 Jan 2019 00:00:00 GMT' }, Date.now())).toBe(0);
    expect(retryAfterOf({}, Date.now())).toBe(null);
    expect(retryAfterOf({ 'retry-after': '-1' }, Date.now())).toBe(null);
  });
});

describe('a webhook with a plate in its filter', () => {
  it('is recorded as a look-up of that plate', async () => {
    const { id: userId } = await ok<{ id: string }>('auth.me');
    const lookUps = async () => {
      const { activities } = await ok<{ activities: { action: string; details: object }[] }>(
        'users.getActivity',
        { userId },
      );
      return activities.flatMap(({ action, details }) => (action === 'events.lookUpPlate' ? [details] : []));
    };
    const { id: webhookId } = await addHook({ filter: { licensePlateNumber: ' B-MW 1* ' } });
    expect(await lookUps()).toEqual([{ plate: 'B-MW 1*', webhookId }]);
    await ok('webhooks.update', { id: webhookId, description: 'Same plate' });
    await ok('webhooks.update', { id: webhookId, filter: { minSeverity: 'HIGH' } });
    expect(await lookUps()).toHaveLength(1);
    await ok('webhooks.update', { id: webhookId, filter: { licensePlateNumber: 'B-MW 2' } });
    expect((await lookUps())[0]).toEqual({ plate: 'B-MW 2', webhookId });
    await addHook();
    expect(await lookUps()).toHaveLength(2);
  });
});

import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lastSettledStart } from '../src/operations/retention/store.ts';
import { createClock } from '../src/platform/clock.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';
import { createShiftedTime } from './shifted-time.ts';
import { startReceiver } from './webhook-receiver.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const EVENT = { eventType: 'VEHICLE_DETECTION' };

describe('the time of the database, as kept by a process', () => {
  const clockBeside = () => {
    const time = { wall: 1_000_000, monotonic: 0, database: 1_000_000, answerMs: 100 };
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
    const pass = (ms: number): void => {
      time.wall += ms;
      time.monotonic += ms;
      time.database += ms;
    };
    const clock = createClock({
      log,
      wall: () => time.wall,
      monotonic: () => time.monotonic,
      readDatabaseTime: async () => {
        pass(time.answerMs / 2);
        const { database } = time;
        pass(time.answerMs / 2);
        return database;
      },
    });
    return { clock, time, pass, warnings };
  };

  it('is the time of the process before the first measurement, and is not trusted', () => {
    const { clock, time } = clockBeside();
    expect([clock.now(), clock.skewMs(), clock.isDue()]).toEqual([time.wall, null, true]);
    expect(clock.mayBeWrong(() => true)).toBe(true);
  });

  it('is accurate to half the duration of the query, and is measured every minute', async () => {
    const { clock, time, pass } = clockBeside();
    time.database += 7_000;
    await clock.measure();
    expect(clock.now()).toBe(time.database);
    expect(clock.skewMs()).toBe(-7_000);
    pass(59_000);
    expect(clock.isDue()).toBe(false);
    pass(1_000);
    expect(clock.isDue()).toBe(true);
    expect(clock.now()).toBe(time.database);
  });

  it('does not change when the clock of the process is set, and is not trusted until the next measurement', async () => {
    const { clock, time } = clockBeside();
    await clock.measure();
    time.wall += DAY;
    expect(clock.now()).toBe(time.database);
    expect(clock.isDue()).toBe(true);
    expect(clock.mayBeWrong(() => true)).toBe(true);
    await clock.measure();
    expect(clock.isDue()).toBe(false);
    // Only the time of the database would cause this refusal, and it is unknown which of the two clocks is right.
    expect(clock.mayBeWrong((now) => now < time.wall)).toBe(true);
    expect(clock.mayBeWrong(() => true)).toBe(false);
  });

  it('ignores an answer that took too long', async () => {
    const { clock, time } = clockBeside();
    await clock.measure();
    time.answerMs = 20_000;
    time.database += DAY;
    await expect(clock.measure()).rejects.toThrow('too long');
    expect(Math.abs(clock.skewMs() ?? DAY)).toBeLessThan(1_000);
  });

  it('logs one warning while the clocks differ', async () => {
    const { clock, time, warnings } = clockBeside();
    await clock.measure();
    expect(warnings).toEqual([]);
    time.wall += MINUTE;
    await clock.measure();
    await clock.measure();
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ skewSeconds: 60 });
  });
});

describe('a process whose clock is wrong', () => {
  let gantry: Gantry;
  let token: string;
  let apiKey: string;
  let ahead = 0;
  const setClock = (by: number): void => {
    ahead = by;
  };
  beforeAll(async () => {
    gantry = await startGantry({ overrides: { clock: { wall: () => Date.now() + ahead } } });
    token = await gantry.tokenFor('ADMIN');
    apiKey = await gantry.registerSensor();
  });
  afterEach(async () => {
    setClock(0);
    await gantry.app.context.clock.measure();
  });
  afterAll(() => gantry.stop());

  const send = (fields: object = {}) => gantry.call('events.ingest', { apiKey, ...EVENT, ...fields });
  const at = (fromNow: number): string => new Date(Date.now() + fromNow).toISOString();
  const timeOf = async (id: string): Promise<number> =>
    new Date((await gantry.ok('events.getById', { id }, { token })).timestamp).getTime();
  const runs = async (): Promise<
    { id: string; status: string; error: string | null; removals: object[] }[]
  > => (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs;
  const untilDone = async (id: string) =>
    eventually(
      async () => (await runs()).find((run) => run.id === id),
      (run) => run !== undefined && run.status !== 'RUNNING',
      60_000,
    );
  const isThere = async (id: string): Promise<boolean> =>
    (await gantry.call('events.getById', { id }, { token })).status === 200;

  it.each([-DAY, -6 * MINUTE, 6 * MINUTE, DAY])(
    'accepts valid events with a difference of %i ms',
    async (by) => {
      setClock(by);
      expect((await send({ timestamp: at(0) })).status).toBe(200);
      const { body } = await send();
      expect(Math.abs((await timeOf(body.result.data.json.eventId)) - Date.now())).toBeLessThan(MINUTE);
    },
  );

  it('asks for an event again that only one of the clocks would refuse', async () => {
    setClock(DAY);
    const unsure = await send({ timestamp: at(DAY / 2) });
    expect(unsure.status).toBe(503);
    expect(Number(unsure.headers.get('retry-after'))).toBeGreaterThan(0);
    await gantry.app.context.clock.measure();
    expect((await send({ timestamp: at(DAY / 2) })).status).toBe(503);
    expect((await send({ timestamp: at(2 * DAY) })).status).toBe(400);
  });

  it('refuses as usual while the clocks agree', async () => {
    expect((await send({ timestamp: at(DAY / 2) })).status).toBe(400);
  });

  it('reports it in its health and its metrics, with the documented keys', async () => {
    setClock(-MINUTE);
    await gantry.app.context.clock.measure();
    const health = await gantry.ok('system.health');
    expect(Object.keys(health).sort()).toEqual(['database', 'status', 'timestamp', 'version']);
    expect(health).toMatchObject({ status: 'degraded', database: 'connected' });
    expect((await gantry.fetch('/ready')).status).toBe(200);
    const skew = /^gantry_clock_skew_seconds (\S+)$/m.exec((await gantry.fetch('/metrics')).body)?.[1];
    expect(Math.abs(Number(skew) + 60)).toBeLessThan(5);
  });

  it('removes nothing too early', async () => {
    const { body } = await send({ timestamp: at(-20 * DAY) });
    const id: string = body.result.data.json.eventId;
    await gantry.ok('storage.setRetention', { events: { default: 30, byType: {} } }, { token });
    setClock(365 * DAY);
    const preview = await gantry.ok('storage.previewRetention', undefined, { token });
    expect(preview.totals.events).toBe(0);
    const run = await gantry.ok('storage.runRetention', undefined, { token });
    expect(await untilDone(run.id)).toMatchObject({ status: 'COMPLETED', removals: [] });
    expect(await isThere(id)).toBe(true);
  });

  it('refuses a daily run that would remove months of data, but not a run by hand', async () => {
    const { body } = await send({ timestamp: at(-100 * DAY) });
    const id: string = body.result.data.json.eventId;
    await gantry.ok('storage.setRetention', { events: { default: 30, byType: {} } }, { token });
    // The state that the database shows when its clock is 60 days ahead.
    await gantry.pool.query(`UPDATE retention_settings SET updated_at = now() - interval '90 days'`);
    await gantry.pool.query(
      `UPDATE retention_runs SET started_at = started_at - interval '60 days', beat_at = beat_at - interval '60 days'`,
    );
    const daily = await gantry.app.context.retention.begin(null);
    const refused = await untilDone(daily ?? '');
    expect(refused).toMatchObject({ status: 'FAILED', removals: [] });
    expect(refused?.error).toMatch(
      /^Nothing was removed: .* 60 days after the last run.*storage\.runRetention/,
    );
    expect(await isThere(id)).toBe(true);
    // It counts as settled, so it is not repeated on the same day.
    const settled = await lastSettledStart(gantry.app.context.db);
    expect(Date.now() - (settled ?? 0)).toBeLessThan(MINUTE);
    const { id: byHand } = await gantry.ok('storage.runRetention', undefined, { token });
    expect(await untilDone(byHand)).toMatchObject({ status: 'COMPLETED' });
    expect(await isThere(id)).toBe(false);
  });
});

describe('a service whose database is a day ahead of its machine', () => {
  it('signs, stores and shows the time of the database', async () => {
    await using receiver = await startReceiver();
    await using gantry = await startGantry({
      config: { WEBHOOK_ALLOW_HOSTS: receiver.host },
      overrides: { clock: { readDatabaseTime: async () => Date.now() + DAY } },
    });
    const token = await gantry.tokenFor('ADMIN');
    const isNow = (time: number): void => {
      expect(Math.abs(time - DAY - Date.now())).toBeLessThan(MINUTE);
    };

    const { iat = 0, exp = 0 } = decodeJwt(token);
    isNow(iat * 1_000);
    isNow(exp * 1_000 - DAY);
    isNow(Date.parse((await gantry.ok('system.health')).timestamp));
    isNow(Date.parse((await gantry.ok('reports.getAnalytics', {}, { token })).end));
    // `since` is the start of the five minutes that end with the current minute.
    isNow(Date.parse((await gantry.ok('traffic.getLive', undefined, { token })).since) + 4.5 * MINUTE);
    const daily = { kind: 'DAILY_SUMMARY', format: 'CSV', every: 'DAILY', hour: 6 };
    const { nextRunAt } = await gantry.ok('reports.createSchedule', daily, { token });
    expect(Math.abs(Date.parse(nextRunAt) - 1.5 * DAY - Date.now())).toBeLessThan(DAY / 2 + MINUTE);

    const hook = { url: receiver.url, kinds: ['event.ingested'] };
    const { id } = await gantry.ok('webhooks.create', hook, { token });
    await gantry.ingest(await gantry.registerSensor());
    await gantry.ok('webhooks.test', { id }, { token });
    await eventually(
      async () => receiver.received.length,
      (count) => count === 2,
    );
    for (const { headers, body } of receiver.received) {
      isNow(Number(headers['x-gantry-timestamp']) * 1_000);
      isNow(Date.parse(JSON.parse(body).createdAt));
    }
  });
});

describe('a token', () => {
  it('is valid for a day by the clock of the service', async () => {
    const time = createShiftedTime();
    await using gantry = await startGantry({ overrides: { clock: time.sources } });
    const token = await gantry.tokenFor('ADMIN');
    const status = async () => (await gantry.call('auth.me', undefined, { token })).status;
    time.advance(DAY - MINUTE);
    expect(await status()).toBe(200);
    time.advance(MINUTE);
    expect(await status()).toBe(401);
  });
});

describe('the maximum age of accepted events', () => {
  it('is a setting', async () => {
    await using gantry = await startGantry({ config: { OLDEST_EVENT_DAYS: '30' } });
    const apiKey = await gantry.registerSensor();
    const send = (days: number) =>
      gantry.call('events.ingest', {
        apiKey,
        ...EVENT,
        timestamp: new Date(Date.now() - days * DAY).toISOString(),
      });
    expect((await send(29)).status).toBe(200);
    const { status, body } = await send(31);
    expect(status).toBe(400);
    expect(body.error.json.message).toContain('more than 30 days old');
    const { rows } = await gantry.pool.query('SELECT FROM events');
    expect(rows).toHaveLength(1);
  });

  it('does not refuse an event that is repeated after it was stored in time', async () => {
    const time = createShiftedTime();
    await using gantry = await startGantry({
      config: { OLDEST_EVENT_DAYS: '30' },
      overrides: { clock: time.sources },
    });
    const apiKey = await gantry.registerSensor();
    const timestamp = new Date(Date.now() - 29 * DAY).toISOString();
    const event = { ...EVENT, timestamp, idempotencyKey: 'first' };
    const first = await gantry.ok('events.ingest', { apiKey, ...event });
    time.advance(2 * DAY);
    const again = await gantry.ok('events.ingest', { apiKey, ...event });
    expect(again.eventId).toBe(first.eventId);
    const events = [event, { ...event, description: 'another' }, { ...event, idempotencyKey: 'second' }];
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    expect(results).toMatchObject([
      { eventId: first.eventId, duplicate: true },
      { error: { code: 'CONFLICT' } },
      { error: { code: 'BAD_REQUEST', message: expect.stringContaining('more than 30 days old') } },
    ]);
    const ahead = new Date(Date.now() + 3 * DAY).toISOString();
    const { status, body } = await gantry.call('events.ingest', { apiKey, ...event, timestamp: ahead });
    expect({ status, message: body.error.json.message }).toMatchObject({
      status: 400,
      message: expect.stringContaining('minutes ahead'),
    });
  });
});

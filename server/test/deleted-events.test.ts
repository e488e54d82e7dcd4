import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findExistingIds } from '../src/operations/transfer/store.ts';
import { eventually, sharedGantry } from './harness.ts';
import { noteStatements } from './noted-statements.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const TIMESTAMP = '2026-01-31T08:15:00.123Z';
const newEvent = (fields: object = {}) => ({
  eventType: 'VEHICLE_DETECTION',
  timestamp: TIMESTAMP,
  idempotencyKey: randomUUID(),
  ...fields,
});
const send = (event: object) => gantry.call('events.ingest', { apiKey, ...event });
const idOf = async (event: object): Promise<string> =>
  (await gantry.ok('events.ingest', { apiKey, ...event })).eventId;
const sendBatch = async (events: object[]) =>
  (await gantry.ok('events.ingestBatch', { apiKey, events })).results;
const remove = (id: string) => gantry.ok('events.delete', { id }, { token });
const isThere = async (id: string): Promise<boolean> =>
  (await gantry.call('events.getById', { id }, { token })).status === 200;
const total = async (): Promise<number> => (await gantry.ok('events.getStats', {}, { token })).total;
const count = (what: string): Promise<number> => gantry.count(what);

describe('an event that a user deleted', () => {
  it('is not stored again when the device repeats it, and is reported as a duplicate', async () => {
    const event = newEvent({ description: 'first' });
    const id = await idOf(event);
    await remove(id);
    const before = await total();
    expect(await idOf(event)).toBe(id);
    expect(await sendBatch([event, event])).toEqual(Array(2).fill({ eventId: id, duplicate: true }));
    expect([await isThere(id), await total()]).toEqual([false, before]);
    expect((await send({ ...event, description: 'other' })).status).toBe(409);
    expect(await isThere(id)).toBe(false);
  });

  it('is known to an import, as one that exists is', async () => {
    const [gone, there] = [await idOf(newEvent()), await idOf(newEvent())];
    await remove(gone);
    const found = await findExistingIds(gantry.app.context.db, [gone, there, randomUUID()]);
    expect(found).toEqual(new Set([gone, there]));
  });

  it('does not prevent the rest of its group from being stored and counted', async () => {
    const [gone, stored, fresh, followed] = [
      newEvent(),
      newEvent(),
      newEvent(),
      newEvent({ eventType: 'INCIDENT', description: 'Stopped vehicle' }),
    ];
    const id = await idOf(gone);
    await idOf(stored);
    await remove(id);
    const before = await total();
    const results = await sendBatch([gone, stored, fresh, followed]);
    expect(results.map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await total()).toBe(before + 2);
    expect(await total()).toBe(await count('events'));
  });

  it('is not stored again when it is repeated during the deletion', async () => {
    const event = newEvent();
    const id = await idOf(event);
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK activity IN ACCESS EXCLUSIVE MODE');
    const waiting = () =>
      count(`pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    // The removal has deleted the event, and waits for the lock to record that.
    const removal = remove(id);
    await eventually(waiting, (n) => n === 1);
    const retry = idOf(event);
    await eventually(waiting, (n) => n === 2);
    await blocker.query('COMMIT');
    blocker.release();
    await removal;
    expect(await retry).toBe(id);
    expect(await isThere(id)).toBe(false);
    expect(await total()).toBe(await count('events'));
  });

  it('does not hold up other events while something else keeps it from being deleted', async () => {
    const id = await idOf(newEvent());
    const [{ month }] = (
      await gantry.pool.query('SELECT tableoid::regclass::text AS month FROM events WHERE id = $1', [id])
    ).rows;
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    // The lock that retention takes while it drops a month.
    await blocker.query(`LOCK ${month} IN SHARE ROW EXCLUSIVE MODE`);
    const removal = gantry.call('events.delete', { id }, { token });
    await eventually(
      () => count(`pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
      (n) => n === 1,
    );
    const others = await Promise.all(
      [1, 2].map(() => send(newEvent({ timestamp: new Date().toISOString() }))),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await removal;
    expect(refused.status).toBe(503);
    expect(refused.body.error.json.message).toContain('try again');
    await blocker.query('COMMIT');
    blocker.release();
    await remove(id);
    expect(await isThere(id)).toBe(false);
  });

  it('is remembered only if it had a key, and for 400 days', async () => {
    await gantry.pool.query('DELETE FROM deleted_events');
    await remove(await idOf({ eventType: 'VEHICLE_DETECTION' }));
    expect(await count('deleted_events')).toBe(0);
    const event = newEvent();
    const id = await idOf(event);
    await remove(id);
    const carryOut = async () => {
      const run = await gantry.ok('storage.runRetention', undefined, { token });
      await eventually(
        async () => (await gantry.ok('storage.getRetentionRuns', {}, { token })).runs,
        (runs) => runs.find((each: { id: string }) => each.id === run.id)?.status === 'COMPLETED',
        60_000,
      );
    };
    await gantry.pool.query(`UPDATE deleted_events SET at = now() - interval '399 days'`);
    await carryOut();
    expect(await count('deleted_events')).toBe(1);
    await gantry.pool.query(`UPDATE deleted_events SET at = now() - interval '401 days'`);
    await carryOut();
    expect(await count('deleted_events')).toBe(0);
    expect(await idOf(event)).toBe(id);
    expect(await isThere(id)).toBe(true);
  });
});

describe('an event whose time has no offset', () => {
  const setZone = (timezone: string) =>
    gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token });

  it('stays the same event when it is repeated after the time zone of the service changed', async () => {
    const local = () => newEvent({ timestamp: '2026-02-01T08:15:00' });
    const [event, deleted, reported] = [local(), local(), local()];
    await setZone('UTC');
    const id = await idOf(event);
    const deletedId = await idOf(deleted);
    await remove(deletedId);
    const before = await total();
    await setZone('Asia/Tokyo');
    expect(await idOf(event)).toBe(id);
    expect(await idOf(deleted)).toBe(deletedId);
    expect(await total()).toBe(before);
    expect((await send({ ...event, description: 'other' })).status).toBe(409);
    // A new event is read in the current time zone, and also remains the same event after a change.
    const newId = await idOf(reported);
    const { timestamp } = await gantry.ok('events.getById', { id: newId }, { token });
    expect(timestamp).toBe('2026-01-31T23:15:00.000Z');
    await setZone('Europe/Vienna');
    expect(await idOf(reported)).toBe(newId);
    expect(await idOf(event)).toBe(id);
    expect(await total()).toBe(before + 1);
  });

  it('is looked up together with the others of its batch, after the time zone changed', async () => {
    await setZone('UTC');
    const events = Array.from({ length: 200 }, () => newEvent({ timestamp: '2026-02-01T08:15:00' }));
    const first: { eventId: string }[] = await sendBatch(events);
    await setZone('Asia/Tokyo');
    const lookUps: string[] = [];
    noteStatements(gantry.app.context.devices.$client, ({ text }) => {
      if (text.includes('content_hash')) lookUps.push(text);
    });
    expect(await sendBatch(events)).toEqual(first.map(({ eventId }) => ({ eventId, duplicate: true })));
    expect(lookUps.length).toBeGreaterThan(0);
    expect(lookUps.length).toBeLessThan(10);
  });

  it('is recognized only while a device may repeat it', async () => {
    await gantry.pool.query(`UPDATE former_timezones SET replaced_at = now() - interval '401 days'`);
    await gantry.app.context.settings.refresh();
    expect(gantry.app.context.settings.formerZones()).toEqual([]);
  });
});

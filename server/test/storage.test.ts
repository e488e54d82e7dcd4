import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dailyRuns } from '../src/operations/retention/schedule.ts';
import { sharedGantry } from './harness.ts';
import { dataUrl, png } from './sample-images.ts';

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const ask = (procedure: string, input?: unknown) =>
  gantry.ok(`storage.${procedure}`, input, { token: admin });
const refusal = async (procedure: string, input?: unknown, token = admin) => {
  const { status, body } = await gantry.call(procedure, input, { token });
  return { status, message: body.error?.json.message, issues: body.error?.json.data.issues };
};
const report = async (timestamp: string, more = {}): Promise<string> =>
  (await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', timestamp, ...more })).eventId;

describe('storage.getStats', () => {
  it('reports no data for a new service', async () => {
    const stats = await ask('getStats');
    expect(stats).toMatchObject({ eventCount: 0, oldestEvent: null, newestEvent: null, nextRemoval: null });
    expect(stats).toMatchObject({ images: { count: 0, bytes: 0 }, reports: { count: 0, bytes: 0 } });
    expect(stats.databaseBytes).toBeGreaterThan(1_000_000);
    expect(stats.disk.totalBytes).toBeGreaterThan(stats.disk.freeBytes);
    expect(stats.disk.freeBytes).toBeGreaterThan(0);
  });

  it('reports months, images and the files of reports to every user who is logged in', async () => {
    const image = png({ shade: 3 });
    await report('2026-03-31T23:59:59.999Z');
    await report('2026-04-01T00:00:00.000Z', { images: [dataUrl(image, 'image/png')] });
    const folder = join(gantry.app.context.config.DATA_DIR, 'reports');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'left.csv'), 'a,b\n');
    const token = await gantry.tokenFor('VIEWER');
    const stats = await gantry.ok('storage.getStats', undefined, { token });
    expect(stats).toMatchObject({
      eventCount: 2,
      oldestEvent: '2026-03-31T23:59:59.999Z',
      newestEvent: '2026-04-01T00:00:00.000Z',
      images: { count: 1, bytes: image.length },
      reports: { count: 1, bytes: 4 },
    });
    const months = Object.fromEntries(
      stats.months.map((each: { month: string; events: number }) => [each.month, each.events]),
    );
    expect(months).toMatchObject({ '2026-03': 1, '2026-04': 1 });
    expect(stats.months.every(({ bytes }: { bytes: number }) => bytes > 0)).toBe(true);
  });

  it('reports what retention removes next', async () => {
    await ask('setRetention', { events: { default: 30 } });
    const { nextRemoval } = await ask('getStats');
    expect(nextRemoval).toMatchObject({ events: 2, activity: 0 });
    expect(Date.parse(nextRemoval.at)).toBeGreaterThan(Date.now());
    await ask('setRetention', { events: { default: null } });
    expect((await ask('getStats')).nextRemoval).toBeNull();
  });
});

describe('the retention rules', () => {
  it('keep the rules that are not given', async () => {
    await ask('setRetention', { images: 30, activity: 400 });
    const settings = await ask('setRetention', {
      images: null,
      events: { default: 90, byType: { INCIDENT: 900 } },
    });
    expect(settings).toMatchObject({
      events: { default: 90, byType: { INCIDENT: 900 } },
      images: null,
      reports: null,
      activity: 400,
      updatedBy: { name: expect.any(String) },
    });
    expect(await ask('getRetention')).toEqual(settings);
  });

  it.each([
    [{ images: 0 }, 'images'],
    [{ images: -1 }, 'images'],
    [{ images: 1.5 }, 'images'],
    [{ activity: 36_501 }, 'activity'],
    [{ reports: 'week' }, 'reports'],
    [{ events: { byType: {} } }, 'events.default'],
    [{ events: { default: 3, byType: { UFO: 3 } } }, 'events.byType'],
    [{ events: 30 }, 'events'],
  ])('refuse %j', async (input, path) => {
    for (const procedure of ['setRetention', 'previewRetention']) {
      const { status, issues } = await refusal(`storage.${procedure}`, input);
      expect(status).toBe(400);
      expect(issues[0].path).toContain(path);
    }
  });

  it.each([
    ['storage.getRetention', undefined],
    ['storage.setRetention', {}],
    ['storage.previewRetention', {}],
    ['storage.runRetention', undefined],
    ['storage.getRetentionRuns', {}],
    ['storage.setHold', {}],
    ['storage.releaseHold', {}],
    ['storage.getHolds', {}],
    ['storage.getHold', {}],
  ])('and holds are for administrators only: %s', async (procedure, input) => {
    expect((await refusal(procedure, input, await gantry.tokenFor('OPERATOR'))).status).toBe(403);
  });
});

describe('a legal hold', () => {
  it('prevents the removal of an event, and states who set it and why', async () => {
    const id = await report('2026-05-01T10:00:00Z');
    const first = await ask('setHold', { eventIds: [id, id.toUpperCase()], reason: '  Case 2026/17 ' });
    expect(first).toMatchObject({ reason: 'Case 2026/17', eventCount: 1, eventIds: [id], releasedAt: null });
    const second = await ask('setHold', { eventIds: [id], reason: 'Appeal' });
    const operator = await gantry.tokenFor('OPERATOR');
    const refused = await refusal('events.delete', { id }, operator);
    expect(refused.status).toBe(409);
    expect(refused.message).toContain('Case 2026/17');
    expect(refused.message).toContain(first.createdBy.name);

    await ask('releaseHold', { id: first.id });
    expect((await refusal('events.delete', { id }, operator)).message).toContain('Appeal');
    expect(await ask('releaseHold', { id: second.id })).toMatchObject({
      releasedBy: first.createdBy,
      releasedAt: expect.any(String),
    });
    expect((await refusal('storage.releaseHold', { id: second.id })).status).toBe(409);
    await gantry.ok('events.delete', { id }, { token: operator });
    expect((await ask('getHolds', { eventId: id })).total).toBe(2);
  });

  it('is since and until a day in the time zone of the service', async () => {
    const setZone = (timezone: string) =>
      gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token: admin });
    await setZone('Europe/Berlin');
    const eventId = await report('2026-05-01T10:00:00Z');
    const { id } = await ask('setHold', { eventIds: [eventId], reason: 'Case 19' });
    const set = (column: string) =>
      gantry.pool.query(`UPDATE legal_holds SET ${column} = '2026-05-01T22:30:00Z' WHERE id = $1`, [id]);
    await set('created_at');
    const held = await refusal('events.delete', { id: eventId });
    await ask('releaseHold', { id });
    await set('released_at');
    const released = await refusal('storage.releaseHold', { id });
    await setZone('UTC');
    await gantry.pool.query('DELETE FROM held_events WHERE hold_id = $1', [id]);
    await gantry.pool.query('DELETE FROM legal_holds WHERE id = $1', [id]);
    expect(held.message).toContain('since 2026-05-02: Case 19');
    expect(released.message).toContain('on 2026-05-02');
  });

  it('is listed by whether it is in effect and by event', async () => {
    const ids = [await report('2026-05-02T10:00:00Z'), await report('2026-05-03T10:00:00Z')];
    const { id } = await ask('setHold', { eventIds: ids, reason: 'Case 18' });
    const inForce = await ask('getHolds', { released: false });
    expect(inForce).toMatchObject({ total: 1, pageCount: 1, holds: [{ id, eventCount: 2 }] });
    expect((await ask('getHolds', { released: true })).total).toBe(2);
    expect((await ask('getHolds', { eventId: ids[1] })).holds[0].id).toBe(id);
    expect((await ask('getHolds', { eventId: 'nobody' })).total).toBe(0);
    expect((await ask('getHold', { id })).eventIds).toEqual(ids);
  });

  it.each([
    [{ eventIds: [], reason: 'x' }, 'eventIds'],
    [{ eventIds: ['01a00000-0000-7000-8000-000000000009'], reason: 'x' }, 'eventIds.0'],
    [{ eventIds: ['not an id'], reason: 'x' }, 'eventIds.0'],
    [{ eventIds: Array(1001).fill('x'), reason: 'x' }, 'eventIds'],
    [{ eventIds: ['x'], reason: '  ' }, 'reason'],
    [{ eventIds: ['x'], reason: 'x'.repeat(1001) }, 'reason'],
    [{ reason: 'x' }, 'eventIds'],
  ])('is not set for %j', async (input, path) => {
    const before = (await ask('getHolds')).total;
    const { status, issues } = await refusal('storage.setHold', input);
    expect([status, issues[0].path]).toEqual([400, path]);
    expect((await ask('getHolds')).total).toBe(before);
  });

  it('that does not exist is NOT_FOUND', async () => {
    for (const id of ['x', '01a00000-0000-7000-8000-000000000009']) {
      expect((await refusal('storage.releaseHold', { id })).status).toBe(404);
      expect((await refusal('storage.getHold', { id })).status).toBe(404);
    }
  });

  it('and a concurrent removal are serialized: either there is no hold, or the event exists', async () => {
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, n) => report(`2026-06-01T10:00:${10 + n}Z`)),
    );
    const outcomes = await Promise.all(
      ids.map(async (id) => {
        const [held, removed] = await Promise.all([
          gantry.call('storage.setHold', { eventIds: [id], reason: 'race' }, { token: admin }),
          gantry.call('events.delete', { id }, { token: admin }),
        ]);
        return [held.status, removed.status];
      }),
    );
    for (const outcome of outcomes) {
      expect([
        [200, 409],
        [400, 200],
      ]).toContainEqual(outcome);
    }
  });
});

describe('the daily run', () => {
  const at = (iso: string) => Date.parse(iso);

  it('is due at 3:00 in the time zone of the service, even when clocks change', () => {
    expect(dailyRuns(at('2026-07-01T12:00:00Z'), 'UTC')).toEqual({
      last: at('2026-07-01T03:00:00Z'),
      next: at('2026-07-02T03:00:00Z'),
    });
    expect(dailyRuns(at('2026-07-01T00:30:00Z'), 'Europe/Berlin')).toEqual({
      last: at('2026-06-30T01:00:00Z'),
      next: at('2026-07-01T01:00:00Z'),
    });
    expect(dailyRuns(at('2026-10-24T12:00:00Z'), 'Europe/Berlin')).toEqual({
      last: at('2026-10-24T01:00:00Z'),
      next: at('2026-10-25T02:00:00Z'),
    });
  });

  it('is once a day where clocks repeat or skip its hour', () => {
    const first = at('2026-10-25T00:00:00Z');
    for (const time of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T23:00:00Z'])
      expect(dailyRuns(at(time), 'Europe/Athens')).toEqual({ last: first, next: at('2026-10-26T01:00:00Z') });
    expect(dailyRuns(at('2026-03-29T12:00:00Z'), 'Europe/Athens')).toEqual({
      last: at('2026-03-29T01:00:00Z'),
      next: at('2026-03-30T00:00:00Z'),
    });
  });
});

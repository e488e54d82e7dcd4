import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recordFailedLogin } from '../src/activity/store.ts';
import { ADMIN, eventually, sharedGantry } from './harness.ts';
import { dataUrl, png } from './sample-images.ts';

const NOBODY = '00000000-0000-0000-0000-000000000000';

const backups = await mkdtemp(join(tmpdir(), 'gantry-backups-'));
const gantry = await sharedGantry({
  config: { BACKUP_DIR: backups, BACKUP_SCHEDULE: 'manual', WEBHOOK_ALLOW_HOSTS: '127.0.0.1' },
});
const token = await gantry.tokenFor('ADMIN');
afterAll(async () => {
  await rm(backups, { recursive: true });
});

const idOf = async (as: string): Promise<string> => (await gantry.ok('auth.me', undefined, { token: as })).id;

interface Entry {
  action: string;
  ipAddress?: string;
  details?: Record<string, unknown>;
}
const activityOf = async (userId: string, action: string): Promise<Entry[]> => {
  const { activities } = await gantry.ok('users.getActivity', { userId, take: 100 }, { token });
  return activities.filter((entry: Entry) => entry.action === action);
};
const countOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { details }) => sum + Number(details?.count), 0);

const getFile = (path: string, as: string, method = 'GET') =>
  fetch(`${gantry.url}${path}`, { method, headers: { authorization: `Bearer ${as}` } });

describe('a failed login', () => {
  it('is recorded for the account with the address, and further ones are counted', async () => {
    const admin = await idOf(token);
    for (let n = 0; n < 3; n++) {
      const wrong = { email: ADMIN.email, password: `Wrong-password-${n}` };
      expect((await gantry.call('auth.login', wrong)).status).toBe(401);
    }
    const entries = await activityOf(admin, 'auth.loginFailed');
    expect(countOf(entries)).toBe(3);
    // There are two entries if a minute ended between the attempts.
    expect(entries.length).toBeLessThanOrEqual(2);
    expect(entries[0]?.ipAddress).toBe('127.0.0.1');
    expect(JSON.stringify(entries)).not.toContain('Wrong-password');
  });

  it('with an unknown e-mail address is recorded without the address', async () => {
    const email = 'typed-a-secret@example.org';
    for (let n = 0; n < 5; n++) await gantry.call('auth.login', { email: `${n}${email}`, password: 'x' });
    const entries = await activityOf(NOBODY, 'auth.loginFailed');
    expect(countOf(entries)).toBe(5);
    expect(entries.length).toBeLessThanOrEqual(2);
    const { rows } = await gantry.pool.query('SELECT activity::text AS all FROM activity');
    expect(JSON.stringify(rows)).not.toContain('typed-a-secret');
  });

  it('from many addresses cannot fill the log', async () => {
    const before = await activityOf(NOBODY, 'auth.loginFailed');
    const callerAt = (address: string) => ({
      requestId: '',
      since: performance.now(),
      host: null,
      userAgent: null,
      authorization: null,
      address,
    });
    for (let n = 0; n < 200; n++) {
      await recordFailedLogin(gantry.app.context.db, null, callerAt(`2001:db8::${n.toString(16)}`));
    }
    const after = await activityOf(NOBODY, 'auth.loginFailed');
    expect(countOf(after)).toBe(countOf(before) + 200);
    expect(after.length).toBeLessThanOrEqual(before.length + 2 * 16);
    expect(after.some(({ details }) => details?.otherAddresses === true)).toBe(true);
  });
});

it('records who downloads the file of a report, but not refused downloads', async () => {
  const analyst = await gantry.tokenFor('ANALYST');
  const field = await gantry.tokenFor('FIELD');
  const range = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const asked = await gantry.ok(
    'reports.generate',
    { kind: 'TRAFFIC', format: 'CSV', ...range },
    { token: analyst },
  );
  await eventually(
    () => gantry.ok('reports.getById', { id: asked.id }, { token: analyst }),
    ({ status }) => status === 'DONE',
    60_000,
  );
  const path = `/reports/${asked.id}/file`;
  for (let n = 0; n < 2; n++) expect((await (await getFile(path, analyst)).text()).length).toBeGreaterThan(0);
  expect((await getFile(path, field)).status).toBe(403);
  const entries = await activityOf(await idOf(analyst), 'reports.download');
  expect(countOf(entries)).toBe(2);
  expect(entries[0]?.details).toMatchObject({ reportId: asked.id, kind: 'TRAFFIC', format: 'CSV' });
  expect(await activityOf(await idOf(field), 'reports.download')).toEqual([]);

  await gantry.pool.query('ALTER TABLE activity RENAME TO activity_away');
  const unwritten = await getFile(path, analyst);
  await gantry.pool.query('ALTER TABLE activity_away RENAME TO activity');
  expect(unwritten.status).toBe(500);
});

it('does not begin what it cannot record', async () => {
  const webhook = { url: 'http://127.0.0.1:9/', kinds: ['sensor.statusChanged'] };
  const { id: webhookId } = await gantry.ok('webhooks.create', webhook, { token });
  await gantry.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, kind, body, status, finished_at) VALUES ($1, 'test', '{}', 'DEAD', now())`,
    [webhookId],
  );
  await gantry.pool.query('ALTER TABLE activity RENAME TO activity_away');
  const refused = await Promise.all([
    gantry.call('storage.runRetention', undefined, { token }),
    gantry.call('backups.create', undefined, { token }),
    gantry.call('webhooks.redeliver', { webhookId, status: 'DEAD' }, { token }),
  ]);
  await gantry.pool.query('ALTER TABLE activity_away RENAME TO activity');
  expect(refused.map(({ status }) => status)).toEqual([500, 500, 500]);
  const { rows } = await gantry.pool.query(`
    SELECT (SELECT count(*) FROM retention_runs WHERE started_by IS NOT NULL) AS runs,
      (SELECT count(*) FROM backups WHERE started_by IS NOT NULL) AS backups,
      (SELECT count(*) FROM webhook_deliveries WHERE status <> 'DEAD') AS deliveries`);
  expect(rows).toEqual([{ runs: 0, backups: 0, deliveries: 0 }]);

  expect(await gantry.ok('webhooks.redeliver', { webhookId, status: 'DEAD' }, { token })).toEqual({
    count: 1,
  });
  const [entry] = await activityOf(await idOf(token), 'webhooks.redeliver');
  expect(entry?.details).toEqual({ webhookId, count: 1 });
});

it('records once in a while that a user views an image', async () => {
  const viewer = await gantry.tokenFor('VIEWER');
  const apiKey = await gantry.registerSensor();
  const image = { apiKey, eventType: 'INCIDENT', images: [dataUrl(png(), 'image/png')] };
  const { eventId } = await gantry.ok('events.ingest', image);
  const { images } = await gantry.ok('events.getById', { id: eventId }, { token });
  const [path] = images;
  for (let n = 0; n < 5; n++) expect((await getFile(path, viewer)).status).toBe(200);
  await getFile(path, viewer, 'HEAD');
  expect((await getFile(`/images/${'0'.repeat(64)}`, viewer)).status).toBe(404);
  await gantry.app.context.looks.flush();
  const entries = await activityOf(await idOf(viewer), 'events.view');
  expect(entries.length).toBeGreaterThanOrEqual(1);
  // There are two entries if a period of ten minutes ended between the requests.
  expect(entries.length).toBeLessThanOrEqual(2);
  expect(entries[0]).toMatchObject({
    ipAddress: '127.0.0.1',
    details: { eventId },
  });
  expect(entries.reduce((sum, { details }) => sum + Number(details?.count ?? 1), 0)).toBe(5);
});

describe('the activity log', () => {
  it('is kept for at least 90 days, and a change of that period is recorded', async () => {
    for (const procedure of ['storage.setRetention', 'storage.previewRetention']) {
      const { status, body } = await gantry.call(procedure, { activity: 89 }, { token });
      expect(status).toBe(400);
      expect(body.error.json.data.issues).toEqual([
        { path: 'activity', message: 'Keep the activity log for at least 90 days: it shows who did what' },
      ]);
    }
    await gantry.ok('storage.setRetention', { activity: 90 }, { token });
    const [entry] = await activityOf(await idOf(token), 'storage.setRetention');
    expect(entry?.details).toMatchObject({ before: { activity: null }, after: { activity: 90 } });
    await expect(gantry.pool.query('UPDATE retention_settings SET activity_days = 1')).rejects.toThrow(
      'activity_is_kept',
    );
  });
});

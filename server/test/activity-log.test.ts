import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ADMIN, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
const operator = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly timestamp: string;
  readonly by: { id: string; name: string } | null;
}
const log = (input: object = {}) => gantry.ok('users.getActivityLog', input, { token: admin });
const actionsOf = async (input: object) => (await log(input)).activities.map(({ action }: Entry) => action);

describe('the activity log', () => {
  it('contains the actions of all users, newest first, with their names', async () => {
    const id = await gantry.ingest(apiKey);
    const { id: reviewId } = await gantry.ok(
      'events.review',
      { id, decision: 'CONFIRMED' },
      { token: operator },
    );
    await gantry.ok('events.delete', { id }, { token: admin, headers: { 'user-agent': 'control-room/1.0' } });
    const { activities, total, pageCount } = await log({ about: id.toUpperCase() });
    expect(activities).toEqual([
      {
        id: expect.any(String),
        by: { id: expect.any(String), name: expect.any(String) },
        action: 'events.delete',
        timestamp: expect.any(String),
        ipAddress: '127.0.0.1',
        userAgent: 'control-room/1.0',
        details: { eventId: id },
      },
      expect.objectContaining({
        by: { id: expect.any(String), name: 'OPERATOR Tester' },
        action: 'events.review',
        details: { eventId: id, reviewId, decision: 'CONFIRMED' },
      }),
    ]);
    expect([total, pageCount]).toEqual([2, 1]);
  });

  it('finds who looked up a plate or put it on the watchlist, in whatever form', async () => {
    const reason = 'Audit of plates';
    await gantry.ok('events.getAll', { licensePlateNumber: '41·QRS·7', reason }, { token: operator });
    const watched = { pattern: '٤١ qrs 7', reason, priority: 'LOW' };
    await gantry.ok('watchlist.create', watched, { token: admin });
    await gantry.ok('events.getAll', { licensePlateNumber: '41 QRS 77', reason }, { token: operator });
    for (const about of ['41 QRS 7', '41.qrs.7', '４１ＱＲＳ７'])
      expect(await actionsOf({ about })).toEqual(['watchlist.create', 'events.lookUpPlate']);
    expect(await actionsOf({ about: '41 QRS' })).toEqual([]);
  });

  it('is filtered by user, action and time, page by page', async () => {
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: operator });
    const ids = await Promise.all([1, 2, 3].map(() => gantry.ingest(apiKey)));
    for (const id of ids) await gantry.ok('events.markAsProcessed', { id }, { token: operator });
    await gantry.ok('events.getAll', { licensePlateNumber: 'b*', reason: 'Case 14' }, { token: operator });
    const own = await log({ userId, action: 'events.markAsProcessed' });
    expect(own.total).toBe(3);
    expect(own.activities.map(({ by }: Entry) => by?.id)).toEqual(Array(3).fill(userId));
    const second = await log({ userId, action: 'events.markAsProcessed', skip: 1, take: 1 });
    expect(second.activities).toEqual(own.activities.slice(1, 2));
    expect(second).toMatchObject({ total: 3, pageCount: 3 });
    expect(await actionsOf({ about: 'case 14' })).toEqual(['events.lookUpPlate']);
    expect(new Set(await actionsOf({ action: 'events.', take: 100 }))).toContain('events.lookUpPlate');
    expect(await actionsOf({ action: 'events' })).toEqual([]);
    expect(await actionsOf({ action: 'events.%' })).toEqual([]);
    const last: Entry = own.activities[0];
    const range = { startDate: last.timestamp, endDate: last.timestamp };
    expect((await log({ ...range, action: last.action })).activities).toContainEqual(last);
    expect((await log({ endDate: '2020-01-01' })).total).toBe(0);
    for (const unknown of [{ userId: 'x' }, { userId: randomUUID() }, { about: '\u0001' }]) {
      expect((await log(unknown)).activities).toEqual([]);
    }
    expect((await gantry.refusal('users.getActivityLog', { about: '\u0000' }, { token: admin })).status).toBe(
      400,
    );
  });

  it('contains no name for a failed login with an unknown e-mail address', async () => {
    await gantry.call('auth.login', { email: 'nobody@gantry.local', password: 'x' });
    const { activities } = await log({ action: 'auth.loginFailed' });
    expect(activities[0]).toMatchObject({ by: null, details: { count: 1 } });
  });

  it('contains nothing of a deleted account once the statements of docs/security.md were entered', async () => {
    const email = 'erased@example.org';
    const user = { email, password: ADMIN.password, firstName: 'Edda', lastName: 'Erased', role: 'VIEWER' };
    const { id } = await gantry.ok('users.create', user, { token: admin });
    const headers = { 'user-agent': 'tablet-of-edda/1.0' };
    await gantry.ok('auth.login', { email, password: ADMIN.password }, { headers });
    await gantry.ok('users.update', { id, phone: '+1 555 0100', department: 'Tunnels' }, { token: admin });
    await gantry.ok('users.delete', { id }, { token: admin });
    const told = async () => JSON.stringify((await gantry.pool.query('SELECT * FROM activity')).rows);
    const known = [email, '+1 555 0100', 'Tunnels', headers['user-agent']];
    for (const text of known) expect(await told()).toContain(text);

    const page = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8');
    const [, statements = ''] = /```sql\n(.*?)```/s.exec(page) ?? [];
    await gantry.pool.query(statements.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id));
    for (const text of known) expect(await told()).not.toContain(text);
    expect((await log({ action: 'users.delete' })).activities[0]).toMatchObject({ details: { userId: id } });
    expect(await gantry.count(`former_users WHERE id = '${id}'`)).toBe(0);
  });

  it('keeps the names of deleted users', async () => {
    const email = `${randomUUID()}@gantry.local`;
    const user = { email, password: ADMIN.password, firstName: 'Ada', lastName: 'Byron', role: 'FIELD' };
    const { id } = await gantry.ok('users.create', user, { token: admin });
    await gantry.login(email, ADMIN.password);
    await gantry.ok('users.delete', { id }, { token: admin });
    expect((await log({ userId: id })).activities).toMatchObject([
      { action: 'auth.login', by: { id, name: 'Ada Byron' } },
    ]);
    expect(await actionsOf({ about: email })).toEqual(['users.delete', 'users.create']);
  });
});

describe('incidents.getAssignees', () => {
  const assignees = async (token: string) =>
    (await gantry.ok('incidents.getAssignees', undefined, { token })).assignees;

  it('lists the active users who may manage incidents, to whom incidents can be assigned', async () => {
    for (const name of ['ANALYST', 'VIEWER', 'FIELD'] as const) await gantry.tokenFor(name);
    const email = `${randomUUID()}@gantry.local`;
    const user = { email, password: ADMIN.password, firstName: 'Gone', lastName: 'Away', role: 'OPERATOR' };
    const { id } = await gantry.ok('users.create', user, { token: admin });
    expect((await assignees(operator)).map(({ name }: { name: string }) => name)).toContain('Gone Away');
    await gantry.ok('users.update', { id, isActive: false }, { token: admin });
    const found = await assignees(operator);
    expect(new Set(found.map(({ role }: { role: string }) => role))).toEqual(
      new Set(['ADMIN', 'OPERATOR', 'FIELD']),
    );
    expect(found.map(({ name }: { name: string }) => name)).not.toContain('Gone Away');
    const incident = await gantry.ok('incidents.create', { title: 'T', type: 'OTHER' }, { token: operator });
    for (const { id: userId, name } of found) {
      const input = { id: incident.id, userId };
      const { assignedTo } = await gantry.ok('incidents.assign', input, { token: operator });
      expect(assignedTo).toEqual({ id: userId, name });
    }
  });

  it('lists only the caller for the role FIELD', async () => {
    const field = await gantry.tokenFor('FIELD');
    const { id } = await gantry.ok('auth.me', undefined, { token: field });
    expect(await assignees(field)).toEqual([{ id, name: 'FIELD Tester', role: 'FIELD' }]);
  });
});

import { randomUUID } from 'node:crypto';
import { passwordFlaws } from '@gantry/contract/users';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

/** A user as parsed from JSON: dates are text. */
interface UserJson {
  id: string;
  email: string;
  firstName: string;
  lastName: string;
  role: string;
  phone?: string;
  avatar?: string;
  department?: string;
  isActive: boolean;
  lastLogin?: string;
  createdAt: string;
  updatedAt: string;
}
interface UsersPageJson {
  users: UserJson[];
  total: number;
  pageCount: number;
}
interface ActivityJson {
  userId: string;
  activities: { action: string; timestamp: string; details?: Record<string, unknown> }[];
  totalActivities: number;
}

const PASSWORD = 'Correct-Horse-7';
const REQUIRED_KEYS = ['createdAt', 'email', 'firstName', 'id', 'isActive', 'lastName', 'role', 'updatedAt'];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let count = 0;

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');
const adminId: string = (await gantry.ok('auth.me', undefined, { token: admin })).id;

const ok = <Output>(procedure: string, input: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token: admin });
const call = (procedure: string, input: unknown) => gantry.call(procedure, input, { token: admin });
const refusal = async (procedure: string, input: unknown) => {
  const { status, body } = await call(procedure, input);
  return { status, ...body.error.json };
};

const person = (fields: Record<string, unknown> = {}) => ({
  email: `person-${++count}@example.org`,
  password: PASSWORD,
  firstName: 'Ada',
  lastName: 'Lovelace',
  ...fields,
});
const create = (fields?: Record<string, unknown>) => ok<UserJson>('users.create', person(fields));
const tokenOf = ({ email }: { email: string }) => gantry.login(email, PASSWORD);
const userAtLogin = async (email: string, password: string) =>
  (await gantry.ok('auth.login', { email, password })).user;
const statusOfMe = async (token: string) => (await gantry.call('auth.me', undefined, { token })).status;
const latestActivity = async () =>
  (await ok<ActivityJson>('users.getActivity', { userId: adminId, take: 1 })).activities[0];
const countActivity = async () =>
  (await ok<ActivityJson>('users.getActivity', { userId: adminId })).totalActivities;

describe('only administrators manage users', () => {
  const inputs: [string, (id: string) => unknown][] = [
    ['users.getAll', () => undefined],
    ['users.getById', (id) => ({ id })],
    ['users.create', () => person()],
    ['users.update', (id) => ({ id, firstName: 'Eva' })],
    ['users.delete', (id) => ({ id })],
    ['users.updateRole', (id) => ({ id, role: 'ADMIN' })],
    ['users.resetPassword', (userId) => ({ userId })],
    ['users.getActivity', (userId) => ({ userId })],
  ];

  it.each(inputs)('%s is forbidden to every other role, and changes nothing', async (procedure, input) => {
    const target = await create();
    for (const role of ['OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const) {
      const token = await gantry.tokenFor(role);
      const { status, body } = await gantry.call(procedure, input(target.id), { token });
      expect(status).toBe(403);
      expect(body).toEqual({
        error: {
          json: {
            message: `Your role ${role} does not have the permission Manage Users`,
            code: -32003,
            data: { code: 'FORBIDDEN', httpStatus: 403 },
          },
        },
      });
    }
    expect(await ok('users.getById', { id: target.id })).toEqual(target);
    expect((await ok<UsersPageJson>('users.getAll', { search: `person-${count}@` })).total).toBe(
      procedure === 'users.create' ? 0 : 1,
    );
  });

  it.each(inputs)('%s requires a token first', async (procedure) => {
    const { status, body } = await gantry.call(procedure, { nonsense: true });
    expect(status).toBe(401);
    expect(body.error.json.message).toBe('No token provided');
  });

  it.each(inputs)('%s requires the permission before the input is checked', async (procedure) => {
    const token = await gantry.tokenFor('VIEWER');
    expect((await gantry.call(procedure, { id: 7, take: 'x' }, { token })).status).toBe(403);
  });
});

describe('users.create', () => {
  it('returns the user with exactly the documented keys; unknown fields are omitted', async () => {
    const user = await create({
      email: ' Grace.Hopper@Example.ORG ',
      firstName: ' Grace ',
      lastName: 'Hopper',
    });
    expect(Object.keys(user).sort()).toEqual(REQUIRED_KEYS);
    expect(user).toMatchObject({
      email: 'grace.hopper@example.org',
      firstName: 'Grace',
      lastName: 'Hopper',
      role: 'VIEWER',
      isActive: true,
    });
    expect(user.id).toMatch(UUID);
    expect(user.createdAt).toMatch(ISO);
    expect(user.updatedAt).toBe(user.createdAt);
  });

  it('stores every optional field, and the user can log in whatever the case of the e-mail address', async () => {
    const fields = { role: 'FIELD', phone: '+43 1 234', department: 'Störung' };
    const user = await create({ ...fields, email: 'Field@example.org' });
    expect(user).toMatchObject(fields);
    expect(Object.keys(user).sort()).toEqual([...REQUIRED_KEYS, 'department', 'phone'].sort());
    expect(await userAtLogin('FIELD@EXAMPLE.ORG', PASSWORD)).toEqual({
      id: user.id,
      email: 'field@example.org',
      firstName: 'Ada',
      lastName: 'Lovelace',
      role: 'FIELD',
    });
    expect(await ok<UserJson>('users.getById', { id: user.id })).toHaveProperty(
      'lastLogin',
      expect.stringMatching(ISO),
    );
  });

  it('returns dates with the annotations that superjson clients need', async () => {
    const { body } = await call('users.create', person());
    expect(body.result.data.meta.values).toEqual({ createdAt: ['Date'], updatedAt: ['Date'] });
  });

  it('refuses an e-mail address in use, in any case, with a clear message', async () => {
    const { email } = await create();
    const refused = await refusal('users.create', person({ email: email.toUpperCase() }));
    const message = `The e-mail ${email} is already in use: choose another one`;
    expect(refused).toEqual({
      status: 400,
      message,
      code: -32600,
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
  });

  it('gives an e-mail address to one of many concurrent calls, and records one', async () => {
    const before = await countActivity();
    const input = person();
    const answers = await Promise.all(Array.from({ length: 12 }, () => call('users.create', input)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(400)]);
    expect((await ok<UsersPageJson>('users.getAll', { search: input.email })).total).toBe(1);
    expect(await countActivity()).toBe(before + 1);
  });

  it.each([
    ['email', { email: undefined }],
    ['email', { email: 'no-address' }],
    ['password', { password: undefined }],
    ['password', { password: 'short1!' }],
    ['password', { password: 'correct-horse-7' }],
    ['password', { password: 'CORRECT-HORSE-7' }],
    ['password', { password: 'Correct-Horse-Seven' }],
    ['password', { password: 'CorrectHorse7' }],
    ['firstName', { firstName: undefined }],
    ['firstName', { firstName: '   ' }],
    ['lastName', { lastName: undefined }],
    ['lastName', { lastName: 'x'.repeat(101) }],
    ['lastName', { lastName: 'a\u0000b' }],
    ['role', { role: 'ROOT' }],
    ['phone', { phone: 5 }],
    ['department', { department: '\ud800' }],
  ])('refuses an invalid %s: %j', async (path, fields) => {
    const refused = await refusal('users.create', person(fields));
    expect(refused).toMatchObject({ status: 400, code: -32600, data: { code: 'BAD_REQUEST' } });
    expect(refused.data.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect(JSON.stringify(refused)).not.toContain(PASSWORD);
  });
});

describe('an unknown user', () => {
  const procedures: [string, (id: string) => unknown][] = [
    ['users.getById', (id) => ({ id })],
    ['users.update', (id) => ({ id, firstName: 'Eva' })],
    ['users.delete', (id) => ({ id })],
    ['users.updateRole', (id) => ({ id, role: 'FIELD' })],
    ['users.resetPassword', (userId) => ({ userId })],
    ['users.getActivity', (userId) => ({ userId })],
  ];

  it.each(procedures)('is not found by %s, whatever the format of the id', async (procedure, input) => {
    for (const id of [randomUUID(), 'nobody', "' OR 1=1 --", '🙂', '\u0000', 'x'.repeat(1000)]) {
      expect(await refusal(procedure, input(id))).toEqual({
        status: 404,
        message: 'User not found',
        code: -32004,
        data: { code: 'NOT_FOUND', httpStatus: 404 },
      });
    }
  });

  it.each(procedures)('is a bad request to %s without an id', async (procedure, input) => {
    expect((await refusal(procedure, input(''))).status).toBe(400);
    expect((await refusal(procedure, { role: 'FIELD' })).status).toBe(400);
  });

  it.each([
    ['users.updateRole', { role: 'FIELD' }],
    ['users.getActivity', {}],
  ])('is a bad request to %s if id and userId differ', async (procedure, more) => {
    const user = await create();
    const refused = await refusal(procedure, { id: user.id, userId: adminId, ...more });
    expect(refused).toMatchObject({
      status: 400,
      message: 'Invalid input: userId: id and userId name different users: send one of them',
    });
    await ok(procedure, { id: user.id, userId: user.id, ...more });
  });

  it('is found by an id in upper case, and returned with the stored id', async () => {
    const user = await create();
    const id = user.id.toUpperCase();
    expect(await ok('users.getById', { id })).toEqual(user);
    expect(await ok<UserJson>('users.update', { id, firstName: 'Eva' })).toMatchObject({ id: user.id });
    expect(await ok<UserJson>('users.updateRole', { id, role: 'FIELD' })).toMatchObject({ id: user.id });
    expect(await ok<ActivityJson>('users.getActivity', { userId: id })).toMatchObject({ userId: user.id });
    expect(await ok('users.delete', { id })).toEqual({ success: true, id: user.id });
  });
});

describe('users.update', () => {
  it('changes the given fields, leaves the rest, and increases updatedAt', async () => {
    const user = await create({ phone: '1', department: 'A' });
    const avatar = 'https://example.org/ada.png';
    const changed = await ok<UserJson>('users.update', { id: user.id, firstName: 'Eva', avatar });
    expect(changed).toEqual({ ...user, firstName: 'Eva', avatar, updatedAt: changed.updatedAt });
    expect(changed.updatedAt > user.updatedAt).toBe(true);
    expect(await ok('users.getById', { id: user.id })).toEqual(changed);
  });

  it('increases updatedAt for each of many concurrent changes', async () => {
    const { id } = await create();
    const names = Array.from({ length: 20 }, (_, at) => `Eva ${at}`);
    const answers = await Promise.all(
      names.map((firstName) => ok<UserJson>('users.update', { id, firstName })),
    );
    expect(new Set(answers.map(({ updatedAt }) => updatedAt)).size).toBe(names.length);
    const last = await ok<UserJson>('users.getById', { id });
    expect(last.updatedAt).toBe(
      answers
        .map(({ updatedAt }) => updatedAt)
        .sort()
        .at(-1),
    );
  });

  it('clears phone, department and avatar with null, and phone and department with blanks', async () => {
    const user = await create({ phone: '1', department: 'A' });
    await ok('users.update', { id: user.id, avatar: 'iVBORw0KGgoAAAANSUhEUg==' });
    const cleared = await ok<UserJson>('users.update', {
      id: user.id,
      phone: null,
      department: ' ',
      avatar: null,
    });
    expect(Object.keys(cleared).sort()).toEqual(REQUIRED_KEYS);
  });

  it('with nothing, or with present values, returns the user unchanged and records nothing', async () => {
    const user = await create({ phone: '1' });
    const token = await tokenOf(user);
    const now = await ok<UserJson>('users.getById', { id: user.id });
    const before = await countActivity();
    expect(await ok('users.update', { id: user.id })).toEqual(now);
    expect(await ok('users.update', { id: user.id, phone: '1', isActive: true })).toEqual(now);
    expect(await ok('users.updateRole', { id: user.id, role: user.role })).toEqual(now);
    expect(await countActivity()).toBe(before);
    expect(await statusOfMe(token)).toBe(200);
  });

  it('never changes role, e-mail address or password, whatever else is sent', async () => {
    const user = await create();
    const token = await tokenOf(user);
    await ok('users.update', {
      id: user.id,
      role: 'ADMIN',
      email: 'other@example.org',
      password: 'Other-Horse-8',
      passwordHash: 'x',
      sessionEpoch: 99,
      createdAt: '2001-01-01',
    });
    expect(await ok('users.getById', { id: user.id })).toMatchObject({
      role: 'VIEWER',
      email: user.email,
      createdAt: user.createdAt,
    });
    expect(await statusOfMe(token)).toBe(200);
  });

  it.each([
    { firstName: '' },
    { lastName: null },
    { phone: 'x'.repeat(51) },
    { avatar: 'javascript:alert(1)' },
    { avatar: 'https://example.org/\u0000' },
    { isActive: 'no' },
  ])('refuses %j and changes nothing', async (fields) => {
    const user = await create();
    const refused = await refusal('users.update', { id: user.id, department: 'B', ...fields });
    expect(refused).toMatchObject({ status: 400, data: { code: 'BAD_REQUEST' } });
    expect(await ok('users.getById', { id: user.id })).toEqual(user);
  });
});

describe('the tokens of a user', () => {
  it('become invalid with deactivation at once, and stay so when the user is activated again', async () => {
    const user = await create();
    const token = await tokenOf(user);
    await ok('users.update', { id: user.id, isActive: false });
    const { status, body } = await gantry.call('auth.me', undefined, { token });
    expect(status).toBe(401);
    expect(body.error.json.message).toBe('Invalid or expired token');
    const login = await gantry.call('auth.login', { email: user.email, password: PASSWORD });
    expect(login.status).toBe(401);
    expect(login.body.error.json.message).toBe('Invalid credentials');

    await ok('users.update', { id: user.id, isActive: true });
    expect(await statusOfMe(token)).toBe(401);
    expect(await statusOfMe(await tokenOf(user))).toBe(200);
  });

  it('become invalid with a change of role at once; the next login has the new role', async () => {
    const user = await create();
    const token = await tokenOf(user);
    const changed = await ok<UserJson>('users.updateRole', { id: user.id, role: 'OPERATOR' });
    expect(changed).toMatchObject({ id: user.id, role: 'OPERATOR' });
    expect(changed.updatedAt > user.updatedAt).toBe(true);
    expect(await statusOfMe(token)).toBe(401);
    expect((await userAtLogin(user.email, PASSWORD)).role).toBe('OPERATOR');
  });

  it('become invalid with a password reset at once; only the new password is valid', async () => {
    const user = await create();
    const token = await tokenOf(user);
    const newPassword = 'Another-Horse-8';
    expect(await ok('users.resetPassword', { userId: user.id, newPassword })).toEqual({ success: true });
    expect(await statusOfMe(token)).toBe(401);
    expect((await gantry.call('auth.login', { email: user.email, password: PASSWORD })).status).toBe(401);
    expect(await statusOfMe(await gantry.login(user.email, newPassword))).toBe(200);
  });

  it('become invalid with deletion at once', async () => {
    const user = await create();
    const token = await tokenOf(user);
    await ok('users.delete', { id: user.id });
    expect(await statusOfMe(token)).toBe(401);
  });

  it('stay valid after a change of profile', async () => {
    const user = await create();
    const token = await tokenOf(user);
    await ok('users.update', { id: user.id, firstName: 'Eva' });
    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ firstName: 'Eva' });
  });
});

describe('users.resetPassword', () => {
  it('generates a password that meets the rules, and returns it only once', async () => {
    const user = await create();
    const answer = await ok<{ success: true; password: string }>('users.resetPassword', { userId: user.id });
    expect(Object.keys(answer).sort()).toEqual(['password', 'success']);
    expect(passwordFlaws(answer.password)).toEqual([]);
    expect((await userAtLogin(user.email, answer.password)).id).toBe(user.id);
    const { rows } = await gantry.pool.query('SELECT password_hash FROM users WHERE id = $1', [user.id]);
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$/);
    expect(JSON.stringify(await ok('users.getActivity', { userId: adminId }))).not.toContain(answer.password);
    expect((await ok<UserJson>('users.getById', { id: user.id })).updatedAt > user.updatedAt).toBe(true);
  });

  it('refuses to send it by e-mail, with the reason, and changes nothing', async () => {
    const user = await create();
    const token = await tokenOf(user);
    const before = await countActivity();
    for (const newPassword of [undefined, 'Another-Horse-8']) {
      const refused = await refusal('users.resetPassword', { userId: user.id, newPassword, sendEmail: true });
      expect(refused).toMatchObject({
        status: 400,
        data: { code: 'BAD_REQUEST', issues: [{ path: 'sendEmail' }] },
      });
      expect(refused.message).toMatch(/No mail is configured.*omit sendEmail/);
    }
    expect(await statusOfMe(token)).toBe(200);
    expect(await statusOfMe(await tokenOf(user))).toBe(200);
    expect(await countActivity()).toBe(before);
    const reset = { userId: user.id, newPassword: 'Another-Horse-8', sendEmail: false };
    expect(await ok('users.resetPassword', reset)).toEqual({ success: true });
  });

  it('refuses a weak password and keeps the old one', async () => {
    const user = await create();
    const refused = await refusal('users.resetPassword', { userId: user.id, newPassword: 'weak' });
    expect(refused.status).toBe(400);
    expect(refused.data.issues.every(({ path }: { path: string }) => path === 'newPassword')).toBe(true);
    expect(refused.data.issues).toHaveLength(4);
    expect(await statusOfMe(await tokenOf(user))).toBe(200);
  });
});

describe('users.delete', () => {
  it('returns success and the id, and the user is no longer listed', async () => {
    const user = await create();
    expect(await ok('users.delete', { id: user.id })).toEqual({ success: true, id: user.id });
    expect((await refusal('users.getById', { id: user.id })).status).toBe(404);
    expect((await ok<UsersPageJson>('users.getAll', { search: user.email })).total).toBe(0);
    expect((await refusal('users.delete', { id: user.id })).status).toBe(404);
  });

  it('makes the e-mail address available again', async () => {
    const { id, email } = await create();
    await ok('users.delete', { id });
    expect((await create({ email })).id).not.toBe(id);
  });

  it('succeeds once among many concurrent calls', async () => {
    const { id } = await create();
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('users.delete', { id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
  });
});

describe('the activity log', () => {
  it('contains who did what to whom, without passwords and avatars', async () => {
    const secret = 'Secret-Horse-9';
    const avatar = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==';
    const { id, email } = await create({ password: secret });
    const whom = { userId: id, email };
    expect(await latestActivity()).toMatchObject({
      action: 'users.create',
      details: { ...whom, role: 'VIEWER' },
    });

    await ok('users.update', { id, firstName: 'Eva', phone: '1', avatar });
    expect((await latestActivity())?.details).toEqual({
      ...whom,
      changes: { firstName: { from: 'Ada', to: 'Eva' }, phone: { from: null, to: '1' }, avatar: 'set' },
    });
    await ok('users.updateRole', { id, role: 'ANALYST' });
    expect(await latestActivity()).toMatchObject({
      action: 'users.updateRole',
      details: { ...whom, changes: { role: { from: 'VIEWER', to: 'ANALYST' } } },
    });
    await ok('users.resetPassword', { userId: id, newPassword: `${secret}!` });
    expect(await latestActivity()).toMatchObject({
      action: 'users.resetPassword',
      details: { ...whom, generated: false },
    });
    await ok('users.delete', { id });
    expect(await latestActivity()).toMatchObject({ action: 'users.delete', details: whom });

    const { rows } = await gantry.pool.query<{ all: string }>('SELECT activity::text AS all FROM activity');
    const log = rows.map(({ all }) => all).join('\n');
    expect(log).toContain(email);
    expect(log).not.toContain(secret);
    expect(log).not.toContain('iVBOR');
    expect(log).not.toContain('argon2');
  });

  it('returns exactly the documented keys, newest first, in pages', async () => {
    const user = await create();
    for (let logins = 0; logins < 3; logins++) await gantry.login(user.email, PASSWORD);
    const answer = await ok<ActivityJson>('users.getActivity', { userId: user.id, take: 2 });
    expect(Object.keys(answer).sort()).toEqual(['activities', 'totalActivities', 'userId']);
    expect(answer).toMatchObject({ userId: user.id, totalActivities: 3 });
    expect(answer.activities).toHaveLength(2);
    for (const activity of answer.activities) {
      expect(['action', 'ipAddress', 'timestamp', 'userAgent']).toEqual(
        expect.arrayContaining(Object.keys(activity)),
      );
      expect(activity.action).toBe('auth.login');
      expect(activity.timestamp).toMatch(ISO);
    }
    const times = answer.activities.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted().reverse());
    const rest = await ok<ActivityJson>('users.getActivity', { id: user.id, skip: 2, take: 2 });
    expect(rest.activities).toHaveLength(1);
  });

  it('of a user without actions is empty', async () => {
    const { id } = await create();
    expect(await ok('users.getActivity', { userId: id })).toEqual({
      userId: id,
      activities: [],
      totalActivities: 0,
    });
  });

  it('contains no refused calls', async () => {
    const { email } = await create();
    const before = await countActivity();
    await refusal('users.create', person({ email }));
    await refusal('users.delete', { id: randomUUID() });
    expect(await countActivity()).toBe(before);
  });
});

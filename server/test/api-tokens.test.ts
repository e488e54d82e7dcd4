import type { Role } from '@gantry/contract/permissions';
import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry, untilBegun } from './harness.ts';
import { openStream } from './sse.ts';

const gantry = await sharedGantry({
  config: { HIDE_PLATES_FROM: 'ANALYST' },
  overrides: { timings: { checkSessionsMs: 100, writeContactsMs: 100 } },
});
const admin = await gantry.tokenFor('ADMIN');

let users = 0;
const newUser = async (role: Role) => {
  const email = `owner${++users}@example.org`;
  const input = { email, password: ADMIN.password, firstName: 'Token', lastName: 'Owner', role };
  const { id } = await gantry.ok('users.create', input, { token: admin });
  return { id, email, token: await gantry.login(email, ADMIN.password) };
};

const newToken = (token: string, input: object = {}) =>
  gantry.ok('apiTokens.create', { name: 'Traffic screens', password: ADMIN.password, ...input }, { token });

const me = async (token: string): Promise<number> =>
  (await gantry.call('auth.me', undefined, { token })).status;

describe('an API token', () => {
  it('is shown once, listed by its prefix, and stored as a hash', async () => {
    const { token } = await newUser('OPERATOR');
    const created = await newToken(token, { expiresInDays: 30 });
    expect(created.token).toMatch(/^gantry_[0-9a-f]{64}$/);
    const { token: _, ...shown } = created;
    expect(shown).toMatchObject({
      name: 'Traffic screens',
      role: 'OPERATOR',
      prefix: created.token.slice(0, 13),
      lastUsedAt: null,
    });
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBeCloseTo(30 * 86_400_000, -7);
    expect(await gantry.ok('apiTokens.getAll', undefined, { token })).toEqual([shown]);
    const { rows } = await gantry.pool.query('SELECT * FROM api_tokens');
    expect(JSON.stringify(rows)).not.toContain(created.token);
  });

  it('acts as its user, with its role', async () => {
    const owner = await newUser('OPERATOR');
    const { token } = await newToken(owner.token, { role: 'VIEWER' });
    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ id: owner.id, role: 'VIEWER' });
    await gantry.ok('events.getAll', {}, { token });
    const sensor = { name: 'Mast 9', deviceId: 'mast-9', type: 'CAMERA' };
    expect(await gantry.refusal('sensors.create', sensor, { token })).toMatchObject({ status: 403 });
    const whole = await newToken(owner.token);
    expect((await gantry.call('sensors.create', sensor, { token: whole.token })).status).toBe(200);
  });

  it('has no role with permissions that its user does not have', async () => {
    const { token } = await newUser('FIELD');
    for (const role of ['ADMIN', 'OPERATOR', 'ANALYST', 'VIEWER']) {
      expect(await gantry.refusal('apiTokens.create', { name: 'More', role }, { token })).toMatchObject({
        status: 400,
        message: `A token of the role ${role} would have permissions that your role does not`,
      });
    }
    await newToken(token, { role: 'FIELD' });
  });

  it('sees no plates if its user does not', async () => {
    const { token: analyst } = await newUser('ANALYST');
    const { token } = await newToken(analyst, { role: 'VIEWER' });
    expect(await gantry.refusal('events.getAll', { licensePlateNumber: 'AB*' }, { token })).toMatchObject({
      status: 403,
    });
  });

  it('cannot change passwords, accounts, sessions, second factors and tokens', async () => {
    const { token } = await newToken(admin);
    const { id: userId } = await newUser('VIEWER');
    const password = ADMIN.password;
    const user = { email: 'x@example.org', password, firstName: 'X', lastName: 'Y' };
    for (const [path, input] of [
      ['auth.changePassword', { currentPassword: password, newPassword: 'Other-Horse-8' }],
      ['auth.refreshToken', undefined],
      ['auth.getSessions', undefined],
      ['auth.revokeSession', { id: userId }],
      ['secondFactor.getState', undefined],
      ['secondFactor.start', { password }],
      ['secondFactor.confirm', { code: '123456' }],
      ['secondFactor.disable', { password, code: '123456' }],
      ['secondFactor.renewRecoveryCodes', { password, code: '123456' }],
      ['apiTokens.create', { name: 'Child' }],
      ['apiTokens.getAll', undefined],
      ['apiTokens.revoke', { id: userId }],
      ['users.create', user],
      ['users.update', { id: userId, isActive: false }],
      ['users.delete', { id: userId }],
      ['users.updateRole', { id: userId, role: 'ADMIN' }],
      ['users.resetPassword', { userId }],
      ['users.resetSecondFactor', { userId }],
    ] as const) {
      expect([path, await gantry.refusal(path, input, { token })]).toEqual([
        path,
        expect.objectContaining({ status: 403, message: 'An API token cannot do this: log in as a user' }),
      ]);
    }
    await gantry.ok('users.getAll', {}, { token });
    await gantry.ok('auth.logout', undefined, { token });
    expect(await me(token)).toBe(200);
  });

  it('is named in the activity log', async () => {
    const owner = await newUser('OPERATOR');
    const { id: apiTokenId, token } = await newToken(owner.token, { name: 'Importer' });
    await gantry.ok('locations.create', { name: 'Bridge' }, { token });
    await gantry.ok('events.getAll', { licensePlateNumber: 'AB 1' }, { token });
    await gantry.ok('events.getAll', { licensePlateNumber: 'AB 1' }, { token: owner.token });
    const { activities } = await gantry.ok('users.getActivity', { userId: owner.id }, { token: admin });
    expect(activities).toMatchObject([
      { action: 'events.lookUpPlate', details: expect.not.objectContaining({ apiToken: 'Importer' }) },
      { action: 'events.lookUpPlate', details: { plate: 'AB 1', apiToken: 'Importer', apiTokenId } },
      { action: 'locations.create', details: { apiToken: 'Importer', apiTokenId } },
      { action: 'apiTokens.create', details: { name: 'Importer', role: 'OPERATOR', tokenId: apiTokenId } },
      { action: 'auth.login' },
    ]);
  });

  it('becomes invalid at once when it is revoked, which only its user and administrators can do', async () => {
    const owner = await newUser('OPERATOR');
    const other = await newUser('OPERATOR');
    const [one, two] = [await newToken(owner.token), await newToken(owner.token)];
    expect(await gantry.refusal('apiTokens.revoke', { id: one.id }, { token: other.token })).toMatchObject({
      status: 404,
    });
    expect(
      await gantry.refusal('apiTokens.getAll', { userId: owner.id }, { token: other.token }),
    ).toMatchObject({ status: 403 });
    expect(await gantry.ok('apiTokens.getAll', { userId: owner.id }, { token: admin })).toHaveLength(2);
    const stream = await openStream(gantry.url, 'events.onIngested', { token: one.token });
    await untilBegun(stream);
    expect(stream.error).toBeNull();
    await gantry.ok('apiTokens.revoke', { id: one.id }, { token: owner.token });
    expect(await gantry.refusal('auth.me', undefined, { token: one.token })).toMatchObject({
      status: 401,
      message: 'Invalid or expired token',
    });
    await stream.ended;
    expect(stream.error).toMatchObject({ message: 'Invalid or expired token' });
    expect(await gantry.refusal('apiTokens.revoke', { id: one.id }, { token: owner.token })).toMatchObject({
      status: 404,
    });
    await gantry.ok('apiTokens.revoke', { id: two.id }, { token: admin });
    expect(await me(two.token)).toBe(401);
  });

  it.each([
    ['is deactivated', 'users.update', { isActive: false }],
    ['changes to a role with other permissions', 'users.updateRole', { role: 'FIELD' }, 'ANALYST' as const],
    ['gets a new password', 'users.resetPassword', {}],
    ['is deleted', 'users.delete', {}],
  ])('is refused from the moment its user %s', async (_, procedure, change, role: Role = 'OPERATOR') => {
    const owner = await newUser('OPERATOR');
    const { token } = await newToken(owner.token, { role });
    expect(await me(token)).toBe(200);
    await gantry.ok(procedure, { id: owner.id, userId: owner.id, ...change }, { token: admin });
    expect(await me(token)).toBe(401);
    expect(
      (await gantry.fetch(`/images/${'0'.repeat(64)}`, { headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).toBe(401);
  });

  it('stays revoked when its user is activated again; the activity log has the number', async () => {
    const owner = await newUser('OPERATOR');
    const [one, two] = [await newToken(owner.token), await newToken(owner.token)];
    await gantry.ok('users.update', { id: owner.id, isActive: false }, { token: admin });
    await gantry.ok('users.update', { id: owner.id, isActive: true }, { token: admin });
    expect([await me(one.token), await me(two.token)]).toEqual([401, 401]);
    expect(await gantry.ok('apiTokens.getAll', { userId: owner.id }, { token: admin })).toEqual([]);
    const { rows } = await gantry.pool.query(
      "SELECT details FROM activity WHERE action = 'users.update' AND details->>'userId' = $1 ORDER BY id",
      [owner.id],
    );
    expect(rows).toMatchObject([
      { details: { revokedTokens: 2 } },
      { details: expect.not.objectContaining({ revokedTokens: 0 }) },
    ]);
  });

  it('acts with the role of its user while that is lower than its own, in streams too', async () => {
    const owner = await newUser('OPERATOR');
    const { token } = await newToken(owner.token);
    const stream = await openStream(gantry.url, 'events.onIngested', { token });
    await untilBegun(stream);
    await gantry.ok('users.updateRole', { id: owner.id, role: 'VIEWER' }, { token: admin });
    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ role: 'VIEWER' });
    const location = { name: 'Tunnel' };
    expect(await gantry.refusal('locations.create', location, { token })).toMatchObject({ status: 403 });
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'SERVICE_UNAVAILABLE' } });
    await gantry.ok('users.updateRole', { id: owner.id, role: 'ADMIN' }, { token: admin });
    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ role: 'OPERATOR' });
  });

  it('has its streams ended when its user changes to a role from which plates are hidden', async () => {
    const owner = await newUser('OPERATOR');
    const { token } = await newToken(owner.token, { role: 'VIEWER' });
    const apiKey = await gantry.registerSensor();
    const stream = await openStream(gantry.url, 'events.onIngested', { token });
    await untilBegun(stream);
    await gantry.ok('users.updateRole', { id: owner.id, role: 'ANALYST' }, { token: admin });
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'SERVICE_UNAVAILABLE' } });
    const again = await openStream(gantry.url, 'events.onIngested', { token });
    await untilBegun(again);
    await gantry.ingest(apiKey, { licensePlateNumber: 'XQ 77-PLT' });
    const messages = await eventually(
      async () => again.messages,
      (all) => all.some(({ data }) => data.type === 'event'),
    );
    again.close();
    expect(JSON.stringify(messages)).not.toContain('XQ 77');
  });

  it('is created only with the password of its user, whatever the session', async () => {
    const owner = await newUser('OPERATOR');
    const create = (input: object) =>
      gantry.refusal('apiTokens.create', { name: 'Stolen session', ...input }, { token: owner.token });
    expect(await create({})).toMatchObject({ status: 400, message: 'Give your present password' });
    expect(await create({ password: 'Wrong-horse-1' })).toMatchObject({
      status: 400,
      message: 'The password is wrong: type the one that you log in with',
    });
    expect(await gantry.ok('apiTokens.getAll', undefined, { token: owner.token })).toEqual([]);
    const { activities } = await gantry.ok('users.getActivity', { userId: owner.id }, { token: admin });
    expect(activities).toMatchObject([{ action: 'auth.loginFailed' }, { action: 'auth.login' }]);
  });

  it('is created without one in the minutes after a login at the provider', async () => {
    const owner = await newUser('OPERATOR');
    const create = () => gantry.call('apiTokens.create', { name: 'Model' }, { token: owner.token });
    const session = (set: string) =>
      gantry.pool.query(`UPDATE sessions SET ${set} WHERE user_id = $1`, [owner.id]);
    await session(`by_provider = true, started_at = now() - interval '9 minutes'`);
    expect((await create()).status).toBe(200);
    await session(`started_at = now() - interval '11 minutes'`);
    expect((await create()).status).toBe(400);
    await session(`by_provider = false, started_at = now()`);
    expect((await create()).status).toBe(400);
  });

  it('ends with a change of the password if its user wishes', async () => {
    const owner = await newUser('VIEWER');
    const tokens = [await newToken(owner.token), await newToken(owner.token)];
    const change = (currentPassword: string, newPassword: string, fields: object = {}) =>
      gantry.ok('auth.changePassword', { currentPassword, newPassword, ...fields }, { token: owner.token });
    expect(await change(ADMIN.password, 'Other-Horse-8')).toEqual({ success: true, remainingApiTokens: 2 });
    expect(await change('Other-Horse-8', 'Third-Horse-9', { endApiTokens: true })).toEqual({
      success: true,
      remainingApiTokens: 0,
    });
    expect(await Promise.all(tokens.map(({ token }) => me(token)))).toEqual([401, 401]);
    const { activities } = await gantry.ok('users.getActivity', { userId: owner.id }, { token: admin });
    expect(activities[0]).toMatchObject({ action: 'auth.passwordChanged', details: { revokedTokens: 2 } });
  });

  it('otherwise survives a change of the password by its user', async () => {
    const owner = await newUser('VIEWER');
    const { token } = await newToken(owner.token);
    const passwords = { currentPassword: ADMIN.password, newPassword: 'Other-Horse-8' };
    await gantry.ok('auth.changePassword', passwords, { token: owner.token });
    expect(await me(token)).toBe(200);
  });

  it('stays valid while its user has its permissions', async () => {
    const owner = await newUser('OPERATOR');
    const { token } = await newToken(owner.token, { role: 'VIEWER' });
    await gantry.ok('users.updateRole', { id: owner.id, role: 'ANALYST' }, { token: admin });
    expect(await me(token)).toBe(200);
  });

  it('expires', async () => {
    const { token } = await newUser('VIEWER');
    const created = await newToken(token, { expiresInDays: 1 });
    await gantry.pool.query("UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = $1", [
      created.id,
    ]);
    expect(await me(created.token)).toBe(401);
    expect(await gantry.ok('apiTokens.getAll', undefined, { token })).toEqual([]);
    for (const expiresInDays of [0, 731, 1.5]) {
      const input = { name: 'Long', expiresInDays };
      expect((await gantry.call('apiTokens.create', input, { token })).status).toBe(400);
    }
  });

  it('has its last use written, but not at each call', async () => {
    const { token } = await newUser('VIEWER');
    const created = await newToken(token);
    const lastUse = async (): Promise<string> =>
      (await gantry.ok('apiTokens.getAll', undefined, { token }))[0].lastUsedAt;
    await me(created.token);
    const first = await eventually(lastUse, (at) => at !== null);
    for (let call = 0; call < 5; call++) await me(created.token);
    // Uses are written together: once the use of another token has been written, the later uses of the first one would
    // have been written too.
    const another = await newUser('VIEWER');
    await me((await newToken(another.token)).token);
    await eventually(
      () => gantry.ok('apiTokens.getAll', undefined, { token: another.token }),
      ([only]) => only.lastUsedAt !== null,
    );
    expect(await lastUse()).toBe(first);
  });
});

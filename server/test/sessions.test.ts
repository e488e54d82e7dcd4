import { randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

const JWT_SECRET = 'a secret of the tests that is long enough';
const PASSWORD = 'Correct-Horse-7';
const DAY = 86_400;

interface SessionJson {
  id: string;
  startedAt: string;
  lastSeenAt: string;
  expiresAt: string;
  ipAddress: string | null;
  userAgent: string | null;
  current: boolean;
}

let count = 0;
const gantry = await sharedGantry({
  config: { JWT_SECRET },
  overrides: { timings: { checkSessionsMs: 200 } },
});
const admin = await gantry.tokenFor('ADMIN');

const newUser = async (role = 'VIEWER'): Promise<{ id: string; email: string }> => {
  const user = {
    email: `session-${++count}@example.org`,
    password: PASSWORD,
    firstName: 'Ada',
    lastName: 'L',
  };
  return gantry.ok('users.create', { ...user, role }, { token: admin });
};
const login = ({ email }: { email: string }, password = PASSWORD) => gantry.login(email, password);
const refresh = async (token: string): Promise<string> =>
  (await gantry.ok('auth.refreshToken', undefined, { token })).token;
const statusOf = async (token: string) => (await gantry.call('auth.me', undefined, { token })).status;
const sessionsOf = (token: string, input?: unknown) =>
  gantry.ok<SessionJson[]>('auth.getSessions', input, { token });
const errorOf = async (procedure: string, input: unknown, token: string) =>
  (await gantry.call(procedure, input, { token })).body.error.json;
const sidOf = (token: string) => String(decodeJwt(token).sid);
const lastActivityOf = async (userId: string) =>
  (await gantry.ok('users.getActivity', { userId, take: 1 }, { token: admin })).activities[0];

/** A token as it was issued before sessions existed. */
const olderTokenOf = async (user: { email: string }, issuedAt = Math.floor(Date.now() / 1000)) => {
  const { sid: _, auth_time: __, ...claims } = decodeJwt(await login(user));
  return new SignJWT({ ...claims, jti: randomUUID(), iat: issuedAt, exp: issuedAt + DAY })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(JWT_SECRET));
};

describe('a session', () => {
  it('is named by its tokens, in addition to the documented claims', async () => {
    const user = await newUser();
    const token = await login(user);
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      id: user.id,
      email: user.email,
      role: 'VIEWER',
      firstName: 'Ada',
      lastName: 'L',
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(DAY);
    const [session] = await sessionsOf(token);
    expect(claims.sid).toBe(session?.id);
    expect(claims.auth_time).toBe(Math.floor(Date.parse(session?.startedAt ?? '') / 1000));
  });

  it('is continued by a refresh, and ended with all of its tokens by a logout', async () => {
    const token = await login(await newUser());
    const second = await refresh(token);
    const third = await refresh(second);
    expect([sidOf(second), sidOf(third)]).toEqual([sidOf(token), sidOf(token)]);
    expect(decodeJwt(third).auth_time).toBe(decodeJwt(token).auth_time);
    expect(await Promise.all([token, second, third].map(statusOf))).toEqual([200, 200, 200]);
    await gantry.ok('auth.logout', undefined, { token });
    expect(await Promise.all([token, second, third].map(statusOf))).toEqual([401, 401, 401]);
    expect((await gantry.call('auth.refreshToken', undefined, { token: third })).status).toBe(401);
  });

  it('of another login continues', async () => {
    const user = await newUser();
    const [one, other] = [await login(user), await login(user)];
    await gantry.ok('auth.logout', undefined, { token: one });
    expect(await statusOf(other)).toBe(200);
  });

  it('expires: no token outlives it, and it cannot be refreshed', async () => {
    const token = await login(await newUser());
    const inAnHour = "UPDATE sessions SET expires_at = now() + interval '1 hour' WHERE id = $1";
    await gantry.pool.query(inAnHour, [sidOf(token)]);
    const { token: last, expiresIn } = await gantry.ok('auth.refreshToken', undefined, { token });
    expect(expiresIn).toBeGreaterThan(3_500);
    expect(expiresIn).toBeLessThanOrEqual(3_600);
    const { exp = 0, iat = 0 } = decodeJwt(last);
    expect(exp - iat).toBe(expiresIn);
    await gantry.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [sidOf(token)]);
    expect(await statusOf(last)).toBe(401);
    expect(await errorOf('auth.refreshToken', undefined, last)).toMatchObject({
      message: 'Invalid or expired token',
      data: { code: 'UNAUTHORIZED' },
    });
  });

  it('lasts seven days by default', async () => {
    const [session] = await sessionsOf(await login(await newUser()));
    const { startedAt = '', expiresAt = '' } = session ?? {};
    expect(Date.parse(expiresAt) - Date.parse(startedAt)).toBe(7 * DAY * 1000);
  });

  it('shows its last use, which is recorded once a minute at most', async () => {
    const useAfterAnHour = async (): Promise<{ token: string; seen: string }> => {
      const token = await login(await newUser());
      const set = "UPDATE sessions SET last_seen_at = now() - interval '1 hour' WHERE id = $1";
      await gantry.pool.query(set, [sidOf(token)]);
      expect(await statusOf(token)).toBe(200);
      const seen = await eventually(
        async () => (await sessionsOf(token))[0]?.lastSeenAt ?? '',
        (lastSeenAt) => Date.now() - Date.parse(lastSeenAt) < 60_000,
      );
      return { token, seen };
    };
    const { token, seen } = await useAfterAnHour();
    for (let n = 0; n < 5; n++) await statusOf(token);
    // By the time that the use of another session has been written, further uses of this one would have been written
    // too.
    await useAfterAnHour();
    expect((await sessionsOf(token))[0]?.lastSeenAt).toBe(seen);
  });
});

describe('auth.getSessions', () => {
  it("lists the caller's sessions with exactly these keys, the current one first", async () => {
    const user = await newUser();
    const [first, second] = [await login(user), await login(user)];
    const headers = { 'user-agent': 'Tablet 9' };
    const third = (await gantry.ok('auth.login', { email: user.email, password: PASSWORD }, { headers }))
      .token;
    const sessions = await sessionsOf(first);
    expect(sessions.map(({ id }) => id)).toEqual([first, third, second].map(sidOf));
    expect(sessions.map(({ current }) => current)).toEqual([true, false, false]);
    expect(Object.keys(sessions[1] ?? {}).sort()).toEqual([
      'current',
      'expiresAt',
      'id',
      'ipAddress',
      'lastSeenAt',
      'startedAt',
      'userAgent',
    ]);
    expect(sessions[1]).toMatchObject({ userAgent: 'Tablet 9', ipAddress: '127.0.0.1' });
  });

  it('leaves out ended ones, and lists those of others only with Manage Users', async () => {
    const user = await newUser();
    const [token, other] = [await login(user), await login(user)];
    await gantry.ok('auth.logout', undefined, { token: other });
    expect(await sessionsOf(token)).toHaveLength(1);
    expect(
      (await sessionsOf(admin, { userId: user.id })).map(({ id, current }) => ({ id, current })),
    ).toEqual([{ id: sidOf(token), current: false }]);
    const somebody = await login(await newUser('OPERATOR'));
    expect(await errorOf('auth.getSessions', { userId: user.id }, somebody)).toMatchObject({
      data: { code: 'FORBIDDEN' },
    });
    for (const userId of [randomUUID(), 'nobody']) {
      expect(await errorOf('auth.getSessions', { userId }, admin)).toMatchObject({
        data: { code: 'NOT_FOUND' },
      });
    }
  });
});

describe('auth.revokeSession', () => {
  it('ends one session of the caller, and is recorded', async () => {
    const user = await newUser();
    const [mine, lost] = [await login(user), await login(user)];
    const refreshed = await refresh(lost);
    const id = sidOf(lost);
    expect(await gantry.ok('auth.revokeSession', { id }, { token: mine })).toEqual({ success: true, id });
    expect(await Promise.all([mine, lost, refreshed].map(statusOf))).toEqual([200, 401, 401]);
    expect(await lastActivityOf(user.id)).toMatchObject({
      action: 'auth.sessionRevoked',
      details: { sessionId: id, userId: user.id },
    });
  });

  it('does not find those of others, unless the caller manages users', async () => {
    const user = await newUser();
    const token = await login(user);
    const somebody = await login(await newUser('OPERATOR'));
    for (const id of [sidOf(token), randomUUID(), 'nonsense']) {
      expect(await errorOf('auth.revokeSession', { id }, somebody)).toMatchObject({
        message: 'Session not found',
        data: { code: 'NOT_FOUND', httpStatus: 404 },
      });
    }
    expect(await statusOf(token)).toBe(200);
    await gantry.ok('auth.revokeSession', { id: sidOf(token) }, { token: admin });
    expect(await statusOf(token)).toBe(401);
    expect(await errorOf('auth.revokeSession', { id: sidOf(token) }, admin)).toMatchObject({
      data: { code: 'NOT_FOUND' },
    });
  });
});

describe('auth.changePassword', () => {
  it('keeps the current session, ends the others, and only the new password is valid', async () => {
    const user = await newUser();
    const [mine, other] = [await login(user), await login(user)];
    const older = await olderTokenOf(user);
    const change = { currentPassword: PASSWORD, newPassword: 'Another-Horse-8' };
    expect(await gantry.ok('auth.changePassword', change, { token: mine })).toEqual({
      success: true,
      remainingApiTokens: 0,
    });
    expect(await Promise.all([mine, other, older].map(statusOf))).toEqual([200, 401, 401]);
    expect(await statusOf(await refresh(mine))).toBe(200);
    expect(await sessionsOf(mine)).toHaveLength(1);
    expect((await gantry.call('auth.login', { email: user.email, password: PASSWORD })).status).toBe(401);
    expect(await statusOf(await login(user, 'Another-Horse-8'))).toBe(200);
  });

  it('refuses a wrong current password, a weak new one and the same one, and changes nothing', async () => {
    const user = await newUser();
    const token = await login(user);
    const refused = async (currentPassword: string, newPassword: string) =>
      (await errorOf('auth.changePassword', { currentPassword, newPassword }, token)).data;
    const issue = (path: string) => ({ code: 'BAD_REQUEST', issues: [{ path }] });
    expect(await refused('Wrong-Horse-7', 'Another-Horse-8')).toMatchObject(issue('currentPassword'));
    expect(await refused(PASSWORD, 'weak')).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await refused(PASSWORD, PASSWORD)).toMatchObject(issue('newPassword'));
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(await login(user))).toBe(200);
    expect(await lastActivityOf(user.id)).toMatchObject({ action: 'auth.login' });
  });

  it('counts wrong passwords like failed logins', async () => {
    const user = await newUser();
    const token = await login(user);
    const guess = { currentPassword: 'Wrong-Horse-7', newPassword: 'Another-Horse-8' };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => gantry.call('auth.changePassword', guess, { token })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    const right = { currentPassword: PASSWORD, newPassword: 'Another-Horse-8' };
    expect(await errorOf('auth.changePassword', right, token)).toMatchObject({ data: { httpStatus: 429 } });
    expect(await statusOf(token)).toBe(200);
  });

  it('succeeds once among concurrent calls with one password', async () => {
    const user = await newUser();
    const token = await login(user);
    const answers = await Promise.all(
      [1, 2, 3].map((n) =>
        gantry.call(
          'auth.changePassword',
          { currentPassword: PASSWORD, newPassword: `Another-Horse-${n}` },
          { token },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

describe('the end of all sessions', () => {
  it('follows a reset of the password', async () => {
    const user = await newUser();
    const token = await login(user);
    await gantry.ok('users.resetPassword', { userId: user.id, newPassword: PASSWORD }, { token: admin });
    expect(await statusOf(token)).toBe(401);
    expect(await sessionsOf(admin, { userId: user.id })).toEqual([]);
  });
});

describe('a login in progress', () => {
  /** Logs in so that `change` is made to the user after the password was checked and before the login is complete. */
  const loginDuring = async ({ email }: { email: string }, change: string) => {
    const holder = await gantry.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(change, [email]);
      const answer = gantry.call('auth.login', { email, password: PASSWORD });
      const waiting = async () => {
        const { rowCount } = await gantry.pool.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return rowCount;
      };
      await eventually(waiting, (n) => n === 1);
      await holder.query('COMMIT');
      return await answer;
    } finally {
      holder.release(true);
    }
  };

  it.each([
    ['the user was deleted', 'DELETE FROM users WHERE email = $1'],
    ['the user was deactivated', 'UPDATE users SET is_active = false WHERE email = $1'],
    [
      'the sessions of the user were ended',
      'UPDATE users SET session_epoch = session_epoch + 1 WHERE email = $1',
    ],
  ])('is refused when %s', async (_, change) => {
    const { status, body } = await loginDuring(await newUser(), change);
    expect(status).toBe(401);
    expect(body.error.json.message).toBe('Invalid credentials');
  });
});

describe('a token from before sessions existed', () => {
  it('stays valid, and tokens refreshed from it end with it', async () => {
    const user = await newUser();
    const older = await olderTokenOf(user);
    expect(await statusOf(older)).toBe(200);
    const refreshed = await refresh(older);
    expect(await statusOf(refreshed)).toBe(200);
    expect((await sessionsOf(older))[0]).toMatchObject({ id: decodeJwt(older).jti, current: true });
    await gantry.ok('auth.logout', undefined, { token: older });
    expect(await Promise.all([older, refreshed].map(statusOf))).toEqual([401, 401]);
  });

  it('keeps its age, so that its session expires in time', async () => {
    const issuedAt = Math.floor(Date.now() / 1000) - 20 * 3600;
    const refreshed = await refresh(await olderTokenOf(await newUser(), issuedAt));
    const [session] = await sessionsOf(refreshed);
    expect(Date.parse(session?.expiresAt ?? '')).toBe((issuedAt + 7 * DAY) * 1000);
  });

  it('is invalid when it was revoked, or its user was deactivated', async () => {
    const user = await newUser();
    const [revoked, other] = [await olderTokenOf(user), await olderTokenOf(user)];
    const revoke = "INSERT INTO revoked_tokens VALUES ($1, now() + interval '1 day')";
    await gantry.pool.query(revoke, [decodeJwt(revoked).jti]);
    expect(await Promise.all([revoked, other].map(statusOf))).toEqual([401, 200]);
    await gantry.ok('users.update', { id: user.id, isActive: false }, { token: admin });
    expect(await statusOf(other)).toBe(401);
  });

  it('may change the password and stays valid', async () => {
    const user = await newUser();
    const older = await olderTokenOf(user);
    const change = { currentPassword: PASSWORD, newPassword: 'Another-Horse-8' };
    await gantry.ok('auth.changePassword', change, { token: older });
    expect(await statusOf(older)).toBe(200);
  });
});

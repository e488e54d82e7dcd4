import { setTimeout as sleep } from 'node:timers/promises';
import {
  RECOVERY_CODES,
  SECOND_FACTOR_MISSING,
  SECOND_FACTOR_REQUIRED,
  WRONG_CODE,
} from '@gantry/contract/second-factor';
import { TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { SecretBox } from '../src/accounts/tokens.ts';
import { ADMIN, sharedGantry, startGantry, untilBegun } from './harness.ts';
import { openStream } from './sse.ts';

const { password } = ADMIN;

const gantry = await sharedGantry({ config: { SECOND_FACTOR_FOR: 'FIELD' } });
const admin = await gantry.tokenFor('ADMIN');

let users = 0;
const newUser = async (role = 'OPERATOR') => {
  const email = `user${++users}@example.org`;
  const input = { email, password, firstName: 'Second', lastName: 'Factor', role };
  const { id } = await gantry.ok('users.create', input, { token: admin });
  return { id, email, token: await gantry.login(email, password) };
};

/** The code of the current step of 30 s, or of an earlier or later one. */
const codeOf = (secret: string, step = 0): string =>
  new TOTP({ secret, digits: 6, period: 30, algorithm: 'SHA1' }).generate({
    timestamp: Date.now() + step * 30_000,
  });

/** Waits until the current step of 30 s does not end within the next seconds, after which other codes are valid. */
const untilSteady = () => {
  const left = 30_000 - (Date.now() % 30_000);
  return left < 3_000 ? sleep(left) : undefined;
};

/** Creates a user with a second factor that was confirmed with the code of the previous step. */
const protectedUser = async () => {
  const user = await newUser();
  await untilSteady();
  const { secret, uri } = await gantry.ok('secondFactor.start', { password }, { token: user.token });
  const confirm = { code: codeOf(secret, -1) };
  const { recoveryCodes } = await gantry.ok('secondFactor.confirm', confirm, { token: user.token });
  return { ...user, secret, uri, recoveryCodes: recoveryCodes as string[] };
};

const login = (email: string, code?: string) => gantry.call('auth.login', { email, password, code });

const actionsOf = async (userId: string): Promise<string[]> =>
  (await gantry.ok('users.getActivity', { userId }, { token: admin })).activities.map(
    ({ action }: { action: string }) => action,
  );

describe('a role that requires a second factor', () => {
  const FIRST = expect.objectContaining({ status: 403, message: SECOND_FACTOR_MISSING });

  it('restricts its users to setting it up, in one session', async () => {
    const { token, email } = await newUser('FIELD');
    for (const [path, input] of [
      ['events.getAll', {}],
      ['incidents.getAll', {}],
      ['apiTokens.create', { name: 'Around it' }],
      ['users.getAll', {}],
      ['events.getStats', undefined],
    ] as const) {
      expect([path, await gantry.refusal(path, input, { token })]).toEqual([path, FIRST]);
    }
    const image = await gantry.fetch(`/images/${'0'.repeat(64)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(image.status).toBe(403);
    const stream = await openStream(gantry.url, 'events.onIngested', { token });
    await stream.ended;
    expect(stream.error).toMatchObject({ message: SECOND_FACTOR_MISSING });

    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ email, role: 'FIELD' });
    const state = { enabled: false, required: true };
    expect(await gantry.ok('secondFactor.getState', undefined, { token })).toMatchObject(state);
    const { secret } = await gantry.ok('secondFactor.start', { password }, { token });
    expect(await gantry.refusal('events.getAll', {}, { token })).toEqual(FIRST);
    await gantry.ok('secondFactor.confirm', { code: codeOf(secret) }, { token });
    await gantry.ok('events.getAll', {}, { token });
    const create = { name: 'Screens', password };
    for (const code of [undefined, '', '000000'])
      expect(await gantry.refusal('apiTokens.create', { ...create, code }, { token })).toMatchObject({
        status: 400,
        data: { issues: [{ path: 'code' }] },
      });
    const code = codeOf(secret, 1);
    const api = await gantry.ok('apiTokens.create', { ...create, code }, { token });
    expect((await gantry.call('apiTokens.create', { ...create, code }, { token })).status).toBe(400);
    await gantry.ok('events.getAll', {}, { token: api.token });
  });

  it('ends API tokens with its setting up and its removal if the user wishes', async () => {
    const { token } = await newUser('VIEWER');
    const create = async (input: object = {}) =>
      (await gantry.ok('apiTokens.create', { name: 'Screens', password, ...input }, { token })).token;
    const works = async (api: string) =>
      (await gantry.call('auth.me', undefined, { token: api })).status === 200;
    const [kept, { secret }] = [
      await create(),
      await gantry.ok('secondFactor.start', { password }, { token }),
    ];
    const confirmed = await gantry.ok('secondFactor.confirm', { code: codeOf(secret) }, { token });
    expect(confirmed.remainingApiTokens).toBe(1);
    expect(await works(kept)).toBe(true);
    const [code = ''] = confirmed.recoveryCodes;
    const disable = { password, code, endApiTokens: true };
    expect(await gantry.ok('secondFactor.disable', disable, { token })).toEqual({
      success: true,
      remainingApiTokens: 0,
    });
    expect(await works(kept)).toBe(false);
  });

  it('ends every other session when it is set up', async () => {
    const { token, email } = await newUser('FIELD');
    const other = await gantry.login(email, password);
    const { secret } = await gantry.ok('secondFactor.start', { password }, { token });
    await gantry.ok('secondFactor.confirm', { code: codeOf(secret) }, { token });
    expect((await gantry.call('events.getAll', {}, { token })).status).toBe(200);
    expect((await gantry.call('events.getAll', {}, { token: other })).status).toBe(401);
    const { token: renewed } = await gantry.ok('auth.refreshToken', undefined, { token });
    await gantry.ok('events.getAll', {}, { token: renewed });
  });

  it('requires a new one after a removal, and does not affect other roles', async () => {
    const { id, token } = await newUser('FIELD');
    const { secret } = await gantry.ok('secondFactor.start', { password }, { token });
    await gantry.ok('secondFactor.confirm', { code: codeOf(secret) }, { token });
    const create = { name: 'Screens', password, code: codeOf(secret, 1) };
    const api = await gantry.ok('apiTokens.create', create, { token });
    await gantry.ok('users.resetSecondFactor', { userId: id }, { token: admin });
    expect(await gantry.refusal('events.getAll', {}, { token })).toEqual(FIRST);
    // A program has no second factor, and its token was made by a user who had one.
    await gantry.ok('events.getAll', {}, { token: api.token });
    await gantry.ok('auth.logout', undefined, { token });
    expect((await gantry.call('auth.me', undefined, { token })).status).toBe(401);
    const other = await newUser('VIEWER');
    await gantry.ok('events.getAll', {}, { token: other.token });
  });

  it.each([
    [
      'an administrator',
      async ({ id }: { id: string }) =>
        gantry.ok('users.resetSecondFactor', { userId: id }, { token: admin }),
    ],
    [
      'its user',
      async ({ token, secret }: { token: string; secret: string }) =>
        gantry.ok('secondFactor.disable', { password, code: codeOf(secret, 1) }, { token }),
    ],
  ])('ends streams when %s removes it', async (_, remove) => {
    const { id, token } = await newUser('FIELD');
    const { secret } = await gantry.ok('secondFactor.start', { password }, { token });
    await gantry.ok('secondFactor.confirm', { code: codeOf(secret) }, { token });
    const stream = await openStream(gantry.url, 'events.onIngested', { token });
    await untilBegun(stream);
    await remove({ id, token, secret });
    await stream.ended;
    expect(stream.error).toMatchObject({ message: SECOND_FACTOR_MISSING });
    expect(await gantry.ok('auth.me', undefined, { token })).toMatchObject({ id });
  });
});

describe('an administrator who lacks the required second factor', () => {
  it('can list and end their own sessions only', async () => {
    const strict = await startGantry({ config: { SECOND_FACTOR_FOR: 'ADMIN' } });
    try {
      const owner = await strict.tokenFor('ADMIN');
      const input = { email: 'viewer@example.org', password, firstName: 'V', lastName: 'W', role: 'VIEWER' };
      const { secret } = await strict.ok('secondFactor.start', { password }, { token: owner });
      await strict.ok('secondFactor.confirm', { code: codeOf(secret) }, { token: owner });
      const viewer = await strict.ok('users.create', input, { token: owner });
      const second = { ...input, email: 'second@example.org', role: 'ADMIN' };
      await strict.ok('users.create', second, { token: owner });
      const watching = await strict.login(input.email, password);
      const [token, lost] = [
        await strict.login(second.email, password),
        await strict.login(second.email, password),
      ];
      const sessionOf = async (who: string, userId?: string) =>
        (await strict.ok('auth.getSessions', { userId }, { token: who }))[0].id;

      const ofViewer = { userId: viewer.id };
      expect(await strict.refusal('auth.getSessions', ofViewer, { token })).toMatchObject({
        status: 403,
        message: SECOND_FACTOR_MISSING,
      });
      const id = await sessionOf(owner, viewer.id);
      expect(await strict.refusal('auth.revokeSession', { id }, { token })).toMatchObject({ status: 404 });
      await strict.ok('auth.me', undefined, { token: watching });
      await strict.ok('auth.revokeSession', { id: await sessionOf(lost) }, { token });
      expect((await strict.call('auth.me', undefined, { token: lost })).status).toBe(401);
    } finally {
      await strict.stop();
    }
  });
});

describe('a second factor', () => {
  it('takes effect with its confirmation, and shows its secret once', async () => {
    const user = await newUser();
    const { token } = user;
    expect(await gantry.ok('secondFactor.getState', undefined, { token })).toEqual({
      enabled: false,
      enabledSince: null,
      required: false,
      recoveryCodesLeft: 0,
    });
    expect(
      await gantry.refusal('secondFactor.start', { password: 'Wrong-horse-1' }, { token }),
    ).toMatchObject({
      status: 400,
    });
    const first = await gantry.ok('secondFactor.start', { password }, { token });
    const { secret, uri } = await gantry.ok('secondFactor.start', { password }, { token });
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(secret).not.toBe(first.secret);
    expect(uri).toContain(`secret=${secret}`);
    expect(uri).toMatch(/^otpauth:\/\/totp\/Gantry:user/);
    expect((await login(user.email)).status).toBe(200);
    expect(
      await gantry.refusal('secondFactor.confirm', { code: codeOf(first.secret) }, { token }),
    ).toMatchObject({ status: 400, message: expect.stringMatching(/^The code is wrong.*shows now/) });
    const { activities } = await gantry.ok('users.getActivity', { userId: user.id }, { token: admin });
    // The wrong password and the wrong code are counted.
    expect(activities.find(({ action }: { action: string }) => action === 'auth.loginFailed')).toMatchObject({
      details: { count: 2 },
    });
    const { recoveryCodes } = await gantry.ok(
      'secondFactor.confirm',
      { code: codeOf(secret, -1) },
      { token },
    );
    expect(new Set(recoveryCodes).size).toBe(RECOVERY_CODES);
    expect(recoveryCodes[0]).toMatch(/^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/);
    expect(await gantry.ok('secondFactor.getState', undefined, { token })).toEqual({
      enabled: true,
      enabledSince: expect.any(String),
      required: false,
      recoveryCodesLeft: RECOVERY_CODES,
    });
    for (const procedure of ['secondFactor.start', 'secondFactor.confirm']) {
      const input = { password, code: codeOf(secret) };
      expect(await gantry.refusal(procedure, input, { token })).toMatchObject({ status: 409 });
    }
    const { rows } = await gantry.pool.query('SELECT * FROM second_factors, recovery_codes');
    expect(JSON.stringify(rows)).not.toContain(secret);
    for (const code of recoveryCodes) expect(JSON.stringify(rows)).not.toContain(code);
  });

  it('is requested at login with a sentence and the keys of every error', async () => {
    const { email } = await protectedUser();
    for (const code of [undefined, '', ' - ']) {
      expect((await login(email, code)).body).toEqual({
        error: {
          json: {
            message: SECOND_FACTOR_REQUIRED,
            code: -32001,
            data: { code: 'UNAUTHORIZED', httpStatus: 401 },
          },
        },
      });
    }
    const wrong = { email, password: 'Wrong-horse-1', code: '123456' };
    expect(await gantry.refusal('auth.login', wrong)).toMatchObject({ message: 'Invalid credentials' });
  });

  it('accepts a code once, and no earlier one afterwards', async () => {
    const { email, secret } = await protectedUser();
    expect((await login(email, codeOf(secret, -1))).body.error.json.message).toBe(WRONG_CODE);
    const code = codeOf(secret, 1);
    const { status, body } = await login(email, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect(status).toBe(200);
    expect(Object.keys(body.result.data.json)).toEqual(['token', 'user']);
    expect((await login(email, code)).body.error.json.message).toBe(WRONG_CODE);
    expect((await login(email, codeOf(secret))).body.error.json.message).toBe(WRONG_CODE);
  });

  it('accepts one of many concurrent uses of a code', async () => {
    const { email, secret, recoveryCodes } = await protectedUser();
    for (const code of [codeOf(secret), recoveryCodes[0]]) {
      const statuses = await Promise.all(
        Array.from({ length: 4 }, async () => (await login(email, code)).status),
      );
      expect(statuses.sort()).toEqual([200, 401, 401, 401]);
    }
  });

  it('accepts each recovery code once, in any spelling', async () => {
    const { id, email, recoveryCodes, token } = await protectedUser();
    const [first = '', second = ''] = recoveryCodes;
    expect((await login(email, first)).status).toBe(200);
    expect((await login(email, first)).body.error.json.message).toBe(WRONG_CODE);
    expect((await login(email, second.replaceAll('-', ' ').toUpperCase())).status).toBe(200);
    const { recoveryCodesLeft } = await gantry.ok('secondFactor.getState', undefined, { token });
    expect(recoveryCodesLeft).toBe(RECOVERY_CODES - 2);
    expect((await actionsOf(id)).filter((action) => action === 'auth.recoveryCodeUsed')).toHaveLength(2);
    const renew = { password, code: recoveryCodes[2] };
    const renewed = await gantry.ok('secondFactor.renewRecoveryCodes', renew, { token });
    expect((await login(email, recoveryCodes[3])).status).toBe(401);
    expect((await login(email, renewed.recoveryCodes[0])).status).toBe(200);
  });

  it('leaves one set of recovery codes after calls at the same time, and none after a removal', async () => {
    for (let round = 0; round < 8; round++) {
      const { id, token, recoveryCodes } = await protectedUser();
      const renew = async (code: string | undefined) =>
        (await gantry.call('secondFactor.renewRecoveryCodes', { password, code }, { token })).status;
      const statuses = await Promise.all(recoveryCodes.slice(0, 3).map(renew));
      expect(statuses).toContain(200);
      expect(await gantry.count(`recovery_codes WHERE user_id = '${id}'`)).toBe(RECOVERY_CODES);
    }
    for (let round = 0; round < 4; round++) {
      const { id, token, recoveryCodes } = await protectedUser();
      const [removed] = await Promise.all(
        ['secondFactor.disable', 'secondFactor.renewRecoveryCodes'].map((procedure, at) =>
          gantry.call(procedure, { password, code: recoveryCodes[at] }, { token }),
        ),
      );
      const left = await gantry.count(`recovery_codes WHERE user_id = '${id}'`);
      expect([removed?.status, left]).toEqual(removed?.status === 200 ? [200, 0] : [400, RECOVERY_CODES]);
    }
  });

  it('limits wrong codes even with the correct password', async () => {
    const { email, id, recoveryCodes } = await protectedUser();
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess++) statuses.push((await login(email, 'abcd')).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    const refused = await login(email, recoveryCodes[0]);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(await actionsOf(id)).toContain('auth.loginFailed');
    expect((await login(email)).body.error.json.message).toBe(SECOND_FACTOR_REQUIRED);
  });

  it('is removed with the password and a code', async () => {
    const { id, email, token, recoveryCodes, secret } = await protectedUser();
    const code = recoveryCodes[0];
    for (const input of [
      { password: 'Wrong-horse-1', code },
      { password, code: 'abcd-efgh' },
      { password, code: codeOf(secret, -1) },
    ]) {
      expect(await gantry.refusal('secondFactor.disable', input, { token })).toMatchObject({ status: 400 });
    }
    expect((await login(email)).status).toBe(401);
    await gantry.ok('secondFactor.disable', { password, code }, { token });
    expect((await login(email)).status).toBe(200);
    expect(await gantry.count(`recovery_codes WHERE user_id = '${id}'`)).toBe(0);
    expect(await actionsOf(id)).toEqual(
      expect.arrayContaining(['auth.secondFactorEnabled', 'auth.secondFactorDisabled']),
    );
  });

  it('is reset by an administrator, who cannot reset their own', async () => {
    const { id, email } = await protectedUser();
    await gantry.ok('users.resetSecondFactor', { userId: id }, { token: admin });
    expect((await login(email)).status).toBe(200);
    const again = await gantry.refusal('users.resetSecondFactor', { userId: id }, { token: admin });
    expect(again).toMatchObject({ status: 400, message: 'This user has no second factor' });
    const me = await gantry.ok('auth.me', undefined, { token: admin });
    expect(
      await gantry.refusal('users.resetSecondFactor', { userId: me.id }, { token: admin }),
    ).toMatchObject({
      status: 400,
      message: expect.stringContaining('secondFactor.disable'),
    });
    expect(await actionsOf(me.id)).toContain('users.resetSecondFactor');
  });

  it('explains what to do when the key of the service has changed; recovery codes still work', async () => {
    const { id, email, secret, recoveryCodes } = await protectedUser();
    const sealed = new SecretBox('another secret of at least 32 bytes!!').seal(secret);
    await gantry.pool.query('UPDATE second_factors SET secret = $1 WHERE user_id = $2', [sealed, id]);
    // More often than codes may be wrong: such a code is not.
    for (let times = 0; times < 12; times++) {
      expect((await login(email, codeOf(secret))).body.error.json).toMatchObject({
        message: expect.stringContaining('JWT_SECRET'),
        data: { code: 'BAD_REQUEST' },
      });
    }
    expect((await login(email, recoveryCodes[0])).status).toBe(200);
  });
});

import { passwordFlaws } from '@gantry/contract/users';
import { dictionary } from '@zxcvbn-ts/language-common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCommonPassword } from '../src/accounts/passwords.ts';
import { ADMIN, type Gantry, startGantry } from './harness.ts';

const MESSAGE = 'This password is one of the 10,000 most common passwords: choose another one';

// Common passwords that meet every rule of the specification.
const COMMON = ['Password1!', '!Qwerty123', 'P@ssw0rd', 'Superman1.'];

describe('the list of common passwords', () => {
  it('contains the 10,000 most common ones', () => {
    const words = dictionary['passwords-common'].slice(0, 10_000).map(String);
    const missing = words.filter((word) => /[\p{L}\p{N}]/u.test(word) && !isCommonPassword(word));
    expect(words).toHaveLength(10_000);
    expect(missing).toEqual([]);
  });

  it('contains no others', () => {
    for (const password of [ADMIN.password, 'Tr0ub4dor&3', 'Correct-Horse-7-Battery', '🚦🚦🚦🚦']) {
      expect([password, isCommonPassword(password)]).toEqual([password, false]);
    }
  });
});

describe('a common password', () => {
  let gantry: Gantry;
  let admin: string;
  beforeAll(async () => {
    gantry = await startGantry();
    admin = await gantry.tokenFor('ADMIN');
  });
  afterAll(() => gantry.stop());

  it.each(COMMON)('is refused wherever a password is set: %s', async (password) => {
    expect(passwordFlaws(password)).toEqual([]);
    const user = { email: 'new@example.org', password, firstName: 'New', lastName: 'User' };
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: admin });
    for (const [procedure, input, path] of [
      ['users.create', user, 'password'],
      ['users.resetPassword', { userId, newPassword: password }, 'newPassword'],
      ['auth.changePassword', { currentPassword: ADMIN.password, newPassword: password }, 'newPassword'],
    ] as const) {
      expect([procedure, await gantry.refusal(procedure, input, { token: admin })]).toEqual([
        procedure,
        expect.objectContaining({
          status: 400,
          message: MESSAGE,
          data: expect.objectContaining({ issues: [{ path, message: MESSAGE }] }),
        }),
      ]);
    }
    expect(await gantry.count("users WHERE email = 'new@example.org'")).toBe(0);
    await gantry.ok('auth.me', undefined, { token: admin });
  });

  it('that is in use already continues to work', async () => {
    const hash = await gantry.app.context.passwords.hash('Password1!');
    await gantry.pool.query('UPDATE users SET password_hash = $1', [hash]);
    expect((await gantry.call('auth.login', { email: ADMIN.email, password: 'Password1!' })).status).toBe(
      200,
    );
  });

  it('is refused as ADMIN_PASSWORD of a new installation', async () => {
    await expect(startGantry({ config: { ADMIN_PASSWORD: 'Password1!' } })).rejects.toThrow(
      'ADMIN_PASSWORD is one of the 10,000 most common passwords: choose another one',
    );
  });
});

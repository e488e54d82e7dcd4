import { passwordFlaws } from '@gantry/contract/users';
import { hash } from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { createPasswords, isCommonPassword } from '../src/accounts/passwords.ts';
import { startGantry } from './harness.ts';

// Test services hash passwords cheaply. This tests what an installation does.

it('are hashed by default at the cost that OWASP recommends', async () => {
  const passwords = await createPasswords();
  const hash = await passwords.hash('Correct-horse-1');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify(hash, 'Correct-horse-1')).toBe(true);
  expect(await passwords.verify(hash, 'Correct-horse-2')).toBe(false);
  await using gantry = await startGantry({ overrides: { passwordCost: undefined } });
  const { rows } = await gantry.pool.query('SELECT password_hash FROM users');
  expect(rows[0].password_hash).toContain('m=19456,t=2,p=1');
});

it('are the same however a system encodes their characters', async () => {
  await using gantry = await startGantry();
  const token = await gantry.tokenFor('ADMIN');
  const email = 'zoe@gantry.local';
  const [composed, decomposed] = ['Stra\u00dfe-\u00e4ndern-7', 'Stra\u00dfe-a\u0308ndern-7'];
  const { id } = await gantry.ok(
    'users.create',
    { email, password: decomposed, firstName: 'Zo\u00eb', lastName: 'Kern' },
    { token },
  );
  const own = await gantry.login(email, composed);
  expect(await gantry.login(email, decomposed)).toBeTruthy();
  const same = await gantry.refusal(
    'auth.changePassword',
    { currentPassword: decomposed, newPassword: composed },
    { token: own },
  );
  expect(same.message).toContain('is the current one');

  // A hash from before passwords were normalized.
  const earlier = await hash(decomposed, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  await gantry.pool.query('UPDATE users SET password_hash = $1 WHERE id = $2', [earlier, id]);
  expect(await gantry.login(email, decomposed)).toBeTruthy();
  expect((await gantry.call('auth.login', { email, password: 'Strasse-aendern-7' })).status).toBe(401);
});

it('are judged by their normalized form', async () => {
  // Letters with accents in decomposed form (two characters each), and a common password in full-width letters.
  expect(passwordFlaws('A\u0300e\u0300i\u03001')).toContain('Use at least 8 characters');
  expect(isCommonPassword('\uff30assword1!')).toBe(true);
});

import { expect, it } from 'vitest';
import { createPasswords } from '../src/auth/passwords.ts';
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

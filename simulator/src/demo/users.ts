import { randomInt } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GantryClient } from '@gantry/client';
import type { Role } from '@gantry/contract/permissions';
import { passwordFlaws } from '@gantry/contract/users';

/** A login of the demo. */
export interface DemoLogin {
  readonly email: string;
  readonly password: string;
  readonly role: Role;
}

const SAMPLES = [
  { role: 'OPERATOR', firstName: 'Olivia', lastName: 'Park', department: 'Control room' },
  { role: 'ANALYST', firstName: 'Arun', lastName: 'Mehta', department: 'Planning' },
  { role: 'FIELD', firstName: 'Felix', lastName: 'Stone', department: 'Field service' },
  { role: 'VIEWER', firstName: 'Vera', lastName: 'Lind', department: 'Public relations' },
] as const;

// Does not contain characters that are easily confused, such as O and 0.
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-_!+';
const PASSWORD_LENGTH = 16;

/** A random password that meets the password rules. */
function randomPassword(): string {
  for (;;) {
    const chars = Array.from({ length: PASSWORD_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
    if (passwordFlaws(chars.join('')).length === 0) return chars.join('');
  }
}

/** The file with the passwords of the sample users. */
export function loginsFile(dataDir: string): string {
  return join(dataDir, 'demo-users');
}

/**
 * Makes sure that there is a user of each role other than ADMIN. Passwords are stored in the data folder, readable by
 * its owner only, before the users are created, so that none is lost if the demo is interrupted.
 * @returns the logins, and whether any of the passwords is new
 */
export async function ensureDemoUsers(
  { users }: GantryClient['api'],
  dataDir: string,
): Promise<{ logins: readonly DemoLogin[]; isNew: boolean }> {
  const path = loginsFile(dataDir);
  const kept = await readLogins(path);
  const wanted = SAMPLES.map((sample) => {
    const email = `${sample.role.toLowerCase()}@gantry.local`;
    return { ...sample, email, password: kept.get(email) ?? randomPassword() };
  });
  const isNew = wanted.some(({ email }) => !kept.has(email));
  if (isNew) await writeLogins(path, wanted);

  for (const { email, password, role, firstName, lastName, department } of wanted) {
    const found = await users.getAll.query({ search: email, take: 100 });
    const user = found.users.find((one) => one.email === email);
    if (!user) {
      await users.create.mutate({ email, password, role, firstName, lastName, department });
    } else if (!kept.has(email)) {
      await users.resetPassword.mutate({ userId: user.id, newPassword: password });
    }
  }
  return { logins: wanted, isNew };
}

async function readLogins(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').map((line) => line.split('\t'));
  return new Map(lines.flatMap(([email, password]) => (email && password ? [[email, password]] : [])));
}

async function writeLogins(path: string, logins: readonly DemoLogin[]): Promise<void> {
  const draft = `${path}.new`;
  const lines = logins.map(({ email, password, role }) => `${email}\t${password}\t${role}\n`);
  await writeFile(draft, lines.join(''), { mode: 0o600 });
  await rename(draft, path);
}

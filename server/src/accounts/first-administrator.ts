import { join } from 'node:path';
import { type Config, ConfigError } from '../platform/config.ts';
import type { Core } from '../platform/context.ts';
import { dataFolderAt } from '../platform/database/open.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { COMMON_PASSWORD, generatePassword, isCommonPassword } from './passwords.ts';
import type { AuthServices } from './start.ts';
import { hasUsers, insertUser, lockUsersTable } from './users-store.ts';

const PASSWORD_FILE = 'initial-admin-password';

/** What the operator needs in order to log in. */
export interface FirstAdministrator {
  readonly email: string;
  /** The password, if it was just generated; it is printed only once. */
  readonly password: string | null;
  /** The file with the generated password; null when ADMIN_PASSWORD was set. */
  readonly passwordFile: string | null;
}

/**
 * Creates the administrator of the settings if there are no users; null if there are. If several processes start
 * together, one of them creates it, and only that one stores a password.
 * @throws ConfigError when ADMIN_PASSWORD would be its password, and is a common one
 */
export async function createFirstAdministrator({
  db,
  passwords,
  config,
}: Pick<Core, 'db' | 'config'> & Pick<AuthServices, 'passwords'>): Promise<FirstAdministrator | null> {
  if (await hasUsers(db)) return null;
  return inTransaction(db, async (tx) => {
    await lockUsersTable(tx);
    if (await hasUsers(tx)) return null;
    const { password, isNew, file } = await initialPassword(config);
    const { email } = await insertUser(tx, {
      email: config.ADMIN_EMAIL.toLowerCase(),
      passwordHash: await passwords.hash(password),
      firstName: 'First',
      lastName: 'Administrator',
      role: 'ADMIN',
      phone: null,
      department: null,
    });
    return { email, password: isNew ? password : null, passwordFile: file };
  });
}

async function initialPassword({ ADMIN_PASSWORD, DATA_DIR }: Config) {
  if (ADMIN_PASSWORD !== undefined && isCommonPassword(ADMIN_PASSWORD)) {
    throw new ConfigError(`The configuration cannot be used:\n  ADMIN_PASSWORD ${COMMON_PASSWORD}`);
  }
  if (ADMIN_PASSWORD !== undefined) return { password: ADMIN_PASSWORD, isNew: false, file: null };
  const candidate = generatePassword();
  // An earlier start may have stored one and ended before it created the user; then that one is used.
  const password = await dataFolderAt(DATA_DIR).keepSecret(PASSWORD_FILE, () => candidate);
  return { password, isNew: password === candidate, file: join(DATA_DIR, PASSWORD_FILE) };
}

import { normalizePassword } from '@gantry/contract/users';
import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { unavailable } from '../platform/error.ts';

/** Hashes and checks passwords with argon2id, in their normalized form, a few at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the hash, which may be one of the password as it was typed, from before passwords were
   * normalized. Without a hash (an unknown user) it takes the same time and returns false.
   */
  verify(passwordHash: string | null, password: string): Promise<boolean>;
}

/** The cost of a hash: memory in KiB, passes over it, and threads. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

/** The first of the settings that OWASP's password storage cheat sheet recommends. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The queue of logins, about a second of work. Further logins are refused at once. */
const LOGINS = { atOnce: 2, waiting: 60, refusal: 'Too many logins at the same time: try again in a moment' };

/**
 * The queue of new passwords, about ten seconds of work: these users are logged in, and an administrator may add many
 * users.
 */
const NEW_PASSWORDS = {
  atOnce: 1,
  waiting: 250,
  refusal: 'Too many passwords are being set at the same time: try again in a moment',
};

/** @param cost of new hashes; tests that do not concern passwords use a lower one */
export async function createPasswords(cost = COST): Promise<Passwords> {
  const login = createTurns(LOGINS);
  const setPassword = createTurns(NEW_PASSWORDS);
  const nobody = await hash('the password of nobody', cost);
  return {
    hash: (password) => setPassword(() => hash(normalizePassword(password), cost)),
    async verify(passwordHash, password) {
      const fits = await login(async () => {
        for (const form of new Set([normalizePassword(password), password]))
          if (await verify(passwordHash ?? nobody, form)) return true;
        return false;
      });
      return fits && passwordHash !== null;
    },
  };
}

/** Runs work a few at a time. @throws AppError `unavailable` when too much is waiting */
function createTurns({ atOnce, waiting, refusal }: typeof LOGINS) {
  const limit = pLimit(atOnce);
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (limit.pendingCount >= waiting) throw unavailable(refusal);
    return limit(work);
  };
}

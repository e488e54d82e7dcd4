import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { unavailable } from '../platform/error.ts';

/** Hashes and checks passwords with argon2id, a few at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Whether the password fits the hash. Without a hash (an unknown user) it takes as long and answers false. */
  verify(passwordHash: string | null, password: string): Promise<boolean>;
}

/** What a hash costs: memory in KiB, passes over it, and threads. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

/** The first of the settings that OWASP's password storage cheat sheet recommends. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Turns for those who are not logged in, about a second of waiting: whoever comes on top is sent away at once. */
const LOGINS = { atOnce: 2, waiting: 60, refusal: 'Too many logins at the same time: try again in a moment' };

/** Turns for those who set passwords, about ten seconds: they are logged in, and an administrator may add many users. */
const NEW_PASSWORDS = {
  atOnce: 1,
  waiting: 250,
  refusal: 'Too many passwords are being set at the same time: try again in a moment',
};

/** @param cost of new hashes; others than the default one are for tests that are not about passwords */
export async function createPasswords(cost = COST): Promise<Passwords> {
  const login = createTurns(LOGINS);
  const setPassword = createTurns(NEW_PASSWORDS);
  const nobody = await hash('the password of nobody', cost);
  return {
    hash: (password) => setPassword(() => hash(password, cost)),
    async verify(passwordHash, password) {
      const fits = await login(() => verify(passwordHash ?? nobody, password));
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

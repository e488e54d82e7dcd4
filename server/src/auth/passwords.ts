import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { unavailable } from '../error.ts';

/** Hashes and checks passwords with argon2id, a few at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Whether the password fits the hash. Without a hash (an unknown user) it takes as long and answers false. */
  verify(passwordHash: string | null, password: string): Promise<boolean>;
}

/** Memory in KiB and passes: the first of the settings that OWASP's password storage cheat sheet recommends. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const AT_ONCE = 2;
/** About a second of waiting; whoever comes on top of that is sent away at once. */
const MAX_WAITING = 60;

export const createPasswords = async (): Promise<Passwords> => {
  const limit = pLimit(AT_ONCE);
  const nobody = await hash('the password of nobody', COST);
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (limit.pendingCount >= MAX_WAITING)
      throw unavailable('Too many people are logging in: try again in a moment');
    return limit(work);
  };
  return {
    hash: (password) => inTurn(() => hash(password, COST)),
    async verify(passwordHash, password) {
      const fits = await inTurn(() => verify(passwordHash ?? nobody, password));
      return fits && passwordHash !== null;
    },
  };
};

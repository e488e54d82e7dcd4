import { randomInt } from 'node:crypto';
import { normalizePassword, passwordFlaws } from '@gantry/contract/users';
import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { invalidInput, unavailable } from '../platform/error.ts';
import { commonPasswordList } from './common-password-list.ts';

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

/** Why a common password is refused. */
export const COMMON_PASSWORD = 'is one of the 10,000 most common passwords: choose another one';

let keys: ReadonlySet<string> | null = null;

/** Whether it is one of the 10,000 most common passwords, without regard to case and to punctuation and symbols at both ends. */
export function isCommonPassword(password: string): boolean {
  keys ??= readList(commonPasswordList);
  return keys.has(commonKeyOf(normalizePassword(password)));
}

/** @param path of the field with the password. @throws AppError `badRequest` for a common one */
export function requireUncommon(path: string, password: string): void {
  if (isCommonPassword(password)) throw invalidInput(path, `This password ${COMMON_PASSWORD}`);
}

function readList(list: string): ReadonlySet<string> {
  let previous = '';
  return new Set(
    list.split('\n').map((line) => {
      previous = previous.slice(0, Number.parseInt(line[0] ?? '0', 36)) + line.slice(1);
      return previous;
    }),
  );
}

/**
 * The form in which passwords are compared with the common ones: without regard to case, and without characters other
 * than letters and digits at both ends, so that `Password1!` is as common as `password1`.
 */
export function commonKeyOf(password: string): string {
  const characters = [...password.toLowerCase()];
  const first = characters.findIndex(isLetterOrDigit);
  return first === -1 ? '' : characters.slice(first, characters.findLastIndex(isLetterOrDigit) + 1).join('');
}

function isLetterOrDigit(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/** No characters that are easily confused, and none with a meaning in a shell or JSON. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789+-=_.:@%';

/** 20 of these characters are about 120 bits. */
const LENGTH = 20;

/** A random password that meets the password rules and is easy to read out and type. */
export function generatePassword(): string {
  for (;;) {
    const candidate = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(
      '',
    );
    if (passwordFlaws(candidate).length === 0) return candidate;
  }
}

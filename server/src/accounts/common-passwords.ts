import { normalizePassword } from '@gantry/contract/users';
import { invalidInput } from '../platform/error.ts';
import { commonPasswordList } from './common-password-list.ts';

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

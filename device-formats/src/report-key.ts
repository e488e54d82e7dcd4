import { hash } from 'node:crypto';

/** Maximum length of a key, in characters. */
const MAX_LENGTH = 200;

/**
 * A key of a report or an id of a passage from what identifies it; absent parts are empty. One that would be too long,
 * because a device sends long file names for example, is replaced by its hash.
 */
export function reportKey(...parts: readonly (string | number | null | undefined)[]): string {
  const key = parts.map((part) => part ?? '').join('|');
  return key.length <= MAX_LENGTH ? key : hash('sha256', key);
}

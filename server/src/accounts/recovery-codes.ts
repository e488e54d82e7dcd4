import { hash, randomInt } from 'node:crypto';
import { RECOVERY_CODES } from '@gantry/contract/second-factor';

/** No characters that are easily confused. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Four groups of four of these characters are 79 bits, so SHA-256 suffices to store a code. */
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** New codes as they are shown, such as `k7dm-x2pq-9ahw-tt4e`. */
export function newRecoveryCodes(): string[] {
  const character = () => ALPHABET.charAt(randomInt(ALPHABET.length));
  const group = () => Array.from({ length: GROUP_LENGTH }, character).join('');
  return Array.from({ length: RECOVERY_CODES }, () => Array.from({ length: GROUPS }, group).join('-'));
}

/** The hash that is stored instead of a code. Case, blanks and hyphens do not matter. */
export function recoveryCodeHash(code: string): string {
  return hash('sha256', plainCode(code), 'hex');
}

/** A code without blanks and hyphens, in lower case. */
export function plainCode(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

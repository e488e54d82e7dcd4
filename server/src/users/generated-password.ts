import { randomInt } from 'node:crypto';
import { passwordFlaws } from '@gantry/contract/users';

/** No letter or digit that is easily taken for another, and nothing that a shell or JSON reads as a sign of its own. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789+-=_.:@%';

/** 20 characters of it are about 120 bits. */
const LENGTH = 20;

/** A random password that keeps the password rules, fit to be read out and typed in. */
export function generatePassword(): string {
  for (;;) {
    const candidate = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(
      '',
    );
    if (passwordFlaws(candidate).length === 0) return candidate;
  }
}

import { randomInt } from 'node:crypto';
import { passwordFlaws } from '@gantry/contract/users';

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

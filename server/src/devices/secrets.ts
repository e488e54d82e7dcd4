import { createHash, randomInt } from 'node:crypto';

/** The secrets of a connection, which are shown once. */
export interface Secrets {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/** What is stored of the secrets. */
export interface StoredSecrets {
  readonly username: string;
  readonly tokenHash: Buffer;
  readonly passwordHash: Buffer;
  readonly digestMd5: Buffer;
  readonly digestSha256: Buffer;
  readonly signingKey: string | null;
}

/** Letters and digits that are not easily confused, because people type them into a device's web page. */
const CHARACTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A token of this length has 140 bits. */
const TOKEN_LENGTH = 24;

/** The maximum length that Hikvision cameras accept; such a password has 94 bits. */
const PASSWORD_LENGTH = 16;
const USERNAME_LENGTH = 8;

/** The realm of Basic and Digest authentication. A change would invalidate all passwords. */
export const REALM = 'Gantry';

const TOKEN = new RegExp(`^[${CHARACTERS}]{${TOKEN_LENGTH}}$`);

/** Whether the text has the form of a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** New secrets; the user name stays if there is one. */
export function newSecrets(username = `gantry-${randomText(USERNAME_LENGTH).toLowerCase()}`): Secrets {
  return { username, password: randomText(PASSWORD_LENGTH), token: randomText(TOKEN_LENGTH) };
}

/** @param signs whether devices of the format sign their messages with the password as key */
export function storedSecrets({ username, password, token }: Secrets, signs: boolean): StoredSecrets {
  const identity = `${username}:${REALM}:${password}`;
  return {
    username,
    tokenHash: hashOf(token),
    passwordHash: hashOf(password),
    digestMd5: createHash('md5').update(identity).digest(),
    digestSha256: hashOf(identity),
    signingKey: signs ? password : null,
  };
}

/** SHA-256, which suffices for random secrets of this length. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function randomText(length: number): string {
  return Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}

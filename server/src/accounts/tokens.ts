import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
  subtle,
} from 'node:crypto';
import { type SessionUser, TOKEN_LIFETIME_SECONDS } from '@gantry/contract/auth';
import { isUuid } from '@gantry/contract/id';
import { jwtVerify, SignJWT } from 'jose';
import { AppError } from '../platform/error.ts';

/** The contents of a verified token. */
export interface TokenClaims {
  readonly userId: string;
  readonly role: string;
  readonly tokenId: string;
  readonly sessionEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** The session in which it was issued; null for a token from before sessions existed. */
  readonly sessionId: string | null;
  /** Set for an API token, of which `tokenId` is the id. */
  readonly apiTokenHash?: string;
}

/** The session in which a token is issued. */
export interface TokenSession {
  readonly id: string;
  readonly epoch: number;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** A new token. */
export interface IssuedToken {
  readonly token: string;
  /** Seconds until it expires: 24 hours, or less if its session ends earlier. */
  readonly expiresIn: number;
}

/** Issues and verifies access tokens. */
export interface Tokens {
  issue(user: SessionUser, session: TokenSession): Promise<IssuedToken>;
  /** The claims of a valid, unexpired token of this service; otherwise null. */
  verify(token: string): Promise<TokenClaims | null>;
}

const ALGORITHM = 'HS256';

/**
 * @param secret signs the tokens; at least 32 bytes
 * @param clock gives the time (Unix milliseconds) at which tokens are issued and expire
 */
export async function createTokens(secret: string, clock: () => number): Promise<Tokens> {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < 32) throw new Error('JWT_SECRET must have at least 32 bytes');
  // jose would import raw bytes, or a secret KeyObject, again for every token.
  const key = await subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);
  return {
    async issue({ id, email, role, firstName, lastName }, session) {
      const now = Math.floor(clock() / 1000);
      const expiry = Math.min(now + TOKEN_LIFETIME_SECONDS, secondsOf(session.expiresAt));
      const inSession = { sid: session.id, auth_time: secondsOf(session.startedAt), epoch: session.epoch };
      const token = await new SignJWT({ id, email, role, firstName, lastName, ...inSession })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(expiry)
        .sign(key);
      return { token, expiresIn: Math.max(0, expiry - now) };
    },
    async verify(token) {
      const verified = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        currentDate: new Date(clock()),
        requiredClaims: ['exp', 'jti', 'id', 'role', 'epoch'],
      }).catch(() => null);
      if (!verified) return null;
      const { id, role, jti, iat, exp, epoch, sid } = verified.payload;
      if (typeof id !== 'string' || !isUuid(id) || typeof jti !== 'string' || !isUuid(jti)) return null;
      if (typeof role !== 'string' || typeof epoch !== 'number' || exp === undefined) return null;
      if (sid !== undefined && (typeof sid !== 'string' || !isUuid(sid))) return null;
      return {
        userId: id,
        role,
        tokenId: jti,
        sessionEpoch: epoch,
        issuedAt: dateOf(iat ?? exp - TOKEN_LIFETIME_SECONDS),
        expiresAt: dateOf(exp),
        sessionId: sid ?? null,
      };
    },
  };
}

function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function dateOf(seconds: number): Date {
  return new Date(seconds * 1000);
}

/** The refusal of a token that is not valid. */
export function invalidToken(): AppError {
  return new AppError('unauthorized', 'Invalid or expired token');
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that are stored in the database, with a key that is not. */
export class SecretBox {
  readonly #key: Buffer;

  /** @param secret of the service; the key is derived from it */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'gantry secrets in the database', 32));
  }

  /** A value of 128 bits (base64url) that only this service can derive from a text, and always derives from it. */
  mac(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest().subarray(0, 16).toString('base64url');
  }

  seal(text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** null when it was sealed with another key, or is damaged. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64');
    const start = IV_BYTES + TAG_BYTES;
    if (bytes.length < start) return null;
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, start));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}

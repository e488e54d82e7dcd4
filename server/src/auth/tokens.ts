import { randomUUID } from 'node:crypto';
import { type SessionUser, TOKEN_LIFETIME_SECONDS } from '@gantry/contract/auth';
import { isUuid } from '@gantry/contract/id';
import { jwtVerify, SignJWT } from 'jose';

/** What a verified token says. */
export interface TokenClaims {
  readonly userId: string;
  readonly role: string;
  readonly tokenId: string;
  readonly sessionEpoch: number;
  readonly expiresAt: Date;
}

/** Issues and verifies access tokens. */
export interface Tokens {
  issue(user: SessionUser, sessionEpoch: number): Promise<string>;
  /** The claims of a token that this service issued and that has not expired; null for any other text. */
  verify(token: string): Promise<TokenClaims | null>;
}

const ALGORITHM = 'HS256';

/** @param secret signs the tokens; at least 32 bytes */
export const createTokens = (secret: string): Tokens => {
  const key = new TextEncoder().encode(secret);
  if (key.length < 32) throw new Error('JWT_SECRET must have at least 32 bytes');
  return {
    issue({ id, email, role, firstName, lastName }, sessionEpoch) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ id, email, role, firstName, lastName, epoch: sessionEpoch })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(now + TOKEN_LIFETIME_SECONDS)
        .sign(key);
    },
    async verify(token) {
      const verified = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        requiredClaims: ['exp', 'jti', 'id', 'role', 'epoch'],
      }).catch(() => null);
      if (!verified) return null;
      const { id, role, jti, exp, epoch } = verified.payload;
      if (typeof id !== 'string' || !isUuid(id) || typeof jti !== 'string' || !isUuid(jti)) return null;
      if (typeof role !== 'string' || typeof epoch !== 'number' || exp === undefined) return null;
      return { userId: id, role, tokenId: jti, sessionEpoch: epoch, expiresAt: new Date(exp * 1000) };
    },
  };
};

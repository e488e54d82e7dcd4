import { Secret, TOTP } from 'otpauth';

// Codes of authenticator apps: RFC 6238 with SHA-1, six digits and thirty seconds, which all apps support.

const PERIOD_SECONDS = 30;
const DIGITS = 6;

/** Codes of the steps before and after the present one are accepted, for clocks that differ. */
const STEPS_AROUND = 1;

/** A new secret in Base32: 160 bits, as RFC 4226 recommends. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The otpauth: address of a secret. */
export function totpUri(secret: string, { issuer, email }: { issuer: string; email: string }): string {
  return totpOf(secret, { issuer, label: email }).toString();
}

/** Whether it looks like a code of an app rather than a recovery code. */
export function isTotpCode(code: string): boolean {
  return /^\d{6}$/.test(code);
}

/**
 * The time step of the code, which identifies it.
 * @param now in Unix milliseconds
 * @returns null when it is not a code of about this time
 */
export function totpStep(secret: string, code: string, now: number): number | null {
  const distance = totpOf(secret).validate({ token: code, timestamp: now, window: STEPS_AROUND });
  return distance === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + distance;
}

function totpOf(secret: string, about: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ ...about, secret, algorithm: 'SHA1', digits: DIGITS, period: PERIOD_SECONDS });
}

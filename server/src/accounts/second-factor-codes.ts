import { hash, randomInt } from 'node:crypto';
import { RECOVERY_CODES, SECOND_FACTOR_REQUIRED, WRONG_CODE } from '@gantry/contract/second-factor';
import { Secret, TOTP } from 'otpauth';
import { recordActivity } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { noteFailedLogin, notingThrottle } from './check-password.ts';
import { findSecondFactor, type SecondFactorRow, useRecoveryCode, useStep } from './second-factor-store.ts';
import type { AuthServices } from './start.ts';

type CodeContext = RequestContext<Core & AuthServices>;

/**
 * Checks the second factor of a login whose password was right. Does nothing for a user who has none.
 * @throws AppError `unauthorized` without the right code; otherwise as `useCode`
 */
export async function checkSecondFactor(
  ctx: CodeContext,
  userId: string,
  code: string | undefined,
): Promise<void> {
  const factor = await findSecondFactor(ctx.app.db, userId);
  if (!factor?.confirmedAt) return;
  if (code === undefined || plainCode(code) === '')
    throw new AppError('unauthorized', SECOND_FACTOR_REQUIRED);
  if (!(await useCode(ctx, factor, code))) throw new AppError('unauthorized', WRONG_CODE);
}

/**
 * Uses a code of the app or a recovery code, within the limits on failures. A wrong one is recorded as a failed login.
 * @returns whether it was right
 * @throws AppError `tooManyRequests` after too many failures; `badRequest` as `openSecret`
 */
export async function useCode(ctx: CodeContext, factor: SecondFactorRow, code: string): Promise<boolean> {
  const { app, caller } = ctx;
  const { userId } = factor;
  const plain = plainCode(code);
  // Before the attempt is counted: a code that cannot be checked is not wrong.
  const secret = isTotpCode(plain) ? openSecret(ctx, factor) : null;
  const attempt = await beginCode(ctx, userId);
  const isRight = secret
    ? await useTotpCode(ctx, userId, { secret, code: plain })
    : await inTransaction(app.db, async (tx) => {
        if (!(await useRecoveryCode(tx, userId, recoveryCodeHash(plain)))) return false;
        await recordActivity(tx, userId, caller, 'auth.recoveryCodeUsed');
        return true;
      });
  if (isRight) await attempt.succeed();
  else await noteFailedLogin(ctx, userId);
  return isRight;
}

/**
 * Counts an attempt with a code, as a failure until it is reported otherwise.
 * @throws AppError `tooManyRequests` after too many failures, which is logged
 */
export function beginCode(ctx: CodeContext, userId: string): Promise<{ succeed(): Promise<void> }> {
  return notingThrottle(ctx, ctx.app.loginThrottle.beginCode(userId), { userId });
}

/** The secret of a second factor. @throws AppError `badRequest` when the key of the service has changed since */
export function openSecret({ app }: CodeContext, { secret }: SecondFactorRow): string {
  const opened = app.secrets.open(secret);
  if (opened !== null) return opened;
  throw new AppError(
    'badRequest',
    'Codes of the app cannot be checked since JWT_SECRET was changed: use a recovery code, or ask an administrator to reset your second factor',
  );
}

async function useTotpCode(
  { app }: CodeContext,
  userId: string,
  { secret, code }: { secret: string; code: string },
): Promise<boolean> {
  const step = totpStep(secret, code, app.clock.now());
  return step !== null && useStep(app.db, userId, step);
}

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
function isTotpCode(code: string): boolean {
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

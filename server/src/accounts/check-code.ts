import { SECOND_FACTOR_REQUIRED, WRONG_CODE } from '@gantry/contract/second-factor';
import { recordActivity } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { noteFailedLogin, notingThrottle } from './failed-logins.ts';
import { plainCode, recoveryCodeHash } from './recovery-codes.ts';
import { findSecondFactor, type SecondFactorRow, useRecoveryCode, useStep } from './second-factor-store.ts';
import type { AuthServices } from './start.ts';
import { isTotpCode, totpStep } from './totp.ts';

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

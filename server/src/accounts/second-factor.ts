import type { Role } from '@gantry/contract/permissions';
import {
  type ChangeSecondFactorInput,
  type ConfirmSecondFactorInput,
  type DisableSecondFactorInput,
  type SecondFactorState,
  WRONG_CODE,
} from '@gantry/contract/second-factor';
import { recordActivity } from '../activity/store.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { settleApiTokens } from './api-tokens-store.ts';
import { checkPassword, noteFailedLogin } from './check-password.ts';
import { findLogin, raiseEpoch } from './login-store.ts';
import {
  beginCode,
  newRecoveryCodes,
  newTotpSecret,
  openSecret,
  plainCode,
  recoveryCodeHash,
  totpStep,
  totpUri,
  useCode,
} from './second-factor-codes.ts';
import {
  confirmSecondFactor,
  countRecoveryCodes,
  findSecondFactor,
  insertSecondFactor,
  lockSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  type SecondFactorRow,
} from './second-factor-store.ts';
import { currentSession, type SessionContext } from './session.ts';
import { keepOnly } from './sessions-store.ts';

/** Whether the caller has a second factor, and how many recovery codes are left. */
export async function viewSecondFactor({ app, actor }: SessionContext): Promise<SecondFactorState> {
  const factor = await findSecondFactor(app.db, actor.id);
  const enabledSince = factor?.confirmedAt ?? null;
  const recoveryCodesLeft = enabledSince ? await countRecoveryCodes(app.db, actor.id) : 0;
  const required = (app.config.SECOND_FACTOR_FOR as readonly Role[]).includes(actor.role);
  return { enabled: enabledSince !== null, enabledSince, required, recoveryCodesLeft };
}

/**
 * Creates a second factor for the caller, which is not active until it is confirmed. It replaces an earlier one that
 * was not confirmed.
 * @throws AppError `badRequest` for a wrong password; `conflict` when the caller has a second factor; `tooManyRequests`
 * after too many failures
 */
export async function startSecondFactor(
  ctx: SessionContext,
  { password }: { password: string },
): Promise<{ secret: string; uri: string }> {
  const { app, actor } = ctx;
  await requirePassword(ctx, password);
  const secret = newTotpSecret();
  if (!(await insertSecondFactor(app.db, actor.id, app.secrets.seal(secret)))) throw alreadyEnabled();
  return { secret, uri: totpUri(secret, { issuer: app.config.ORGANIZATION, email: actor.email }) };
}

/**
 * Activates the second factor with its first code, which cannot be used again. The current session continues, all others
 * end, because they began without a code. A wrong code is recorded as a failed login.
 * @returns recovery codes
 * @throws AppError `badRequest` for a wrong code, or when none was started; `conflict` when it is active already;
 * `tooManyRequests` after too many failures
 */
export async function confirmFirstCode(
  ctx: SessionContext,
  { code, endApiTokens }: ConfirmSecondFactorInput,
) {
  const { app, actor, caller } = ctx;
  const factor = await findSecondFactor(app.db, actor.id);
  if (!factor)
    throw new AppError('badRequest', 'No second factor was started: call secondFactor.start first');
  if (factor.confirmedAt) throw alreadyEnabled();
  const secret = openSecret(ctx, factor);
  const attempt = await beginCode(ctx, actor.id);
  const step = totpStep(secret, plainCode(code), app.clock.now());
  if (step === null) {
    await noteFailedLogin(ctx, actor.id);
    throw invalidInput(
      'code',
      'The code is wrong: enter the one that your authenticator app shows now, and check that its clock is right',
    );
  }
  await attempt.succeed();
  return inTransaction(app.db, async (tx) => {
    const { id } = await currentSession(ctx, tx);
    // First, so that it cannot deadlock with the deletion of the user.
    const epoch = await raiseEpoch(tx, actor.id);
    await keepOnly(tx, { id, userId: actor.id, epoch });
    if (!(await confirmSecondFactor(tx, factor, step))) throw alreadyEnabled();
    const { remainingApiTokens, details } = await settleApiTokens(tx, actor.id, endApiTokens);
    await recordActivity(tx, actor.id, caller, 'auth.secondFactorEnabled', details);
    return { ...(await giveRecoveryCodes(tx, actor.id)), remainingApiTokens };
  });
}

/** Replaces the recovery codes of the caller. @throws AppError as `disableSecondFactor` */
export async function renewRecoveryCodes(ctx: SessionContext, input: ChangeSecondFactorInput) {
  const { app, actor, caller } = ctx;
  const factor = await requireBoth(ctx, input);
  return inTransaction(app.db, async (tx) => {
    // Without the lock, each of two concurrent calls would leave the codes of the other valid.
    if (!(await lockSecondFactor(tx, factor))) throw noSecondFactor();
    await recordActivity(tx, actor.id, caller, 'auth.recoveryCodesRenewed');
    return giveRecoveryCodes(tx, actor.id);
  });
}

/**
 * Removes the second factor of the caller.
 * @throws AppError `badRequest` for a wrong password or code, or when there is no second factor; `tooManyRequests` after
 * too many failures
 */
export async function disableSecondFactor(
  ctx: SessionContext,
  input: DisableSecondFactorInput,
): Promise<{ success: true; remainingApiTokens: number }> {
  const { app, actor, caller } = ctx;
  await requireBoth(ctx, input);
  return inTransaction(app.db, async (tx) => {
    if (!(await removeSecondFactor(tx, actor.id))) throw noSecondFactor();
    const { remainingApiTokens, details } = await settleApiTokens(tx, actor.id, input.endApiTokens);
    await recordActivity(tx, actor.id, caller, 'auth.secondFactorDisabled', details);
    return { success: true, remainingApiTokens };
  });
}

async function giveRecoveryCodes(tx: Transaction, userId: string): Promise<{ recoveryCodes: string[] }> {
  const recoveryCodes = newRecoveryCodes();
  await replaceRecoveryCodes(tx, userId, recoveryCodes.map(recoveryCodeHash));
  return { recoveryCodes };
}

async function requirePassword(ctx: SessionContext, password: string): Promise<void> {
  const { app, actor } = ctx;
  if (await checkPassword(ctx, actor.email, password, () => findLogin(app.db, actor.email))) return;
  throw invalidInput('password', 'The password is wrong: type the one that you log in with');
}

/**
 * Requires proof that the user is present, and not merely the token of a session: the password and, if there is a second
 * factor, a code.
 * @throws AppError `badRequest` for a missing or wrong password or code; `tooManyRequests` after too many failures
 */
export async function requirePresence(
  ctx: SessionContext,
  { password, code }: { readonly password?: string | undefined; readonly code?: string | undefined },
): Promise<void> {
  if (password === undefined) throw invalidInput('password', 'Give your present password');
  const factor = await findSecondFactor(ctx.app.db, ctx.actor.id);
  if (!factor?.confirmedAt) return requirePassword(ctx, password);
  if (code === undefined || plainCode(code) === '') {
    throw invalidInput(
      'code',
      'You have a second factor: give the present code of your app, or a recovery code',
    );
  }
  await requireBoth(ctx, { password, code });
}

async function requireBoth(
  ctx: SessionContext,
  { password, code }: ChangeSecondFactorInput,
): Promise<SecondFactorRow> {
  const factor = await findSecondFactor(ctx.app.db, ctx.actor.id);
  if (!factor?.confirmedAt) throw noSecondFactor();
  await requirePassword(ctx, password);
  if (!(await useCode(ctx, factor, code))) throw invalidInput('code', WRONG_CODE);
  return factor;
}

function noSecondFactor(): AppError {
  return new AppError('badRequest', 'You have no second factor');
}

function alreadyEnabled(): AppError {
  return new AppError('conflict', 'You have a second factor already: disable it first');
}

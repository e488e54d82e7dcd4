import { z } from 'zod';
import { id } from './id.ts';

// The second factor of a login: codes of an authenticator app (TOTP, RFC 6238), or recovery codes.

/** The message of `auth.login` (UNAUTHORIZED) when the password is right and `code` is missing. */
export const SECOND_FACTOR_REQUIRED =
  'This account has a second factor: log in with the code of your authenticator app, or a recovery code, as well';

/** The message of `auth.login` (UNAUTHORIZED) when the password is right and `code` is wrong or was used before. */
export const WRONG_CODE =
  'The code is wrong or was used before: enter the present one of your authenticator app, or an unused recovery code';

/** The message of all other procedures (FORBIDDEN) for users whose role requires a second factor that they do not have. */
export const SECOND_FACTOR_MISSING =
  'Your role requires a second factor: set one up first, with secondFactor.start and secondFactor.confirm';

/** Number of recovery codes that a user receives. */
export const RECOVERY_CODES = 10;

/** A code of six digits, or a recovery code. Blanks and hyphens do not matter. */
export const secondFactorCode = z.string().max(100);

export const currentPassword = z.string().max(1000).describe('Your present password.');

/** Whether the API tokens of the caller end together with a change of how they log in. */
export const endApiTokens = z
  .boolean()
  .default(false)
  .describe('Whether your API tokens end, too. Default: they remain valid.');

/** The number of API tokens that a change of how the caller logs in has left. */
export const remainingApiTokens = z.number().describe('How many of your API tokens are still valid.');

export const secondFactorState = z.object({
  enabled: z.boolean(),
  enabledSince: z.date().nullable(),
  required: z
    .boolean()
    .describe(
      'Whether your role requires it. Until it is enabled, only your own account can be used, except in sessions that began at the login provider, which decides on second factors itself.',
    ),
  recoveryCodesLeft: z.number().describe('How many recovery codes are unused.'),
});
export type SecondFactorState = z.infer<typeof secondFactorState>;

export const startSecondFactorInput = z.object({ password: currentPassword });

export const startedSecondFactor = z.object({
  secret: z.string().describe('To type into an authenticator app, in Base32. Shown only in this answer.'),
  uri: z.string().describe('The same as an otpauth: address, to be shown as a QR code.'),
});

export const confirmSecondFactorInput = z.object({ code: secondFactorCode, endApiTokens });
export type ConfirmSecondFactorInput = z.infer<typeof confirmSecondFactorInput>;

const codes = z
  .array(z.string())
  .describe('Each replaces a code of the app once. Shown only in this answer.');

export const recoveryCodes = z.object({ recoveryCodes: codes });

// Not made with extend(), whose calls keep zod in the console.
export const confirmedSecondFactor = z.object({ recoveryCodes: codes, remainingApiTokens });

export const changeSecondFactorInput = z.object({ password: currentPassword, code: secondFactorCode });
export type ChangeSecondFactorInput = z.infer<typeof changeSecondFactorInput>;

export const disableSecondFactorInput = z.object({
  password: currentPassword,
  code: secondFactorCode,
  endApiTokens,
});
export type DisableSecondFactorInput = z.infer<typeof disableSecondFactorInput>;

export const secondFactorDone = z.object({ success: z.literal(true) });

export const disabledSecondFactor = z.object({ success: z.literal(true), remainingApiTokens });

export const resetSecondFactorInput = z.object({ userId: id });

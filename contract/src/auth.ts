import { z } from 'zod';
import { id } from './id.ts';
import { role } from './permissions.ts';
import { endApiTokens, remainingApiTokens, secondFactorCode } from './second-factor.ts';
import { email, password } from './users.ts';

/** Lifetime of an access token in seconds: 24 hours. */
export const TOKEN_LIFETIME_SECONDS = 86_400;

/** The user as returned by login and refresh. */
export const sessionUser = z.object({
  id: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
});
export type SessionUser = z.infer<typeof sessionUser>;

export const loginInput = z.object({
  email: z.string().max(320),
  password: z.string().max(1000),
  code: secondFactorCode
    .optional()
    .describe('For an account with a second factor: the code of the authenticator app, or a recovery code.'),
});
export const loginOutput = z.object({ token: z.string(), user: sessionUser });
export const logoutOutput = z.object({ success: z.literal(true) });
export const refreshOutput = z.object({
  token: z.string(),
  expiresIn: z.number().describe('Seconds until the new token expires.'),
  user: sessionUser,
});

/** How users can log in, for a sign-in page. */
export const loginMethods = z.object({
  password: z.literal(true),
  oidc: z
    .object({
      name: z.string().describe('Name of the provider.'),
      path: z
        .string()
        .describe(
          'Path to which a browser goes, with `?challenge=`: the SHA-256, in base64url, of a random text of 43 to 128 characters that it keeps.',
        ),
    })
    .nullable()
    .describe('null: no OpenID Connect provider is configured.'),
  passwordReset: z
    .boolean()
    .describe('Whether `auth.requestPasswordReset` sends e-mail: `SMTP_URL` and `PUBLIC_URL` are set.'),
  accessibilityUrl: z
    .string()
    .nullable()
    .describe(
      'The accessibility statement of the operator, or an address for feedback; null if there is none.',
    ),
});
export type LoginMethods = z.infer<typeof loginMethods>;

/** How the settings `HIDE_PLATES_FROM`, `PLATE_SEARCH_REASON` and `PURPOSES` apply to the role of the caller. */
export const plateAccess = z.object({
  seesPlates: z
    .boolean()
    .describe('false: answers contain `•••` in place of plates, and a search for a plate is FORBIDDEN.'),
  requiresReason: z.boolean().describe('Whether a search for a plate requires a `reason`.'),
  purposes: z
    .array(z.object({ code: z.string(), name: z.string() }))
    .describe('Of the setting `PURPOSES`: if there are any, a search for a plate requires a `purpose`.'),
});

/** The format of a SHA-256 hash in base64url, without padding. */
export const OIDC_CHALLENGE = /^[\w-]{43}$/;

export const completeOidcLoginInput = z.object({
  code: z.string().max(200).describe('`oidcCode` from the fragment of the address of the sign-in page.'),
  verifier: z.string().max(200).describe('The text whose SHA-256 was sent as `challenge`.'),
});
export type CompleteOidcLoginInput = z.infer<typeof completeOidcLoginInput>;

/** A login with the tokens refreshed from it. */
export const session = z.object({
  id: z.string(),
  startedAt: z.date(),
  lastSeenAt: z.date().describe('Written at most once a minute.'),
  expiresAt: z.date().describe('No token of the session outlives this.'),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  current: z.boolean().describe('Whether this call was made in the session.'),
});
export type Session = z.infer<typeof session>;

export const getSessionsInput = z
  .object({ userId: id.optional().describe('The user whose sessions are listed. Default: the caller.') })
  .default({});
export type GetSessionsInput = z.infer<typeof getSessionsInput>;

export const revokeSessionOutput = z.object({ success: z.literal(true), id: z.string() });

export const requestPasswordResetInput = z.object({
  email,
  language: z.enum(['en', 'tr', 'ar']).default('en').describe('The language of the e-mail.'),
});
export type RequestPasswordResetInput = z.infer<typeof requestPasswordResetInput>;
export const requestPasswordResetOutput = z.object({ success: z.literal(true) });

export const resetOwnPasswordInput = z.object({
  token: z.string().min(1, 'Must not be empty').max(200).describe('The text after `reset=` in the link.'),
  newPassword: password,
  endApiTokens,
});
export type ResetOwnPasswordInput = z.infer<typeof resetOwnPasswordInput>;

export const changePasswordInput = z.object({
  currentPassword: z.string().max(1000),
  newPassword: password,
  endApiTokens,
});
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;
export const changePasswordOutput = z.object({ success: z.literal(true), remainingApiTokens });

import {
  apiToken,
  createApiTokenInput,
  createdApiToken,
  listApiTokensInput,
  MAX_API_TOKENS,
  revokedApiToken,
} from '@gantry/contract/api-tokens';
import {
  changePasswordInput,
  changePasswordOutput,
  completeOidcLoginInput,
  getSessionsInput,
  loginInput,
  loginMethods,
  loginOutput,
  logoutOutput,
  plateAccess,
  refreshOutput,
  requestPasswordResetInput,
  requestPasswordResetOutput,
  resetOwnPasswordInput,
  revokeSessionOutput,
  session,
  sessionUser,
} from '@gantry/contract/auth';
import { byId } from '@gantry/contract/id';
import {
  changeSecondFactorInput,
  confirmedSecondFactor,
  confirmSecondFactorInput,
  disabledSecondFactor,
  disableSecondFactorInput,
  recoveryCodes,
  SECOND_FACTOR_REQUIRED,
  secondFactorState,
  startedSecondFactor,
  startSecondFactorInput,
} from '@gantry/contract/second-factor';
import { z } from 'zod';
import { createApiToken, revokeApiToken, viewApiTokens } from '../accounts/api-tokens.ts';
import {
  changePassword,
  getSessions,
  login,
  logout,
  refreshToken,
  revokeSession,
  sessionUserOf,
} from '../accounts/login.ts';
import { completeOidcLogin, viewLoginMethods } from '../accounts/oidc/login.ts';
import { requestPasswordReset, resetOwnPassword } from '../accounts/password-reset.ts';
import {
  confirmFirstCode,
  disableSecondFactor,
  renewRecoveryCodes,
  startSecondFactor,
  viewSecondFactor,
} from '../accounts/second-factor.ts';
import { open, person, router, signedIn } from './procedures.ts';

export const authRouter = router({
  login: open
    .meta({
      summary: 'Exchange an e-mail address and password for an access token',
      notes: `For an account with a second factor, without \`code\`: UNAUTHORIZED with the message "${SECOND_FACTOR_REQUIRED}". Ask for the code then, and send all three.`,
    })
    .input(loginInput)
    .output(loginOutput)
    .mutation(({ ctx, input }) => login(ctx, input)),

  getLoginMethods: open
    .meta({ summary: 'Get how users can log in' })
    .output(loginMethods)
    .query(({ ctx: { app } }) => viewLoginMethods(app)),

  completeOidcLogin: open
    .meta({
      summary: 'Complete a login at the OpenID Connect provider',
      notes:
        'A sign-in page keeps a random text, and goes to `/login/oidc?challenge=` with its SHA-256 in base64url. After the login at the provider, the browser returns to `/sign-in#oidcCode=…`, or `/sign-in#oidcError=…` with a sentence. The code is valid once, for 60 seconds, and only with the text.',
    })
    .input(completeOidcLoginInput)
    .output(loginOutput)
    .mutation(({ ctx, input }) => completeOidcLogin(ctx, input)),

  logout: open
    .meta({
      summary: 'End the session of the token with which the call is made',
      notes:
        'Also succeeds without a token. The token, and every token refreshed from the same login, becomes invalid on every process at once. An API token stays valid: `apiTokens.revoke` ends it.',
    })
    .output(logoutOutput)
    .mutation(async ({ ctx }) => {
      await logout(ctx);
      return { success: true as const };
    }),

  me: signedIn
    .meta({ summary: 'Get the calling user' })
    .output(sessionUser)
    .query(({ ctx }) => sessionUserOf(ctx.actor)),

  getPlateAccess: signedIn
    .meta({
      summary: 'Get whether you see number plates',
      notes: 'As the settings `HIDE_PLATES_FROM`, `PLATE_SEARCH_REASON` and `PURPOSES` say.',
    })
    .output(plateAccess)
    .query(({ ctx: { app, actor } }) => ({
      seesPlates: actor.seesPlates,
      requiresReason: app.config.PLATE_SEARCH_REASON,
      purposes: [...app.config.PURPOSES].map(([code, name]) => ({ code, name })),
    })),

  refreshToken: person
    .meta({
      summary: 'Get a new access token for the calling user',
      notes:
        'The new token belongs to the same session. A session ends `SESSION_LIFETIME_DAYS` after its login, and no token outlives it; log in again after that.',
    })
    .output(refreshOutput)
    .mutation(({ ctx }) => refreshToken(ctx)),

  getSessions: person
    .meta({
      summary: 'List the sessions of the caller, the current one first',
      notes:
        'At most 100, most recently used first. With `userId`, those of another user, which requires the permission Manage Users.',
    })
    .input(getSessionsInput)
    .output(z.array(session))
    .query(({ ctx, input }) => getSessions(ctx, input)),

  revokeSession: person
    .meta({
      summary: 'End a session and all its tokens',
      notes:
        'Takes effect on every process at once; streams end within 5 seconds. Users with the permission Manage Users can end any session, others only their own; any other id is NOT_FOUND.',
    })
    .input(byId)
    .output(revokeSessionOutput)
    .mutation(({ ctx, input }) => revokeSession(ctx, input.id)),

  requestPasswordReset: open
    .meta({
      summary: 'Have a link sent by e-mail with which to set a new password',
      notes:
        'The answer is the same for addresses of which there is no user. The link is valid once, for one hour. Nothing is sent to users with an account at the OpenID Connect provider. NOT_FOUND unless `SMTP_URL` and `WEB_ORIGIN` are set. Five times an hour for an address, whoever asks.',
    })
    .input(requestPasswordResetInput)
    .output(requestPasswordResetOutput)
    .mutation(({ ctx, input }) => requestPasswordReset(ctx, input)),

  resetPassword: open
    .meta({
      summary: 'Set a new password with a link that was sent by e-mail',
      notes:
        'All sessions of the user end, and with `endApiTokens` the API tokens, too. A second factor stays. A link that is not valid is BAD_REQUEST.',
      weight: 10,
    })
    .input(resetOwnPasswordInput)
    .output(changePasswordOutput)
    .mutation(({ ctx, input }) => resetOwnPassword(ctx, input)),

  changePassword: person
    .meta({
      summary: 'Change your own password',
      notes:
        'The current session continues; all other sessions of the user end, and with `endApiTokens` the API tokens, too. A wrong `currentPassword` is BAD_REQUEST and counts as a failed login.',
      weight: 10,
    })
    .input(changePasswordInput)
    .output(changePasswordOutput)
    .mutation(({ ctx, input }) => changePassword(ctx, input)),
});

const LIMITS =
  'A wrong password or code is BAD_REQUEST and counts as a failed login; after ten wrong codes within fifteen minutes, all are refused (TOO_MANY_REQUESTS).';

export const secondFactorRouter = router({
  getState: person
    .meta({ summary: 'Get whether you have a second factor' })
    .output(secondFactorState)
    .query(({ ctx }) => viewSecondFactor(ctx)),

  start: person
    .meta({
      summary: 'Generate a secret for an authenticator app',
      notes: `It is not in force until \`secondFactor.confirm\`. CONFLICT if you have a second factor. ${LIMITS}`,
      weight: 10,
    })
    .input(startSecondFactorInput)
    .output(startedSecondFactor)
    .mutation(({ ctx, input }) => startSecondFactor(ctx, input)),

  confirm: person
    .meta({
      summary: 'Activate the second factor with a code from the app',
      notes: `From then on, \`auth.login\` requires \`code\`. Your other sessions end. ${LIMITS}`,
    })
    .input(confirmSecondFactorInput)
    .output(confirmedSecondFactor)
    .mutation(({ ctx, input }) => confirmFirstCode(ctx, input)),

  renewRecoveryCodes: person
    .meta({
      summary: 'Replace your recovery codes',
      notes: `Earlier codes become invalid. ${LIMITS}`,
      weight: 10,
    })
    .input(changeSecondFactorInput)
    .output(recoveryCodes)
    .mutation(({ ctx, input }) => renewRecoveryCodes(ctx, input)),

  disable: person
    .meta({ summary: 'Remove your second factor', notes: LIMITS, weight: 10 })
    .input(disableSecondFactorInput)
    .output(disabledSecondFactor)
    .mutation(({ ctx, input }) => disableSecondFactor(ctx, input)),
});

export const apiTokensRouter = router({
  create: person
    .meta({
      summary: 'Create an API token, with which a program acts for you',
      notes: `Requires the password of the user, and a code if they have a second factor; a wrong one is BAD_REQUEST and counts as a failed login. A user can have ${MAX_API_TOKENS}. The token is sent like that of a login, as \`Authorization: Bearer\`. It ends when it expires or is revoked, when its user is deactivated or deleted, when an administrator resets the password of its user, and when the user ends it with a change of the password or the second factor. If the role of its user is lowered, it acts with that role; if each of the two roles has permissions that the other lacks, it is refused. It cannot change passwords, accounts, sessions, second factors or API tokens (FORBIDDEN).`,
    })
    .input(createApiTokenInput)
    .output(createdApiToken)
    .mutation(({ ctx, input }) => createApiToken(ctx, input)),

  getAll: person
    .meta({
      summary: 'List the API tokens of the caller, the newest first',
      notes: 'With `userId`, those of another user, which requires the permission Manage Users.',
    })
    .input(listApiTokensInput)
    .output(z.array(apiToken))
    .query(({ ctx, input }) => viewApiTokens(ctx, input)),

  revoke: person
    .meta({
      summary: 'Revoke an API token',
      notes:
        'Takes effect on every process at once; streams end within 5 seconds. Users with the permission Manage Users can revoke any token, others only their own; any other id is NOT_FOUND.',
    })
    .input(byId)
    .output(revokedApiToken)
    .mutation(({ ctx, input }) => revokeApiToken(ctx, input.id)),
});

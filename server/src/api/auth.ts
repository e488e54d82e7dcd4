import {
  changePasswordInput,
  changePasswordOutput,
  getSessionsInput,
  loginInput,
  loginOutput,
  logoutOutput,
  refreshOutput,
  revokeSessionOutput,
  session,
  sessionUser,
} from '@gantry/contract/auth';
import { byId } from '@gantry/contract/id';
import { z } from 'zod';
import {
  changePassword,
  getSessions,
  login,
  logout,
  refreshToken,
  revokeSession,
  sessionUserOf,
} from '../auth/service.ts';
import { open, router, signedIn } from './procedures.ts';

export const authRouter = router({
  login: open
    .meta({ summary: 'Exchange an e-mail and password for an access token' })
    .input(loginInput)
    .output(loginOutput)
    .mutation(({ ctx, input }) => login(ctx, input)),

  logout: open
    .meta({
      summary: 'End the session of the token the call is made with',
      notes:
        'Succeeds without a token too. The token, and every token that was refreshed from the same login, is dead on every process at once.',
    })
    .output(logoutOutput)
    .mutation(async ({ ctx }) => {
      await logout(ctx);
      return { success: true as const };
    }),

  me: signedIn
    .meta({ summary: 'The user who is calling' })
    .output(sessionUser)
    .query(({ ctx }) => sessionUserOf(ctx.actor)),

  refreshToken: signedIn
    .meta({
      summary: 'A new access token for the user who is calling',
      notes:
        'It belongs to the session of the current one. A session ends `SESSION_LIFETIME_DAYS` after its login, and no token outlives it: then log in again.',
    })
    .output(refreshOutput)
    .mutation(({ ctx }) => refreshToken(ctx)),

  getSessions: signedIn
    .meta({
      summary: 'The sessions in which the caller is logged in, the current one first',
      notes:
        'At most a hundred, those that were used last first. `userId` names another user; it takes the permission Manage Users.',
    })
    .input(getSessionsInput)
    .output(z.array(session))
    .query(({ ctx, input }) => getSessions(ctx, input)),

  revokeSession: signedIn
    .meta({
      summary: 'End a session, with every token of it',
      notes:
        'Dead on every process at once; streams end within 5 seconds. Those who hold Manage Users may end the session of anybody, others their own; any other id is NOT_FOUND.',
    })
    .input(byId)
    .output(revokeSessionOutput)
    .mutation(({ ctx, input }) => revokeSession(ctx, input.id)),

  changePassword: signedIn
    .meta({
      summary: 'Give oneself another password',
      notes:
        'The current session stays, all others of the user end. A wrong `currentPassword` is BAD_REQUEST and counts like a failed login.',
      weight: 10,
    })
    .input(changePasswordInput)
    .output(changePasswordOutput)
    .mutation(({ ctx, input }) => changePassword(ctx, input)),
});

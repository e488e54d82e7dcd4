import { loginInput, loginOutput, logoutOutput, refreshOutput, sessionUser } from '@gantry/contract/auth';
import { open, router, signedIn } from '../wire/procedures.ts';
import { login, logout, refreshToken, sessionUserOf } from './service.ts';

export const authRouter = router({
  login: open
    .meta({ summary: 'Exchange an e-mail and password for an access token' })
    .input(loginInput)
    .output(loginOutput)
    .mutation(({ ctx, input }) => login(ctx, input)),

  logout: open
    .meta({
      summary: 'Revoke the token the call is made with',
      notes: 'Succeeds without a token too. The token is dead on every process at once.',
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
    .meta({ summary: 'A new access token for the user who is calling' })
    .output(refreshOutput)
    .mutation(({ ctx }) => refreshToken(ctx)),
});

import { z } from 'zod';
import { role } from './permissions.ts';

/** Lifetime of an access token in seconds: 24 hours. */
export const TOKEN_LIFETIME_SECONDS = 86_400;

/** The user as told at login and refresh. */
export const sessionUser = z.object({
  id: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
});
export type SessionUser = z.infer<typeof sessionUser>;

export const loginInput = z.object({ email: z.string().max(320), password: z.string().max(1000) });
export const loginOutput = z.object({ token: z.string(), user: sessionUser });
export const logoutOutput = z.object({ success: z.literal(true) });
export const refreshOutput = z.object({
  token: z.string(),
  expiresIn: z.number().describe('Seconds until the new token expires.'),
  user: sessionUser,
});

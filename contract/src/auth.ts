import { z } from 'zod';
import { id } from './id.ts';
import { role } from './permissions.ts';
import { password } from './users.ts';

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

export const loginInput = z.object({ email: z.string().max(320), password: z.string().max(1000) });
export const loginOutput = z.object({ token: z.string(), user: sessionUser });
export const logoutOutput = z.object({ success: z.literal(true) });
export const refreshOutput = z.object({
  token: z.string(),
  expiresIn: z.number().describe('Seconds until the new token expires.'),
  user: sessionUser,
});

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

export const changePasswordInput = z.object({ currentPassword: z.string().max(1000), newPassword: password });
export type ChangePasswordInput = z.infer<typeof changePasswordInput>;
export const changePasswordOutput = z.object({ success: z.literal(true) });

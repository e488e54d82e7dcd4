import { z } from 'zod';
import { id } from './id.ts';
import { role } from './permissions.ts';
import { currentPassword, secondFactorCode } from './second-factor.ts';
import { trimmedText } from './text.ts';

// Tokens of programs that act for a user, sent as `Authorization: Bearer` like the token of a login.

/** How every API token begins, so that programs that search for leaked secrets recognize it. */
export const API_TOKEN_PREFIX = 'gantry_';

/** Maximum number of API tokens of a user. */
export const MAX_API_TOKENS = 50;

/** An API token without the token itself. */
export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  role: role.describe(
    'The role with whose permissions calls are made, unless the role of its user was lowered since.',
  ),
  prefix: z.string().describe('The first characters of the token.'),
  createdAt: z.date(),
  expiresAt: z.date(),
  lastUsedAt: z.date().nullable().describe('Written at most once a minute. null: never used.'),
});
export type ApiToken = z.infer<typeof apiToken>;

export const createApiTokenInput = z.object({
  password: currentPassword
    .optional()
    .describe(
      'Your present password. It is not required within ten minutes after a login at the login provider.',
    ),
  code: secondFactorCode
    .optional()
    .describe('A code of your second factor, or a recovery code; required with `password` if you have one.'),
  name: trimmedText(100, 1).describe('What the token is for. The activity log names it.'),
  role: role
    .optional()
    .describe('Default: your own. Another role may have no permission that yours does not have.'),
  expiresInDays: z.int().min(1).max(730).default(90).describe('Days until the token expires.'),
});
export type CreateApiTokenInput = z.infer<typeof createApiTokenInput>;

/** How long ago a login at the login provider may be to stand for the password, in minutes. */
export const FRESH_LOGIN_MINUTES = 10;

export const createdApiToken = apiToken.extend({
  token: z.string().describe('Shown only in this answer.'),
});
export type CreatedApiToken = z.infer<typeof createdApiToken>;

export const listApiTokensInput = z
  .object({ userId: id.optional().describe('The user whose tokens are listed. Default: the caller.') })
  .default({});
export type ListApiTokensInput = z.infer<typeof listApiTokensInput>;

export const revokedApiToken = z.object({ success: z.literal(true), id: z.string() });

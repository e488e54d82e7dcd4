import { randomBytes } from 'node:crypto';
import {
  API_TOKEN_PREFIX,
  type ApiToken,
  type CreateApiTokenInput,
  type CreatedApiToken,
  type ListApiTokensInput,
  MAX_API_TOKENS,
} from '@gantry/contract/api-tokens';
import { mayActAs, mayDo, permissionNames } from '@gantry/contract/permissions';
import { recordActivity } from '../activity/store.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import {
  countApiTokens,
  hashOf,
  insertApiToken,
  listApiTokens,
  revokeApiTokenRow,
} from './api-tokens-store.ts';
import { lockAccount, requireUser } from './login-store.ts';
import { requirePresence } from './second-factor.ts';
import { requirePermission, type SessionContext } from './session.ts';
import { isFreshByProvider } from './sessions-store.ts';
import { invalidToken } from './tokens.ts';

/** Number of characters of a token that are stored, and shown in lists. */
const SHOWN_CHARACTERS = API_TOKEN_PREFIX.length + 6;

/**
 * Creates an API token of the caller.
 * @throws AppError `badRequest` for a role with more permissions than the caller's, a missing or wrong password or code,
 * or when there are too many; `tooManyRequests` after too many wrong passwords or codes; `unauthorized` when the caller's sessions end at the same time
 */
export async function createApiToken(
  ctx: SessionContext,
  { name, role = ctx.actor.role, expiresInDays, password, code }: CreateApiTokenInput,
): Promise<CreatedApiToken> {
  const { app, actor, caller } = ctx;
  if (!mayActAs(actor.role, role)) {
    throw invalidInput('role', `A token of the role ${role} would have permissions that your role does not`);
  }
  // A user of the login provider has no password here, and has just proven there who they are.
  const hasJustLoggedIn =
    password === undefined && actor.session !== null && (await isFreshByProvider(app.db, actor.session.id));
  if (!hasJustLoggedIn) await requirePresence(ctx, { password, code });
  const token = `${API_TOKEN_PREFIX}${randomBytes(32).toString('hex')}`;
  return inTransaction(app.db, async (tx) => {
    const { sessionEpoch } = await lockAccount(tx, actor.id);
    // The user's sessions and API tokens were ended during this call.
    if (sessionEpoch !== actor.sessionEpoch) throw invalidToken();
    if ((await countApiTokens(tx, actor.id)) >= MAX_API_TOKENS) {
      throw new AppError('badRequest', `You have ${MAX_API_TOKENS} API tokens: revoke one first`);
    }
    const row = { userId: actor.id, name, role, prefix: token.slice(0, SHOWN_CHARACTERS) };
    const created = await insertApiToken(tx, { ...row, tokenHash: hashOf(token) }, expiresInDays);
    const details = { tokenId: created.id, name, role, expiresAt: created.expiresAt.toISOString() };
    await recordActivity(tx, actor.id, caller, 'apiTokens.create', details);
    return { ...created, token };
  });
}

/**
 * The API tokens of the caller or, for callers who manage users, of any user.
 * @throws AppError `forbidden` for the tokens of another user without that permission; `notFound` when there is no
 * such user
 */
export async function viewApiTokens(
  { app, actor }: SessionContext,
  { userId }: ListApiTokensInput,
): Promise<ApiToken[]> {
  const wanted = userId?.toLowerCase() ?? actor.id;
  if (wanted !== actor.id) {
    requirePermission(actor, 'manageUsers', permissionNames.manageUsers);
    await requireUser(app.db, wanted);
  }
  return listApiTokens(app.db, wanted);
}

/**
 * Revokes an API token of the caller or, for callers who manage users, of any user.
 * @throws AppError `notFound` when there is no such token that the caller may revoke
 */
export async function revokeApiToken(
  { app, actor, caller }: SessionContext,
  id: string,
): Promise<{ success: true; id: string }> {
  const whose = mayDo(actor.role, 'manageUsers') ? null : actor.id;
  return inTransaction(app.db, async (tx) => {
    const revoked = await revokeApiTokenRow(tx, id, whose);
    if (!revoked) throw notFound('API token');
    const tokenId = id.toLowerCase();
    await recordActivity(tx, actor.id, caller, 'apiTokens.revoke', { tokenId, ...revoked });
    return { success: true, id: tokenId };
  });
}

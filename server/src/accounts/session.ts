import { API_TOKEN_PREFIX } from '@gantry/contract/api-tokens';
import { mayDo, type Permission } from '@gantry/contract/permissions';
import type { Actor, ApiTokenInUse, Caller, Core, RequestContext } from '../platform/context.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { findValidOwners, hashOf } from './api-tokens-store.ts';
import { lacksSecondFactor, mayRolesSeePlates, secondFactorMissing } from './role-settings.ts';
import { adoptToken, findSessionUsers, type TokenUser } from './sessions-store.ts';
import type { AuthServices } from './start.ts';
import { invalidToken, type TokenClaims, type TokenSession } from './tokens.ts';

/** A user who is logged in. */
export interface SignedInUser extends Actor {
  readonly sessionEpoch: number;
  /** The API token of the request, if it has one. */
  readonly apiToken?: ApiTokenInUse;
  /** The token of the request. */
  readonly token: TokenClaims;
  /** Whether the role requires a second factor that the user does not have. */
  readonly lacksSecondFactor: boolean;
  /**
   * The session of that token; null for an API token, and for a token from before sessions existed that has not been
   * refreshed.
   */
  readonly session: TokenSession | null;
}

/** The context of a procedure that manages the caller's own session. */
export interface SessionContext<App = Core & AuthServices> extends RequestContext<App> {
  readonly actor: SignedInUser;
}

type Anybody = RequestContext<Core & Pick<AuthServices, 'tokens' | 'sessionMonitor'>>;

/** The user of the request's token; null without a valid token, or while the user has to set up a second factor. */
export async function findActor(ctx: Anybody): Promise<SignedInUser | null> {
  const actor = await findSignedIn(ctx);
  return actor?.lacksSecondFactor ? null : actor;
}

/** The user of the request's token, even if a second factor is yet to be set up; null without a valid token. */
export async function findSignedIn({ app, caller }: Anybody): Promise<SignedInUser | null> {
  const bearer = bearerToken(caller.authorization);
  if (bearer === null) return null;
  if (bearer.startsWith(API_TOKEN_PREFIX)) return findTokenActor(app, bearer);
  const token = await app.tokens.verify(bearer);
  if (!token) return null;
  const [user] = await findSessionUsers(app.db, [token]);
  if (!user) return null;
  const { id, email, firstName, lastName, role, sessionEpoch } = user;
  const session = sessionOf(token, user);
  if (session && user.isSeenLongAgo) app.sessionMonitor.seen(session.id);
  const seesPlates = mayRolesSeePlates(app.config, role);
  return {
    id,
    email,
    firstName,
    lastName,
    role,
    seesPlates,
    sessionEpoch,
    token,
    session,
    lacksSecondFactor: lacksSecondFactor(app.config, user),
  };
}

/** The session of the caller. A token from before sessions existed gets one, which is as old as the token. */
export async function currentSession(
  { app, actor, caller }: SessionContext,
  tx: Transaction,
): Promise<TokenSession> {
  if (actor.session) return actor.session;
  const { tokenId, issuedAt } = actor.token;
  const lifetimeDays = app.config.SESSION_LIFETIME_DAYS;
  return adoptToken(tx, caller, {
    tokenId,
    issuedAt,
    userId: actor.id,
    epoch: actor.sessionEpoch,
    lifetimeDays,
  });
}

/**
 * The user for whom an API token acts, with the role whose permissions it has now; null when the token is not valid.
 */
async function findTokenActor({ db, config, sessionMonitor }: Anybody['app'], bearer: string) {
  const apiTokenHash = hashOf(bearer);
  const [owner] = await findValidOwners(db, [apiTokenHash]);
  if (!owner) return null;
  const { id, email, firstName, lastName, actingRole: role, ownerRole, sessionEpoch, tokenId } = owner;
  if (owner.isUsedLongAgo) sessionMonitor.used(tokenId);
  const token: TokenClaims = {
    userId: id,
    role,
    tokenId,
    sessionEpoch,
    issuedAt: new Date(owner.createdAt),
    expiresAt: new Date(owner.expiresAt),
    sessionId: null,
    apiTokenHash,
  };
  const seesPlates = mayRolesSeePlates(config, owner.role, ownerRole);
  const apiToken = { id: tokenId, name: owner.tokenName };
  return {
    id,
    email,
    firstName,
    lastName,
    role,
    seesPlates,
    sessionEpoch,
    token,
    session: null,
    lacksSecondFactor: false,
    apiToken,
  };
}

/** The caller of one call, with the API token that it was made with, which the activity log names. */
export function callerAs(caller: Caller, { apiToken }: SignedInUser): Caller {
  return apiToken ? { ...caller, apiToken } : { ...caller };
}

/** @throws AppError `forbidden` for an API token */
export function requireLogin({ apiToken }: SignedInUser): void {
  if (!apiToken) return;
  throw new AppError('forbidden', 'An API token cannot do this: log in as a user');
}

/**
 * Requires a valid token.
 * @param mayLackSecondFactor whether to accept a user who still has to set up a second factor
 * @throws AppError `unauthorized` without a valid token; `forbidden` while the user has to set up a second factor
 */
export async function signIn(ctx: Anybody, mayLackSecondFactor = false): Promise<SignedInUser> {
  if (bearerToken(ctx.caller.authorization) === null) throw new AppError('unauthorized', 'No token provided');
  const actor = await findSignedIn(ctx);
  if (!actor) throw invalidToken();
  if (actor.lacksSecondFactor && !mayLackSecondFactor) throw secondFactorMissing();
  return actor;
}

/** @throws AppError `forbidden` when the actor's role does not have the permission */
export function requirePermission(actor: Actor, permission: Permission, name: string): void {
  if (!mayDo(actor.role, permission)) {
    throw new AppError('forbidden', `Your role ${actor.role} does not have the permission ${name}`);
  }
}

function bearerToken(authorization: string | null): string | null {
  return /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? null;
}

function sessionOf(
  { sessionId, tokenId }: TokenClaims,
  { startedAt, endsAt, sessionEpoch }: TokenUser,
): TokenSession | null {
  return startedAt === null || endsAt === null
    ? null
    : {
        id: sessionId ?? tokenId,
        epoch: sessionEpoch,
        startedAt: new Date(startedAt),
        expiresAt: new Date(endsAt),
      };
}

import { mayDo, type Permission } from '@gantry/contract/permissions';
import type { Actor, Core, RequestContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { findSessionUsers, type TokenUser } from './sessions-store.ts';
import type { AuthServices } from './start.ts';
import type { TokenClaims, TokenSession } from './tokens.ts';

/** A user who is logged in. */
export interface SignedInUser extends Actor {
  readonly sessionEpoch: number;
  /** The token of the request. */
  readonly token: TokenClaims;
  /** Its session; null for a token from before sessions existed that has not been refreshed. */
  readonly session: TokenSession | null;
}

/** The context of a procedure that manages the caller's own session. */
export interface SessionContext<App = Core & AuthServices> extends RequestContext<App> {
  readonly actor: SignedInUser;
}

type Anybody = RequestContext<Core & Pick<AuthServices, 'tokens' | 'sessionWatch'>>;

/** The user of the request's token; null without a valid token. */
export async function findActor({ app, caller }: Anybody): Promise<SignedInUser | null> {
  const bearer = bearerToken(caller.authorization);
  if (bearer === null) return null;
  const token = await app.tokens.verify(bearer);
  if (!token) return null;
  const [user] = await findSessionUsers(app.db, [token]);
  if (!user) return null;
  const { id, email, firstName, lastName, role, sessionEpoch } = user;
  const session = sessionOf(token, user);
  if (session && user.isSeenLongAgo) app.sessionWatch.seen(session.id);
  return { id, email, firstName, lastName, role, sessionEpoch, token, session };
}

/** @throws AppError `unauthorized` without a valid token */
export async function signIn(ctx: Anybody): Promise<SignedInUser> {
  if (bearerToken(ctx.caller.authorization) === null) throw new AppError('unauthorized', 'No token provided');
  const actor = await findActor(ctx);
  if (!actor) throw new AppError('unauthorized', 'Invalid or expired token');
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

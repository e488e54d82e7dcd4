import { mayDo, type Permission } from '@gantry/contract/permissions';
import type { Actor, RequestContext } from '../context.ts';
import { AppError } from '../error.ts';
import { findSessionUser } from './store.ts';

const bearerToken = (authorization: string | null): string | null =>
  /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? null;

/** The user behind the request's token; null without a token or with one that is no longer good. */
export const findActor = async ({ app, caller }: RequestContext): Promise<Actor | null> => {
  const token = bearerToken(caller.authorization);
  if (token === null) return null;
  const claims = await app.tokens.verify(token);
  if (!claims) return null;
  const user = await findSessionUser(app.db, claims);
  return user && { ...user, token: { id: claims.tokenId, expiresAt: claims.expiresAt } };
};

/** @throws AppError `unauthorized` without a token, or with one that is not or no longer good */
export const signIn = async (ctx: RequestContext): Promise<Actor> => {
  if (bearerToken(ctx.caller.authorization) === null) throw new AppError('unauthorized', 'No token provided');
  const actor = await findActor(ctx);
  if (!actor) throw new AppError('unauthorized', 'Invalid or expired token');
  return actor;
};

/** @throws AppError `forbidden` when the actor's role does not hold the permission */
export const requirePermission = (actor: Actor, permission: Permission, name: string): void => {
  if (!mayDo(actor.role, permission)) {
    throw new AppError('forbidden', `Your role ${actor.role} does not have the permission ${name}`);
  }
};

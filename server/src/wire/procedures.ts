import type { ErrorBody } from '@gantry/contract/envelope';
import { type Permission, permissionNames } from '@gantry/contract/permissions';
import { initTRPC } from '@trpc/server';
import type { z } from 'zod';
import { requirePermission, signIn } from '../auth/session.ts';
import type { ActorContext, RequestContext } from '../context.ts';
import { authenticateSensor } from '../ingest/authenticate.ts';
import { requireFeature } from '../system/features.ts';
import { failureOf } from './errors.ts';
import { transformer } from './output.ts';

/** What the API documents say of a procedure beyond its input and output. */
export interface ProcedureMeta {
  /** Who may call it; filled in by the builders below. */
  access?: 'open' | 'signedIn' | 'device';
  permission?: Permission;
  /** One sentence: what it does. */
  summary?: string;
  /** Rules worth knowing, in Markdown. */
  notes?: string;
  /** What each message of a subscription is. */
  message?: z.ZodType;
}

/** A stream that is silent for longer than this is dead, and its client connects again. Notes come every 10 s. */
const STREAM_SILENCE_MS = 30_000;

const t = initTRPC
  .context<RequestContext>()
  .meta<ProcedureMeta>()
  .create({
    transformer,
    isDev: false,
    sse: { client: { reconnectAfterInactivityMs: STREAM_SILENCE_MS } },
    errorFormatter: ({ error }): ErrorBody => failureOf(error).body,
  });

export const router = t.router;

/** Reads the input of a procedure that takes none too, so that broken JSON or a wrong type of body is refused everywhere. */
const readInput = t.middleware(async ({ getRawInput, next }) => {
  await getRawInput();
  return next();
});

/** Refuses what is switched off. */
const checkFeature = t.middleware(({ ctx, path, type, next }) => {
  requireFeature(ctx.app.config, path, type);
  return next();
});

/** A procedure that anybody may call; a token that comes with it is ignored. */
export const open = t.procedure.meta({ access: 'open' }).use(checkFeature).use(readInput);

const authenticated = t.procedure.meta({ access: 'signedIn' }).use(async ({ ctx, next }) => {
  const signedIn: Pick<ActorContext, 'actor'> = { actor: await signIn(ctx) };
  return next({ ctx: signedIn });
});

/** A procedure for everybody who is logged in. */
export const signedIn = authenticated.use(checkFeature).use(readInput);

/** A procedure for those whose role holds the permission. */
export const allowed = (permission: Permission) =>
  authenticated
    .meta({ permission })
    .use(({ ctx, next }) => {
      requirePermission(ctx.actor, permission, permissionNames[permission]);
      return next();
    })
    .use(checkFeature)
    .use(readInput);

/** A procedure for devices: the API key in the input is checked before the rest of the input. */
export const device = t.procedure.meta({ access: 'device' }).use(async ({ ctx, getRawInput, next }) => {
  const sensor = await authenticateSensor(ctx, await getRawInput());
  return next({ ctx: { sensor } });
});

import { permissionNames } from '@gantry/contract/permissions';
import type { FastifyInstance } from 'fastify';
import { callerAs, requirePermission, signIn } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import { receiveFile } from '../hotlists/imports.ts';
import type { HotlistServices } from '../hotlists/start.ts';
import type { Core } from '../platform/context.ts';
import type { CallerOf } from '../rpc/exchange.ts';
import { requireFeature } from '../system/features.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import type { WebhookServices } from '../webhooks/start.ts';
import { unhurriedly } from './connections.ts';

type HotlistApp = Core & AuthServices & WatchlistServices & WebhookServices & HotlistServices;

/** Maximum length of the name of a file. */
const MAX_NAME = 200;

/**
 * Receives files of hotlists: `PUT /hotlists/<id>/file`, with the file as the body. They are stored as they arrive, so that their
 * size is not limited by the memory for bodies, and may take as long as bytes arrive.
 */
export function serveHotlistFiles(server: FastifyInstance, app: HotlistApp, callerOf: CallerOf): void {
  server.put<{ Params: { id: string }; Querystring: { name?: string } }>(
    '/hotlists/:id/file',
    async (request, reply) => {
      const caller = callerOf(request.raw, request.id);
      const actor = await signIn({ app, caller });
      requirePermission(actor, 'manageHotlists', permissionNames.manageHotlists);
      requireFeature(app.config, 'hotlists.stage', 'mutation');
      const ctx = { app, actor, caller: callerAs(caller, actor) };
      const { name } = request.query;
      const fileName =
        typeof name === 'string' ? name.slice(0, MAX_NAME).toWellFormed().replaceAll('\u0000', '') : null;
      const received = await unhurriedly(request.raw.socket, () =>
        receiveFile(ctx, request.params.id, request.raw, fileName),
      );
      return reply.code(201).send(received);
    },
  );
}

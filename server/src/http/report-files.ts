import type { FastifyInstance } from 'fastify';
import type { AuthServices } from '../accounts/start.ts';
import type { Core } from '../platform/context.ts';
import { openReportFile } from '../reports/download.ts';
import type { ReportServices } from '../reports/start.ts';
import { drain } from '../rpc/body.ts';
import type { CallerOf } from '../rpc/caller.ts';

/** Serves the files of reports to users with a token. */
export function serveReportFiles(
  server: FastifyInstance,
  app: Core & AuthServices & ReportServices,
  callerOf: CallerOf,
): void {
  server.get<{ Params: { id: string } }>(
    '/reports/:id/file',
    { exposeHeadRoute: false },
    async (request, reply) => {
      drain(request.raw, reply.raw);
      const { name, contentType, size, stream } = await openReportFile(
        { app, caller: callerOf(request.raw, request.id) },
        request.params.id,
      );
      return reply
        .header('content-type', contentType)
        .header('content-length', size)
        .header('content-disposition', `attachment; filename="${name}"`)
        .header('cache-control', 'private, no-store')
        .send(stream);
    },
  );
}

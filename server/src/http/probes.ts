import type { FastifyInstance } from 'fastify';
import type { Core } from '../platform/context.ts';
import { getHealth } from '../system/service.ts';

/** Serves the probes: whether the process is alive, whether it is ready, and its metrics. */
export function serveProbes(server: FastifyInstance, app: Core): void {
  server.get('/live', () => ({ status: 'live' }));

  server.get('/ready', async (_request, reply) => {
    const { database } = await getHealth(app);
    if (app.readiness.isDraining) return reply.code(503).send({ status: 'stopping', database });
    const ready = database === 'connected';
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'unavailable', database });
  });

  server.get('/metrics', async (_request, reply) => {
    reply.header('content-type', app.metrics.registry.contentType);
    return app.metrics.render();
  });
}

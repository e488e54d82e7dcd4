import type { FastifyInstance } from 'fastify';
import type { Core } from '../platform/context.ts';
import { examineHealth } from '../system/service.ts';

/** Serves the probes: whether the process is alive, whether it is ready, and its metrics. */
export function serveProbes(server: FastifyInstance, app: Core): void {
  server.get('/live', () => ({ status: 'live' }));

  server.get('/ready', async (_request, reply) => {
    const { health, reason } = await examineHealth(app);
    const { database } = health;
    if (app.readiness.isDraining) return reply.code(503).send({ status: 'stopping', database });
    const ready = database === 'connected';
    const answer = { status: ready ? 'ready' : 'unavailable', database, ...(reason !== null && { reason }) };
    return reply.code(ready ? 200 : 503).send(answer);
  });

  server.get('/metrics', async (_request, reply) => {
    reply.header('content-type', app.metrics.registry.contentType);
    return app.metrics.render();
  });
}

import { hash, timingSafeEqual } from 'node:crypto';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getSealKeys } from '../evidence/service.ts';
import type { Config } from '../platform/config.ts';
import type { Core } from '../platform/context.ts';
import { WireError } from '../rpc/errors.ts';
import type { CallerOf } from '../rpc/exchange.ts';
import { checkHealth } from '../system/service.ts';

/** Serves the probes: whether the process is alive, whether it is ready, and its metrics. */
export function serveProbes(server: FastifyInstance, app: Core, callerOf: CallerOf): void {
  const requireMetricsAccess = createMetricsAccess(app.config, callerOf);

  server.get('/live', () => ({ status: 'live' }));

  server.get('/ready', async (_request, reply) => {
    const { health, reason } = await checkHealth(app);
    const { database } = health;
    if (app.readiness.isDraining) return reply.code(503).send({ status: 'stopping', database });
    const ready = database === 'connected';
    const answer = { status: ready ? 'ready' : 'unavailable', database, ...(reason !== null && { reason }) };
    return reply.code(ready ? 200 : 503).send(answer);
  });

  server.get('/metrics', async (request, reply) => {
    requireMetricsAccess(request);
    reply.header('content-type', app.metrics.registry.contentType);
    return app.metrics.render();
  });
}

/** Serves the public keys of seals and the latest seal, for those who check evidence or keep a copy of the chain. */
export function serveSealKeys(server: FastifyInstance, { db }: Core): void {
  server.get('/.well-known/gantry-seal.json', async (_request, reply) => {
    reply.header('cache-control', 'no-cache');
    return getSealKeys(db);
  });
}

/**
 * Checks who may read the metrics, which tell how much traffic there is and which procedures are called.
 * @returns a function that throws WireError UNAUTHORIZED or FORBIDDEN
 */
function createMetricsAccess(
  { METRICS_TOKEN, METRICS_ALLOW_FROM }: Config,
  callerOf: CallerOf,
): (request: FastifyRequest) => void {
  if (METRICS_TOKEN === undefined && METRICS_ALLOW_FROM.length === 0) return () => undefined;
  const isAllowed = proxyAddress.compile([...METRICS_ALLOW_FROM]);
  return ({ raw, id }) => {
    const { address, authorization } = callerOf(raw, id);
    if (isAllowed(address, 0)) return;
    if (METRICS_TOKEN === undefined)
      throw new WireError('FORBIDDEN', 'The metrics cannot be read from this address');
    if (authorization !== null && isSame(authorization, `Bearer ${METRICS_TOKEN}`)) return;
    throw new WireError('UNAUTHORIZED', 'The metrics require a token: Authorization: Bearer …', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  };
}

/** Compares two texts in a time that does not depend on how much of them is equal. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}

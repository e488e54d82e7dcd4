import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import { REQUEST_TIMEOUT_MS } from '@gantry/contract/envelope';
import type { AnyTRPCRouter } from '@trpc/server';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { AppContext } from '../context.ts';
import { drain } from './body.ts';
import { refuseConnection, takeOverFromNode } from './connection.ts';
import { serveDocuments } from './documents.ts';
import { failureOf, WireError } from './errors.ts';
import { serveImageFiles } from './image-files.ts';
import { allowOrigins } from './origins.ts';
import { serveProbes } from './probes.ts';
import { serveReportFiles } from './report-files.ts';
import { serveTrpc } from './trpc.ts';

/** Longest address line and headers, in bytes: a batch of queries has its inputs in the address. */
const MAX_HEADER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 72_000;
const MAX_CHECK_MS = 2_000;

/** HTTP/1.1 wants exactly one Host; with two, a proxy in front and we might mean different ones. */
const hasOneHost = ({ rawHeaders, httpVersion }: IncomingMessage): boolean => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
};

/** What Fastify and its plugins refuse by themselves is the sender's doing: they give it a status below 500. */
const asWireError = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof WireError || !('statusCode' in error)) return error;
  const { statusCode } = error;
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return error;
  return 'code' in error && error.code === 'FST_ERR_BAD_URL'
    ? new WireError('BAD_REQUEST', 'The address is not well-formed')
    : new WireError('BAD_REQUEST', 'The request cannot be answered in the way it is asked');
};

/**
 * Builds the HTTP server of the service; it does not listen yet.
 * @param timeoutMs how long a request may take to arrive, and then to be answered, in milliseconds
 */
export const createServer = async (
  app: AppContext,
  router: AnyTRPCRouter,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<FastifyInstance> => {
  const allowed = allowOrigins(app.config.WEB_ORIGIN, app.config.PREVIEW_ORIGINS);

  const server = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestTimeout: timeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      // Left at its 60 s, Node takes the longer of the two times for the whole request.
      headersTimeout: timeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: Math.min(timeoutMs, MAX_CHECK_MS),
      requireHostHeader: false,
    },
    trustProxy: app.config.TRUSTED_PROXIES.length > 0 ? app.config.TRUSTED_PROXIES : false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      prepare(request, reply);
      const { origin } = request.headers;
      reply.header('vary', 'Origin');
      if (origin !== undefined && allowed(origin)) reply.header('access-control-allow-origin', origin);
      fail(request, reply, error);
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });
  takeOverFromNode(server.server);

  const prepare = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
  };
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const { body, headers, unexpected } = failureOf(asWireError(error));
    if (unexpected) app.log.error({ err: error, requestId: request.id }, 'a request failed');
    drain(request.raw, reply.raw);
    void reply
      .code(body.data.httpStatus)
      .headers(headers)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ error: { json: body } }));
  };
  server.setErrorHandler((error, request, reply) => fail(request, reply, error));
  server.setNotFoundHandler((request, reply) =>
    fail(
      request,
      reply,
      new WireError('NOT_FOUND', `There is nothing at ${request.url.slice(0, 100).toWellFormed()}`),
    ),
  );

  server.addHook('onRequest', (request, reply, next) => {
    prepare(request, reply);
    next(hasOneHost(request.raw) ? undefined : new WireError('BAD_REQUEST', 'Send exactly one Host header'));
  });

  await server.register(cors, {
    origin: (origin, answer) => answer(null, origin !== undefined && allowed(origin)),
    methods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
    allowedHeaders: ['Content-Type', 'Authorization', 'x-trpc-source'],
    exposedHeaders: ['x-request-id', 'retry-after'],
    maxAge: 600,
    strictPreflight: false,
  });

  serveTrpc(server, router, app, timeoutMs);
  serveProbes(server, app);
  serveReportFiles(server, app);
  serveImageFiles(server, app);
  await serveDocuments(server, router);
  return server;
};

const IDLE_SWEEP_MS = 50;

/**
 * Stops listening, and resolves when what is under way is answered. A connection that falls idle meanwhile is closed:
 * its keep-alive would otherwise hold up the end for more than a minute.
 */
export const closeServer = async (server: FastifyInstance): Promise<void> => {
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP_MS);
  try {
    await server.close();
  } finally {
    clearInterval(sweep);
  }
};

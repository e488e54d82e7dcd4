import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import { errorBodyFor, REQUEST_TIMEOUT_MS } from '@gantry/contract/envelope';
import type { ErrorCode } from '@gantry/contract/errors';
import type { AnyTRPCRouter } from '@trpc/server';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { AppContext } from '../context.ts';
import { createBodyReader } from './body.ts';
import { serveDocuments } from './documents.ts';
import { failureOf, WireError } from './errors.ts';
import { allowOrigins } from './origins.ts';
import { serveProbes } from './probes.ts';
import { serveTrpc } from './trpc.ts';

/** Longest address line and headers, in bytes: a batch of queries has its inputs in the address. */
const MAX_HEADER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 72_000;

/** What the HTTP parts refuse by themselves, and how the error table calls it. */
const httpErrors: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Send the body with Content-Type: application/json',
  },
  FST_ERR_BAD_URL: { code: 'BAD_REQUEST', message: 'The address is not well-formed' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'BAD_REQUEST',
    message: 'The Content-Length does not fit the body',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'TIMEOUT', message: 'The request did not arrive within 30 seconds' },
  HPE_HEADER_OVERFLOW: { code: 'PAYLOAD_TOO_LARGE', message: 'The address or the headers are too long' },
};

const asWireError = (error: unknown): unknown => {
  const known = error instanceof Error && 'code' in error ? httpErrors[String(error.code)] : undefined;
  return known ? new WireError(known.code, known.message) : error;
};

/** Answers on the bare connection, for requests that never became one. */
const refuseConnection = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, message } = httpErrors[error.code ?? ''] ?? {
    code: 'BAD_REQUEST',
    message: 'The request is not well-formed HTTP',
  };
  const json = JSON.stringify({ error: { json: errorBodyFor(code, message) } });
  const { httpStatus } = errorBodyFor(code, message).data;
  socket.end(
    `HTTP/1.1 ${httpStatus} ${code}\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
};

/** Builds the HTTP server of the service; it does not listen yet. */
export const createServer = async (app: AppContext, router: AnyTRPCRouter): Promise<FastifyInstance> => {
  const server = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: 2_000 },
    trustProxy: app.config.TRUSTED_PROXIES.length > 0 ? app.config.TRUSTED_PROXIES : false,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => fail(request, reply as FastifyReply, error),
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const { body, headers, unexpected } = failureOf(asWireError(error));
    if (unexpected) app.log.error({ err: error, requestId: request.id }, 'a request failed');
    void reply
      .code(body.data.httpStatus)
      .headers(headers)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ error: { json: body } }));
  };
  server.setErrorHandler((error, request, reply) => fail(request, reply, error));
  server.setNotFoundHandler((request, reply) =>
    fail(request, reply, new WireError('NOT_FOUND', `There is nothing at ${request.url.slice(0, 100)}`)),
  );

  const bodies = createBodyReader();
  server.addHook('onRequest', (request, reply, next) => {
    bodies.watch(request.raw, reply.raw);
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    next();
  });

  const allowed = allowOrigins(app.config.WEB_ORIGIN, app.config.PREVIEW_ORIGINS);
  await server.register(cors, {
    origin: (origin, answer) => answer(null, origin !== undefined && allowed(origin)),
    methods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
    allowedHeaders: ['Content-Type', 'Authorization', 'x-trpc-source'],
    exposedHeaders: ['x-request-id', 'retry-after'],
    maxAge: 600,
    strictPreflight: false,
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) => bodies.read(payload));

  serveTrpc(server, router, app);
  serveProbes(server, app);
  await serveDocuments(server, router);
  return server;
};

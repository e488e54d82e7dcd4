import { randomUUID } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
} from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import { REQUEST_TIMEOUT_MS } from '@gantry/contract/envelope';
import type { AnyTRPCRouter } from '@trpc/server';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { AuthServices } from '../accounts/start.ts';
import type { ActivityServices } from '../activity/looks.ts';
import type { HotlistServices } from '../hotlists/start.ts';
import type { ImageServices } from '../images/start.ts';
import type { MapServices } from '../map/start.ts';
import type { AcknowledgeGroup } from '../notices/acknowledge.ts';
import type { Core } from '../platform/context.ts';
import { consoleFolder } from '../platform/installation.ts';
import { openFilesLimit } from '../platform/process/own-process.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { PackageServices } from '../reports/packages/start.ts';
import type { ReportServices } from '../reports/start.ts';
import { drain } from '../rpc/budgets.ts';
import { createDispatcher } from '../rpc/dispatch.ts';
import { failureOf, WireError } from '../rpc/errors.ts';
import { FrontEnd, JSON_TYPE, type RequestHandler, requireOneHost } from '../rpc/exchange.ts';
import { createHandler } from '../rpc/handler.ts';
import {
  commonHeaders,
  headersForOrigin,
  PREFLIGHT_HEADERS,
  REST_PREFLIGHT_HEADERS,
} from '../rpc/headers.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import type { WebhookServices } from '../webhooks/start.ts';
import { serveAcknowledgement } from './acknowledge.ts';
import {
  closeUnused,
  followConnections,
  limitConnections,
  mostConnections,
  mostConnectionsOfAddress,
  refuseConnection,
  takeOverFromNode,
} from './connections.ts';
import { serveConsole } from './console.ts';
import { serveDocuments } from './docs/page.ts';
import { serveImageFiles, servePackageFiles, serveReportFiles, serveVerifyProgram } from './files.ts';
import { serveHotlistFiles } from './hotlist-files.ts';
import { serveMapTiles, serveMapUploads } from './map-files.ts';
import { serveOidc } from './oidc.ts';
import { serveProbes, serveSealKeys } from './probes.ts';
import { createRestHandler } from './rest/handler.ts';

/** Maximum size of the request line and headers in bytes: a batch of queries has its inputs in the address. */
const MAX_HEADER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 72_000;
const MAX_CHECK_MS = 2_000;

/** The services that routes besides the API use; the API uses those that its router requires. */
type ServedApp = Core &
  ActivityServices &
  AuthServices &
  RealtimeServices &
  ImageServices &
  ReportServices &
  PackageServices &
  WatchlistServices &
  WebhookServices &
  HotlistServices &
  MapServices;

export interface ServerOptions {
  /** Shared with `handlers`. By default one of its own. */
  readonly frontEnd?: FrontEnd;
  /** They handle the requests of other forms than those of the API, such as those of devices; not preflights. */
  readonly handlers?: readonly RequestHandler[];
  /** Time limit for receiving a request, and again for answering it, in milliseconds. */
  readonly timeoutMs?: number;
  /** The folder with the built console. */
  readonly pagesFolder?: string | undefined;
  /** Acknowledges the alarms of a link. By default there are none: every group is closed. */
  readonly acknowledgeGroup?: AcknowledgeGroup;
}

/**
 * Builds the HTTP server of the service, without listening.
 * @param app the services for the procedures of the router
 */
export async function createServer(
  app: ServedApp,
  router: AnyTRPCRouter,
  {
    frontEnd = new FrontEnd(app.config, app.log),
    handlers = [],
    timeoutMs = REQUEST_TIMEOUT_MS,
    pagesFolder = consoleFolder,
    acknowledgeGroup = async () => false,
  }: ServerOptions = {},
): Promise<FastifyInstance> {
  const { allows, answers, callerOf } = frontEnd;
  const isPreflight = ({ method, headers: { origin } }: IncomingMessage): boolean =>
    method === 'OPTIONS' && origin !== undefined && allows(origin);
  const dispatcher = createDispatcher(router, app, { timeoutMs, answers });
  const api = { router, app, frontEnd, dispatcher, ending: app.realtime.ending };
  const allHandlers = [createHandler(api), createRestHandler(api), ...handlers];
  const limits = await connectionLimits(app);

  const server = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (handler) => {
      const http = createHttp(timeoutMs, (request, response) => {
        const isHandled = !isPreflight(request) && allHandlers.some((handle) => handle(request, response));
        if (!isHandled) handler(request, response);
      });
      http.timeout = timeoutMs + app.timings.stalledMs;
      limitConnections(http, limits, app);
      followConnections(http);
      return http;
    },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      setHeaders(reply, commonHeaders(request.id));
      setHeaders(reply, headersForOrigin(request.headers.origin, allows));
      fail(request, reply, error);
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });
  server.addHook('preClose', (done) => {
    frontEnd.isClosing = true;
    done();
  });
  readNoBodies(server);

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const { body, headers, unexpected } = failureOf(asWireError(error));
    if (unexpected) app.log.error({ err: error, requestId: request.id }, 'a request failed');
    drain(request.raw, reply.raw);
    void reply
      .code(body.data.httpStatus)
      .headers(headers)
      .header('content-type', JSON_TYPE)
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

  server.addHook('onRequest', async (request, reply) => {
    setHeaders(reply, commonHeaders(request.id));
    requireOneHost(request.raw);
    setHeaders(reply, headersForOrigin(request.headers.origin, allows));
    if (!isPreflight(request.raw)) return;
    setHeaders(reply, request.url.startsWith('/v1/') ? REST_PREFLIGHT_HEADERS : PREFLIGHT_HEADERS);
    return reply.code(204).send();
  });

  serveProbes(server, app, callerOf);
  serveSealKeys(server, app);
  serveReportFiles(server, app, callerOf);
  servePackageFiles(server, app, callerOf);
  serveVerifyProgram(server);
  serveImageFiles(server, app, callerOf);
  serveHotlistFiles(server, app, callerOf);
  serveMapUploads(server, app, callerOf);
  if (app.oidc) serveOidc(server, app, callerOf);
  serveAcknowledgement(server, app, callerOf, acknowledgeGroup);
  await serveDocuments(server, router);
  await serveMapTiles(server, app);
  if (app.config.CONSOLE) await serveConsole(server, pagesFolder, app.log);
  return server;
}

const IDLE_SWEEP_MS = 50;

/** How long a request that was sent just before the end may take to arrive on a new connection, in milliseconds. */
const UNUSED_MS = 500;

/** Maximum wait for requests in progress, in milliseconds, so that slow clients do not delay the end. */
const CLOSE_PATIENCE_MS = 18_000;

/**
 * Stops listening. Resolves when the requests in progress are answered, or after a time limit. Connections that
 * become idle meanwhile, and those on which nothing was ever sent, are closed: keep-alive would otherwise delay the end
 * by more than a minute.
 * @param patienceMs time limit for requests in progress, in milliseconds
 */
export async function closeServer(server: FastifyInstance, patienceMs = CLOSE_PATIENCE_MS): Promise<void> {
  const began = performance.now();
  const sweep = setInterval(() => {
    server.server.closeIdleConnections();
    if (performance.now() - began > UNUSED_MS) closeUnused(server.server);
  }, IDLE_SWEEP_MS);
  const limit = setTimeout(() => server.server.closeAllConnections(), patienceMs);
  try {
    await server.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(limit);
  }
}

/** Converts refusals by Fastify and its plugins, which have a status from 400 to 499, to errors of the client. */
function asWireError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof WireError || !('statusCode' in error)) return error;
  const { statusCode } = error;
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return error;
  return 'code' in error && error.code === 'FST_ERR_BAD_URL'
    ? new WireError('BAD_REQUEST', 'Malformed URL')
    : new WireError('BAD_REQUEST', 'This form of request is not supported');
}

/** The limits of connections, which depend on how many files the process may open. */
async function connectionLimits({ config, log }: Core) {
  const most = mostConnections(config.MAX_CONNECTIONS, await openFilesLimit());
  if (most < config.MAX_CONNECTIONS) {
    log.info(
      { most },
      'fewer connections are accepted than MAX_CONNECTIONS allows, because of the limit on open files',
    );
  }
  const isProxy = proxyAddress.compile([...config.TRUSTED_PROXIES]);
  return {
    most,
    mostOfAddress: mostConnectionsOfAddress(config.MAX_CONNECTIONS_PER_ADDRESS, most),
    isProxy: (address: string) => isProxy(address, 0),
  };
}

/** Node's HTTP server, with the limits of time and size that it enforces itself. */
function createHttp(timeoutMs: number, listener: RequestListener): Server {
  const http = createHttpServer(
    {
      requestTimeout: timeoutMs,
      // With Node's default of 60 s, the longer of the two times would apply to the whole request.
      headersTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: Math.min(timeoutMs, MAX_CHECK_MS),
      requireHostHeader: false,
    },
    listener,
  );
  // A client may close its side once it has sent a request, as simple devices and scripts do, and still read the answer.
  Object.assign(http, { httpAllowHalfOpen: true });
  takeOverFromNode(http);
  return http;
}

/** Passes every method to the handlers without reading the body, which none of them uses. */
function readNoBodies(server: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT') server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

function setHeaders(reply: FastifyReply, headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1]);
}

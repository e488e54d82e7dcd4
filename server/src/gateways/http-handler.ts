import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import type { DeviceAnswer } from '../connections/format.ts';
import { formatNamed } from '../connections/formats.ts';
import { excessOfBody } from '../connections/read-parts.ts';
import type { KnownConnection } from '../connections/store.ts';
import { AppError } from '../platform/error.ts';
import { type BodyLimit, type BodyReader, drain } from '../rpc/body.ts';
import type { CallerOf } from '../rpc/caller.ts';
import { WireError } from '../rpc/errors.ts';
import { identifyByBody, identifyingBytes, isWronglySigned } from './body-identity.ts';
import type { GatewayApp } from './context.ts';
import type { DigestNonces } from './digest.ts';
import { receiveEdgeBatch } from './edge-batch.ts';
import type { Guesses } from './guesses.ts';
import { challenge, type Identified, identifyByHead } from './identify.ts';
import { headersForMappings } from './incoming.ts';
import { ACCEPTED_ENCODINGS, inflated, isCompressed } from './inflate.ts';
import type { ConnectionLimits } from './limits.ts';
import type { Missed } from './missed.ts';
import type { Receiver } from './receive.ts';
import { type GatewayTarget, gatewayTarget } from './target.ts';

/** Handles requests of devices on Node's HTTP server. */
export interface HttpDoor {
  /** Whether the address of the request is one for devices. */
  accepts(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

export interface HttpDoorParts {
  readonly app: GatewayApp;
  readonly bodies: BodyReader;
  readonly receiver: Receiver;
  readonly nonces: DigestNonces;
  readonly guesses: Guesses;
  readonly limits: ConnectionLimits;
  readonly missed: Missed;
  readonly callerOf: CallerOf;
}

const METHODS = ['POST', 'PUT', 'GET'];

/** Maximum number of bodies in memory that were compressed; the others wait. Each may have 10 MB. */
const MAX_INFLATED = 4;

/** An answer other than that of a format. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  constructor(status: number, message: string, headers: Refusal['headers'] = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

const tooManyUnknown = () => new Refusal(429, 'Too many unknown senders', { 'retry-after': '60' });

const encodingOf = ({ headers }: IncomingMessage): string | null => headers['content-encoding'] ?? null;

/** @throws Refusal of a body whose compression cannot be removed, or that is larger without it than `most` bytes */
async function withoutCompression(request: IncomingMessage, body: Buffer, most?: number): Promise<Buffer> {
  const found = await inflated(encodingOf(request), body, most);
  if ('body' in found) return found.body;
  const { status, reason } = found;
  throw new Refusal(status, reason, status === 415 ? { 'accept-encoding': ACCEPTED_ENCODINGS } : {});
}

export function createHttpDoor(parts: HttpDoorParts): HttpDoor {
  const { app, bodies, receiver, nonces, guesses, limits, missed, callerOf } = parts;
  const inflating = pLimit(MAX_INFLATED);

  const send = (
    { response, format }: Exchange,
    status: number,
    { contentType, body = '', close }: Omit<DeviceAnswer, 'status'>,
    headers: Refusal['headers'] = {},
  ): void => {
    if (response.headersSent || response.destroyed) return;
    if (close) response.shouldKeepAlive = false;
    const bytes = Buffer.from(body);
    response.writeHead(status, {
      ...(contentType !== undefined && { 'content-type': contentType }),
      'content-length': String(bytes.length),
      'cache-control': 'no-store',
      ...(headers as Record<string, string | string[]>),
    });
    response.end(bytes);
    app.metrics.gatewayAnswers.inc({ format, status: String(status) });
  };

  const refuseUnknown = async (
    { request }: Exchange,
    { status, challenges, isGuess }: Exclude<Identified, { connection: KnownConnection }>,
  ): Promise<never> => {
    // A request without credentials is not a guess: the device asks how to authenticate.
    if (isGuess && !(await guesses.admit(callerOf(request, '').address))) throw tooManyUnknown();
    if (status === 404) throw new Refusal(404, 'There is no connection with this token');
    throw new Refusal(401, 'Unknown sender', challenges.length > 0 ? { 'www-authenticate': challenges } : {});
  };

  /**
   * Counts the message of a known sender.
   * @throws AppError `tooManyRequests` when there are too many
   */
  const count = (exchange: Exchange, connection: KnownConnection): void => {
    exchange.format = connection.format;
    exchange.connection = connection;
    limits.take(connection, 1);
    const end = limits.begin(connection, exchange.request);
    if (exchange.response.destroyed) end();
    else exchange.response.once('close', end);
  };

  /** The sender and the body of a request. The body of an unknown sender is read only if it may identify the sender. */
  const admit = async (
    exchange: Exchange,
    target: GatewayTarget,
  ): Promise<{ connection: KnownConnection; body: Buffer }> => {
    const { request, response } = exchange;
    const read = async (limit?: BodyLimit): Promise<Buffer> =>
      (await bodies.read(request, response, limit)) ?? Buffer.alloc(0);
    const byHead = await identifyByHead(app, nonces, target, request);
    if (byHead && !('connection' in byHead)) return refuseUnknown(exchange, byHead);
    if (byHead) {
      const { connection } = byHead;
      count(exchange, connection);
      const body = await read();
      if (isWronglySigned(connection, request, body, app.clock.now())) {
        return refuseUnknown(exchange, { status: 401, challenges: [], isGuess: true });
      }
      return { connection, body };
    }
    const bytes = identifyingBytes(target, request, app.clock.now());
    if (bytes > 0) {
      const withdraw = await guesses.begin(callerOf(request, '').address);
      if (!withdraw) throw tooManyUnknown();
      const body = await read({ bytes, of: 'a sender that only its body can identify' });
      const plain = isCompressed(encodingOf(request), body)
        ? await inflating(() => withoutCompression(request, body, bytes))
        : body;
      const connection = await identifyByBody(app, target, request, { body, plain });
      if (connection) {
        await withdraw();
        count(exchange, connection);
        return { connection, body };
      }
    }
    return refuseUnknown(exchange, challenge(nonces, target, false) as never);
  };

  const answer = async (exchange: Exchange): Promise<void> => {
    const { request } = exchange;
    const target = gatewayTarget(request.url ?? '');
    if (!target || target.formats.length === 0) {
      throw new Refusal(404, 'There is no such device format');
    }
    exchange.format = target.formats[0] ?? 'unknown';
    const { method = '' } = request;
    if (!METHODS.includes(method)) {
      throw new Refusal(405, 'Send messages with POST', { allow: METHODS.join(', ') });
    }
    const { connection, body: sent } = await admit(exchange, target);
    if (!isCompressed(encodingOf(request), sent)) return takeBody(exchange, target, connection, sent);
    await inflating(async () =>
      takeBody(exchange, target, connection, await withoutCompression(request, sent)),
    );
  };

  /** Stores a body, and answers. @throws Refusal of a body that cannot be read, if the sender can act on it */
  const takeBody = async (
    exchange: Exchange,
    target: GatewayTarget,
    connection: KnownConnection,
    body: Buffer,
  ): Promise<void> => {
    const { request } = exchange;
    const excess = excessOfBody(body);
    if (excess !== null) throw new Refusal(413, excess);
    const isQuery = body.length === 0 && target.query !== '';
    const incoming = {
      connection,
      receivedAt: app.clock.now(),
      method: request.method ?? '',
      path: target.path,
      topic: null,
      contentType: isQuery ? 'application/x-www-form-urlencoded' : (request.headers['content-type'] ?? null),
      encoding: null,
      headers: formatNamed(connection.format).readsHeaders ? headersForMappings(request.headers) : undefined,
      body: isQuery ? Buffer.from(target.query) : body,
    };
    const isEdgeBatch = await receiveEdgeBatch(receiver, incoming, {
      now: app.clock.now(),
      take: (more) => limits.take(connection, more),
    });
    const refusal = isEdgeBatch ? null : await receiver.receive(incoming);
    if (refusal !== null) throw new Refusal(400, `The message was stored, but cannot be read: ${refusal}`);
    const { status = 200, ...rest } = formatNamed(connection.format).answer?.(target.path) ?? {};
    send(exchange, status, rest);
  };

  /** Logs a refusal, without the address of the request, which may contain a token. */
  const noteRefusal = (
    { request, format, connection }: Exchange,
    { status, message, headers }: Pick<Refusal, 'status' | 'message' | 'headers'>,
  ): void => {
    // Devices with Digest or Basic first send a request without credentials.
    if (headers['www-authenticate'] && request.headers.authorization === undefined) return;
    const { address } = callerOf(request, '');
    app.refusals.note(
      `gateway ${format} ${status} ${address} ${connection?.id}`,
      'a message of a device was refused',
      () => ({
        address,
        sensorId: connection?.sensorId ?? null,
        connectionId: connection?.id ?? null,
        format,
        status,
        reason: message,
      }),
    );
  };

  const fail = (exchange: Exchange, error: unknown): void => {
    const { request, response, format, connection } = exchange;
    if (response.destroyed) return;
    drain(request, response);
    const reply = (status: number, message: string, headers: Refusal['headers'] = {}): void => {
      send(exchange, status, { contentType: 'text/plain; charset=utf-8', body: `${message}\n` }, headers);
    };
    if (error instanceof Refusal) {
      noteRefusal(exchange, error);
      reply(error.status, error.message, error.headers);
      return;
    }
    if (error instanceof AppError && error.kind === 'tooManyRequests') {
      const seconds = Math.ceil(error.retryAfterSeconds ?? 1);
      if (connection) missed.note(connection, 'limited');
      reply(429, error.message, { 'retry-after': String(seconds) });
      return;
    }
    if (error instanceof AppError && error.kind === 'badRequest') {
      noteRefusal(exchange, { status: 400, message: error.message, headers: {} });
      reply(400, error.message);
      return;
    }
    if (error instanceof WireError && error.code === 'PAYLOAD_TOO_LARGE') {
      noteRefusal(exchange, { status: 413, message: error.message, headers: {} });
      reply(413, error.message);
      return;
    }
    if (error instanceof WireError && error.code === 'BAD_REQUEST') {
      response.destroy();
      return;
    }
    // The body was not read, because there was not enough memory for it.
    const isUnread = error instanceof WireError && error.code === 'SERVICE_UNAVAILABLE';
    if (isUnread && connection && !formatNamed(connection.format).repeats) missed.note(connection, 'lost');
    if (!(error instanceof AppError || error instanceof WireError)) {
      app.log.error({ err: error, format }, 'a message of a device could not be received');
    }
    reply(503, 'The message cannot be stored now: send it again in a moment', { 'retry-after': '1' });
  };

  return {
    accepts: ({ url = '' }) => gatewayTarget(url) !== null,
    handle(request, response) {
      const exchange: Exchange = { request, response, format: 'unknown' };
      answer(exchange).catch((error: unknown) => fail(exchange, error));
    },
  };
}

/** A request and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** For the metrics. */
  format: string;
  /** Set once the sender is known. */
  connection?: KnownConnection;
}

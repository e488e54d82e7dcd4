import type { IncomingMessage } from 'node:http';
import { formatNamed } from '@gantry/device-formats';
import type { DeviceAnswer } from '@gantry/device-formats/format';
import { excessOfBody } from '@gantry/device-formats/limits';
import pLimit from 'p-limit';
import { AppError } from '../platform/error.ts';
import { WireError } from '../rpc/errors.ts';
import { Exchange, type FrontEnd, JSON_TYPE, type RequestHandler } from '../rpc/exchange.ts';
import type { GatewayApp } from './context.ts';
import type { DigestNonces } from './digest.ts';
import { receiveEdgeBatch } from './edge-batch.ts';
import {
  challenge,
  identifyByBody,
  identifyByHead,
  identifyingBytes,
  isWronglySigned,
  type Unidentified,
} from './identify.ts';
import { headersForMappings } from './incoming.ts';
import { ACCEPTED_ENCODINGS, inflated, isCompressed } from './inflate.ts';
import type { ConnectionLimits, Guesses } from './limits.ts';
import type { MissedMessages } from './missed-store.ts';
import type { Receiver } from './receive.ts';
import type { KnownConnection } from './store.ts';
import { type GatewayTarget, gatewayTarget } from './target.ts';

export interface DeviceHandlerParts {
  readonly app: GatewayApp;
  readonly frontEnd: FrontEnd;
  readonly receiver: Receiver;
  readonly nonces: DigestNonces;
  readonly guesses: Guesses;
  readonly limits: ConnectionLimits;
  readonly missed: MissedMessages;
}

const METHODS = ['POST', 'PUT', 'GET'];

/** Maximum number of bodies in memory that were compressed; the others wait. Each may have 10 MB. */
const MAX_INFLATED = 4;

const NO_BODY = Buffer.alloc(0);

/** Creates the handler of the requests of devices, which are answered in the form of the maker. */
export function createDeviceHandler(parts: DeviceHandlerParts): RequestHandler {
  const devices = new DeviceRequests(parts);
  return (request, response) => {
    const target = gatewayTarget(request.url ?? '');
    if (!target) return false;
    const exchange = new DeviceExchange(parts.frontEnd, request, response);
    devices.answer(exchange, target).catch((error: unknown) => devices.fail(exchange, error));
    return true;
  };
}

/** A request of a device and its response. */
class DeviceExchange extends Exchange {
  /** For the metrics. */
  format = 'unknown';
  /** Set once the sender is known. */
  connection: KnownConnection | undefined;
}

type RefusalHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer other than that of a format. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: RefusalHeaders;

  constructor(status: number, message: string, headers: RefusalHeaders = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

class DeviceRequests {
  readonly #parts: DeviceHandlerParts;
  readonly #inflating = pLimit(MAX_INFLATED);

  constructor(parts: DeviceHandlerParts) {
    this.#parts = parts;
  }

  async answer(exchange: DeviceExchange, target: GatewayTarget): Promise<void> {
    if (target.formats.length === 0) throw new Refusal(404, 'There is no such device format');
    exchange.format = target.formats[0] ?? 'unknown';
    const { request } = exchange;
    if (!METHODS.includes(request.method ?? '')) {
      throw new Refusal(405, 'Send messages with POST', { allow: METHODS.join(', ') });
    }
    const { connection, body: sent } = await this.#admit(exchange, target);
    if (!isCompressed(encodingOf(request), sent)) return this.#takeBody(exchange, target, connection, sent);
    await this.#inflating(async () =>
      this.#takeBody(exchange, target, connection, await withoutCompression(request, sent)),
    );
  }

  /** Answers after an error, in the way that makes the device send the message again if that helps. */
  fail(exchange: DeviceExchange, error: unknown): void {
    const { response, connection } = exchange;
    if (response.destroyed) return;
    exchange.drain();
    const refusal = refusalOf(error);
    if (refusal) {
      this.#refuse(exchange, refusal);
    } else if (error instanceof AppError && error.kind === 'tooManyRequests') {
      const seconds = Math.ceil(error.retryAfterSeconds ?? 1);
      if (connection) this.#parts.missed.note(connection, 'limited');
      this.#sendText(exchange, new Refusal(429, error.message, { 'retry-after': String(seconds) }));
    } else if (error instanceof WireError && error.code === 'BAD_REQUEST') {
      // The body was cut short, so nobody reads an answer.
      response.destroy();
    } else {
      this.#failToStore(exchange, error);
    }
  }

  #failToStore(exchange: DeviceExchange, error: unknown): void {
    const { format, connection } = exchange;
    // The body was not read, because there was not enough memory for it.
    const isUnread = error instanceof WireError && error.code === 'SERVICE_UNAVAILABLE';
    if (isUnread && connection && !formatNamed(connection.format).repeats) {
      this.#parts.missed.note(connection, 'lost');
    }
    if (!(error instanceof AppError || error instanceof WireError)) {
      this.#parts.app.log.error({ err: error, format }, 'a message of a device could not be received');
    }
    const message = 'The message cannot be stored now: send it again in a moment';
    this.#sendText(exchange, new Refusal(503, message, { 'retry-after': '1' }));
  }

  /** The sender and the body of a request. The body of an unknown sender is read only if it may identify the sender. */
  async #admit(
    exchange: DeviceExchange,
    target: GatewayTarget,
  ): Promise<{ connection: KnownConnection; body: Buffer }> {
    const { request } = exchange;
    const { app, nonces } = this.#parts;
    const byHead = await identifyByHead(app, nonces, target, request);
    if (byHead && !('connection' in byHead)) return this.#refuseUnknown(exchange, byHead);
    if (byHead) {
      const { connection } = byHead;
      this.#count(exchange, connection);
      const body = (await exchange.readBody()) ?? NO_BODY;
      if (isWronglySigned(connection, request, body, app.clock.now())) {
        return this.#refuseUnknown(exchange, { status: 401, challenges: [], isGuess: true });
      }
      return { connection, body };
    }
    const found = await this.#admitByBody(exchange, target);
    return found ?? this.#refuseUnknown(exchange, challenge(nonces, target, false));
  }

  /** The sender that the body identifies, with the body; null if it identifies none. @throws Refusal of a guess */
  async #admitByBody(
    exchange: DeviceExchange,
    target: GatewayTarget,
  ): Promise<{ connection: KnownConnection; body: Buffer } | null> {
    const { request } = exchange;
    const { app, guesses, frontEnd } = this.#parts;
    const bytes = identifyingBytes(target, request, app.clock.now());
    if (bytes === 0) return null;
    const withdraw = await guesses.begin(frontEnd.callerOf(request, '').address);
    if (!withdraw) throw tooManyUnknown();
    const limit = { bytes, of: 'a sender that only its body can identify' };
    const body = (await exchange.readBody(limit)) ?? NO_BODY;
    const plain = isCompressed(encodingOf(request), body)
      ? await this.#inflating(() => withoutCompression(request, body, bytes))
      : body;
    const connection = await identifyByBody(app, target, request, { body, plain });
    if (!connection) return null;
    await withdraw();
    this.#count(exchange, connection);
    return { connection, body };
  }

  async #refuseUnknown(
    { request }: DeviceExchange,
    { status, challenges, isGuess }: Unidentified,
  ): Promise<never> {
    const { guesses, frontEnd } = this.#parts;
    // A request without credentials is not a guess: the device asks how to authenticate.
    if (isGuess && !(await guesses.admit(frontEnd.callerOf(request, '').address))) throw tooManyUnknown();
    if (status === 404) throw new Refusal(404, 'There is no connection with this token');
    throw new Refusal(401, 'Unknown sender', challenges.length > 0 ? { 'www-authenticate': challenges } : {});
  }

  /**
   * Counts the message of a known sender.
   * @throws AppError `tooManyRequests` when there are too many
   */
  #count(exchange: DeviceExchange, connection: KnownConnection): void {
    const { limits } = this.#parts;
    exchange.format = connection.format;
    exchange.connection = connection;
    limits.take(connection, 1);
    const end = limits.begin(connection, exchange.request);
    if (exchange.response.destroyed) end();
    else exchange.response.once('close', end);
  }

  /** Stores a body, and answers. @throws Refusal of a body that cannot be read, if the sender can act on it */
  async #takeBody(
    exchange: DeviceExchange,
    target: GatewayTarget,
    connection: KnownConnection,
    body: Buffer,
  ): Promise<void> {
    const { request } = exchange;
    const { app, receiver, limits } = this.#parts;
    const excess = excessOfBody(body);
    if (excess !== null) throw new Refusal(413, excess);
    const isQuery = body.length === 0 && target.query !== '';
    const format = formatNamed(connection.format);
    const incoming = {
      connection,
      receivedAt: app.clock.now(),
      method: request.method ?? '',
      path: target.path,
      topic: null,
      contentType: isQuery ? 'application/x-www-form-urlencoded' : (request.headers['content-type'] ?? null),
      encoding: null,
      headers: format.readsHeaders ? headersForMappings(request.headers) : undefined,
      body: isQuery ? Buffer.from(target.query) : body,
    };
    const stored = await receiveEdgeBatch(receiver, incoming, {
      now: app.clock.now(),
      take: (more) => limits.take(connection, more),
    });
    if (stored !== null) {
      this.#send(exchange, 200, { contentType: JSON_TYPE, body: JSON.stringify({ stored }) });
      return;
    }
    const refusal = await receiver.receive(incoming);
    if (refusal !== null) throw new Refusal(400, `The message was stored, but cannot be read: ${refusal}`);
    const { status = 200, ...rest } = format.answer?.(target.path) ?? {};
    this.#send(exchange, status, rest);
  }

  /** Answers with a refusal, and logs it, without the URL of the request, which may contain a token. */
  #refuse(exchange: DeviceExchange, refusal: Refusal): void {
    const { request, format, connection } = exchange;
    const { app, frontEnd } = this.#parts;
    const { status, message, headers } = refusal;
    // Devices with Digest or Basic first send a request without credentials.
    if (!headers['www-authenticate'] || request.headers.authorization !== undefined) {
      const { address } = frontEnd.callerOf(request, '');
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
    }
    this.#sendText(exchange, refusal);
  }

  #sendText(exchange: DeviceExchange, { status, message, headers }: Refusal): void {
    const body = `${message}\n`;
    this.#send(exchange, status, { contentType: 'text/plain; charset=utf-8', body }, headers);
  }

  #send(
    exchange: DeviceExchange,
    status: number,
    { contentType, body = '', close }: Omit<DeviceAnswer, 'status'>,
    headers: RefusalHeaders = {},
  ): void {
    const { response, format } = exchange;
    if (response.headersSent || response.destroyed) return;
    if (close) response.shouldKeepAlive = false;
    const content = Buffer.from(body);
    const head: (string | string[])[] = contentType === undefined ? [] : ['content-type', contentType];
    head.push('content-length', String(content.length), 'cache-control', 'no-store');
    for (const [name, value] of Object.entries(headers)) {
      head.push(name, typeof value === 'string' ? value : [...value]);
    }
    exchange.write(status, head, content, content.length);
    this.#parts.app.metrics.gatewayAnswers.inc({ format, status: String(status) });
  }
}

/** The refusal of a message that would be refused again if it was sent again; null for another error. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof AppError && error.kind === 'badRequest') return new Refusal(400, error.message);
  if (error instanceof WireError && error.code === 'PAYLOAD_TOO_LARGE') {
    return new Refusal(413, error.message);
  }
  return null;
}

const tooManyUnknown = () => new Refusal(429, 'Too many unknown senders', { 'retry-after': '60' });

const encodingOf = ({ headers }: IncomingMessage): string | null => headers['content-encoding'] ?? null;

/** @throws Refusal of a body whose compression cannot be removed, or that is larger without it than `max` bytes */
async function withoutCompression(request: IncomingMessage, body: Buffer, max?: number): Promise<Buffer> {
  const found = await inflated(encodingOf(request), body, max);
  if ('body' in found) return found.body;
  const { status, reason } = found;
  throw new Refusal(status, reason, status === 415 ? { 'accept-encoding': ACCEPTED_ENCODINGS } : {});
}

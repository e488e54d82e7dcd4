import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';
import { WireError } from './errors.ts';

/** Bodies up to this size in bytes are neither counted nor queued. */
const SMALL_BYTES = 64 * 1024;

/** Maximum size in bytes of all larger bodies held at the same time. Parsed, they may take six times as much. */
const MAX_IN_FLIGHT_BYTES = 128 * 1024 * 1024;

/** Whether the request announces a body that will be refused, so that it need not be sent. */
export function announcesTooMuch(request: IncomingMessage): boolean {
  return declaredBytes(request) > MAX_BODY_BYTES;
}

/**
 * Reads and discards the rest of an unwanted body: a client that finds the connection closed while it writes never
 * sees the answer. If the connection is to be closed, this happens only at the end of the body.
 */
export function drain(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request) || request.readableEnded) return;
  request.resume();
  if (response.shouldKeepAlive) return;
  response.shouldKeepAlive = true;
  const close = () => request.socket.end();
  request.once('end', () => (response.writableFinished ? close() : response.once('finish', close)));
}

/** A maximum size of a body, from 64 KiB up to 10 MB. */
export interface BodyLimit {
  readonly bytes: number;
  /** Whom it concerns, for the error: "a sender that …". */
  readonly of: string;
}

/** Reads request bodies and limits their total memory. All forms of requests of a process share one. */
export class BodyReader {
  /** The bytes of all bodies that are held, except for small ones. */
  #inFlight = 0;
  #turn = Promise.resolve();

  /**
   * The whole body; null if the request has none. Its bytes count until the response is closed, because the parsed input
   * refers to them.
   * @param limit by default 10 MB
   * @throws WireError PAYLOAD_TOO_LARGE above the limit; SERVICE_UNAVAILABLE while too many large bodies are in flight;
   * BAD_REQUEST for a body that was cut short
   */
  read(request: IncomingMessage, response: ServerResponse, limit?: BodyLimit): Promise<Buffer> | null {
    if (!hasBody(request)) return null;
    return announcesLittle(request) ? readSmall(request) : this.#readLarge(request, response, limit);
  }

  async #readLarge(
    request: IncomingMessage,
    response: ServerResponse,
    limit: BodyLimit | undefined,
  ): Promise<Buffer> {
    const max = limit?.bytes ?? MAX_BODY_BYTES;
    const body = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let held = 0;

      const refuse = (error: WireError): void => {
        chunks.length = 0;
        request.off('data', take);
        drain(request, response);
        reject(error);
      };
      const hold = (bytes: number): void => {
        if (held === 0) {
          response.once('close', () => {
            this.#inFlight -= held;
          });
        }
        held += bytes;
        this.#inFlight += bytes;
      };
      const take = (chunk: Buffer): void => {
        size += chunk.length;
        const fresh = size <= SMALL_BYTES ? 0 : size - held;
        if (size > max) refuse(tooLarge(limit));
        else if (this.#inFlight + fresh > MAX_IN_FLIGHT_BYTES) refuse(tooBusy());
        else {
          if (fresh > 0) hold(fresh);
          chunks.push(chunk);
        }
      };

      if (declaredBytes(request) > max) {
        refuse(tooLarge(limit));
        return;
      }
      request.on('data', take);
      request.on('end', () => {
        const [first] = chunks;
        resolve(chunks.length === 1 && first ? first : Buffer.concat(chunks));
      });
      request.on('error', () => reject(cutShort()));
    });
    if (body.length > SMALL_BYTES) await this.#nextTurn();
    return body;
  }

  /**
   * Parsing 10 MB takes a good part of a second. One large body is processed in each turn of the event loop, so that small
   * requests are answered in between, however many large ones arrive at once.
   */
  #nextTurn(): Promise<void> {
    this.#turn = this.#turn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turn;
  }
}

function tooLarge(limit: BodyLimit | undefined): WireError {
  return new WireError(
    'PAYLOAD_TOO_LARGE',
    limit
      ? `The request body is larger than ${limit.bytes} bytes, the maximum for ${limit.of}`
      : `The request body is larger than 10 MB (${MAX_BODY_BYTES} bytes)`,
  );
}

function tooBusy(): WireError {
  return new WireError('SERVICE_UNAVAILABLE', 'Too many large requests at once: try again in a moment', {
    headers: { 'retry-after': '1' },
  });
}

/** The error for a body that was cut short. No client receives it; it only ends the request. */
function cutShort(): WireError {
  return new WireError('BAD_REQUEST', 'The connection was closed before the whole body arrived');
}

function declaredBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

function announcesLittle(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] === undefined && declaredBytes(request) <= SMALL_BYTES;
}

function hasBody(request: IncomingMessage): boolean {
  return declaredBytes(request) > 0 || request.headers['transfer-encoding'] !== undefined;
}

/** Reads a body that announces a small size, which HTTP enforces. */
function readSmall(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer | null = null;
    request.on('data', (chunk: Buffer) => {
      body = body === null ? chunk : Buffer.concat([body, chunk]);
    });
    request.on('end', () => resolve(body ?? Buffer.alloc(0)));
    request.on('error', () => reject(cutShort()));
  });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';
import { WireError } from './errors.ts';
import type { Serialized } from './output.ts';

/** Bodies up to this size in bytes are neither counted nor queued, and answers are not counted. */
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
        if (size > max) refuse(bodyTooLarge(limit));
        else if (this.#inFlight + fresh > MAX_IN_FLIGHT_BYTES) refuse(tooManyBodies());
        else {
          if (fresh > 0) hold(fresh);
          chunks.push(chunk);
        }
      };

      if (declaredBytes(request) > max) {
        refuse(bodyTooLarge(limit));
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

function bodyTooLarge(limit: BodyLimit | undefined): WireError {
  return new WireError(
    'PAYLOAD_TOO_LARGE',
    limit
      ? `The request body is larger than ${limit.bytes} bytes, the maximum for ${limit.of}`
      : `The request body is larger than 10 MB (${MAX_BODY_BYTES} bytes)`,
  );
}

function tooManyBodies(): WireError {
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

/** The memory that the answers of one process may use, and the time for reading them. */
export interface AnswerLimits {
  /** Maximum size of one answer in bytes; for a batch, of all its calls together. */
  readonly answerBytes: number;
  /** Maximum size in bytes of all larger answers that are not completely sent. */
  readonly inFlightBytes: number;
  /** Maximum time for a client to read a larger answer: a fixed part, in milliseconds, and a part that depends on the size. */
  readonly readingMs: number;
  readonly readBytesPerSecond: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  answerBytes: 64 * 1024 * 1024,
  inFlightBytes: 256 * 1024 * 1024,
  readingMs: 30_000,
  readBytesPerSecond: 64 * 1024,
};

/** Limits the memory of answers that are not completely sent. All forms of requests of a process share one. */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  readonly #held = new WeakMap<ServerResponse, number>();
  #inFlight = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  /**
   * Reserves memory for a part of an answer until the answer is sent.
   * @param isShared the part is stored once for all recipients, so it does not count as in flight
   * @throws WireError BAD_REQUEST when the answer becomes too large; SERVICE_UNAVAILABLE while too much is in flight
   */
  take(response: ServerResponse, part: Serialized, isShared: boolean): void {
    if (part.json.length <= SMALL_BYTES) return;
    const { answerBytes, inFlightBytes } = this.#limits;
    const bytes = bytesOf(part);
    if ((this.#held.get(response) ?? 0) + bytes > answerBytes) throw answerTooLarge(answerBytes);
    if (isShared || response.destroyed) return;
    if (this.#inFlight + bytes > inFlightBytes) throw tooManyAnswers();
    this.#hold(response, bytes);
  }

  /**
   * Closes the connection of a large answer that the client reads too slowly. Call it once all of the answer was written.
   * @param bytes size of the answer
   */
  limitReading(response: ServerResponse, bytes: number): void {
    if (bytes <= SMALL_BYTES || response.writableFinished || response.destroyed) return;
    const { readingMs, readBytesPerSecond } = this.#limits;
    const tooSlow = setTimeout(
      () => response.destroy(),
      readingMs + (bytes / readBytesPerSecond) * 1000,
    ).unref();
    response.once('close', () => clearTimeout(tooSlow));
  }

  #hold(response: ServerResponse, bytes: number): void {
    const before = this.#held.get(response);
    this.#held.set(response, (before ?? 0) + bytes);
    this.#inFlight += bytes;
    if (before !== undefined) return;
    response.once('close', () => {
      this.#inFlight -= this.#held.get(response) ?? 0;
      this.#held.delete(response);
    });
  }
}

/** The size of a part of an answer, in bytes. */
export function bytesOf({ json, values }: Serialized): number {
  return Buffer.byteLength(json) + (values?.length ?? 0);
}

function answerTooLarge(limit: number): WireError {
  return new WireError(
    'BAD_REQUEST',
    `The answer would be larger than ${limit / (1024 * 1024)} MB: request less at a time, page by page or with a filter, or in smaller batches`,
  );
}

function tooManyAnswers(): WireError {
  return new WireError(
    'SERVICE_UNAVAILABLE',
    'Too many large answers are in progress: try again in a moment',
    {
      headers: { 'retry-after': '1' },
    },
  );
}

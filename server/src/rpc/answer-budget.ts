import type { ServerResponse } from 'node:http';
import { WireError } from './errors.ts';
import type { Serialized } from './output.ts';

/** Answers up to this size in bytes are not counted. */
const SMALL_BYTES = 64 * 1024;

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
    if ((this.#held.get(response) ?? 0) + bytes > answerBytes) throw tooLarge(answerBytes);
    if (isShared || response.destroyed) return;
    if (this.#inFlight + bytes > inFlightBytes) throw tooBusy();
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

function tooLarge(limit: number): WireError {
  return new WireError(
    'BAD_REQUEST',
    `The answer would be larger than ${limit / (1024 * 1024)} MB: request less at a time, page by page or with a filter, or in smaller batches`,
  );
}

function tooBusy(): WireError {
  return new WireError(
    'SERVICE_UNAVAILABLE',
    'Too many large answers are in progress: try again in a moment',
    {
      headers: { 'retry-after': '1' },
    },
  );
}

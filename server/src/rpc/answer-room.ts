import type { ServerResponse } from 'node:http';
import { WireError } from './errors.ts';
import type { Serialized } from './output.ts';

/** Answers of this size and less are not counted. */
const SMALL_BYTES = 64 * 1024;

/** How much the answers of one process may take. */
export interface AnswerLimits {
  /** Most bytes of one answer; of a batch, those of all its calls together. */
  readonly answerBytes: number;
  /** Most bytes of all larger answers that are not written out yet. */
  readonly inFlightBytes: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  answerBytes: 64 * 1024 * 1024,
  inFlightBytes: 256 * 1024 * 1024,
};

/** Bounds what answers that are not written out yet take together. */
export interface AnswerRoom {
  /**
   * Holds room for a part of an answer until the answer is out.
   * @param isShared the part is held once for all who are sent it, so it does not count as in flight
   * @throws WireError BAD_REQUEST when the answer becomes too large; SERVICE_UNAVAILABLE while too much is in flight
   */
  take(response: ServerResponse, part: Serialized, isShared: boolean): void;
}

export function createAnswerRoom({ answerBytes, inFlightBytes }: AnswerLimits): AnswerRoom {
  const held = new WeakMap<ServerResponse, number>();
  let inFlight = 0;

  const hold = (response: ServerResponse, bytes: number): void => {
    const before = held.get(response);
    held.set(response, (before ?? 0) + bytes);
    inFlight += bytes;
    if (before !== undefined) return;
    response.once('close', () => {
      inFlight -= held.get(response) ?? 0;
      held.delete(response);
    });
  };

  return {
    take(response, { json, values }, isShared) {
      if (json.length <= SMALL_BYTES) return;
      const bytes = Buffer.byteLength(json) + (values?.length ?? 0);
      if ((held.get(response) ?? 0) + bytes > answerBytes) throw tooLarge(answerBytes);
      if (isShared || response.destroyed) return;
      if (inFlight + bytes > inFlightBytes) throw tooBusy();
      hold(response, bytes);
    },
  };
}

/** An answer may take this long to be read, in milliseconds, and a second more for each so many bytes. */
const READING_MS = 30_000;
const BYTES_PER_SECOND = 64 * 1024;

/** Ends the connection of a large answer that is read so slowly that it would be held for long. */
export function limitReading(response: ServerResponse, bytes: number): void {
  if (bytes <= SMALL_BYTES || response.writableFinished) return;
  const tooSlow = setTimeout(
    () => response.destroy(),
    READING_MS + (bytes / BYTES_PER_SECOND) * 1000,
  ).unref();
  response.once('close', () => clearTimeout(tooSlow));
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

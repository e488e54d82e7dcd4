import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';
import { WireError } from './errors.ts';

/** A body this far above the limit is cut off; a smaller excess is read to its end, so that the sender hears the answer. */
const MAX_DISCARDED_BYTES = 4 * MAX_BODY_BYTES;
/** Bodies of this size and less are not counted against the bound on bytes in flight. */
const SMALL_BYTES = 64 * 1024;
/** Most bytes of larger bodies that are held at the same time. */
const MAX_IN_FLIGHT_BYTES = 256 * 1024 * 1024;

const tooLarge = (): WireError =>
  new WireError('PAYLOAD_TOO_LARGE', `The request body is larger than 10 MB (${MAX_BODY_BYTES} bytes)`);

const tooBusy = (): WireError =>
  new WireError('SERVICE_UNAVAILABLE', 'Too many large requests at once: try again in a moment', {
    headers: { 'retry-after': '1' },
  });

const mayBeLarge = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined ||
  Number(request.headers['content-length'] ?? 0) > SMALL_BYTES;

/** Reads request bodies, and bounds what all of them take together. */
export interface BodyReader {
  /** Frees what the request's body is counted with once its response is closed. */
  watch(request: IncomingMessage, response: ServerResponse): void;
  /**
   * The whole body of a watched request.
   * @throws WireError PAYLOAD_TOO_LARGE above 10 MB; SERVICE_UNAVAILABLE while too many large bodies are in flight
   */
  read(request: IncomingMessage): Promise<Buffer>;
}

export const createBodyReader = (): BodyReader => {
  const counted = new WeakMap<IncomingMessage, number>();
  let inFlight = 0;

  const count = (request: IncomingMessage, bytes: number): void => {
    counted.set(request, (counted.get(request) ?? 0) + bytes);
    inFlight += bytes;
  };
  const release = (request: IncomingMessage): void => {
    inFlight -= counted.get(request) ?? 0;
    counted.delete(request);
  };

  return {
    watch(request, response) {
      if (mayBeLarge(request)) response.once('close', () => release(request));
    },

    read: (request) =>
      new Promise((resolve, reject) => {
        const large = mayBeLarge(request);
        const chunks: Buffer[] = [];
        let size = 0;
        let refusal = Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES ? tooLarge() : null;

        request.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (!refusal && size > MAX_BODY_BYTES) refusal = tooLarge();
          if (!refusal && large && inFlight + chunk.length > MAX_IN_FLIGHT_BYTES) refusal = tooBusy();
          if (refusal) {
            chunks.length = 0;
            if (size > MAX_DISCARDED_BYTES) reject(refusal);
            return;
          }
          if (large) count(request, chunk.length);
          chunks.push(chunk);
        });
        request.on('end', () => {
          if (refusal) reject(refusal);
          else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
        });
        request.on('error', reject);
      }),
  };
};

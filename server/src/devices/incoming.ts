import type { IncomingHttpHeaders } from 'node:http';
import { isToken } from './secrets.ts';
import type { KnownConnection } from './store.ts';

/** The method of messages of `gantry-edge`. */
export const EDGE = 'EDGE';

/** A message as it arrived, from a sender that was recognised. */
export interface Incoming {
  readonly connection: Pick<KnownConnection, 'id' | 'format'>;
  /** Unix milliseconds */
  readonly receivedAt: number;
  /** The HTTP method, `MQTT`, or `EDGE` for a message of `gantry-edge`, which gave it a key. */
  readonly method: string;
  /** The path below the address of the connection; empty if none. */
  readonly path: string;
  readonly topic: string | null;
  readonly contentType: string | null;
  /** The Content-Encoding header; null for none. */
  readonly encoding: string | null;
  /** The HTTP headers that the format reads; absent if it reads none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: Buffer;
}

/** Names of headers that contain secrets of the sender, or none of its data. */
const NOT_SHOWN =
  /auth|cookie|token|secret|passw|credential|signature|session|jwt|api-?key|^(?:key|connection|host|expect|te|upgrade|content-length|transfer-encoding|keep-alive)$/;
const MAX_HEADERS = 50;
const MAX_HEADER_LENGTH = 1_000;

/** The headers of a request that a mapping may see: their names in lower case, without secrets. */
export function headersForMappings(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    // The address of the connection, which contains its token, may be in a header of a proxy.
    if (NOT_SHOWN.test(name) || text.split(/[^\w-]+/).some(isToken)) return [];
    return [[name, text.slice(0, MAX_HEADER_LENGTH).replaceAll('\0', '').toWellFormed()]];
  });
  return Object.fromEntries(shown.slice(0, MAX_HEADERS));
}

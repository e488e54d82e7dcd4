import type { IncomingMessage } from 'node:http';
import { WireError } from './errors.ts';
import type { OriginCheck } from './origins.ts';

// Headers as Node takes them: names and values in turn.

/** What every answer says, unless it knows better. */
export function commonHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
}

/** The headers that a page of an allowed origin may read. */
export const EXPOSED_HEADERS = ['x-request-id', 'retry-after'];

const ANY_ORIGIN = ['vary', 'Origin'];

/** What an answer says of who may read it; a cache must not show it to pages of another origin. */
export function headersForOrigin(origin: string | undefined, allowed: OriginCheck): readonly string[] {
  if (origin === undefined || !allowed(origin)) return ANY_ORIGIN;
  const exposed = EXPOSED_HEADERS.join(', ');
  return [...ANY_ORIGIN, 'access-control-allow-origin', origin, 'access-control-expose-headers', exposed];
}

/**
 * HTTP/1.1 wants exactly one Host; with two, a proxy in front and we might mean different ones.
 * @throws WireError BAD_REQUEST
 */
export function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  throw new WireError('BAD_REQUEST', 'Send exactly one Host header');
}

import type { IncomingMessage } from 'node:http';
import { IGNORED_HEADER } from '@gantry/contract/errors';
import { WireError } from './errors.ts';
import type { OriginCheck } from './origins.ts';

// Headers in the form for Node: names and values alternate.

/** The headers of all answers, which others may override. */
export function commonHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
}

/** The headers that a page of an allowed origin may read. */
const EXPOSED_HEADERS = `x-request-id, retry-after, ${IGNORED_HEADER}`;

/** The same for /v1, which answers with the addresses of what it creates. */
export const REST_EXPOSED_HEADERS = `${EXPOSED_HEADERS}, location`;

/**
 * The answer to a preflight of an allowed origin: the methods and headers that a page may use, as in the specification.
 * Browsers cache it for ten minutes.
 */
export const PREFLIGHT_HEADERS: readonly string[] = [
  'access-control-allow-methods',
  'GET, POST, PUT, DELETE, OPTIONS',
  // The three of the specification, and the one that clients of streams send when they reconnect.
  'access-control-allow-headers',
  'Content-Type, Authorization, x-trpc-source, Last-Event-ID',
  'access-control-max-age',
  '600',
  'content-length',
  '0',
];

/** The same for /v1, with the methods and headers of the REST form. */
export const REST_PREFLIGHT_HEADERS: readonly string[] = PREFLIGHT_HEADERS.map((text) => {
  if (text.startsWith('GET')) return 'GET, POST, PUT, PATCH, DELETE, OPTIONS';
  return text.startsWith('Content-Type') ? 'Content-Type, Authorization, x-api-key, Idempotency-Key' : text;
});

const ANY_ORIGIN = ['vary', 'Origin'];

/** The headers that allow an origin to read the answer; a cache must not serve it to other origins. */
export function headersForOrigin(
  origin: string | undefined,
  allowed: OriginCheck,
  exposed = EXPOSED_HEADERS,
): readonly string[] {
  if (origin === undefined || !allowed(origin)) return ANY_ORIGIN;
  return [...ANY_ORIGIN, 'access-control-allow-origin', origin, 'access-control-expose-headers', exposed];
}

/**
 * Makes sure that a request has one Host header, as HTTP/1.1 requires; HTTP/1.0 permits none. With two, a proxy and the
 * service might use different ones.
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

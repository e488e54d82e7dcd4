import { IGNORED_HEADER } from '@gantry/contract/errors';

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

/** Whether a page of the origin may call the API from a browser. */
export type OriginCheck = (origin: string) => boolean;

const LOCAL_DEVELOPMENT = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'];

/**
 * The rule of the specification: the web application, its www variant, preview deployments, and local development on
 * port 3000.
 */
export function allowOrigins(webOrigin: string | undefined, previewOrigins: readonly string[]): OriginCheck {
  const exact = new Set([...LOCAL_DEVELOPMENT, ...(webOrigin === undefined ? [] : withVariant(webOrigin))]);
  const patterns = previewOrigins.map(patternOf);
  return (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin));
}

/** The origin itself and its variant with or without www. */
function withVariant(origin: string): string[] {
  const { protocol, host } = new URL(origin);
  return [origin, `${protocol}//${host.startsWith('www.') ? host.slice(4) : `www.${host}`}`];
}

/** A pattern such as https://*.preview.example.org, anchored at both ends; `*` is one label of the host name. */
function patternOf(preview: string): RegExp {
  const escaped = preview.toLowerCase().replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?')}$`);
}

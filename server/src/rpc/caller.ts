import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Logger } from 'pino';
import type { Caller } from '../platform/context.ts';

/** Determines the origin of a request. */
export type CallerOf = (request: IncomingMessage, requestId: string) => Caller;

/** @param proxies addresses or networks of proxies whose X-Forwarded-For is trusted */
export function createCallerOf(proxies: readonly string[], log: Logger): CallerOf {
  const trusted = proxyAddress.compile([...proxies]);
  let hasWarned = false;

  // Logged once: anybody may send the header, and behind an unlisted proxy every request has it.
  const warnOf = (peer: string): void => {
    if (hasWarned || trusted(peer, 0)) return;
    hasWarned = true;
    log.warn(
      { peer },
      'a request has an X-Forwarded-For header, but its sender is not in TRUSTED_PROXIES: if it is your proxy, add it there; until then, all callers behind it count as one',
    );
  };

  const addressOf = (request: IncomingMessage): string => {
    const peer = request.socket.remoteAddress ?? '';
    if (request.headers['x-forwarded-for'] === undefined) return peer;
    warnOf(peer);
    return proxies.length > 0 ? proxyAddress(request, trusted) : peer;
  };

  return (request, requestId) => ({
    requestId,
    since: performance.now(),
    address: addressOf(request),
    host: request.headers.host ?? null,
    userAgent: request.headers['user-agent'] ?? null,
    authorization: request.headers.authorization ?? null,
  });
}

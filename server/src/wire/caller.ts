import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Caller } from '../context.ts';

/** Tells who sent a request. */
export type CallerOf = (request: IncomingMessage, requestId: string) => Caller;

/** @param proxies addresses or networks of proxies whose X-Forwarded-For is believed */
export const createCallerOf = (proxies: readonly string[]): CallerOf => {
  const trusted = proxyAddress.compile([...proxies]);
  const addressOf = (request: IncomingMessage): string =>
    proxies.length > 0 ? proxyAddress(request, trusted) : (request.socket.remoteAddress ?? '');

  return (request, requestId) => ({
    requestId,
    since: performance.now(),
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? null,
    authorization: request.headers.authorization ?? null,
  });
};

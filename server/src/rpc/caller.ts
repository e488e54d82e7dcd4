import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { Logger } from 'pino';
import type { Caller } from '../platform/context.ts';

/** An address as some proxies write it: possibly with a port, and an IPv6 address in brackets. */
const WITH_PORT = /^(?:([\d.]+)|\[([^\]]*)\])(?::\d{1,5})?$/;

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

  const addressOf = ({ headers, socket }: IncomingMessage): string => {
    const peer = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return peer;
    warnOf(peer);
    // Each proxy adds the address of its sender at the end.
    const addresses = [...addressesIn(String(forwarded)), peer].reverse();
    return addresses.find((each, at) => !trusted(each, at)) ?? addresses.at(-1) ?? peer;
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

/** The addresses in an X-Forwarded-For header, without ports, which differ for each connection of a caller. */
function addressesIn(header: string): string[] {
  const addresses = header.split(',').map((each) => each.trim().replace(WITH_PORT, '$1$2'));
  return addresses.filter((address) => address !== '');
}

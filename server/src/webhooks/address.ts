import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPublicAddress } from '../platform/hosts.ts';

/** Answers every address of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** As connections resolve names: what /etc/hosts says counts too. */
export const resolveHost: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Why something cannot be an address that webhooks are sent to, in words for its author. */
export class UnusableAddress extends Error {
  override readonly name = 'UnusableAddress';
}

/** Decides which addresses webhooks may be sent to. */
export interface AddressRules {
  /**
   * The address in its one spelling.
   * @throws UnusableAddress when it is none, or its host is an address of the inside
   */
  parse(text: string): URL;
  /**
   * Where a host of such an address is to be connected to.
   * @throws UnusableAddress when it has no address, or one of the inside
   */
  resolve(url: URL): Promise<readonly LookupAddress[]>;
}

/** Longest wait for the addresses of a name. */
const RESOLVE_LIMIT_MS = 5_000;

/** The host of an address without the brackets that IPv6 has there. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** @param exceptions hosts, with or without a port, that are not looked at, as `parseException` writes them */
export function createAddressRules(
  exceptions: readonly string[],
  resolveName: Resolve = resolveHost,
): AddressRules {
  const excepted = new Set(exceptions);
  const isExcepted = ({ hostname, port, protocol }: URL): boolean =>
    excepted.has(hostname) || excepted.has(`${hostname}:${port || DEFAULT_PORTS[protocol]}`);

  return {
    parse(text) {
      const url = parseUrl(text);
      const host = hostOf(url);
      if (isIP(host) !== 0 && !isExcepted(url) && !isPublicAddress(host)) throw inside(host);
      return url;
    },
    async resolve(url) {
      const host = hostOf(url);
      const addresses = await Promise.race([
        resolveName(host).catch(() => []),
        nothingAfter(RESOLVE_LIMIT_MS),
      ]);
      if (addresses.length === 0) throw new UnusableAddress(`${host} cannot be resolved to an address`);
      // One address of the inside is enough: which of them is connected to is for others to choose.
      if (!isExcepted(url) && !addresses.every(({ address }) => isPublicAddress(address))) throw inside(host);
      return addresses;
    },
  };
}

function nothingAfter(ms: number): Promise<readonly LookupAddress[]> {
  return sleep(ms, [], { ref: false });
}

function inside(host: string): UnusableAddress {
  return new UnusableAddress(
    `${host} is not on the public internet: webhooks may not reach into the operator’s own network. WEBHOOK_ALLOW_HOSTS can make exceptions`,
  );
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UnusableAddress('Use an address such as https://example.org/hook');
  const url = new URL(text);
  if (!(url.protocol in DEFAULT_PORTS)) throw new UnusableAddress('Use an address with http or https');
  if (url.username !== '' || url.password !== '') {
    throw new UnusableAddress('Leave user name and password out: the signature tells who sends');
  }
  return url;
}

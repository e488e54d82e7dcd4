import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPublicAddress } from '../platform/hosts.ts';

/** Returns all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Resolves names as connections do, including /etc/hosts. */
const resolveHost: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The reason why webhooks cannot be sent to an address, as a sentence for the user. */
export class UnusableAddress extends Error {
  override readonly name = 'UnusableAddress';
}

/** Decides which addresses webhooks may be sent to. */
export interface AddressRules {
  /**
   * Parses an address into its canonical form.
   * @throws UnusableAddress when it is invalid, or its host is an internal address
   */
  parse(text: string): URL;
  /**
   * The IP addresses to connect to.
   * @throws UnusableAddress when there is none, or one of them is internal
   */
  resolve(url: URL): Promise<readonly LookupAddress[]>;
}

/** Time limit for resolving a name, in milliseconds. */
const RESOLVE_LIMIT_MS = 5_000;

/** The host of an address, without the brackets around IPv6 addresses. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** @param exceptions hosts, with or without a port, that are not checked, in the form returned by `parseAllowedHost` */
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
      // A single internal address is enough to refuse, because others control which one is used.
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
  if (url.port === '0') throw new UnusableAddress('Use a port between 1 and 65535');
  if (url.username !== '' || url.password !== '') {
    throw new UnusableAddress('Leave user name and password out: the signature tells who sends');
  }
  return url;
}

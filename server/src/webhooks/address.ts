import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';

/** Answers every address of a host name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** As connections resolve names: what /etc/hosts says counts too. */
export const resolveHost: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

/** Public by their number, but answered by the machine that a cloud runs us on. */
const METADATA = new Set(['168.63.129.16']);

const isPublicIpv4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && !METADATA.has(address.toString());

/** All of IPv6 that is given out. What lies outside is local, deprecated or reserved. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** What stands for an address of IPv4, its last four bytes: as sockets write it, and as networks without IPv4 reach it. */
const STANDS_FOR_IPV4 = [ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), ipaddr.IPv6.parseCIDR('64:ff9b::/96')];

const isPublicIpv6 = (address: ipaddr.IPv6): boolean =>
  STANDS_FOR_IPV4.some((range) => address.match(range))
    ? isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)))
    : address.range() === 'unicast' && address.match(GLOBAL_IPV6);

/** Whether an IP address is one of the public internet: no loopback, private, link-local, metadata or reserved one. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4 ? isPublicIpv4(parsed) : isPublicIpv6(parsed);
};

/** A host as URLs write it, so that two spellings of one compare equal; null when it is none. */
const canonicalHost = (host: string): string | null => {
  const text = `http://${isIP(host) === 6 ? `[${host}]` : host}/`;
  return URL.canParse(text) ? new URL(text).hostname : null;
};

const HOST_AND_PORT = /^(\[[^\]]+\]|[^:/?#@*\\\s]+)(?::(\d{1,5}))?$/;

/** A host, or a host and port, in the form in which they are compared; null when the text is neither. */
export const parseException = (text: string): string | null => {
  if (isIP(text) === 6) return canonicalHost(text);
  const [, host, port] = HOST_AND_PORT.exec(text) ?? [];
  const canonical = host === undefined ? null : canonicalHost(host);
  return canonical === null || port === undefined ? canonical : `${canonical}:${Number(port)}`;
};

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
const nothingAfter = (ms: number): Promise<readonly LookupAddress[]> => sleep(ms, [], { ref: false });

const inside = (host: string): UnusableAddress =>
  new UnusableAddress(
    `${host} is not on the public internet: webhooks may not reach into the operator’s own network. WEBHOOK_ALLOW_HOSTS can make exceptions`,
  );

const parseUrl = (text: string): URL => {
  if (!URL.canParse(text)) throw new UnusableAddress('Use an address such as https://example.org/hook');
  const url = new URL(text);
  if (!(url.protocol in DEFAULT_PORTS)) throw new UnusableAddress('Use an address with http or https');
  if (url.username !== '' || url.password !== '') {
    throw new UnusableAddress('Leave user name and password out: the signature tells who sends');
  }
  return url;
};

/** The host of an address without the brackets that IPv6 has there. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** @param exceptions hosts, with or without a port, that are not looked at, as `parseException` writes them */
export const createAddressRules = (
  exceptions: readonly string[],
  resolveName: Resolve = resolveHost,
): AddressRules => {
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
};

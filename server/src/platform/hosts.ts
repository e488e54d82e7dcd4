import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by number, but answered by the machine on which a cloud runs the service. */
const METADATA = new Set(['168.63.129.16']);

/** The allocated part of IPv6. All else is local, deprecated or reserved. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses whose last four bytes are an IPv4 address: as sockets write it, and as networks without IPv4 reach it. */
const STANDS_FOR_IPV4 = [ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), ipaddr.IPv6.parseCIDR('64:ff9b::/96')];

/**
 * Whether an IP address belongs to the public internet, and is not a loopback, private, link-local, metadata or
 * reserved one.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4 ? isPublicIpv4(parsed) : isPublicIpv6(parsed);
}

/** Further notations of IPv4 addresses in IPv6 ones, which some systems translate. */
const ALSO_STANDS_FOR_IPV4 = [
  ...STANDS_FOR_IPV4,
  ipaddr.IPv6.parseCIDR('::/96'),
  ipaddr.IPv6.parseCIDR('::ffff:0:0:0/96'),
];

/** The address at which clouds describe their machines over IPv6. It is private by number. */
const METADATA_IPV6 = ipaddr.parse('fd00:ec2::254');

const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['loopback', 'unspecified', 'linkLocal']);

/**
 * Whether an IP address leads to this machine itself (loopback, unspecified), to its own link (link-local), or to what a
 * cloud says about the machine, rather than to another machine in a network.
 */
export function isOfThisMachine(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (OF_THIS_MACHINE.has(parsed.range())) return true;
  if (parsed instanceof ipaddr.IPv4) return METADATA.has(parsed.toString());
  return ALSO_STANDS_FOR_IPV4.some((range) => parsed.match(range))
    ? isOfThisMachine(new ipaddr.IPv4(parsed.toByteArray().slice(12)).toString())
    : parsed.toNormalizedString() === METADATA_IPV6.toNormalizedString();
}

const HOST_AND_PORT = /^(\[[^\]]+\]|[^:/?#@*\\\s]+)(?::(\d{1,5}))?$/;

/** Whether the host of a URL is this machine by its name or by its loopback address. */
export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}

/** A host, or a host and port, in the form for comparison; null if the text is neither. */
export function parseAllowedHost(text: string): string | null {
  if (isIP(text) === 6) return canonicalHost(text);
  const [, host, port] = HOST_AND_PORT.exec(text) ?? [];
  const canonical = host === undefined ? null : canonicalHost(host);
  return canonical === null || port === undefined ? canonical : `${canonical}:${Number(port)}`;
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !METADATA.has(address.toString());
}

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  return STANDS_FOR_IPV4.some((range) => address.match(range))
    ? isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)))
    : address.range() === 'unicast' && address.match(GLOBAL_IPV6);
}

/** Whether hosts, in the form returned by `parseAllowedHost`, contain the host, alone or with the port. */
export function allowsHost(allowed: readonly string[], host: string, port: number): boolean {
  const canonical = canonicalHost(host);
  return canonical !== null && (allowed.includes(canonical) || allowed.includes(`${canonical}:${port}`));
}

/** A host as written in URLs, so that different spellings are equal; null if it is not one. */
function canonicalHost(host: string): string | null {
  const text = `http://${isIP(host) === 6 ? `[${host}]` : host}/`;
  return URL.canParse(text) ? new URL(text).hostname : null;
}

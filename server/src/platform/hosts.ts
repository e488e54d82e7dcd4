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

const HOST_AND_PORT = /^(\[[^\]]+\]|[^:/?#@*\\\s]+)(?::(\d{1,5}))?$/;

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

/** A host as written in URLs, so that different spellings are equal; null if it is not one. */
function canonicalHost(host: string): string | null {
  const text = `http://${isIP(host) === 6 ? `[${host}]` : host}/`;
  return URL.canParse(text) ? new URL(text).hostname : null;
}

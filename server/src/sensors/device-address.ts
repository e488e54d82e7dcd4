import { isIP, isIPv6 } from 'node:net';

/** A host, and the port if the address contains one. */
export interface DeviceAddress {
  readonly host: string;
  readonly port: number | null;
}

const BRACKETED = /^\[([^\]]+)\](?::(\d{1,5}))?$/;
const PLAIN = /^([^:]+)(?::(\d{1,5}))?$/;
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?$`, 'i');

/**
 * Parses `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 address; the host is a name or an IP address.
 * @returns null for any other text
 */
export function parseDeviceAddress(text: string): DeviceAddress | null {
  const address = text.trim();
  if (isIPv6(address)) return { host: address, port: null };
  const bracketed = BRACKETED.exec(address);
  const [, host = '', digits] = bracketed ?? PLAIN.exec(address) ?? [];
  if (bracketed ? !isIPv6(host) : !isHost(host)) return null;
  if (digits === undefined) return { host, port: null };
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || (text.length <= 253 && HOST_NAME.test(text));
}

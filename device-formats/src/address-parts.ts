/** An address, split into the fields of a device's web page. */
export interface AddressParts {
  readonly protocol: 'HTTP' | 'HTTPS';
  readonly host: string;
  readonly port: string;
  /** The path, including the query if there is one. */
  readonly path: string;
}

/**
 * Splits an absolute HTTP or HTTPS address. Without a port, the port is that of the protocol.
 * @throws TypeError if the address is not absolute
 */
export function addressParts(url: string): AddressParts {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const isSecure = protocol === 'https:';
  return {
    protocol: isSecure ? 'HTTPS' : 'HTTP',
    host: hostname,
    port: port || (isSecure ? '443' : '80'),
    path: `${pathname}${search}`,
  };
}

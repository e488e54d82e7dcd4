import { networkInterfaces } from 'node:os';
import type { DeviceAddresses } from '@gantry/contract/connections';
import type { FormatName } from '@gantry/device-formats/format';
import type { Config } from '../platform/config.ts';
import type { Caller } from '../platform/context.ts';
import { invalidInput } from '../platform/error.ts';

/** The longest address that Hikvision cameras accept, in characters. */
const MAX_URL = 127;

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/;

const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * The addresses under which devices may reach the service, the most likely first. A device cannot reach the loopback
 * address that the browser of an administrator may have used, so the addresses of the machine come before it.
 * GATEWAY_URL is the only one if it is set.
 */
export function addressesForDevices(
  { GATEWAY_URL, HOST }: Pick<Config, 'GATEWAY_URL' | 'HOST'>,
  { host }: Pick<Caller, 'host'>,
): DeviceAddresses {
  const asked = `http://${host !== null && URL.canParse(`http://${host}`) ? host : 'localhost'}`;
  const { port } = new URL(asked);
  const own = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => `http://${address}${port && `:${port}`}`);
  const origins = GATEWAY_URL === undefined ? [...new Set([asked, ...own])] : [GATEWAY_URL];
  return {
    addresses: origins
      .map((origin) => ({ origin, isLoopback: isLoopback(new URL(origin).hostname) }))
      .sort((one, other) => Number(one.isLoopback) - Number(other.isLoopback)),
    listensLocally: GATEWAY_URL === undefined && isLoopback(HOST),
  };
}

/**
 * Returns the complete address to which a device sends its messages.
 * @param origin the address of the service as the device reaches it
 * @throws AppError `badRequest` when the address is longer than cameras accept
 */
export function addressFor(format: FormatName, token: string, origin: string): string {
  const url = `${origin}/gateway/${format}/${token}`;
  if (url.length > MAX_URL) {
    throw invalidInput(
      'origin',
      `The address for the device would have ${url.length} characters, and cameras accept ${MAX_URL}: use a shorter address of this service, for all connections with the setting GATEWAY_URL`,
    );
  }
  return url;
}

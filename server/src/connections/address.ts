import type { Caller } from '../platform/context.ts';
import { invalidInput } from '../platform/error.ts';
import type { FormatName } from './format.ts';

/** The longest address that Hikvision cameras accept, in characters. */
const MAX_URL = 127;

/**
 * Returns the complete address to which a device sends its messages.
 * @param gatewayUrl the setting GATEWAY_URL; without it, HTTP and the host to which the request of the caller was sent
 * @throws AppError `badRequest` when the address is longer than cameras accept
 */
export function addressFor(
  format: FormatName,
  token: string,
  gatewayUrl: string | undefined,
  { host }: Pick<Caller, 'host'>,
): string {
  const origin = gatewayUrl ?? `http://${host ?? 'localhost'}`;
  const url = `${origin}/gateway/${format}/${token}`;
  if (url.length > MAX_URL) {
    throw invalidInput(
      'format',
      `The address for the device would have ${url.length} characters, and cameras accept ${MAX_URL}: set GATEWAY_URL to a shorter address of this service`,
    );
  }
  return url;
}

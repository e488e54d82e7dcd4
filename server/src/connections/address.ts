import type { Caller } from '../platform/context.ts';
import { invalidInput } from '../platform/error.ts';
import type { FormatName } from './format.ts';

/** The longest address that Hikvision cameras accept, in characters. */
const MAX_URL = 127;

/**
 * The whole address for a device.
 * @param gatewayUrl the setting GATEWAY_URL; left out, the address to which the request was sent
 * @throws AppError `badRequest` when it is longer than cameras accept
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

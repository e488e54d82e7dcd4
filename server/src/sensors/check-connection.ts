import { promises as dns, type LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrno } from '@gantry/embedded-postgres/errno';
import { allowsHost, isOfThisMachine } from '../platform/hosts.ts';
import type { DeviceAddress } from './device-address.ts';

/** Tried in this order if the address contains no port: web interface, the same with TLS, video stream (RTSP). */
const USUAL_PORTS = [80, 443, 554];
const ATTEMPT_MS = 2_000;
const TOTAL_MS = 4_800;

/** The address leads to the machine of the service or to its link, which no device is on. */
export class OwnAddress extends Error {
  override readonly name = 'OwnAddress';
}

/**
 * Opens a TCP connection to the address and closes it at once. Takes less than 5 seconds.
 * @param allowed hosts on this machine or its link that may be connected to, in the form of `parseAllowedHost`
 * @returns milliseconds until a host answered; null when none did
 * @throws OwnAddress when the address, or one of those of its name, leads to this machine or its link
 */
export async function checkConnection(
  { host, port }: DeviceAddress,
  allowed: readonly string[],
): Promise<number | null> {
  const end = performance.now() + TOTAL_MS;
  const resolved = dns.lookup(host, { all: true }).catch(() => []);
  const addresses = await Promise.race([resolved, sleep(ATTEMPT_MS, [], { ref: false })]);
  const isOwn = addresses.some(({ address }) => isOfThisMachine(address));
  for (const candidate of port === null ? USUAL_PORTS : [port]) {
    if (isOwn && !allowsHost(allowed, host, candidate)) throw new OwnAddress();
    const left = end - performance.now();
    const latency =
      left > 0 && addresses.length > 0
        ? await tryPort(host, addresses, candidate, Math.min(ATTEMPT_MS, left))
        : null;
    if (latency !== null) return latency;
  }
  return null;
}

/** A refused connection also proves that a host answers. */
function isAnswer(error: unknown): boolean {
  return hasErrno(error, 'ECONNREFUSED') || (error instanceof AggregateError && error.errors.some(isAnswer));
}

/**
 * Milliseconds until the host answered on the port; null when it did not in time.
 * @param addresses of the host, which were checked: a second answer of the DNS might differ
 */
function tryPort(
  host: string,
  addresses: LookupAddress[],
  port: number,
  limitMs: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const started = performance.now();
    const [first] = addresses;
    const socket = connect({
      host,
      port,
      lookup: (_host, { all }, done) =>
        all ? done(null, addresses) : done(null, first?.address ?? '', first?.family),
    });
    const finish = (answered: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answered ? performance.now() - started : null);
    };
    const timer = setTimeout(finish, limitMs, false);
    socket.once('connect', () => finish(true));
    socket.on('error', (error) => finish(isAnswer(error)));
  });
}

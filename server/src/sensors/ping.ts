import { promises as dns, type LookupAddress } from 'node:dns';
import { connect, isIP, isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrno } from '@gantry/embedded-postgres/errno';
import type { ActorContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { allowsHost, isOfThisMachine } from '../platform/hosts.ts';
import { getSensor, setLastPing } from './store.ts';

export interface PingAnswer {
  readonly id: string;
  readonly reachable: boolean;
  /** Milliseconds until the device answered; null when it did not. */
  readonly latencyMs: number | null;
  readonly lastPing: Date | null;
}

/**
 * Checks whether the device's address answers; takes less than 5 seconds.
 * @throws AppError `notFound`; `badRequest` when the sensor has no address, or none that may be connected to
 */
export async function pingSensor({ app }: ActorContext, id: string): Promise<PingAnswer> {
  const sensor = await getSensor(app.db, id);
  if (sensor.ipAddress === null) {
    throw new AppError('badRequest', 'This sensor has no ipAddress: set one, then ping it');
  }
  const address = parseDeviceAddress(sensor.ipAddress);
  if (!address) {
    throw new AppError(
      'badRequest',
      `The sensor's ipAddress "${sensor.ipAddress}" cannot be connected to: set it to a host name or an IP address, followed by :port if necessary`,
    );
  }
  const latency = await checkConnection(address, app.config.PING_ALLOW_HOSTS).catch((error: unknown) => {
    if (!(error instanceof OwnAddress)) throw error;
    throw new AppError(
      'badRequest',
      `The sensor's ipAddress "${sensor.ipAddress}" leads to the machine of this service or its own link (loopback, link-local), and not to a device: set it to the address of the device. PING_ALLOW_HOSTS can make exceptions`,
    );
  });
  if (latency === null)
    return { id: sensor.id, reachable: false, latencyMs: null, lastPing: sensor.lastPing };
  const { lastPing } = await setLastPing(app.db, sensor.id);
  return { id: sensor.id, reachable: true, latencyMs: Math.round(latency * 10) / 10, lastPing };
}

/** Tried in this order if the address contains no port: web interface, the same with TLS, video stream (RTSP). */
const USUAL_PORTS = [80, 443, 554];
const ATTEMPT_MS = 2_000;
const TOTAL_MS = 4_800;

/** The address leads to the machine of the service or to its link, which no device is on. */
class OwnAddress extends Error {
  override readonly name = 'OwnAddress';
}

/**
 * Opens a TCP connection to the address and closes it at once. Takes less than 5 seconds.
 * @param allowed hosts on this machine or its link that may be connected to, in the form of `parseAllowedHost`
 * @returns milliseconds until a host answered; null when none did
 * @throws OwnAddress when the address, or one of those of its name, leads to this machine or its link
 */
async function checkConnection(
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

/** A host, and the port if the address contains one. */
interface DeviceAddress {
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

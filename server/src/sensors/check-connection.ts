import { connect } from 'node:net';
import { hasErrno } from '../platform/errno.ts';
import type { DeviceAddress } from './device-address.ts';

/** Tried in this order if the address contains no port: web interface, the same with TLS, video stream (RTSP). */
const USUAL_PORTS = [80, 443, 554];
const ATTEMPT_MS = 2_000;
const TOTAL_MS = 4_800;

/**
 * Opens a TCP connection to the address and closes it at once. Takes less than 5 seconds.
 * @returns milliseconds until a host answered; null when none did
 */
export async function checkConnection({ host, port }: DeviceAddress): Promise<number | null> {
  const end = performance.now() + TOTAL_MS;
  for (const candidate of port === null ? USUAL_PORTS : [port]) {
    const left = end - performance.now();
    const latency = left > 0 ? await tryPort(host, candidate, Math.min(ATTEMPT_MS, left)) : null;
    if (latency !== null) return latency;
  }
  return null;
}

/** A refused connection also proves that a host answers. */
function isAnswer(error: unknown): boolean {
  return hasErrno(error, 'ECONNREFUSED') || (error instanceof AggregateError && error.errors.some(isAnswer));
}

/** Milliseconds until the host answered on the port; null when it did not in time. */
function tryPort(host: string, port: number, limitMs: number): Promise<number | null> {
  return new Promise((resolve) => {
    const started = performance.now();
    const socket = connect({ host, port });
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

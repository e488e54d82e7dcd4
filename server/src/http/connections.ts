import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { subscriberOf } from '../accounts/throttle.ts';
import type { Core } from '../platform/context.ts';

/** Open files reserved for everything except clients: the database, images, reports, logs. */
const OTHER_FILES = 256;
const MIN_CONNECTIONS = 16;
const WARN_EVERY_MS = 60_000;

/**
 * The maximum number of connections of a process.
 * @param wanted the configured number
 * @param openFiles the maximum number of open files; null if unknown
 */
export function mostConnections(wanted: number, openFiles: number | null): number {
  return openFiles === null ? wanted : Math.min(wanted, Math.max(MIN_CONNECTIONS, openFiles - OTHER_FILES));
}

/** The share of the connections of a process that one address may have, unless `MAX_CONNECTIONS_PER_ADDRESS` says otherwise. */
const SHARE = 1 / 4;

/**
 * The maximum number of connections of one address to a process.
 * @param wanted the configured number; undefined for a quarter of all
 * @param most the maximum number of connections of the process
 */
export function mostConnectionsOfAddress(wanted: number | undefined, most: number): number {
  return Math.min(most, wanted ?? Math.max(MIN_CONNECTIONS, Math.floor(most * SHARE)));
}

/** How many connections a process accepts. */
export interface ConnectionLimits {
  readonly most: number;
  /** From one IPv4 address, or from one network of 64 bits of IPv6, which is what a subscriber has. */
  readonly mostOfAddress: number;
  /** Whether the address is a proxy, which has the connections of many clients. */
  readonly isProxy: (address: string) => boolean;
}

/** Closes connections beyond the limits at once, so that open ones are still served. */
export function limitConnections(
  server: Server,
  { most, mostOfAddress, isProxy }: ConnectionLimits,
  { log, metrics }: Pick<Core, 'log' | 'metrics'>,
): void {
  const open = new Map<string, number>();
  const countRefusal = (limit: 'process' | 'address', message: string) => {
    let refused = 0;
    let warnedAt = Number.NEGATIVE_INFINITY;
    return (details: object): void => {
      refused++;
      metrics.refusedConnections.inc({ limit });
      const now = performance.now();
      if (now - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now;
      log.warn({ ...details, dropped: refused }, message);
      refused = 0;
    };
  };
  const refuseAll = countRefusal(
    'process',
    'connections are closed at once because the maximum number is open',
  );
  const refuseAddress = countRefusal(
    'address',
    'connections are closed at once because the maximum number of one address is open (MAX_CONNECTIONS_PER_ADDRESS); if it is your proxy, add it to TRUSTED_PROXIES',
  );
  server.maxConnections = most;
  server.on('drop', () => refuseAll({ most }));
  // Before the listener of Node.js, which would read from the connection.
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const subscriber = subscriberOf(address);
    const count = open.get(subscriber) ?? 0;
    if (count >= mostOfAddress) {
      socket.destroy();
      refuseAddress({ address: subscriber, most: mostOfAddress });
      return;
    }
    open.set(subscriber, count + 1);
    socket.once('close', () => {
      const left = (open.get(subscriber) ?? 1) - 1;
      if (left > 0) open.set(subscriber, left);
      else open.delete(subscriber);
    });
  });
}

const connectionsOf = new WeakMap<Server, Set<Socket>>();

/** Records the open connections of a server, for `closeUnused`. */
export function followConnections(server: Server): void {
  const open = new Set<Socket>();
  connectionsOf.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/**
 * Closes the connections on which nothing was ever sent; browsers and fetch open some in advance. Node does not count
 * them as idle, so they would delay the end of the server for as long as a request may take to arrive.
 */
export function closeUnused(server: Server): void {
  for (const socket of connectionsOf.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';

/** Open files reserved for everything except clients: the database, images, reports, logs. */
const OTHER_FILES = 256;
const FEWEST = 16;
const WARN_EVERY_MS = 60_000;

/**
 * The maximum number of connections of a process.
 * @param wanted the configured number
 * @param openFiles the maximum number of open files; null if unknown
 */
export function mostConnections(wanted: number, openFiles: number | null): number {
  return openFiles === null ? wanted : Math.min(wanted, Math.max(FEWEST, openFiles - OTHER_FILES));
}

/** Closes connections beyond the limit at once, so that open ones are still served. */
export function limitConnections(server: Server, most: number, log: Logger): void {
  let dropped = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = most;
  server.on('drop', () => {
    dropped++;
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    log.warn({ most, dropped }, 'connections are closed at once because the maximum number is open');
    dropped = 0;
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

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { METHODS, type Server, STATUS_CODES } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { errorBodyFor } from '@gantry/contract/envelope';
import { subscriberOf } from '../accounts/throttle.ts';
import type { Core } from '../platform/context.ts';
import { announcesTooMuch } from '../rpc/budgets.ts';
import { WireError } from '../rpc/errors.ts';

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

/** How long the rest of a refused request is read, in milliseconds: a client that is cut off never sees the answer. */
const LINGER_MS = 2_000;

/** Node's error for bytes that are not a request; `rawPacket` contains the bytes. */
type ConnectionError = Error & { code?: string; rawPacket?: unknown };

const REQUEST_LINE = /^([A-Z-]{1,30}) \/\S* HTTP\/1\.[01]\r\n/;

const answered = new WeakSet<Socket>();

const unhurried = new WeakSet<Socket>();

/**
 * Lets a request arrive for as long as its bytes do, instead of within the time of other requests. The connection is still closed
 * when nothing has come for some time.
 */
export async function unhurriedly<Result>(socket: Socket, receive: () => Promise<Result>): Promise<Result> {
  unhurried.add(socket);
  try {
    return await receive();
  } finally {
    unhurried.delete(socket);
  }
}

/** Answers a client that did not send a valid request, or closes the connection if it cannot be answered. */
export function refuseConnection(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return;
  if (error.code === 'ECONNRESET' || (!socket.writable && !answered.has(socket))) {
    socket.destroy();
    return;
  }
  refuse(socket, refusalOf(error));
}

/** Handles the cases that Node would answer by itself, without the common envelope or not at all. */
export function takeOverFromNode(server: Server): void {
  server.on('checkContinue', (request, response) => {
    if (!announcesTooMuch(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => {
    socket.resume();
    refuse(socket, unknownMethod());
  });
}

function unknownMethod(): WireError {
  return new WireError('METHOD_NOT_SUPPORTED', 'Call queries with GET and mutations with POST', {
    headers: { allow: 'GET, POST' },
  });
}

/**
 * Whether the bytes are a request with a method that Node does not know. If it knows the method, what is not valid follows
 * that request: its body was longer than announced.
 */
function hasUnknownMethod({ rawPacket }: ConnectionError): boolean {
  if (!Buffer.isBuffer(rawPacket)) return false;
  const [, method] = REQUEST_LINE.exec(rawPacket.toString('latin1', 0, 2_000)) ?? [];
  return method !== undefined && !METHODS.includes(method);
}

function refusalOf(error: ConnectionError): WireError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new WireError('TIMEOUT', 'The request did not arrive in time: send it within 30 seconds');
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new WireError('PAYLOAD_TOO_LARGE', 'The address or the headers are too long');
  }
  if (error.code === 'HPE_INVALID_METHOD' && hasUnknownMethod(error)) return unknownMethod();
  return new WireError('BAD_REQUEST', 'Malformed HTTP request');
}

function refuse(socket: Socket, { code, message, headers }: WireError): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  const body = errorBodyFor(code, message);
  const json = JSON.stringify({ error: { json: body } });
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(json)),
    'cache-control': 'no-store',
    'x-request-id': randomUUID(),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { httpStatus } = body.data;
  socket.end(`HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus]}\r\n${lines.join('')}\r\n${json}`);
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(lingering));
}

interface Place {
  readonly HOST: string;
  readonly PORT: number;
}

/** What each error code of a failure to listen means, and what to do. */
const REFUSALS: Readonly<Record<string, (place: Place) => string>> = {
  EADDRINUSE: ({ HOST, PORT }) =>
    `PORT ${PORT} is taken by another program on ${HOST}: stop that program, or choose another PORT`,
  EACCES: ({ PORT }) => `PORT ${PORT} may not be used by this user: choose one from 1024`,
  EADDRNOTAVAIL: ({ HOST }) =>
    `HOST ${HOST} is no address of this machine: choose one of its addresses, or 0.0.0.0 for all`,
  ENOTFOUND: ({ HOST }) =>
    `HOST ${HOST} is an unknown name: choose an address of this machine, or 0.0.0.0 for all`,
};

/** The error for an address that cannot be listened on. The message names the setting and says what to do. */
export function explainListening(cause: unknown, place: Place): Error {
  const explain = REFUSALS[(cause as NodeJS.ErrnoException | null)?.code ?? ''];
  const { HOST, PORT } = place;
  const message = explain?.(place) ?? `HOST ${HOST} with PORT ${PORT} cannot be listened on: choose others`;
  return new Error(message, { cause });
}

/**
 * Makes sure that the address can be listened on, before anything is started for it.
 * @throws Error that names the setting
 */
export async function requireFreePort(place: Place): Promise<void> {
  if (place.PORT === 0) return;
  const server = createServer();
  try {
    await once(server.listen({ host: place.HOST, port: place.PORT }), 'listening');
  } catch (cause) {
    throw explainListening(cause, place);
  }
  server.close();
  await once(server, 'close');
}

import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBodyFor } from '@gantry/contract/envelope';
import { announcesTooMuch } from '../rpc/body.ts';
import { WireError } from '../rpc/errors.ts';

/** How long the rest of a refused request is read, in milliseconds: a client that is cut off never sees the answer. */
const LINGER_MS = 2_000;

/** Node's error for bytes that are not a request; `rawPacket` contains the bytes. */
type ConnectionError = Error & { code?: string; rawPacket?: unknown };

const REQUEST_LINE = /^[A-Z-]{1,30} \/\S* HTTP\/1\.[01]\r\n/;

const answered = new WeakSet<Socket>();

/** Answers a client that did not send a valid request, or closes the connection if it cannot be answered. */
export function refuseConnection(error: ConnectionError, socket: Socket): void {
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

function looksLikeRequest({ rawPacket }: ConnectionError): boolean {
  return Buffer.isBuffer(rawPacket) && REQUEST_LINE.test(rawPacket.toString('latin1', 0, 2_000));
}

function refusalOf(error: ConnectionError): WireError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new WireError('TIMEOUT', 'The request did not arrive in time: send it within 30 seconds');
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new WireError('PAYLOAD_TOO_LARGE', 'The address or the headers are too long');
  }
  if (error.code === 'HPE_INVALID_METHOD' && looksLikeRequest(error)) return unknownMethod();
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

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as received. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly path: string;
  readonly method: string;
}

/** Answers one request; `count` is the number of requests so far, including this one. */
export type Respond = (response: ServerResponse, received: Received, count: number) => void;

export const answer =
  (status: number, body = ''): Respond =>
  (response) => {
    response.writeHead(status).end(body);
  };

/** A receiver of webhooks on this machine, which stores the deliveries. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly received: Received[];
  respond: Respond;
}

export const startReceiver = async (respond: Respond = answer(200)): Promise<Receiver> => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const one = {
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        path: request.url ?? '',
        method: request.method ?? '',
      };
      received.push(one);
      receiver.respond(response, one, received.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    url: `http://${host}/hook`,
    host,
    received,
    respond,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
};

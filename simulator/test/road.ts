import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Mood = 'well' | 'unavailable' | 'gone' | 'answers get lost';

/** A proxy in front of the service that can fail in several ways. */
export const buildRoad = async (target: string) => {
  let mood: Mood = 'well';
  const batches: string[] = [];
  let turnedAway = 0;
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): void => {
    const { method, url = '', headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      if (mood === 'answers get lost') {
        answer.resume();
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => incoming.socket.destroy());
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) onward.destroy();
    });
    onward.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      if (incoming.url?.includes('ingestBatch')) batches.push(mood);
      if (mood === 'gone') incoming.socket.destroy();
      else if (mood === 'unavailable') {
        turnedAway++;
        const json = {
          message: 'Busy',
          code: -32603,
          data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
        };
        outgoing.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
        outgoing.end(JSON.stringify({ error: { json } }));
      } else pass(incoming, outgoing, Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches,
    /** The number of requests that were answered with 503. */
    turnedAway: () => turnedAway,
    become(next: Mood) {
      mood = next;
    },
    /** Closes all open connections. */
    cut() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { SpoolFull } from '@gantry/spool';
import { InvalidMessage } from './stamp.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export interface ListenParts {
  readonly host: string;
  readonly port: number;
  /** Stores the events of a body. Resolves with their number when they are durable. */
  readonly accept: (body: string) => Promise<number>;
  readonly status: () => Readonly<Record<string, unknown>>;
  readonly log: (message: string) => void;
}

/**
 * Listens for devices that report over HTTP: `POST /events` with one event, an array of events, or JSON lines. It answers
 * when they are durable. `GET /status` returns the state of the buffer.
 */
export async function listen({ host, port, accept, status, log }: ListenParts): Promise<Server> {
  let isFailing = false;
  const server = createServer(async (request, response) => {
    const answer = (code: number, body: unknown): void => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    };
    try {
      if (request.method === 'GET' && request.url === '/status') answer(200, status());
      else if (request.method === 'POST' && request.url === '/events') {
        answer(200, { accepted: await accept(await bodyOf(request)) });
        isFailing = false;
      } else answer(404, { error: 'Send events with POST /events, or ask for GET /status' });
    } catch (error) {
      if (error instanceof InvalidMessage) answer(400, { error: error.message });
      else if (error instanceof SpoolFull) answer(503, { error: error.message });
      else if (!request.complete) response.destroy();
      else {
        // The disk is full or damaged: the device has to send the events again.
        const reason = `The events could not be stored (${error instanceof Error ? error.message : String(error)})`;
        if (!isFailing) log(`${reason}; POST /events is answered 503`);
        isFailing = true;
        answer(503, { error: `${reason}: send them again later` });
      }
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new InvalidMessage('The body is larger than 10 MB: send fewer events at once');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

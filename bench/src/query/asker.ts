import { Agent, request } from 'node:http';
import { BenchmarkFailed } from '../failure.ts';

/** An answer with its duration from the request to its last byte, in milliseconds. */
export interface Answer {
  readonly ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: checks read answers as a client without types does
  readonly value: any;
}

/** Sends queries to one service over persistent connections. */
export interface Asker {
  query(procedure: string, input: object): Promise<Answer>;
  mutate(procedure: string, input: object): Promise<Answer>;
  close(): void;
}

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** Creates an asker. @param token the token of a user who may read and mark events */
export function createAsker(url: string, token: string): Asker {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(url);

  const send = ({ method, path, body }: Sent): Promise<{ ms: number; status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      };
      const began = performance.now();
      const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const ms = performance.now() - began;
          resolve({ ms, status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        });
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });

  const ask = async (procedure: string, sent: Sent): Promise<Answer> => {
    const { ms, status, text } = await send(sent);
    if (status !== 200)
      throw new BenchmarkFailed(`${procedure} was answered with ${status}: ${text.slice(0, 500)}`);
    return { ms, value: JSON.parse(text).result.data.json };
  };

  return {
    query: (procedure, input) =>
      ask(procedure, {
        method: 'GET',
        path: `/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`,
      }),
    mutate: (procedure, input) =>
      ask(procedure, { method: 'POST', path: `/trpc/${procedure}`, body: JSON.stringify({ json: input }) }),
    close: () => agent.destroy(),
  };
}

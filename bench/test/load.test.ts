import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { acknowledgedByBatch, acknowledgedByIngest, ingestAnswer } from '../src/ingest/answers.ts';
import { makeBodies } from '../src/ingest/bodies.ts';
import { drive } from '../src/ingest/load.ts';

const ID = '01a1fd99-c7b1-756d-92e4-f66a14308627';

let server: Server | undefined;
const serve = async (listener: RequestListener): Promise<string> => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/trpc/events.ingest`;
};
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const driveAt = (url: string, signal = new AbortController().signal) =>
  drive({
    who: 'A server',
    url,
    bodies: makeBodies(['key'], 64, 1),
    connections: 8,
    warmupSeconds: 0.1,
    seconds: 0.4,
    acknowledged: acknowledgedByIngest,
    readTimes: async () => ({
      server: process.cpuUsage().user / 1e6,
      postgresql: Number.NaN,
      idle: 0,
      stolen: 0,
      total: 0,
    }),
    signal,
  });

describe('the load', () => {
  it('waits for every outstanding answer, so that its count is that of the server', async () => {
    let answered = 0;
    const seen = new Set<string>();
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.add(body);
        setTimeout(() => {
          answered++;
          response.end(ingestAnswer(ID));
        }, 20);
      });
    });
    const load = await driveAt(url);
    expect(load.acknowledged).toBe(answered);
    expect(load.requests).toBeGreaterThan(8);
    expect(load.requests).toBeLessThan(answered);
    expect(load.latencies[0]).toBeGreaterThanOrEqual(15);
    expect(load.used).toMatchObject({ nodeMicros: expect.any(Number), postgresMicros: null });
    // The bodies are sent one after another. How many are sent depends on the speed of the machine.
    const bodies = new Set(makeBodies(['key'], 64, 1).map(({ text }) => text));
    expect([...seen].filter((body) => !bodies.has(body))).toEqual([]);
    expect(seen.size).toBe(Math.min(bodies.size, answered));
  });

  it('fails with the answer when that is an error', async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      response.statusCode = ++requests === 50 ? 503 : 200;
      response.end(requests === 50 ? '{"error":"full"}' : ingestAnswer(ID));
    });
    await expect(driveAt(url)).rejects.toThrow('A server: answered 503 {"error":"full"}');
  });

  it('fails when an answer has another format', async () => {
    const url = await serve((_request, response) => response.end('{"result":{"data":{"json":{}}}}'));
    await expect(driveAt(url)).rejects.toThrow('answered 200 {"result":{"data":{"json":{}}}}');
  });

  it('fails when a connection is cut', async () => {
    let requests = 0;
    const url = await serve((request, response) => {
      if (++requests === 50) request.socket.destroy();
      else response.end(ingestAnswer(ID));
    });
    await expect(driveAt(url)).rejects.toThrow();
  });

  it('ends at once when it is asked to stop', async () => {
    const url = await serve((_request, response) => response.end(ingestAnswer(ID)));
    await expect(driveAt(url, AbortSignal.abort())).rejects.toThrow('Stopped');
  });
});

describe('an answer to a batch', () => {
  const answer = (results: unknown) =>
    JSON.stringify({ result: { data: { json: { success: true, results } } } });

  it('acknowledges stored events, not known or refused ones', () => {
    const stored = { eventId: ID, duplicate: false };
    const refused = { error: { code: 'BAD_REQUEST', message: 'no' } };
    expect(acknowledgedByBatch(answer([stored, stored]))).toBe(2);
    expect(acknowledgedByBatch(answer([stored, { ...stored, duplicate: true }, refused]))).toBe(1);
    expect(acknowledgedByBatch('{"error":{}}')).toBe(0);
    expect(acknowledgedByBatch('not JSON')).toBe(0);
  });
});

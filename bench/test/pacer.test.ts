import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ingestAnswer } from '../src/ingest/answers.ts';
import { makeBodies, textsOf } from '../src/ingest/bodies.ts';
import { startPacer } from '../src/soak/pacer.ts';

const ANSWER = ingestAnswer('01a1fd99-c7b1-756d-92e4-f66a14308627');

let server: Server | undefined;
const pace = async (listener: RequestListener, connections = 4) => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/trpc/events.ingest`;
  return startPacer({ url, textOf: textsOf(makeBodies(['key'], 16, 1), null), rate: 200, connections });
};
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

describe('a constant load', () => {
  it('sends requests when they are due and counts every answer', async () => {
    let answered = 0;
    const pacer = await pace((_request, response) => {
      answered++;
      response.end(ANSWER);
    });
    await sleep(1000);
    await pacer.finish();
    expect(pacer.acknowledged).toBe(answered);
    expect(answered).toBeGreaterThan(150);
    expect(answered).toBeLessThan(300);
  });

  it('does not slow down with the server, whose slowness shows in the latencies', async () => {
    const pacer = await pace((_request, response) => setTimeout(() => response.end(ANSWER), 25), 2);
    await sleep(600);
    await pacer.finish();
    const { latencies } = pacer.take();
    expect(latencies.length).toBeGreaterThan(80);
    // Two connections take eighty requests a second; the others wait.
    expect(latencies.at(-1)).toBeGreaterThan(500);
  });

  it('fails with the answer when that is an error', async () => {
    const pacer = await pace((_request, response) => {
      response.statusCode = 503;
      response.end('{"error":"full"}');
    });
    await sleep(200);
    expect(pacer.check).toThrow('Gantry: answered 503 {"error":"full"}');
    await expect(pacer.finish()).rejects.toThrow('answered 503');
  });
});

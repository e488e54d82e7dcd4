import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open, router } from '../src/api/procedures.ts';
import { mostConnections, mostConnectionsOfAddress } from '../src/http/connections.ts';
import { closeServer, createServer } from '../src/http/server.ts';
import { ANSWER_LIMITS, type AnswerLimits } from '../src/rpc/budgets.ts';
import { FrontEnd } from '../src/rpc/exchange.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';

// The limits of answers: their size, how many are in flight, the time for reading them, and the number of
// connections.

const MB = 1024 * 1024;

const gantry = await sharedGantry({ config: { MAX_CONNECTIONS: '16' } });

const batchOf = (paths: readonly string[]) => gantry.fetch(`/trpc/${paths.join(',')}?batch=1`);
const times = (path: string, count: number): string[] => Array<string>(count).fill(path);

describe('a batch', () => {
  it('of fifty ordinary calls is answered, even with a heavy one among them', async () => {
    expect((await batchOf(times('events.getEventTypes', 50))).status).toBe(200);
    const mixed = [...times('events.getEventTypes', 49), 'sensors.getAllSensors'];
    expect((await batchOf(mixed)).status).toBe(200);
    expect((await batchOf(times('sensors.getAllSensors', 5))).status).toBe(200);
  });

  it('of many heavy calls is refused as a whole, with what to do', async () => {
    const { status, body } = await batchOf(times('sensors.getAllSensors', 50));
    expect(status).toBe(400);
    expect(body.error.json).toEqual({
      message:
        'The calls of this batch have a weight of 1000, and the maximum is 100: send them in several batches',
      code: -32600,
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
  });
});

const large = router({
  text: open
    .input(z.object({ bytes: z.number() }))
    .output(z.string())
    .query(({ input }) => 'x'.repeat(input.bytes)),
  // What GET /v1/events/types calls.
  events: router({ getEventTypes: open.output(z.string()).query(() => 'x'.repeat(7 * MB)) }),
});

const withServer = async (
  use: (url: string, connections: () => Promise<number>) => Promise<void>,
  { timeoutMs = 20_000, stalledMs = 5_000, reading = {} as Partial<AnswerLimits> } = {},
): Promise<void> => {
  const limits = { ...ANSWER_LIMITS, answerBytes: 8 * MB, inFlightBytes: 20 * MB, ...reading };
  const { context } = gantry.app;
  const app = { ...context, timings: { ...context.timings, stalledMs } };
  const frontEnd = new FrontEnd(app.config, app.log, limits);
  const server = await createServer(app, large, { frontEnd, timeoutMs });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  try {
    await use(url, connections);
  } finally {
    await closeServer(server);
  }
};

const pathOf = (bytes: number): string =>
  `/trpc/text?input=${encodeURIComponent(JSON.stringify({ json: { bytes } }))}`;
const get = async (url: string, path: string) => {
  const response = await fetch(`${url}${path}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
/** Sends a request and reads nothing of the answer. */
const askAndWait = (url: string, path: string, accept = '*/*'): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`);
  return socket;
};

describe('an answer', () => {
  it('that would be too large is refused with what to do', async () => {
    await withServer(async (url) => {
      expect((await get(url, pathOf(8 * MB - 2))).status).toBe(200);
      const { status, text } = await get(url, pathOf(8 * MB));
      expect(status).toBe(400);
      expect(JSON.parse(text).error.json.message).toBe(
        'The answer would be larger than 8 MB: request less at a time, page by page or with a filter, or in smaller batches',
      );
    });
  });

  it('of a batch counts together with the others, and those that fit are returned', async () => {
    await withServer(async (url) => {
      const inputs = Object.fromEntries([5, 5, 1].map((size, at) => [at, { json: { bytes: size * MB } }]));
      const query = encodeURIComponent(JSON.stringify(inputs));
      const { status, text } = await get(url, `/trpc/text,text,text?batch=1&input=${query}`);
      expect(status).toBe(207);
      const answers = JSON.parse(text);
      expect(answers['0'].result.data.json).toHaveLength(5 * MB);
      expect(answers['1'].error.json.data.code).toBe('BAD_REQUEST');
      expect(answers['2'].result.data.json).toHaveLength(MB);
    });
  });

  it('is refused while too much is in flight to clients that do not read, and returned when these have left', async () => {
    await withServer(async (url, connections) => {
      const readers = [askAndWait(url, pathOf(7 * MB)), askAndWait(url, pathOf(7 * MB))];
      await eventually(connections, (count) => count === 2);
      const refused = await eventually(
        () => get(url, pathOf(7 * MB)),
        ({ status }) => status === 503,
      );
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await get(url, pathOf(1_000))).status).toBe(200);
      for (const reader of readers) reader.destroy();
      await eventually(
        () => get(url, pathOf(7 * MB)),
        ({ status }) => status === 200,
      );
    });
  });

  it('counts together with those of the other form, which are refused in its own way', async () => {
    await withServer(async (url, connections) => {
      const readers = [askAndWait(url, '/v1/events/types'), askAndWait(url, pathOf(7 * MB))];
      await eventually(connections, (count) => count === 2);
      const refused = await eventually(
        () => get(url, '/v1/events/types'),
        ({ status }) => status === 503,
      );
      expect(JSON.parse(refused.text)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect((await get(url, pathOf(7 * MB))).status).toBe(503);
      for (const reader of readers) reader.destroy();
      await eventually(
        () => get(url, '/v1/events/types'),
        ({ status }) => status === 200,
      );
    });
  });

  it('that the client does not read ends its connection', async () => {
    await withServer(
      async (url, connections) => {
        const reader = askAndWait(url, pathOf(7 * MB));
        await eventually(connections, (count) => count === 1);
        await eventually(connections, (count) => count === 0, 60_000);
        reader.destroy();
      },
      { timeoutMs: 500, stalledMs: 100 },
    );
  });
});

describe('the time for reading a large answer', () => {
  const inputs = { 0: { json: { bytes: 6 * MB } }, 1: { json: { bytes: MB } } };
  const batch = `/trpc/text,text?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`;

  it.each([
    ['of one call', pathOf(7 * MB), '*/*'],
    ['of a batch', batch, '*/*'],
    ['of a batch in lines', batch, 'application/jsonl'],
  ])('ends the connection of a client that reads a little now and then: %s', async (_, path, accept) => {
    await withServer(
      async (url, connections) => {
        const reader = askAndWait(url, path, accept);
        await eventually(connections, (count) => count === 1);
        const reading = setInterval(() => reader.read(1_000), 50);
        await eventually(connections, (count) => count === 0, 30_000);
        clearInterval(reading);
        reader.destroy();
      },
      { stalledMs: 600_000, reading: { readingMs: 300, readBytesPerSecond: 100 * MB } },
    );
  });
});

describe('connections', () => {
  it('beyond the limit are closed at once; open ones continue, and others are accepted when these end', async () => {
    const { hostname, port } = new URL(gantry.url);
    const closed = new Set<Socket>();
    const sockets = Array.from({ length: 40 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => closed.add(socket));
      socket.on('close', () => closed.add(socket));
      return socket.resume();
    });
    await eventually(
      async () => closed.size,
      (count) => count >= 24,
    );
    expect(closed.size).toBeLessThanOrEqual(40 - 10);
    for (const socket of sockets) socket.destroy();
    await eventually(
      () => gantry.call('system.health').catch(() => null),
      (answer) => answer?.status === 200,
    );
  });

  it('of one address have a share, which is counted when it is exceeded; others are accepted', async () => {
    await using shared = await startGantry({
      config: { MAX_CONNECTIONS: '32', MAX_CONNECTIONS_PER_ADDRESS: '6', HOST: '0.0.0.0' },
    });
    const port = Number(new URL(shared.url).port);
    const open = (localAddress: string): Socket => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket.on('error', () => undefined).resume());
      return socket;
    };
    const sockets: Socket[] = [];
    try {
      for (let n = 0; n < 12; n++) open('127.0.0.2');
      await eventually(
        async () => sockets.filter(({ destroyed }) => destroyed).length,
        (closed) => closed === 6,
      );
      // Another address is answered, also when it asks for what was refused.
      const { status, body } = await shared.fetch('/metrics');
      expect(status).toBe(200);
      expect(body).toContain('gantry_refused_connections_total{limit="address"} 6');
      for (const socket of sockets) socket.destroy();
      // Ended connections no longer count.
      const next = await eventually(
        async () => {
          const socket = open('127.0.0.2');
          await once(socket.end('GET /live HTTP/1.0\r\n\r\n'), 'close');
          return socket.bytesRead;
        },
        (bytes) => bytes > 0,
      );
      expect(next).toBeGreaterThan(0);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('of a trusted proxy are not limited by its address', async () => {
    await using proxied = await startGantry({
      config: { MAX_CONNECTIONS_PER_ADDRESS: '2', TRUSTED_PROXIES: '127.0.0.1' },
    });
    const port = Number(new URL(proxied.url).port);
    const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    for (const socket of sockets) {
      socket.write('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const socket of sockets) socket.destroy();
  });

  it.each([
    [undefined, 10_000, 2_500],
    [undefined, 768, 192],
    [undefined, 20, 16],
    [100, 10_000, 100],
    [20_000, 10_000, 10_000],
  ])('of one address may be %s of %d: %d', (wanted, most, ofAddress) => {
    expect(mostConnectionsOfAddress(wanted, most)).toBe(ofAddress);
  });

  it.each([
    [10_000, null, 10_000],
    [10_000, 1_000_000, 10_000],
    [10_000, 4_096, 3_840],
    [10_000, 100, 16],
    [20, 4_096, 20],
  ])('may be %d with %s open files: %d', (wanted, files, most) => {
    expect(mostConnections(wanted, files)).toBe(most);
  });
});

import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open, router } from '../src/api/procedures.ts';
import { appRouter } from '../src/api/router.ts';
import { closeServer, createServer } from '../src/http/server.ts';
import { connect as connectDevice, pathOf } from './gateway-calls.ts';
import { eventually, sharedGantry } from './harness.ts';
import { processorMs } from './processor-time.ts';
import { requestRaw, sendRaw } from './raw-http.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const JSON_HEADER = { 'content-type': 'application/json' };
const post = (procedure: string, body: string, headers: Record<string, string> = {}) =>
  gantry.fetch(`/trpc/${procedure}`, { method: 'POST', headers: { ...JSON_HEADER, ...headers }, body });

/** An event whose body has exactly the given number of bytes. */
const eventOf = (bytes: number): string => {
  const head = `{"json":{"apiKey":"${apiKey}","eventType":"INCIDENT","metadata":{"x":"`;
  const tail = '"}}}';
  return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
};
const TOO_LARGE = {
  error: {
    json: {
      message: 'The request body is larger than 10 MB (10485760 bytes)',
      code: -32013,
      data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 },
    },
  },
};

/** Sends a body in chunks, without its length, and reads the answer only after all is sent. */
const postChunked = (procedure: string, body: Buffer): Promise<{ status: number; body: unknown }> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${gantry.url}/trpc/${procedure}`,
      { method: 'POST', headers: { ...JSON_HEADER, 'transfer-encoding': 'chunked' } },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      },
    );
    sent.on('error', reject);
    for (let at = 0; at < body.length; at += 65_536) sent.write(body.subarray(at, at + 65_536));
    sent.end();
  });

describe('a body of exactly 10 MB', () => {
  it('is accepted, stored and returned', async () => {
    const body = eventOf(MAX_BODY_BYTES);
    expect(Buffer.byteLength(body)).toBe(10_485_760);
    const answer = await post('events.ingest', body);
    expect(answer.status).toBe(200);
    const { eventId: id } = answer.body.result.data.json;
    const { metadata } = await gantry.ok('events.getById', { id }, { token });
    expect(metadata.x).toBe(JSON.parse(body).json.metadata.x);
  });

  it('is accepted in chunks too', async () => {
    expect((await postChunked('events.ingest', Buffer.from(eventOf(MAX_BODY_BYTES)))).status).toBe(200);
  });

  it('is refused for invalid content, not for its size', async () => {
    const { status } = await post('sensors.create', eventOf(MAX_BODY_BYTES), {
      authorization: `Bearer ${token}`,
    });
    expect(status).toBe(400);
    expect((await post('sensors.create', eventOf(MAX_BODY_BYTES))).status).toBe(401);
    expect((await post('nothing', eventOf(MAX_BODY_BYTES))).status).toBe(404);
  });
});

describe('a body of one byte more', () => {
  it.each(['events.ingest', 'sensors.create', 'auth.login', 'auth.logout', 'nothing'])(
    'to %s is 413 for every sender',
    async (procedure) => {
      for (const authorization of ['', `Bearer ${token}`]) {
        const { status, body } = await post(procedure, eventOf(MAX_BODY_BYTES + 1), { authorization });
        expect(status).toBe(413);
        expect(body).toEqual(TOO_LARGE);
      }
    },
  );

  it('is 413 in chunks too', async () => {
    const { status, body } = await postChunked('events.ingest', Buffer.from(eventOf(MAX_BODY_BYTES + 1)));
    expect(status).toBe(413);
    expect(body).toEqual(TOO_LARGE);
  });

  it('stores nothing', async () => {
    const { total } = await gantry.ok('events.getStats', {}, { token });
    await post('events.ingest', eventOf(MAX_BODY_BYTES + 1));
    expect((await gantry.ok('events.getStats', {}, { token })).total).toBe(total);
  });
});

describe('a body that is far larger', () => {
  it('is answered to a client that first sends all of it, and the connection stays open', async () => {
    const size = 60_000_000;
    const answers = await sendRaw(
      gantry.url,
      `POST /trpc/events.ingest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
      Buffer.alloc(size, 'x'),
      'GET /trpc/events.getEventTypes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(answers.map(({ status }) => status)).toEqual([413, 200]);
    expect(answers[0]?.body).toEqual(TOO_LARGE);
  });

  it('is answered to a client that closes the connection', async () => {
    const size = 60_000_000;
    const headers = ['Content-Type: application/json', `Content-Length: ${size}`];
    const { status } = await requestRaw(
      gantry.url,
      'POST /trpc/events.ingest',
      headers,
      Buffer.alloc(size, 'x'),
    );
    expect(status).toBe(413);
  });

  it('is answered to fetch', async () => {
    expect((await post('events.ingest', 'x'.repeat(60_000_000))).status).toBe(413);
  });

  it('need not be sent at all by a client that asks first', async () => {
    const [answer, ...more] = await sendRaw(
      gantry.url,
      'POST /trpc/events.ingest HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999999999999\r\n\r\n',
    );
    expect(answer?.status).toBe(413);
    expect(more).toEqual([]);
  });
});

describe('a body that is expensive to check', () => {
  const spam = (unit: string): string => `[${unit.repeat(MAX_BODY_BYTES / unit.length - 2)}{}]`;

  it.each(['{},', '[],', '0,', '"",', '{"a":0},'])(
    '10 MB of %s are refused at once, without delaying others',
    async (unit) => {
      const body = spam(unit);
      let answered = 0;
      let done = false;
      const others = (async () => {
        while (!done) {
          await gantry.fetch('/live');
          answered++;
        }
      })();
      let answers: Awaited<ReturnType<typeof post>>[] = [];
      const work = await processorMs(async () => {
        answers = await Promise.all(
          ['auth.login', 'events.ingest'].map((procedure) => post(procedure, body)),
        );
      });
      done = true;
      await others;
      for (const { status, body: answer } of answers) {
        expect(status).toBe(400);
        expect(answer.error.json.message).toBe('The JSON has more than 250000 values');
      }
      expect(work).toBeLessThan(10_000);
      expect(answered).toBeGreaterThan(0);
    },
  );

  it('many that arrive at the same time do not delay a small request', async () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `"key${index}":${index}`).join(',');
    const body = `{"json":{${members}}}`;
    const head = `POST /trpc/sensors.heartbeat HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { hostname, port } = new URL(gantry.url);
    const senders = Array.from({ length: 10 }, () => {
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.on('data', (chunk: Buffer) => {
        answer += chunk;
      });
      socket.write(head + body.slice(0, -1));
      return {
        socket,
        answered: new Promise<string>((resolve) => socket.once('end', () => resolve(answer))),
      };
    });
    await sleep(300);
    const started = performance.now();
    for (const { socket } of senders) socket.write('}');
    await gantry.fetch('/live');
    const waited = performance.now() - started;
    const answers = await Promise.all(senders.map(({ answered }) => answered));
    const took = performance.now() - started;
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(waited).toBeLessThan(took / 2);
  });
});

describe('too many large bodies at once', () => {
  it('of all forms together are refused with Retry-After, and no longer count when they are done', async () => {
    const size = 10_000_000;
    const device = await connectDevice(gantry, 'gantry');
    const paths = ['/trpc/auth.login', '/v1/sensors', pathOf(device.url)];
    const head = (n: number): string =>
      `POST ${paths[n % paths.length]} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
    const { hostname, port } = new URL(gantry.url);
    let answers = '';
    // Each sends all but the last byte of a body, and so occupies memory. Together they leave no room for one of them.
    const senders = Array.from({ length: 14 }, (_, n) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        answers += chunk;
      });
      socket.write(head(n));
      socket.write(Buffer.alloc(size - 1, ' '));
      return socket;
    });
    try {
      await eventually(
        async () => answers,
        (text) => text.includes('again in a moment'),
      );
      expect(answers).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/s);
      expect((await post('auth.login', '{"json":{}}')).status).toBe(400);
    } finally {
      for (const socket of senders) socket.destroy();
    }
    const large = () => post('auth.login', ' '.repeat(9_000_000));
    const { body } = await eventually(large, ({ status }) => status !== 503);
    expect(body.error.json.data.code).toBe('PARSE_ERROR');
  });
});

describe('a request that takes too long', () => {
  const hanging = router({
    hang: open.output(z.null()).query(() => new Promise<null>(() => undefined)),
    echo: open
      .input(z.unknown())
      .output(z.unknown())
      .mutation(({ input }) => input),
  });

  const withServer = async (timeoutMs: number, use: (url: string) => Promise<void>): Promise<void> => {
    const server = await createServer(gantry.app.context, hanging, { timeoutMs });
    try {
      await use(await server.listen({ host: '127.0.0.1', port: 0 }));
    } finally {
      await closeServer(server);
    }
  };

  it('to process is 408', async () => {
    await withServer(200, async (url) => {
      const { status, body } = await requestRaw(url, 'GET /trpc/hang');
      expect(status).toBe(408);
      expect(body.error.json).toEqual({
        message: 'The request took longer than 0.2 seconds',
        code: -32008,
        data: { code: 'TIMEOUT', httpStatus: 408 },
      });
    });
  });

  it.each([
    ['its headers', 'POST /trpc/echo HTTP/1.1\r\nHost: x\r\n'],
    [
      'its body',
      'POST /trpc/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"json"',
    ],
    ['its first line', 'POST /trpc/ec'],
  ])('to arrive with %s is 408 in the common envelope', async (_, bytes) => {
    await withServer(300, async (url) => {
      const [answer] = await sendRaw(url, bytes);
      expect(answer?.status).toBe(408);
      expect(answer?.body.error.json.data).toEqual({ code: 'TIMEOUT', httpStatus: 408 });
    });
  });

  it('to arrive is received all the same if it is a file of a hotlist, as long as bytes come', async () => {
    const server = await createServer(gantry.app.context, appRouter, { timeoutMs: 300 });
    try {
      const url = await server.listen({ host: '127.0.0.1', port: 0 });
      const { id } = await gantry.ok('hotlists.create', { name: 'Slowly' }, { token });
      let isRefused = false;
      const refused = sendRaw(
        url,
        'POST /trpc/auth.login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
      ).finally(() => {
        isRefused = true;
      });
      // Longer than others may take: until another request was refused for that, and once more.
      async function* slowly() {
        yield Buffer.from('plate\n');
        for (let line = 0; !isRefused; line++) {
          yield Buffer.from(`AB ${line}\n`);
          await sleep(20);
        }
        for (let line = 0; line < 50; line++) {
          yield Buffer.from(`CD ${line}\n`);
          await sleep(20);
        }
      }
      const answer = await fetch(`${url}/hotlists/${id}/file`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}` },
        body: slowly(),
        duplex: 'half',
      } as unknown as RequestInit);
      expect((await refused)[0]?.status).toBe(408);
      expect(answer.status).toBe(201);
    } finally {
      await closeServer(server);
    }
  });

  it('does not delay others', async () => {
    await withServer(2_500, async (url) => {
      let isOver = false;
      const slow = requestRaw(url, 'GET /trpc/hang').finally(() => {
        isOver = true;
      });
      const body = '{"json":{"a":1}}';
      const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
      expect((await requestRaw(url, 'POST /trpc/echo', headers, body)).body.result.data.json).toEqual({
        a: 1,
      });
      expect(isOver).toBe(false);
      expect((await slow).status).toBe(408);
    });
  });
});

describe('a client that leaves in the middle of a body', () => {
  it('causes no harm to the service, and no error in the log', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const server = await createServer({ ...gantry.app.context, log }, appRouter);
    const { hostname, port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
    for (let left = 0; left < 20; left++) {
      const socket = connect(Number(port), hostname);
      socket.write(
        'POST /trpc/auth.login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      );
      await new Promise((resolve) => socket.once('connect', resolve));
      await sleep(5);
      if (left % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    expect((await requestRaw(`http://${hostname}:${port}`, 'GET /trpc/system.health')).status).toBe(200);
    await closeServer(server);
    expect(lines).toEqual([]);
  });
});

describe('a client that leaves in the middle of a file of a hotlist', () => {
  it('leaves no file, and no error in the log', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const server = await createServer({ ...gantry.app.context, log }, appRouter);
    const { hostname, port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
    const { id } = await gantry.ok('hotlists.create', { name: 'Left' }, { token });
    const folder = join(gantry.app.context.config.DATA_DIR, 'hotlists', id, 'uploads');
    const files = () => readdir(folder).catch(() => []);
    const socket = connect(Number(port), hostname);
    socket.write(
      `PUT /hotlists/${id}/file HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 99\r\n\r\nplate`,
    );
    await eventually(files, (names) => names.length === 1);
    socket.destroy();
    await eventually(files, (names) => names.length === 0);
    await closeServer(server);
    expect(lines).toEqual([]);
  });
});

describe('a request in progress when the service stops', () => {
  it('is answered, and no other can follow it on its connection', async () => {
    const slow = router({
      slow: open.output(z.number()).query(() => sleep(300, 1)),
    });
    const server = await createServer(gantry.app.context, slow);
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const asked = once(server.server, 'request');
    const answers = sendRaw(url, 'GET /trpc/slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked;
    await closeServer(server);
    const [answer] = await answers;
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(answer?.body.result.data.json).toBe(1);
  });
});

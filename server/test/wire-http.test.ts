import { once } from 'node:events';
import { Agent, get, METHODS } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { requestRaw, sendRaw } from './raw-http.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const gantry = await sharedGantry();

const request = (line: string, headers?: string[], body?: string | Buffer) =>
  requestRaw(gantry.url, line, headers, body);
const last = async (...pieces: (string | Buffer)[]) => (await sendRaw(gantry.url, ...pieces)).at(-1);

const badRequest = (message: string) => ({
  error: { json: { message, code: -32600, data: { code: 'BAD_REQUEST', httpStatus: 400 } } },
});
const MALFORMED = badRequest('Malformed HTTP request');

describe('a method', () => {
  const others = METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'CONNECT'].includes(method));

  it.each(others)('%s is answered with 405 for any address', async (method) => {
    for (const [path, allow] of [
      ['system.health', 'GET'],
      ['sensors.create', 'POST'],
    ]) {
      const { status, headers, body } = await request(`${method} /trpc/${path}`);
      expect(status).toBe(405);
      expect(headers.allow).toBe(allow);
      expect(body.error.json.data).toEqual({ code: 'METHOD_NOT_SUPPORTED', httpStatus: 405 });
    }
  });

  it.each(['FOO', 'get', 'POSTT', 'CONNECT'])(
    '%s that is unknown to HTTP is answered with 405 too',
    async (method) => {
      const { status, headers, body } = await request(`${method} /trpc/system.health`);
      expect(status).toBe(method === 'get' ? 400 : 405);
      expect(headers['x-request-id']).toMatch(UUID);
      expect(body.error.json.code).toBe(method === 'get' ? -32600 : -32005);
    },
  );

  it('HEAD is a GET without the body', async () => {
    const get = await request('GET /trpc/events.getEventTypes');
    const head = await request('HEAD /trpc/events.getEventTypes');
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.body).toBe('');
    expect((await request('HEAD /trpc/sensors.create')).status).toBe(405);
    expect((await request('HEAD /trpc/auth.me')).status).toBe(401);
    expect((await request('HEAD /trpc/nothing')).status).toBe(404);
  });

  it('that is known is not refused because the body is longer than announced', async () => {
    const json = Buffer.from('{"json":{"email":"nobody@example.com","password":"wrong"}}');
    const head = `POST /trpc/auth.login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n`;
    const answer = await last(Buffer.concat([Buffer.from(head), json, Buffer.alloc(2_000, 0xff)]));
    expect(answer?.body).toEqual(MALFORMED);
  });

  it('that is refused is answered after its body, however large', async () => {
    const size = 5_000_000;
    for (const line of ['PUT /trpc/system.health', 'POST /nothing', 'DELETE /live']) {
      const { status } = await request(line, [`Content-Length: ${size}`], Buffer.alloc(size, 'x'));
      expect(status).toBe(line.startsWith('PUT') ? 405 : 404);
    }
  });
});

describe('the name of a procedure', () => {
  it.each([
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'prototype',
    '',
    '.',
    '..',
    ',',
    'sensors',
    'sensors.',
    '.sensors.getAll',
    'sensors.getAll.',
    'sensors..getAll',
    'sensors.getAll.constructor',
    'sensors.__proto__.getAll',
    'sensors/getAll',
    'sensors.getall',
    'SENSORS.GETALL',
    'system.getTimezoneSettings',
    'timezone.getTimezoneSettings',
    'system.health/',
    '/system.health',
    'system.health;x=1',
    'system.health%00',
    'system.health%20',
    '%F0%9F%98%80',
    '%2E%2E%2Flive',
    'system%252Ehealth',
    'a'.repeat(5_000),
  ])('%s is unknown', async (path) => {
    for (const method of ['GET', 'POST', 'PUT']) {
      const { status, body } = await request(`${method} /trpc/${path}`);
      expect(status).toBe(404);
      expect(body.error.json.code).toBe(-32004);
      expect(body.error.json.data).toEqual({ code: 'NOT_FOUND', httpStatus: 404 });
    }
  });

  it.each(['%', '%zz', '%f', '%ff', '%c3%28', '%ed%a0%80', 'system.health%'])(
    'with the broken encoding %s is not an address',
    async (path) => {
      const { status, headers, body } = await request(`GET /trpc/${path}`);
      expect(status).toBe(400);
      expect(body).toEqual(badRequest('Malformed URL'));
      expect(headers['x-request-id']).toMatch(UUID);
    },
  );

  it('may be nested and percent-encoded, and its address may be absolute', async () => {
    for (const target of [
      '/trpc/system.timezone.getTimezoneSettings',
      '/trpc/system%2Etimezone%2EgetTimezoneSettings',
      '/trpc/%73ystem.timezone.getTimezoneSettings?x=%',
      'http://gantry.test/trpc/system.timezone.getTimezoneSettings',
    ]) {
      expect((await request(`GET ${target}`)).status).toBe(200);
    }
  });
});

describe('an address outside of /trpc', () => {
  it.each(['GET /trpc', 'POST /trpc', 'GET //trpc/system.health', 'GET /TRPC/system.health', 'POST /live'])(
    '%s is answered like any other unknown address',
    async (line) => {
      const { status, headers, body } = await request(line);
      expect(status).toBe(404);
      expect(body.error.json.data).toEqual({ code: 'NOT_FOUND', httpStatus: 404 });
      expect(headers['x-request-id']).toMatch(UUID);
    },
  );
});

describe('the documents', () => {
  it.each([
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/', 'text/html; charset=utf-8'],
    ['/docs/start.js', 'text/javascript; charset=utf-8'],
    ['/docs/files/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/docs/files/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/docs/files/favicon-32x32.png', 'image/png'],
    ['/openapi.json', 'application/json; charset=utf-8'],
  ])('%s exists, however it is requested', async (path, type) => {
    for (const headers of [[], ['Range: bytes=99999999-'], ['If-Match: "x"'], ['If-None-Match: *']]) {
      const { status, headers: answered } = await request(`GET ${path}`, headers);
      expect(status).toBe(200);
      expect(answered['content-type']).toBe(type);
    }
  });

  it('load nothing from other hosts', async () => {
    const { body } = await request('GET /docs');
    expect(body).not.toMatch(/(?:src|href)="(?!\/)/);
    expect((await request('GET /openapi.json')).body.openapi).toBe('3.1.0');
  });

  it.each([
    '/docs/files/',
    '/docs/files/%00',
    '/docs/files/../package.json',
    '/docs/files/%2e%2e/%2e%2e/package.json',
    '/docs/files/..%2f..%2fpackage.json',
    '/docs/files/package.json',
    '/docs/files/.npmignore',
  ])('%s is not one of them', async (path) => {
    expect((await request(`GET ${path}`)).status).toBe(404);
  });
});

describe('the Host header', () => {
  it.each([
    ['is missing', ''],
    ['comes twice', 'Host: a\r\nHost: b\r\n'],
    ['comes twice in another case', 'host: a\r\nHOST: a\r\n'],
  ])('is refused when it %s', async (_, host) => {
    const answer = await last(`GET /trpc/system.health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    expect(answer?.status).toBe(400);
    expect(answer?.body).toEqual(badRequest('Send exactly one Host header'));
  });

  it('is not required in HTTP/1.0', async () => {
    expect((await last('GET /trpc/system.health HTTP/1.0\r\n\r\n'))?.status).toBe(200);
  });
});

describe('a request that is not HTTP', () => {
  const POST =
    'POST /trpc/auth.logout HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n';

  it.each([
    ['words', 'hello\r\n\r\n'],
    ['a TLS greeting', Buffer.from('16030100a5010000a10303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nFoo Bar\r\n\r\n'],
    ['a header with NUL', 'GET / HTTP/1.1\r\nHost: x\r\nFoo: a\0b\r\n\r\n'],
    ['a header that goes on in the next line', 'GET / HTTP/1.1\r\nHost: x\r\nFoo: a\n b: c\r\n\r\n'],
    ['lines without carriage returns', 'GET / HTTP/1.1\nHost: x\n\n'],
    ['an address with a blank', 'GET /trpc/a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}{}`],
    ['a length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n{}`],
    ['a length in words', `${POST}Content-Length: two\r\n\r\n{}`],
    ['a broken chunk', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['an encoding of the transfer that is not chunked', `${POST}Transfer-Encoding: identity\r\n\r\n{}`],
  ])('%s is refused with the common envelope', async (_, bytes) => {
    const answer = await last(bytes);
    expect(answer?.status).toBe(400);
    expect(answer?.body).toEqual(MALFORMED);
    expect(answer?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(UUID),
      connection: 'close',
    });
  });

  it.each([
    [
      'headers',
      (filler: string) => `GET /trpc/system.health HTTP/1.1\r\nHost: x\r\nX-Filler: ${filler}\r\n\r\n`,
    ],
    ['an address', (filler: string) => `GET /trpc/system.health?x=${filler} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('%s of 70 KB and of 10 MB are too large, and the client receives the answer', async (_, write) => {
    for (const size of [70_000, 10_000_000]) {
      const answer = await last(write('a'.repeat(size)));
      expect(answer?.status).toBe(413);
      expect(answer?.body.error.json).toEqual({
        message: 'The address or the headers are too long',
        code: -32013,
        data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 },
      });
    }
  });
});

describe('a connection', () => {
  const GET = 'GET /trpc/events.getEventTypes HTTP/1.1\r\nHost: x\r\n';
  const statuses = async (...pieces: string[]) =>
    (await sendRaw(gantry.url, ...pieces)).map(({ status }) => status);

  it('is kept open after every kind of answer', async () => {
    const post = (path: string, body: string) =>
      `POST /trpc/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const missing = 'GET /trpc/nothing HTTP/1.1\r\nHost: x\r\n\r\n';
    const answers = await statuses(
      `${GET}\r\n`,
      missing,
      post('sensors.create', '{}'),
      post('auth.login', '{'),
      `PUT /trpc/auth.me HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc`,
      `GET /trpc/%zz HTTP/1.1\r\nHost: x\r\n\r\n`,
      `${GET}Connection: close\r\n\r\n`,
    );
    expect(answers).toEqual([200, 404, 401, 400, 405, 400, 200]);
  });

  it('may carry several requests at once', async () => {
    expect(await statuses(`${GET}\r\n${GET}\r\n${GET}Connection: close\r\n\r\n`)).toEqual([200, 200, 200]);
  });

  it('may treat the service as a proxy', async () => {
    const request =
      'GET http://x/trpc/events.getEventTypes?input= HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await statuses(request)).toEqual([200]);
  });

  it('that waits for 100 Continue receives it', async () => {
    const head =
      'POST /trpc/auth.logout HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    expect(await statuses(head, '{}')).toEqual([100, 200]);
  });

  it('that offers to upgrade is answered normally, and serves the next request', async () => {
    // One after the other: node:http drops what it receives together with such a request.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const offers = { connection: 'Upgrade', upgrade: 'websocket' };
    const statusOf = async (headers: Record<string, string>) => {
      const sent = get(`${gantry.url}/trpc/system.health`, { agent, headers });
      const [answer] = await once(sent, 'response');
      await answer.toArray();
      return [answer.statusCode, sent.reusedSocket];
    };
    expect(await statusOf(offers)).toEqual([200, false]);
    expect(await statusOf({})).toEqual([200, true]);
    agent.destroy();
  });

  it('that expects something unknown is answered normally', async () => {
    expect(await statuses(`${GET}Connection: close\r\nExpect: miracles\r\n\r\n`)).toEqual([200]);
  });
});

describe('a connection that its client closes on its side after the request', () => {
  const halfClosed = async (request: string): Promise<string> => {
    const { hostname, port } = new URL(gantry.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    socket.end(request);
    await once(socket, 'close');
    return answer;
  };
  const body = '{"json":{"email":"nobody@example.org","password":"wrong-password-1"}}';

  it.each([
    ['a query', 'GET /trpc/system.health HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    ['a page', 'GET /live HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    ['a resource', 'GET /v1/sensors HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    ['a message of a device', 'POST /gateway/hikvision HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    [
      'a mutation, which takes a while',
      `POST /trpc/auth.login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      401,
    ],
  ])('is answered: %s', async (_, sent, status) => {
    expect(await halfClosed(sent)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('ends a stream, whose client has usually left', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const { hostname, port } = new URL(gantry.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.write(
      `GET /trpc/events.onIngested HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.resume();
    socket.end();
    await once(socket, 'close');
  });
});

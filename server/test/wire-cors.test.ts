import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { type RawAnswer, requestRaw } from './raw-http.ts';

// fetch does not allow these headers, so the requests are written by hand.
const gantry = await sharedGantry({
  config: {
    WEB_ORIGIN: 'https://gantry.example.org',
    PREVIEW_ORIGINS: 'https://*.preview.example.org, http://*.gantry.test:8080',
  },
});

const from = (origin: string, requestLine = 'GET /trpc/system.health', headers: string[] = [], body = '') =>
  requestRaw(gantry.url, requestLine, [`Origin: ${origin}`, ...headers], body);
const preflight = (origin: string, method = 'POST', path = '/trpc/sensors.create'): Promise<RawAnswer> =>
  from(origin, `OPTIONS ${path}`, [
    `Access-Control-Request-Method: ${method}`,
    'Access-Control-Request-Headers: authorization,content-type,x-trpc-source',
  ]);

const ALLOWED = [
  'https://gantry.example.org',
  'https://www.gantry.example.org',
  'https://pr-1.preview.example.org',
  'https://a.preview.example.org',
  'http://seven.gantry.test:8080',
  'http://localhost:3000',
];

const LOOK_ALIKES = [
  'https://gantry.example.org.evil.test',
  'https://evilgantry.example.org',
  'https://gantry.example.orgevil.test',
  'https://evil.test/https://gantry.example.org',
  'https://evil.test?https://gantry.example.org',
  'https://evil.test#https://gantry.example.org',
  'http://gantry.example.org',
  'https://gantry.example.org:444',
  'https://gantry.example.org:443',
  'https://gantry.example.org/',
  'https://gantry.example.org.',
  'https://GANTRY.example.org',
  'HTTPS://gantry.example.org',
  'https://user@gantry.example.org',
  'https://gantry.example.org@evil.test',
  'https://www.www.gantry.example.org',
  'https://example.org',
  'https://gantryXexample.org',
  'https://preview.example.org',
  'https://.preview.example.org',
  'https://a.b.preview.example.org',
  'https://-.preview.example.org',
  'https://evil.test/.preview.example.org',
  'https://evil.test%2f.preview.example.org',
  'https://a_b.preview.example.org',
  'https://a.previewXexample.org',
  'https://a.preview.example.org.evil.test',
  'http://a.preview.example.org',
  'evilhttps://a.preview.example.org',
  'https://evil.test https://a.preview.example.org',
  'http://seven.gantry.test',
  'http://gantry.test:8080',
  'http://localhost',
  'http://localhost:3001',
  'http://localhost:30000',
  'https://localhost:3000',
  'http://localhost:3000.evil.test',
  'http://www.localhost:3000',
  'null',
  'file://',
  '*',
  '',
  'undefined',
  'https://gantry.example.org https://evil.test',
  'https://gantry.example.org, https://evil.test',
];

describe('an allowed origin', () => {
  it.each(ALLOWED)('%s may read answers', async (origin) => {
    const { status, headers } = await from(origin);
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toMatch(/\bOrigin\b/);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it.each(ALLOWED)(
    '%s passes the preflight with the specified methods and headers, and the one that resumes a stream',
    async (origin) => {
      const { status, headers, body } = await preflight(origin);
      expect(status).toBe(204);
      expect(body).toBe('');
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, DELETE, OPTIONS');
      expect(headers['access-control-allow-headers']).toBe(
        'Content-Type, Authorization, x-trpc-source, Last-Event-ID',
      );
      expect(headers.vary).toMatch(/\bOrigin\b/);
    },
  );

  it('passes the preflight for any address', async () => {
    for (const [method, path] of [
      ['GET', '/trpc/events.getAll'],
      ['DELETE', '/trpc/nothing'],
      ['POST', '/trpc/auth.login,auth.logout?batch=1'],
      ['PATCH', '/'],
    ] as const) {
      expect((await preflight('http://localhost:3000', method, path)).status).toBe(204);
    }
  });

  it('may read every kind of error', async () => {
    const large = `Content-Length: ${11_000_000}`;
    const type = 'Content-Type: application/json';
    const answers = await Promise.all([
      from('http://localhost:3000', 'GET /trpc/auth.me'),
      from('http://localhost:3000', 'POST /trpc/sensors.create', [type, 'Content-Length: 1'], '{'),
      from('http://localhost:3000', 'GET /trpc/nothing'),
      from('http://localhost:3000', 'GET /nothing'),
      from('http://localhost:3000', 'GET /trpc/%zz'),
      from('http://localhost:3000', 'PUT /trpc/auth.me'),
      from('http://localhost:3000', 'POST /trpc/auth.login', [type, large], 'x'.repeat(11_000_000)),
      from(
        'http://localhost:3000',
        'POST /trpc/auth.login',
        ['Content-Type: text/plain', 'Content-Length: 1'],
        'x',
      ),
      from('http://localhost:3000', 'POST /trpc/auth.login', [type, 'Content-Length: 1'], '{'),
      from('http://localhost:3000', 'GET /trpc/auth.me,system.health?batch=1'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 404, 404, 400, 405, 413, 415, 400, 207]);
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe('http://localhost:3000');
      expect(headers.vary).toMatch(/\bOrigin\b/);
    }
  });

  it('may read an internal error and its id in the log', async () => {
    await gantry.pool.query('ALTER TABLE settings RENAME TO settings_away');
    const { status, headers } = await from('http://localhost:3000', 'GET /trpc/system.getLicense');
    await gantry.pool.query('ALTER TABLE settings_away RENAME TO settings');
    expect(status).toBe(500);
    expect(headers['access-control-allow-origin']).toBe('http://localhost:3000');
    expect(headers['access-control-expose-headers']).toBe('x-request-id, retry-after, x-gantry-ignored');
  });
});

describe('any other origin', () => {
  it.each(LOOK_ALIKES)('%j is answered, but may not read', async (origin) => {
    const { status, headers } = await from(origin);
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  it.each(LOOK_ALIKES)('%j does not pass the preflight', async (origin) => {
    const { headers } = await preflight(origin);
    for (const name of ['origin', 'methods', 'headers']) {
      expect(headers[`access-control-allow-${name}`]).toBeUndefined();
    }
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  it('gets no more when it is sent twice', async () => {
    const { headers } = await requestRaw(gantry.url, 'GET /trpc/system.health', [
      'Origin: https://evil.test',
      'Origin: http://localhost:3000',
    ]);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('a request without an origin', () => {
  it('requires no permission, and its answer declares that it varies by origin', async () => {
    const { status, headers } = await requestRaw(gantry.url, 'GET /trpc/system.health');
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });
});

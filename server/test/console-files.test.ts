import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../src/platform/config.ts';
import { version } from '../src/platform/installation.ts';
import { createApp } from '../src/programs/app.ts';
import { type Gantry, startGantry } from './harness.ts';
import { suiteLog } from './leaks.ts';

const INDEX = '<!doctype html><title>Console</title><div id="page"></div>';
const SCRIPT = `export const text = '${'a'.repeat(5_000)}';`;
const IMMUTABLE = 'public, max-age=31536000, immutable';
const CSP = [
  "default-src 'self'",
  "script-src 'self'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';');
/** The beginning of a PMTiles archive of so many bytes: its four parts follow one another. */
const tilesOf = (length: bigint): Buffer => {
  const header = Buffer.alloc(127);
  header.write('PMTiles\u0003', 'latin1');
  for (const [index, [offset, bytes]] of [
    [127n, 100n],
    [227n, 10n],
    [237n, 0n],
    [237n, length - 237n],
  ].entries()) {
    header.writeBigUInt64LE(offset ?? 0n, 8 + 16 * index);
    header.writeBigUInt64LE(bytes ?? 0n, 16 + 16 * index);
  }
  return header;
};
const TILES = Buffer.concat([tilesOf(4_096n), Buffer.alloc(4_096 - 127, 7)]);
const passwordCost = { memoryCost: 64, timeCost: 1, parallelism: 1 };

let scratch: string;
let folder: string;
let tiles: string;
let gantry: Gantry;
let bare: Gantry;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'gantry-console-'));
  // If this runs as root, PostgreSQL runs as another user, who must be able to pass through.
  await chmod(scratch, 0o711);
  folder = join(scratch, 'dist');
  tiles = join(scratch, 'my area.pmtiles');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(scratch, 'secret.txt'), 'secret');
  await writeFile(join(folder, '.env'), 'secret');
  await writeFile(join(folder, 'index.html'), INDEX);
  await writeFile(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, 'assets', 'page-5f3a.js'), SCRIPT);
  await writeFile(join(folder, 'assets', 'page-5f3a.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'assets', 'page-5f3a.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(folder, 'assets', 'plain-1.css'), 'p { margin: 0 }');
  await writeFile(join(folder, 'assets', 'large-1.bin'), Buffer.alloc(20_000_000, 1));
  await mkdir(join(folder, 'fonts', 'Noto Sans (100%)'), { recursive: true });
  await writeFile(join(folder, 'fonts', 'Noto Sans (100%)', '0-255.pbf'), 'glyphs');
  await writeFile(tiles, TILES);
  await writeFile(join(scratch, 'short.pmtiles'), TILES.subarray(0, 8));
  await writeFile(join(scratch, 'cut.pmtiles'), TILES.subarray(0, 4_000));
  await writeFile(
    join(scratch, 'vast.pmtiles'),
    Buffer.concat([tilesOf(9_000_000_000_000_000n), Buffer.alloc(3_969)]),
  );
  const overrides = { passwordCost, consoleFolder: folder };
  const config = { MAP_PMTILES: tiles, WEB_ORIGIN: 'https://gantry.example.org' };
  gantry = await startGantry({ overrides, config });
  bare = await startGantry({ overrides: { passwordCost, consoleFolder: join(scratch, 'none') } });
});
afterAll(async () => {
  await gantry?.stop();
  await bare?.stop();
  await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const page = (path: string, headers: Record<string, string> = {}, from = gantry) =>
  from.fetch(path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers } });

/** Requests exactly this path, without normalizing it, and does not decode the answer. */
const raw = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const { port } = new URL(gantry.url);
  const asked = request({ host: '127.0.0.1', port, path, method, headers });
  asked.end();
  const [answer] = await once(asked, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
};

const expectNothingThere = (answer: { status: number; headers: Headers; body: unknown }) => {
  expect(answer).toMatchObject({
    status: 404,
    body: {
      error: {
        json: { data: { code: 'NOT_FOUND' }, message: expect.stringMatching(/^There is nothing at/) },
      },
    },
  });
  expect(answer.headers.get('cache-control')).not.toContain('max-age');
};

describe('a page of the console', () => {
  it.each<Record<string, string>>([{ accept: '*/*' }, { accept: 'text/*' }, {}])(
    'at the address of the service itself is what tools get that accept %j, and nothing elsewhere',
    async (headers) => {
      const { status, headers: sent } = await raw('/', headers);
      expect(status).toBe(200);
      expect(sent['content-type']).toBe('text/html; charset=utf-8');
      expect((await raw('/?from=mail', headers)).status).toBe(200);
      expect((await raw('/sensor', headers)).status).toBe(404);
    },
  );

  it('is not what a program gets that accepts only JSON', async () => {
    expect((await raw('/', { accept: 'application/json' })).status).toBe(404);
  });

  it.each([
    '/',
    '/events',
    '/incidents/0197d1a0-0000-7000-8000-000000000000',
    '/sign-in?next=%2Fevents%3Fplate%3DB.7',
    '/a/b.c/d',
    '/docs-of-ours',
    '//events',
  ])('%s is answered with index.html, which browsers revalidate each time', async (path) => {
    const { status, headers, body } = await page(path);
    expect([status, body]).toEqual([200, INDEX]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
    const tag = headers.get('etag') ?? '';
    const again = await raw(path, { accept: 'text/html', 'if-none-match': tag });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag]);
    const head = await raw(path, { accept: 'text/html' }, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(INDEX.length));
  });

  it('allows only content of the service itself, with and without TLS', async () => {
    for (const path of ['/', '/events', '/assets/page-5f3a.js', '/favicon.svg']) {
      const { headers } = await page(path);
      expect([path, headers.get('content-security-policy')]).toEqual([path, CSP]);
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('strict-transport-security')).toBeNull();
      expect(headers.get('x-request-id')).toBeTruthy();
    }
  });

  it('is returned to clients that accept HTML, for addresses without a dot', async () => {
    for (const accept of ['*/*', 'application/json', '']) {
      expectNothingThere(await gantry.fetch('/events', { headers: { accept } }));
    }
    expectNothingThere(await page('/events.json'));
    expectNothingThere(await page('/events/robots.txt'));
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expectNothingThere(await gantry.fetch('/events', { method, headers: { accept: 'text/html' } }));
    }
  });

  it('is read again after the console was rebuilt', async () => {
    const path = join(folder, 'index.html');
    const newer = INDEX.replace('Console', 'Console 2');
    await writeFile(path, newer);
    expect((await page('/events')).body).toBe(newer);
    await writeFile(path, INDEX);
    await utimes(path, new Date(), new Date());
    expect((await page('/')).body).toBe(INDEX);
  });
});

describe('a file of the console', () => {
  it('under /assets may be cached forever', async () => {
    const { status, headers, body } = await raw('/assets/page-5f3a.js');
    expect([status, String(body)]).toEqual([200, SCRIPT]);
    expect(headers).toMatchObject({
      'cache-control': IMMUTABLE,
      'content-type': expect.stringMatching(/^(application|text)\/javascript/),
      vary: 'Origin, Accept-Encoding',
      etag: expect.any(String),
    });
    const head = await raw('/assets/page-5f3a.js', {}, 'HEAD');
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
      200,
      0,
      String(SCRIPT.length),
    ]);
  });

  it('elsewhere must be revalidated', async () => {
    const { status, headers } = await raw('/favicon.svg');
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/svg+xml',
      'no-cache',
    ]);
  });

  it('may have any name', async () => {
    const { status, body } = await raw('/fonts/Noto%20Sans%20(100%25)/0-255.pbf');
    expect([status, String(body)]).toEqual([200, 'glyphs']);
  });

  it('is sent compressed if a compressed file exists and the client accepts it', async () => {
    const ask = (encodings: string) => raw('/assets/page-5f3a.js', { 'accept-encoding': encodings });
    const brotli = await ask('gzip, deflate, br');
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotli.headers['content-type']).toMatch(/javascript/);
    expect(brotli.headers['cache-control']).toBe(IMMUTABLE);
    expect(brotli.body.length).toBe((await stat(join(folder, 'assets', 'page-5f3a.js.br'))).size);
    const gzip = await ask('gzip');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(String(gunzipSync(gzip.body))).toBe(SCRIPT);
    const tags = new Set([brotli.headers.etag, gzip.headers.etag, (await ask('identity')).headers.etag]);
    expect(tags.size).toBe(3);
    const plain = await raw('/assets/plain-1.css', { 'accept-encoding': 'gzip, br' });
    expect([plain.headers['content-encoding'], String(plain.body)]).toEqual([undefined, 'p { margin: 0 }']);
  });

  it('is sent in part on request', async () => {
    const { status, headers, body } = await raw('/assets/plain-1.css', { range: 'bytes=2-4' });
    expect([status, headers['content-range'], String(body)]).toEqual([206, 'bytes 2-4/15', '{ m']);
    const beyond = await raw('/assets/plain-1.css', { range: 'bytes=15-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */15']);
    expect((await raw('/favicon.svg', { 'if-match': '"another"' })).status).toBe(412);
  });

  it('that does not exist is not answered with the page, and the answer may not be cached', async () => {
    for (const path of ['/assets/gone-1.js', '/assets/', '/assets', '/assets/folder', '/gone.js']) {
      const answer = await page(path);
      if (path === '/assets') expect(answer.body).toBe(INDEX);
      else expectNothingThere(answer);
    }
  });

  it.each([
    '/assets/..%2f..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/..%2fsecret.txt',
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets/%2e%2e%2fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets//../../secret.txt',
    '/assets/%00.js',
    '/.env',
    '/assets/.env',
    '/assets/page-5f3a.js/',
    '/assets/page-5f3a.js%2f',
    '/assets/%c0%ae%c0%ae/secret.txt',
  ])('is never one outside the folder: %s', async (path) => {
    const { status, headers, body } = await raw(path, { accept: 'text/html' });
    expect([400, 404]).toContain(status);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(String(body)).not.toBe('secret');
  });

  it('is sent completely by a service that is stopping', async () => {
    const other = await startGantry({ overrides: { passwordCost, consoleFolder: folder } });
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /assets/large-1.bin HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    const [first] = await once(socket, 'data');
    socket.pause();
    const stopped = other.stop();
    let bytes = (first as Buffer).length - (first as Buffer).indexOf('\r\n\r\n') - 4;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(bytes).toBe(20_000_000);
    await stopped;
  });
});

describe('everything else that the service serves', () => {
  it('is the same as without a console', async () => {
    const off = await startGantry({ config: { CONSOLE: 'false' } });
    try {
      for (const path of ['/', '/events', '/assets/page-5f3a.js']) {
        expectNothingThere(await page(path, {}, off));
      }
      const paths = [
        '/docs',
        '/docs/start.js',
        '/openapi.json',
        '/live',
        '/ready',
        '/images/x',
        '/reports/x/file',
      ];
      for (const path of [...paths, '/trpc/system.getLicense', '/trpc/nothing']) {
        const [with_, without] = [await page(path), await page(path, {}, off)];
        expect([path, with_.status, with_.body]).toEqual([path, without.status, without.body]);
        const names = (headers: Headers) => [...headers.keys()].sort();
        expect([path, names(with_.headers)]).toEqual([path, names(without.headers)]);
      }
      expect((await off.fetch('/console.json')).body).toEqual({ mapTiles: false, roads: null, version });
    } finally {
      await off.stop();
    }
  });

  it('has the same CORS headers as before', async () => {
    const origin = 'https://gantry.example.org';
    const preflight = await gantry.fetch('/trpc/events.getAll', { method: 'OPTIONS', headers: { origin } });
    expect(preflight.status).toBe(204);
    const { headers } = await gantry.fetch('/console.json', { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(
      (await page('/', { origin: 'https://evil.example.org' })).headers.get('access-control-allow-origin'),
    ).toBeNull();
  });

  it('works without a built console', async () => {
    const { status, headers, body } = await page('/', {}, bare);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('content-security-policy')).toBe(CSP);
    expect(body).toContain('npm run build:console');
    expectNothingThere(await page('/assets/page-5f3a.js', {}, bare));
    expectNothingThere(await bare.fetch('/events'));
  });
});

describe('the tiles of the map', () => {
  const ask = (headers: Record<string, string> = {}, method = 'GET') =>
    raw('/map/area.pmtiles', headers, method);

  it('are served completely and in parts, without a login', async () => {
    const { status, headers, body } = await ask();
    expect([status, body.equals(TILES)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=3600',
      etag: expect.any(String),
    });
    const part = await ask({ range: 'bytes=0-7', 'accept-encoding': 'gzip, br' });
    expect([part.status, String(part.body), part.headers['content-range']]).toEqual([
      206,
      'PMTiles\u0003',
      `bytes 0-7/${TILES.length}`,
    ]);
    const last = await ask({ range: 'bytes=-8' });
    expect([last.status, last.body.length]).toEqual([206, 8]);
    const beyond = await ask({ range: `bytes=${TILES.length}-` });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${TILES.length}`]);
    expect((await ask({ 'if-none-match': String(headers.etag) })).status).toBe(304);
    expect(await ask({}, 'HEAD')).toMatchObject({ status: 200, headers: { 'content-length': '4096' } });
    expect((await gantry.fetch('/console.json')).body).toEqual({ mapTiles: true, roads: null, version });
    expect((await gantry.fetch('/console.json')).headers.get('cache-control')).toBe('no-cache');
  });

  it('are not served unless they are configured', async () => {
    expectNothingThere(await page('/map/area.pmtiles', {}, bare));
  });

  it.each([
    ['none.pmtiles', /none\.pmtiles cannot be read: set it to a \.pmtiles file, or unset it/],
    ['dist', /dist cannot be read/],
    ['secret.txt', /secret\.txt is not a PMTiles archive of version 3/],
    ['short.pmtiles', /short\.pmtiles is incomplete: it has 8 of 127 bytes/],
    ['cut.pmtiles', /cut\.pmtiles is incomplete: it has 4000 of 4096 bytes\. Copy it again/],
    ['vast.pmtiles', /vast\.pmtiles is incomplete: it has 4096 of 9000000000000000 bytes/],
  ])('that cannot be served end the start: %s', async (name, message) => {
    const config = readConfig({
      MAP_PMTILES: join(scratch, name),
      DATABASE_URL: 'postgres://127.0.0.1:1/x',
      PORT: '0',
    });
    await expect(createApp(config, suiteLog())).rejects.toThrow(message);
  });
});

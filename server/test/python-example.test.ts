import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../src/platform/config.ts';
import { type Gantry, startGantry } from './harness.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../examples/python/report_events.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

let gantry: Gantry;

/**
 * A proxy that loses the answers to the first requests with events: it closes the connection, answers with an HTML
 * page, or sends only the beginning of the answer.
 */
const startUnreliableProxy = async () => {
  const faults = ['close', 'pass', 'page', 'pass', 'cut', 'pass'];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const answer = await fetch(`${gantry.url}${request.url}`, {
      method: 'POST',
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      body,
    });
    const text = await answer.text();
    const fault = request.url === '/v1/events' ? faults.shift() : 'pass';
    if (fault === 'close') request.socket.destroy();
    else if (fault === 'page') response.writeHead(502).end('<h1>Bad Gateway</h1>');
    else if (fault === 'cut') {
      response.writeHead(answer.status, { 'content-length': text.length });
      response.write(text.slice(0, 10), () => request.socket.destroy());
    } else response.writeHead(answer.status).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
};

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.stop());

it('the examples call the port on which the service listens by default', () => {
  const page = fileURLToPath(new URL('../../docs/api.md', import.meta.url));
  for (const file of [program, page]) {
    const ports = [...readFileSync(file, 'utf8').matchAll(/localhost:(\d+)/g)].map(([, port]) =>
      Number(port),
    );
    expect(new Set(ports)).toEqual(new Set([readConfig({}).PORT]));
  }
});

describe.runIf(hasPython)('the example in Python', () => {
  const start = (environment: Record<string, string>) =>
    run('python3', [program], {
      env: { PATH: process.env.PATH, GANTRY_URL: gantry.url, ...environment } as NodeJS.ProcessEnv,
    });

  it('reports events, and reads them back', async () => {
    const key = await gantry.registerSensor();
    const { stdout } = await start({ GANTRY_KEY: key, GANTRY_TOKEN: await gantry.tokenFor('ADMIN') });
    expect(stdout.split('\n')).toEqual([
      'status: ONLINE',
      expect.stringMatching(/^event: [0-9a-f-]{36} stored once: True$/),
      'batch: 3 of 3 stored',
      'refused: BAD_REQUEST eventType',
      'found: 1 True',
      '',
    ]);
  });

  it('repeats events whose answer did not arrive, and stores each once', async () => {
    await using proxy = await startUnreliableProxy();
    const key = await gantry.registerSensor();
    const token = await gantry.tokenFor('ADMIN');
    const before = (await gantry.ok('events.getStats', {}, { token })).total;
    const { stdout } = await start({ GANTRY_URL: proxy.url, GANTRY_KEY: key });
    expect(stdout).toMatch(/stored once: True\nbatch: 3 of 3 stored\nrefused: BAD_REQUEST eventType\n$/);
    expect((await gantry.ok('events.getStats', {}, { token })).total).toBe(before + 4);
  });

  it('explains what is missing or refused', async () => {
    const stderr = (environment: Record<string, string>) =>
      start(environment).then(
        () => '',
        (error: { stderr: string }) => error.stderr,
      );
    expect(await stderr({})).toBe('Set GANTRY_KEY in the environment\n');
    expect(await stderr({ GANTRY_KEY: 'f'.repeat(64) })).toBe('401 Unauthorized: Invalid API key\n');
  });
});

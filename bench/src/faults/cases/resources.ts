import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { percentile } from '../../percentile.ts';
import type { Destination } from '../devices.ts';
import type { Fault } from '../fault.ts';

function portOf(url: string): number {
  return Number(new URL(url).port);
}

async function openSocket(url: string): Promise<Socket | null> {
  const socket = connect(portOf(url), '127.0.0.1');
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return null;
  }
}

/** Makes sequential calls for `ms` milliseconds, as a well-behaved client. @returns their durations in milliseconds, ascending */
async function timeCalls({ url }: Destination, token: string | null, ms: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const start = performance.now();
    const response = await fetch(`${url}/trpc/events.getRecent`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(35_000),
    });
    await response.text();
    times.push(performance.now() - start);
    await sleep(10);
  }
  return times.sort((a, b) => a - b);
}

/** Opens connections that send the text `first` and then one character every two seconds until they are closed. */
async function dawdle(url: string, count: number, first: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n++) {
    const socket = await openSocket(url);
    if (!socket) continue;
    socket.write(first);
    const timer = setInterval(() => socket.writable && socket.write('x'), 2_000);
    socket.on('close', () => clearInterval(timer));
    sockets.push(socket);
  }
  return sockets;
}

export const resources: readonly Fault[] = [
  {
    name: 'few-files',
    title: 'too few file descriptors: 220, and 400 connections that want one',
    recoversWithin: 10,
    isQuick: false,
    obstacle: async () =>
      promisify(execFile)('prlimit', ['--version']).then(
        () => null,
        () => 'prlimit is not installed',
      ),
    async run({ target }) {
      const { pid } = target;
      const limit = (files: number) =>
        promisify(execFile)('prlimit', ['--pid', String(pid), `--nofile=${files}:4096`]);
      await limit(220);
      const sockets = await Promise.all(Array.from({ length: 400 }, () => openSocket(target.url)));
      await sleep(5_000);
      for (const socket of sockets) socket?.destroy();
      await limit(4096);
    },
  },
  {
    name: 'little-memory',
    title:
      'a heap of 80 MB and large bodies, until the process dies or refuses; a supervisor starts it again',
    recoversWithin: 10,
    isQuick: false,
    options: { nodeArguments: ['--max-old-space-size=80'] },
    async run({ target, destination }) {
      const until = performance.now() + 10_000;
      const events = Array.from({ length: 400 }, () => ({
        eventType: 'VEHICLE_DETECTION',
        metadata: { filler: Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(40)}`) },
      }));
      const body = JSON.stringify({ json: { apiKey: destination.apiKeys[0], events } });
      const flood = async (): Promise<void> => {
        while (performance.now() < until) {
          const headers = { 'content-type': 'application/json' };
          const signal = AbortSignal.timeout(20_000);
          await fetch(`${target.url}/trpc/events.ingestBatch`, { method: 'POST', headers, body, signal })
            .then((response) => response.text())
            .catch(() => sleep(200));
        }
      };
      const flooding = Promise.all(Array.from({ length: 12 }, flood));
      while (performance.now() < until) {
        // Under this load, the service may end again before it is ready; a supervisor would retry.
        if (target.pid === null) await target.start().catch(() => undefined);
        await sleep(100);
      }
      await flooding;
      if (target.pid === null) await target.start();
    },
  },
  {
    name: 'slow-sockets',
    title: '200 slow sockets (headers, bodies, readers) beside good callers',
    recoversWithin: 10,
    isQuick: false,
    async run({ target, destination, client, breach }) {
      const baseline = percentile(await timeCalls(destination, client.token, 5_000), 0.99);
      const slow = (
        await Promise.all([
          dawdle(target.url, 70, 'GET /trpc/system.health HTTP/1.1\r\nhost: a\r\nx-slow: '),
          dawdle(
            target.url,
            70,
            'POST /trpc/events.ingest HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n{"json":',
          ),
          dawdle(
            target.url,
            60,
            `GET /trpc/events.getAll?input=${encodeURIComponent('{"json":{"take":100}}')} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${client.token}\r\n\r\n`,
          ),
        ])
      ).flat();
      for (const socket of slow.slice(140)) socket.pause();
      const beside = percentile(await timeCalls(destination, client.token, 8_000), 0.99);
      for (const socket of slow) socket.destroy();
      // Below 50 ms, durations vary as much without slow clients.
      if (beside > Math.max(2 * baseline, 50))
        breach(
          `p99 of good callers was ${beside.toFixed(0)} ms beside slow sockets, ${baseline.toFixed(0)} ms before`,
        );
    },
  },
];

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportEvents } from '../src/operations/transfer/export.ts';
import { importEvents } from '../src/operations/transfer/import.ts';
import { readLines } from '../src/operations/transfer/read-lines.ts';
import type { Database } from '../src/platform/database/pool.ts';
import { startGantry } from './harness.ts';

async function read(bytes: Buffer, chunk: number) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
    bytes.subarray(n * chunk, (n + 1) * chunk),
  );
  return Readable.from(readLines(Readable.from(chunks), 'jsonl')).toArray();
}

describe('a file of events as JSON lines', () => {
  const event = { deviceId: 'mast-1', description: 'Ring – Süd\u2028first floor\u2029🚗' };
  const line = JSON.stringify(event);

  it.each([1, 3, 1_000])('is read in parts of %s bytes', async (chunk) => {
    expect(await read(Buffer.from(`${line}\n\n${line}\r\n{\n${line}`), chunk)).toEqual([
      { line: 1, event },
      { line: 3, event },
      { line: 4, flaw: 'it is not JSON' },
      { line: 5, event },
    ]);
    expect(await read(Buffer.from('\n'), chunk)).toEqual([]);
  });

  it('may begin with a byte order mark', async () => {
    expect(await read(Buffer.from(`\uFEFF${line}\n`), 1)).toEqual([{ line: 1, event }]);
  });
});

describe('a file of events as CSV', () => {
  it('has numbers for speeds, and does not import other texts as events without a speed', async () => {
    const speeds = ['63.5', ' 7', '1e-7', '"63,5"', 'fast', ' ', '0x3F', ''];
    const csv = `deviceId,vehicleSpeed\n${speeds.map((speed) => `mast-1,${speed}\n`).join('')}`;
    const lines = await Readable.from(readLines(Readable.from([Buffer.from(csv)]), 'csv')).toArray();
    const deviceId = 'mast-1';
    expect(lines).toEqual([
      { line: 2, event: { deviceId, vehicleSpeed: 63.5 } },
      { line: 3, event: { deviceId, vehicleSpeed: 7 } },
      { line: 4, event: { deviceId, vehicleSpeed: 1e-7 } },
      { line: 5, flaw: 'vehicleSpeed is not a number such as 63.5: 63,5' },
      { line: 6, flaw: 'vehicleSpeed is not a number such as 63.5: fast' },
      { line: 7, flaw: 'vehicleSpeed is not a number such as 63.5:  ' },
      { line: 8, flaw: 'vehicleSpeed is not a number such as 63.5: 0x3F' },
      { line: 9, event: { deviceId } },
    ]);
  });
});

describe('an export as CSV', () => {
  it('has no part of a text within JSON that a spreadsheet treats as a formula, and can be read again', async () => {
    const row = {
      id: '019b76da-a800-7000-8000-000000000001',
      deviceId: 'mast-1',
      location: { latitude: -1, longitude: 2, address: 'Ring 1;=1+1' },
      metadata: { note: 'a;@SUM(A1)', deep: [['b;+1', '-1', "c;'=1"]] },
      images: ['frames/1;=1'],
      tags: ['x;=HYPERLINK("http://x","y")'],
      direction: '22.5',
      lane: '=1',
      vehicle_class: 'TLS8+1:PKW',
      vehicle_length: 4.5,
      headway: 2.35,
      gap: null,
      occupancy_ms: 310,
      movement: 'N:L',
      passage_id: 'a1',
      plate_region: 'US-CA',
      plate_confidence: 97,
      created_at: '2026-01-01T00:00:00.000Z',
    };
    const db = { execute: async () => ({ rows: [row] }) } as unknown as Database;
    const to = new PassThrough();
    const written = text(to);
    const filters = { from: null, until: null, eventTypes: [], deviceIds: [] };
    expect(await exportEvents(db, filters, 'csv', to)).toBe(1);
    const csv = await written;
    expect(csv).toContain("x;'=HYPERLINK");
    expect(csv).not.toMatch(/;[=+@-]/);
    const lines = await Readable.from(readLines(Readable.from([Buffer.from(csv)]), 'csv')).toArray();
    const { location, metadata, images, tags } = row;
    const passage = {
      direction: 22.5,
      lane: '=1',
      vehicleClass: { scheme: 'TLS8+1', code: 'PKW' },
      vehicleLength: 4.5,
      headway: 2.35,
      occupancyMs: 310,
      movement: { from: 'N', turn: 'L' },
      passageId: 'a1',
      plateRegion: 'US-CA',
      plateConfidence: 97,
    };
    expect(lines).toMatchObject([{ event: { location, metadata, images, tags, ...passage } }]);
  });
});

describe('an export of large events', () => {
  it('reads few of them at once, and writes each once in the order of time', async () => {
    await using gantry = await startGantry();
    const apiKey = await gantry.registerSensor();
    // Random, so that PostgreSQL cannot compress it.
    const kilobytes = [300, 400, 500, 1_500, ...Array.from({ length: 20 }, () => 300), 1, 1];
    const sent: string[] = [];
    for (const [n, size] of kilobytes.entries()) {
      const metadata = { random: randomBytes(size * 750).toString('base64') };
      sent.push(
        await gantry.ingest(apiKey, { metadata, timestamp: new Date(Date.now() - 60_000 + n).toISOString() }),
      );
    }
    const { db } = gantry.app.context;
    const read: number[] = [];
    const counting = new Proxy(db, {
      get: (target, key) =>
        key !== 'execute'
          ? Reflect.get(target, key)
          : async (query: Parameters<Database['execute']>[0]) => {
              const result = await target.execute(query);
              read.push(JSON.stringify(result.rows).length);
              return result;
            },
    });
    const to = new PassThrough();
    const written = text(to);
    const filters = { from: null, until: null, eventTypes: [], deviceIds: [] };
    expect(await exportEvents(counting, filters, 'jsonl', to)).toBe(sent.length);
    const lines = (await written).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(sent);
    expect(Math.max(...read)).toBeLessThan(1_600_000);
  });
});

describe('an import', () => {
  type Batch = { apiKey: string; events: { timestamp: string }[] };
  const batches: Batch[] = [];
  /** What the service does with the next batches instead of storing them; undefined: it stores one. */
  const instead: (((response: ServerResponse) => void) | undefined)[] = [];
  const service = createServer(async (request, response) => {
    const { json: batch } = (await json(request)) as { json: Batch };
    const fail = instead.shift();
    if (fail) return fail(response);
    batches.push(batch);
    const results = batch.events.map(() => ({ eventId: 'stored', duplicate: false }));
    response.end(JSON.stringify({ result: { data: { json: { results } } } }));
  });
  beforeAll(async () => {
    await once(service.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => {
    batches.length = 0;
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
  });

  const importAll = (events: readonly Record<string, unknown>[]) =>
    importEvents({
      lines: Readable.from(events.map((event, at) => ({ line: at + 1, event }))),
      url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      apiKeys: new Map([0, 1, 2].map((n) => [`mast-${n}`, `key-${n}`])),
      deviceId: null,
      findExisting: async () => new Set(),
      onFailure: (line, reason) => expect.fail(`line ${line}: ${reason}`),
    });
  const timeAt = (n: number): string => new Date(Date.UTC(2026, 1, 1) + n).toISOString();

  it('sends the events of each sensor together and in order, although sensors alternate', async () => {
    const events = Array.from({ length: 2_000 }, (_, n) => ({
      deviceId: `mast-${n % 3}`,
      timestamp: timeAt(n),
    }));
    expect(await importAll(events)).toEqual({ stored: 2_000, known: 0, failed: 0 });
    expect(batches.map((batch) => [batch.apiKey, batch.events.length])).toEqual([
      ['key-0', 500],
      ['key-1', 500],
      ['key-2', 500],
      ['key-0', 167],
      ['key-1', 167],
      ['key-2', 166],
    ]);
    for (const n of [0, 1, 2]) {
      const sent = batches.filter(({ apiKey }) => apiKey === `key-${n}`).flatMap((batch) => batch.events);
      const own = events.filter(({ deviceId }) => deviceId === `mast-${n}`);
      expect(sent.map(({ timestamp }) => timestamp)).toEqual(own.map(({ timestamp }) => timestamp));
    }
  });

  it('goes on when the service does not answer for a moment, and waits for as long as it asks', async () => {
    const date = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toUTCString();
    let askedAt = 0;
    instead.push(
      undefined,
      (response) => response.destroy(),
      (response) => {
        askedAt = performance.now();
        response.writeHead(503, { date: date(0), 'retry-after': date(2) }).end();
      },
    );
    const events = [0, 1].map((n) => ({ deviceId: `mast-${n}`, timestamp: timeAt(n) }));
    expect(await importAll(events)).toEqual({ stored: 2, known: 0, failed: 0 });
    expect(performance.now() - askedAt).toBeGreaterThan(1_900);
    expect(batches.map(({ apiKey }) => apiKey)).toEqual(['key-0', 'key-1']);
  });

  it('ends at once when the service has never answered', async () => {
    instead.push((response) => response.destroy());
    await expect(importAll([{ deviceId: 'mast-0', timestamp: timeAt(0) }])).rejects.toThrow(
      /cannot be reached: start it, or give its address with --url$/,
    );
  });

  it('sends no more at once than the service takes, whatever the script', async () => {
    const description = '速'.repeat(1_000_000);
    const events = [1, 2, 3].map((n) => ({ deviceId: 'mast-0', timestamp: timeAt(n), description }));
    await importAll([...events, { ...events[0], timestamp: timeAt(4), description: description.repeat(3) }]);
    expect(batches.map((batch) => batch.events.length)).toEqual([1, 1, 1, 1]);
  });
});

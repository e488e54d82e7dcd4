import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programPath } from '../../../server/test/build-programs.ts';
import { type OwnDatabase, startOwnDatabase } from '../../../server/test/processes/own-database.ts';
import { isLong, lengthOf } from '../../../server/test/test-length.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

const bench = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [programPath('bench'), ...args],
      { cwd: ROOT, timeout: 600_000 },
      (error, output, errors) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
      },
    );
  });

/** For benchmarks that take most of a minute of processor time, which are tested in long runs only. */
const inLongRun = it.runIf(isLong);

describe('the benchmarks from the command line', () => {
  // A server whose commits wait for the disk, because the benchmarks refuse others.
  let server: OwnDatabase;
  beforeAll(async () => {
    server = await startOwnDatabase();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  inLongRun('measure ingestion, with a database of their own', { timeout: 180_000 }, async () => {
    const few = ['--seconds', '1', '--warmup', '0.05', '--rounds', '1', '--connections', '4'];
    // For each number of workers, the service is started once.
    const workers = [1, 2];
    const load = ['--batch-connections', '2', '--workers', workers.join()];
    const { code, output, errors } = await bench('ingest', ...few, ...load, '--json');
    expect(code, errors).toBe(0);
    const { data, machine } = JSON.parse(output);
    expect(machine).toMatchObject({ node: process.version, postgresql: expect.stringMatching(/^\d+/) });
    expect(data.measurements).toMatchObject([
      { contestant: 'floor', workers: null },
      { contestant: 'stock', workers: null },
      { contestant: 'insert', workers: null },
      ...workers.flatMap((n) => [
        { contestant: 'single', workers: n },
        { contestant: 'batch', workers: n },
      ]),
    ]);
    for (const {
      requestsPerSecond,
      p50,
      p99,
      memory,
      nodeMicros,
      generatorMicros,
      idle,
    } of data.measurements) {
      expect(Math.min(requestsPerSecond, p50, memory, generatorMicros)).toBeGreaterThan(0);
      if (process.platform === 'linux') {
        expect(nodeMicros).toBeGreaterThan(0);
        expect(idle).toBeLessThan(1);
      }
      expect(p99).toBeGreaterThanOrEqual(p50);
    }
    const [, , , single, batch] = data.measurements;
    expect(single.groupSize).toBeGreaterThanOrEqual(1);
    expect(batch.eventsPerSecond).toBeCloseTo(batch.requestsPerSecond * 100);
    expect(data.verdicts).toHaveLength(6);
  });

  inLongRun(
    'send messages of cameras through gateways, each of which becomes an event',
    {
      timeout: 180_000,
    },
    async () => {
      const few = ['--seconds', '1', '--warmup', '0', '--rounds', '1', '--connections', '4'];
      const cameras = ['--cameras', '3', '--minutes', '0.03', '--every', '0.9', '--image', '20'];
      const { code, output, errors } = await bench(
        'gateways',
        ...few,
        ...cameras,
        '--database-url',
        server.url,
        '--json',
      );
      expect(code, errors).toBe(0);
      const { data } = JSON.parse(output);
      expect(data.measurements.map(({ way }: { way: string }) => way)).toEqual([
        'floor',
        'ingest',
        'beside',
        'platerecognizer',
        'same',
        'hikvision',
        'base64',
      ]);
      for (const { acknowledged, storedPerSecond, nodeMicros, p50, p99 } of data.measurements) {
        expect(Math.min(acknowledged, storedPerSecond, nodeMicros, p50)).toBeGreaterThan(0);
        expect(p99).toBeGreaterThanOrEqual(p50);
      }
      const measured = (wanted: string) =>
        data.measurements.find(({ way }: { way: string }) => way === wanted);
      const peers = {
        beside: 'ingest',
        platerecognizer: 'ingest',
        same: 'floor',
        hikvision: 'floor',
        base64: 'floor',
      };
      expect(data.ratios.map(({ way }: { way: string }) => way)).toEqual(Object.keys(peers));
      for (const [at, [way, peer]] of Object.entries(peers).entries()) {
        const { median, p99 } = data.ratios[at];
        expect(median).toBeCloseTo(measured(way).answeredPerSecond / measured(peer).answeredPerSecond);
        expect(p99).toBeCloseTo(measured(way).p99 / measured(peer).p99);
      }
      // What the disk receives is what the camera sent, and little more.
      for (const way of ['hikvision', 'base64']) expect(measured(way).writtenPerByte).toBeGreaterThan(0.9);
      expect(data.samples).toHaveLength(2);
      expect(data.images).toBeGreaterThan(0);
      for (const { memory, heap } of data.samples) expect(memory).toBeGreaterThan(heap);
    },
  );

  inLongRun(
    'measure what hotlists and rules cost, and when hits are seen',
    { timeout: 300_000 },
    async () => {
      const few = ['--seconds', '2', '--warmup', '0.05', '--rounds', '2', '--connections', '4'];
      const lists = ['--hotlists', '20000', '--rules', '20', '--hits', '5', '--rate', '100'];
      const { code, output, errors } = await bench(
        'ingest',
        ...few,
        ...lists,
        '--database-url',
        server.url,
        '--json',
      );
      expect(code, errors).toBe(0);
      const { data } = JSON.parse(output);
      const order = data.measurements.map(
        ({ contestant, isListed }: { contestant: string; isListed: boolean }) => `${contestant} ${isListed}`,
      );
      expect(order.slice(0, 4)).toEqual(['single false', 'single true', 'batch false', 'batch true']);
      expect(order.slice(4)).toEqual(['single true', 'single false', 'batch true', 'batch false']);
      expect(data.verdicts).toHaveLength(6);
      for (const { median } of data.verdicts) expect(Number.isFinite(median)).toBe(true);
      // Five per cent of two seconds.
      expect(data.seen.count).toBeGreaterThanOrEqual(9);
      expect(data.seen.p99).toBeGreaterThanOrEqual(data.seen.p50);
    },
  );

  inLongRun('keep a constant load, on a given server', { timeout: 180_000 }, async () => {
    // Without --rate, it determines its rate first.
    const short = ['--soak', '0.1', '--every', '2', ...(isLong ? [] : ['--rate', '200'])];
    const { code, output, errors } = await bench('ingest', ...short, '--database-url', server.url, '--json');
    expect(code, errors).toBe(0);
    const { data } = JSON.parse(output);
    expect(data.samples).toHaveLength(3);
    expect(data.stored).toBeGreaterThan(1000);
    for (const { eventsPerSecond } of data.samples) expect(eventsPerSecond).toBeGreaterThan(100);
  });

  inLongRun('generate reports under a constant load', { timeout: 180_000 }, async () => {
    const little = [
      '--events',
      String(lengthOf({ gate: 200, full: 2_000 })),
      '--rate',
      '100',
      '--seconds',
      '1',
      '--rounds',
      '1',
    ];
    const { code, output, errors } = await bench(
      'reports',
      ...little,
      '--database-url',
      server.url,
      '--json',
    );
    expect(code, errors).toBe(0);
    const { data } = JSON.parse(output);
    const [without, withReports] = data.phases;
    expect([without.reports, without.rows]).toEqual([0, 0]);
    expect(Math.min(withReports.reports, withReports.rows)).toBeGreaterThan(0);
    expect(data.kept).toBeCloseTo(withReports.eventsPerSecond / without.eventsPerSecond);
  });

  inLongRun(
    'query histories of several sizes, with answers that plain SQL confirms',
    {
      timeout: 1_200_000,
    },
    async () => {
      const sizes = [3_000, 20_000];
      const small = ['--sizes', sizes.join(), '--sensors', '200', '--span-days', '90', '--asks', '10'];
      const { code, output, errors } = await bench('query', ...small, '--database-url', server.url, '--json');
      expect(code, errors).toBe(0);
      for (const size of sizes) expect(errors).toContain(`${size.toLocaleString('en-US')} events made`);
      const { data } = JSON.parse(output);
      expect(
        new Set(data.map(({ question }: { question: { procedure: string } }) => question.procedure)),
      ).toEqual(
        new Set([
          'events.getStats',
          'events.getAll',
          'events.getRecent',
          'events.getById',
          'events.markAsProcessed',
          'sensors.getAll',
          'reports.getAnalytics',
          'reports.getRepeatPlates',
          'traffic.getCounts',
          'traffic.getFlow',
          'traffic.getAadt',
          'traffic.getSpeedStudy',
          'traffic.getNetworkAadt',
        ]),
      );
      for (const { timings, verdict } of data) {
        expect(timings.map(({ events }: { events: number }) => events)).toEqual(sizes);
        for (const { p50, p99 } of timings) expect(p99).toBeGreaterThanOrEqual(p50);
        expect(verdict.ratio).toBeCloseTo(timings[1].p50 / timings[0].p50);
      }
    },
  );

  it.each([
    [
      'there is no server',
      ['ingest', '--database-url', 'postgres://nobody@127.0.0.1:9/none'],
      'ECONNREFUSED',
    ],
    [
      'no query has the name',
      ['query', '--only', 'getTides'],
      'No query has "getTides" in its name. Their groups are getStats,',
    ],
    [
      'the disk has no room for the history',
      ['query', '--events', '1000000000'],
      /1,110,000,000 events need about .* of disk, and .* has .*: request fewer with --events/,
    ],
  ])('report the reason and exit with 1 when %s', { timeout: 60_000 }, async (_, args, reason) => {
    const { code, errors } = await bench(...args);
    expect(code).toBe(1);
    expect(errors).toMatch(reason);
    expect(errors).not.toContain('events made');
  });
});

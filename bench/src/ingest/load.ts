import { EventEmitter, once } from 'node:events';
import autocannon from 'autocannon';
import { BenchmarkFailed } from '../failure.ts';
import { type ProcessorUse, type ReadProcessorTimes, usedBetween } from '../processor-time.ts';
import type { Body } from './bodies.ts';

export interface LoadOptions {
  /** The name of the server, for error messages. */
  readonly who: string;
  /** The address of all requests. */
  readonly url: string;
  /** Each contains the same number of events. */
  readonly bodies: readonly Body[];
  /** Number of concurrent requests, each on a connection of its own. */
  readonly connections: number;
  /** Duration of the load before the measurement. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Returns the number of events that an answer acknowledges. */
  readonly acknowledged: (body: string) => number;
  /** Reads the processor time of the server. */
  readonly readTimes: ReadProcessorTimes;
  readonly signal: AbortSignal;
}

/** The results of the load generator. */
export interface Load {
  /** All acknowledged events, including those outside the measured time. */
  readonly acknowledged: number;
  /** Requests answered in the measured time. */
  readonly requests: number;
  /** Actual duration of the measurement. */
  readonly seconds: number;
  /** From request to answer in milliseconds, within the measured time, ascending. */
  readonly latencies: Float64Array;
  /** Processor time of the generator in seconds per second. Near 1, the generator is the bottleneck and not the server. */
  readonly generatorLoad: number;
  /** Processor time of the server and of PostgreSQL within the measured time. */
  readonly used: ProcessorUse;
}

/** A connection of autocannon, which ends after `responseMax` requests, when the last one is answered. */
type Connection = autocannon.Client & { responseMax: number };

/** Maximum wait for the last answers. */
const DRAIN_SECONDS = 30;
const TIMEOUT_SECONDS = 20;
const SHOWN_CHARS = 1000;

/**
 * Sends requests as fast as the server answers. It waits for every answer, so that the number of acknowledged events
 * can be compared exactly with the number of stored ones.
 * @throws BenchmarkFailed when an answer is missing, late, or incorrect
 */
export async function drive(options: LoadOptions): Promise<Load> {
  const { who, url, bodies, connections, acknowledged, signal } = options;
  const eventsPerBody = bodies[0]?.events ?? 0;
  const open: Connection[] = [];
  const latencies: number[] = [];
  let total = 0;
  let measuring = false;
  let status = 0;
  let flaw: string | null = null;

  // Each connection has its own part of the bodies, so that all are sent, and none by two connections at once.
  const setupClient = (client: autocannon.Client): void => {
    const share = bodies.filter((_, index) => index % connections === open.length);
    client.setRequests(share.map(({ text }) => ({ body: text })));
    open.push(client as Connection);
  };
  // Called for every answer, directly after the event "response".
  const verifyBody = (body: unknown): boolean => {
    const count = acknowledged(String(body));
    total += count;
    if (status !== 200 || count !== eventsPerBody) {
      fail(`answered ${status} ${String(body).slice(0, SHOWN_CHARS)}`);
    }
    return true;
  };
  const { instance, finished } = start({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    connections,
    duration: options.warmupSeconds + options.seconds + DRAIN_SECONDS,
    timeout: TIMEOUT_SECONDS,
    sampleInt: 100,
    setupClient,
    verifyBody,
  });
  instance.on('response', (_client, code, _bytes, milliseconds) => {
    status = code;
    if (measuring) latencies.push(milliseconds);
  });
  instance.on('reqError', (error: Error) => fail(error.message));
  const fail = (reason: string): void => {
    flaw ??= reason;
    instance.stop();
  };

  const isOver = (): boolean => flaw !== null || signal.aborted;
  await pauseUnless(isOver, options.warmupSeconds);
  const timesBefore = await options.readTimes();
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  measuring = true;
  await pauseUnless(isOver, options.seconds);
  measuring = false;
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const times = await options.readTimes();
  for (const connection of open) connection.responseMax = 1;
  const [{ requests }] = await finished;

  if (flaw !== null) throw new BenchmarkFailed(`${who}: ${flaw}`);
  if (signal.aborted) throw new BenchmarkFailed('Stopped');
  if (requests.sent !== requests.total) {
    throw new BenchmarkFailed(`${who} left ${requests.sent - requests.total} requests unanswered`);
  }
  return {
    acknowledged: total,
    requests: latencies.length,
    seconds,
    latencies: Float64Array.from(latencies).sort(),
    generatorLoad: (cpu.user + cpu.system) / 1e6 / seconds,
    used: usedBetween(timesBefore, times, latencies.length * eventsPerBody),
  };
}

const LOOK_MS = 50;

/** Starts autocannon, with separate access to its events and its end. */
function start(options: autocannon.Options) {
  const done = new EventEmitter<{ end: [autocannon.Result]; error: [unknown] }>();
  const finished = once(done, 'end') as Promise<[autocannon.Result]>;
  const instance = autocannon(options, (error: unknown, result) =>
    error ? done.emit('error', error) : done.emit('end', result),
  );
  return { instance, finished };
}

/** Waits, but stops early when `over` returns true. */
async function pauseUnless(over: () => boolean, seconds: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (let left = seconds * 1000; left > 0 && !over(); left = until - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, left)));
  }
}

import { EventEmitter, once } from 'node:events';
import autocannon from 'autocannon';
import { BenchmarkFailed } from '../failure.ts';
import type { Body } from './bodies.ts';

export interface LoadOptions {
  /** Who is driven, for the message when something is wrong. */
  readonly who: string;
  /** The address that every request goes to. */
  readonly url: string;
  /** Each has the same number of events. */
  readonly bodies: readonly Body[];
  /** Requests under way at once, each on a connection of its own. */
  readonly connections: number;
  /** Load that is not measured, before the clock starts. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** How many events an answer acknowledges. */
  readonly acknowledged: (body: string) => number;
  readonly signal: AbortSignal;
}

/** What the load generator saw. */
export interface Load {
  /** Events acknowledged from the first request to the last, which is more than in the measured time. */
  readonly acknowledged: number;
  /** Requests answered in the measured time. */
  readonly requests: number;
  /** The measured time. */
  readonly seconds: number;
  /** From request to answer in milliseconds, in the measured time, ascending. */
  readonly latencies: Float64Array;
  /** Processor time of the generator per second: at 1 the generator is at its limit, not the server. */
  readonly generatorLoad: number;
}

/** A connection of autocannon: once it made `responseMax` requests it waits for the answer it is owed, and ends. */
type Connection = autocannon.Client & { responseMax: number };

/** Nobody waits longer than this for the last answers. */
const DRAIN_SECONDS = 30;
const TIMEOUT_SECONDS = 20;
const SHOWN_CHARS = 1000;

/**
 * Drives a server as fast as it answers. Every request that was sent is waited for, so what is acknowledged can be
 * compared with what is stored to the last event.
 * @throws BenchmarkFailed when an answer is missing, late, or not what it should be
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

  // Each connection has its own share of the bodies, so that all of them are sent, and none twice at once.
  const setupClient = (client: autocannon.Client): void => {
    const share = bodies.filter((_, index) => index % connections === open.length);
    client.setRequests(share.map(({ text }) => ({ body: text })));
    open.push(client as Connection);
  };
  // Called for every answer, right after the event "response".
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
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  measuring = true;
  await pauseUnless(isOver, options.seconds);
  measuring = false;
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
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
  };
}

const LOOK_MS = 50;

/** Starts autocannon, with its events and its end as separate things. */
function start(options: autocannon.Options) {
  const done = new EventEmitter<{ end: [autocannon.Result]; error: [unknown] }>();
  const finished = once(done, 'end') as Promise<[autocannon.Result]>;
  const instance = autocannon(options, (error: unknown, result) =>
    error ? done.emit('error', error) : done.emit('end', result),
  );
  return { instance, finished };
}

/** Waits, but ends early when `over` says so. */
async function pauseUnless(over: () => boolean, seconds: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (let left = seconds * 1000; left > 0 && !over(); left = until - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, left)));
  }
}

import { type Dispatcher, Pool } from 'undici';
import { BenchmarkFailed } from '../failure.ts';
import { acknowledgedByIngest } from '../ingest/answers.ts';

export interface PacerOptions {
  readonly url: string;
  /** The body of the nth request, from 0, with one event. */
  readonly textOf: (n: number) => string;
  /** Requests per second. */
  readonly rate: number;
  /** Number of connections. A request without a free connection waits, which counts as latency. */
  readonly connections: number;
}

/** The results of the pacer in a period. */
export interface Seen {
  /** Milliseconds from the due time of a request to its answer, ascending. */
  readonly latencies: Float64Array;
  /** The maximum delay with which a request was sent, in milliseconds. It is caused by the machine and not by the server. */
  readonly lateness: number;
  /** Processor time of this process, in microseconds. */
  readonly processorMicros: number;
}

/**
 * A load that does not slow down with the server: requests are sent when they are due, whether or not earlier ones were
 * answered.
 */
export interface Pacer {
  /** Events acknowledged so far. */
  readonly acknowledged: number;
  /** Returns the results since the last call. */
  take(): Seen;
  /** @throws BenchmarkFailed when an answer was missing or incorrect, or the server fell far behind */
  check(): void;
  /** Stops sending, and waits for the outstanding answers. @throws BenchmarkFailed as `check` does */
  finish(): Promise<void>;
}

const TICK_MS = 1;
const TIMEOUT_MS = 20_000;

/** If more than this many seconds of requests are unanswered, the server cannot keep up, and the load fails. */
const MAX_BEHIND_SECONDS = 10;
const LOOK_MS = 20;

export function startPacer({ url, textOf, rate, connections }: PacerOptions): Pacer {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const headers = { 'content-type': 'application/json' };
  const started = performance.now();
  let sent = 0;
  let answered = 0;
  let acknowledged = 0;
  let latencies: number[] = [];
  let lateness = 0;
  let usage = process.cpuUsage();
  let flaw: string | null = null;

  const hear = (due: number, status: number, body: string): void => {
    answered++;
    latencies.push(performance.now() - due);
    const count = acknowledgedByIngest(body);
    acknowledged += count;
    if (status !== 200 || count !== 1) flaw ??= `answered ${status} ${body.slice(0, 1000)}`;
  };
  // `dispatch` with a handler, instead of `request` with a stream, takes 61 µs of processor time per request instead of 70.
  const send = (body: string, due: number): void => {
    let status = 0;
    let text = '';
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_, statusCode) {
        status = statusCode;
      },
      onResponseData(_, chunk) {
        text += chunk.toString();
      },
      onResponseEnd() {
        hear(due, status, text);
      },
      onResponseError(_, error) {
        answered++;
        flaw ??= String(error);
      },
    };
    pool.dispatch({ path: pathname, method: 'POST', headers, body }, handler);
  };
  const sendWhatIsDue = (): void => {
    const now = performance.now();
    const dueAt = (index: number): number => started + (index / rate) * 1000;
    lateness = Math.max(lateness, now - dueAt(sent));
    for (; dueAt(sent) <= now; sent++) send(textOf(sent), dueAt(sent));
    if (sent - answered > rate * MAX_BEHIND_SECONDS) flaw ??= 'cannot keep up with this rate';
    if (flaw !== null) clearInterval(timer);
  };
  const timer = setInterval(sendWhatIsDue, TICK_MS);

  const check = (): void => {
    if (flaw !== null) throw new BenchmarkFailed(`Gantry: ${flaw}`);
  };
  return {
    get acknowledged() {
      return acknowledged;
    },
    take() {
      const { user, system } = process.cpuUsage(usage);
      usage = process.cpuUsage();
      const seen = {
        latencies: Float64Array.from(latencies).sort(),
        lateness,
        processorMicros: user + system,
      };
      latencies = [];
      lateness = 0;
      return seen;
    },
    check,
    async finish() {
      clearInterval(timer);
      // Every request ends, at the latest when it times out.
      while (answered < sent) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await pool.close();
      check();
    },
  };
}

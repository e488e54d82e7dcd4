import { Pool } from 'undici';
import { BenchmarkFailed } from '../failure.ts';
import { acknowledgedByIngest } from '../ingest/answers.ts';
import type { Body } from '../ingest/bodies.ts';

export interface PacerOptions {
  readonly url: string;
  readonly bodies: readonly Body[];
  /** Requests a second. */
  readonly rate: number;
  /** Connections; a request that finds none free waits for one, and that counts as its latency. */
  readonly connections: number;
}

/** What the pacer saw in a stretch of time. */
export interface Seen {
  /** Milliseconds from when a request was due to its answer, ascending. */
  readonly latencies: Float64Array;
  /** The most milliseconds by which a request left late, which is the machine's fault and not the server's. */
  readonly lateness: number;
}

/** A load that does not slow down with the server: requests leave when they are due, whatever became of earlier ones. */
export interface Pacer {
  /** Events acknowledged so far. */
  readonly acknowledged: number;
  /** Takes what was seen since the last call. */
  take(): Seen;
  /** @throws BenchmarkFailed when an answer was missing or not what it should be, or the server fell far behind */
  check(): void;
  /** Sends no more, and waits for the answers that are owed. */
  finish(): Promise<void>;
}

const TICK_MS = 1;
const TIMEOUT_MS = 20_000;

/** A server that is this many seconds of requests behind will not catch up. */
const MAX_BEHIND_SECONDS = 10;
const LOOK_MS = 20;

export function startPacer({ url, bodies, rate, connections }: PacerOptions): Pacer {
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
  let flaw: string | null = null;

  const hear = (due: number, status: number | undefined, body: string): void => {
    answered++;
    latencies.push(performance.now() - due);
    const count = acknowledgedByIngest(body);
    acknowledged += count;
    if (status !== 200 || count !== 1) flaw ??= `answered ${status} ${body.slice(0, 1000)}`;
  };
  const send = async (body: string, due: number): Promise<void> => {
    try {
      const response = await pool.request({ path: pathname, method: 'POST', headers, body });
      hear(due, response.statusCode, await response.body.text());
    } catch (error) {
      answered++;
      flaw ??= String(error);
    }
  };
  const sendWhatIsDue = (): void => {
    const now = performance.now();
    const dueAt = (index: number): number => started + (index / rate) * 1000;
    lateness = Math.max(lateness, now - dueAt(sent));
    for (; dueAt(sent) <= now; sent++) void send(bodies[sent % bodies.length]?.text ?? '', dueAt(sent));
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
      const seen = { latencies: Float64Array.from(latencies).sort(), lateness };
      latencies = [];
      lateness = 0;
      return seen;
    },
    check,
    async finish() {
      clearInterval(timer);
      // Every request ends, if only by its timeout.
      while (answered < sent) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await pool.close();
      check();
    },
  };
}

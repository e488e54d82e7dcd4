import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { BenchmarkFailed } from '../failure.ts';
import type { MakeMessage } from './messages.ts';

export interface SendOptions {
  /** The name of the traffic, for error messages. */
  readonly who: string;
  /** The address of the server. */
  readonly url: string;
  readonly make: MakeMessage;
  /** Number of concurrent requests, each on a connection of its own. */
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Whether an answer with status 200 acknowledges the message. */
  readonly isAcknowledged: (body: string) => boolean;
  readonly signal: AbortSignal;
}

export interface Sent {
  /** All acknowledged messages, including those outside the measured time. */
  readonly acknowledged: number;
  readonly perSecond: number;
  /** From request to answer in milliseconds, within the measured time, ascending. */
  readonly latencies: Float64Array;
  /** Processor time of the generator in seconds per second. */
  readonly generatorLoad: number;
}

const TIMEOUT_MS = 20_000;

/**
 * Sends messages as fast as the server answers, and waits for every answer.
 * @throws BenchmarkFailed when an answer is missing or is no acknowledgement
 */
export async function send(options: SendOptions): Promise<Sent> {
  const { who, url, make, connections, isAcknowledged, signal } = options;
  const pool = new Pool(url, { connections, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const latencies: number[] = [];
  let acknowledged = 0;
  let isMeasuring = false;
  let isOver = false;
  let flaw: string | null = null;

  const sendOne = async (): Promise<void> => {
    const { path, contentType, body } = make();
    const started = performance.now();
    const answer = await pool.request({
      path,
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    });
    const text = await answer.body.text();
    if (isMeasuring) latencies.push(performance.now() - started);
    if (answer.statusCode === 200 && isAcknowledged(text)) acknowledged++;
    else flaw ??= `answered ${answer.statusCode} ${text.slice(0, 1000)}`;
  };
  const sendAll = async (): Promise<void> => {
    while (!isOver && flaw === null && !signal.aborted) {
      await sendOne().catch((error: unknown) => {
        flaw ??= String(error);
      });
    }
  };

  const senders = Array.from({ length: connections }, sendAll);
  await sleep(options.warmupSeconds * 1000);
  const [started, cpuBefore] = [performance.now(), process.cpuUsage()];
  isMeasuring = true;
  await sleep(options.seconds * 1000);
  isMeasuring = false;
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  isOver = true;
  await Promise.all(senders);
  await pool.close();
  if (flaw !== null) throw new BenchmarkFailed(`${who}: ${flaw}`);
  if (signal.aborted) throw new BenchmarkFailed('Stopped');
  return {
    acknowledged,
    perSecond: latencies.length / seconds,
    latencies: Float64Array.from(latencies).sort(),
    generatorLoad: (cpu.user + cpu.system) / 1e6 / seconds,
  };
}

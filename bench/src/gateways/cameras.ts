import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS } from '@gantry/contract/durations';
import { Client } from 'undici';
import { checkCounts } from '../counts.ts';
import { BenchmarkFailed } from '../failure.ts';
import { type Metrics, residentMegabytes } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import { registerSensors } from '../sensors.ts';
import type { Stage } from '../stage.ts';
import { connect, hikvisionMessages, type MakeMessage } from './messages.ts';
import { checkMessages, countMessages, processedMessages, waitUntilProcessed } from './processed.ts';

export interface CamerasOptions {
  readonly cameras: number;
  readonly minutes: number;
  /** Seconds between samples. */
  readonly every: number;
  readonly imageBytes: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onSample: (sample: CameraSample) => void;
}

/** The figures of a period of some seconds. Memory in megabytes. */
export interface CameraSample {
  /** Minutes since the start, at the end of the period. */
  readonly minute: number;
  /** Messages answered with 200. */
  readonly messagesPerSecond: number;
  /** Messages answered with 503: the service put them on disk for later, or they are lost because its spool is full. */
  readonly refusedPerSecond: number;
  /** Milliseconds from request to answer. */
  readonly p50: number;
  readonly p99: number;
  /** Resident memory of the service. */
  readonly memory: number;
  readonly heap: number;
  /** Memory outside the heap, such as bodies of requests. */
  readonly external: number;
}

/** The time between two messages of a camera, in milliseconds. It is longer where answers take longer. */
const PERIOD_MS = 1_000;
const TIMEOUT_MS = 60_000;
const LOOK_MS = 100;

/**
 * Lets cameras, each with a connection of its own, send a message with a new image every second. If that is more than
 * the machine can store, the service answers 503, and stores the message later if its spool has room.
 * @throws BenchmarkFailed for any other answer, or when a message that was answered with 200 does not become an event
 */
export async function watchCameras(stage: Stage, options: CamerasOptions): Promise<CameraSample[]> {
  const { cameras, minutes, every, signal, onSample, seed, imageBytes } = options;
  if (minutes === 0) return [];
  const { gantry, databaseUrl } = stage;
  const sensors = await registerSensors(gantry.client, cameras, 'camera');
  const paths = await connect(gantry.client, sensors, 'hikvision');
  const make = hikvisionMessages(paths, { imageBytes, isSame: false, seed: seed + 2 });
  const [counts, statuses] = [await stage.count(), await countMessages(databaseUrl)];
  const processedBefore = processedMessages(await gantry.metrics());
  const fleet = startFleet(gantry.url, cameras, make);

  const samples: CameraSample[] = [];
  const started = performance.now();
  let last = started;
  const isOver = (): boolean => signal.aborted || fleet.flaw() !== null;
  try {
    for (let at = every; at <= minutes * 60 + 1e-6 && !isOver(); at += every) {
      while (performance.now() < started + at * 1000 && !isOver()) await sleep(LOOK_MS);
      const metrics = await gantry.metrics();
      const now = performance.now();
      const { latencies, refused } = fleet.take();
      const sample = {
        minute: (now - started) / MINUTE_MS,
        messagesPerSecond: (latencies.length * 1000) / (now - last),
        refusedPerSecond: (refused * 1000) / (now - last),
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        ...memoryOf(metrics),
      };
      last = now;
      onSample(sample);
      samples.push(sample);
    }
  } finally {
    await fleet.stop();
  }
  const flaw = fleet.flaw();
  if (flaw !== null) throw new BenchmarkFailed(`Cameras: ${flaw}`);
  if (signal.aborted) throw new BenchmarkFailed('Stopped');
  await waitUntilProcessed(stage, processedBefore + fleet.acknowledged());
  const stored = await checkMessages('Cameras', stage, statuses, {
    answered: fleet.acknowledged(),
    refused: fleet.refused(),
  });
  // The service may still store messages that it refused.
  if (fleet.refused() === 0) checkCounts('Cameras', stored, counts, await stage.count());
  return samples;
}

function memoryOf(metrics: Metrics): Pick<CameraSample, 'memory' | 'heap' | 'external'> {
  const megabytes = (name: string): number => (metrics.get(name) ?? Number.NaN) / 1e6;
  return {
    memory: residentMegabytes(metrics),
    heap: megabytes('nodejs_heap_size_used_bytes'),
    external: megabytes('nodejs_external_memory_bytes'),
  };
}

function startFleet(url: string, cameras: number, make: MakeMessage) {
  let latencies: number[] = [];
  let acknowledged = 0;
  let refused = 0;
  let refusedBefore = 0;
  let flaw: string | null = null;
  let isOver = false;

  const sendOne = async (client: Client): Promise<void> => {
    const { path, contentType, body } = make();
    const sent = performance.now();
    const answer = await client.request({
      path,
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 200) {
      acknowledged++;
      latencies.push(performance.now() - sent);
    } else if (answer.statusCode === 503) refused++;
    else flaw ??= `a message was answered with ${answer.statusCode} ${text.slice(0, 1000)}`;
  };
  const camera = async (index: number): Promise<void> => {
    const client = new Client(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    // The cameras are spread over the second.
    let due = performance.now() + (index / cameras) * PERIOD_MS;
    while (!isOver && flaw === null) {
      await sleep(Math.max(0, due - performance.now()));
      if (isOver) break;
      due = Math.max(due + PERIOD_MS, performance.now());
      await sendOne(client).catch((error: unknown) => {
        flaw ??= String(error);
      });
    }
    await client.close();
  };
  const running = Array.from({ length: cameras }, (_, index) => camera(index));

  return {
    acknowledged: () => acknowledged,
    refused: () => refused,
    flaw: () => flaw,
    /** The response times, in milliseconds and ascending, of messages accepted since the last call, and the number refused. */
    take() {
      const taken = { latencies: Float64Array.from(latencies).sort(), refused: refused - refusedBefore };
      latencies = [];
      refusedBefore = refused;
      return taken;
    },
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(running);
    },
  };
}

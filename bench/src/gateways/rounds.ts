import { checkCounts } from '../counts.ts';
import { checkpoint } from '../database.ts';
import { acknowledgedByIngest } from '../ingest/answers.ts';
import { makeBodies } from '../ingest/bodies.ts';
import { percentile } from '../percentile.ts';
import {
  type ProcessorUse,
  processorTimesOf,
  type ReadProcessorTimes,
  usedBetween,
} from '../processor-time.ts';
import type { Stage } from '../stage.ts';
import { connect, hikvisionMessages, type MakeMessage, plateRecognizerMessages } from './messages.ts';
import { checkMessages, countMessages, processedMessages, waitUntilProcessed } from './processed.ts';
import { send } from './send.ts';

/** The traffic to compare, in the order of measurement. */
export const WAYS = {
  ingest: 'events.ingest',
  platerecognizer: 'Plate Recognizer, JSON without image',
  same: 'Hikvision, multipart, always the same image',
  hikvision: 'Hikvision, multipart, each with a new image',
} as const;
export type Way = keyof typeof WAYS;

export interface RoundOptions {
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly imageBytes: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onMeasured: (measurement: Measurement) => void;
}

/** The result of one way in one round. Processor time is counted until every message has become an event. */
export interface Measurement extends ProcessorUse {
  readonly way: Way;
  /** From 1. */
  readonly round: number;
  /** Messages answered with 200 during the measurement. */
  readonly answeredPerSecond: number;
  /** All messages of the run, divided by the time until the last of them had become an event. */
  readonly storedPerSecond: number;
  /** From request to answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the load generator in seconds per second. */
  readonly generatorLoad: number;
  /** Acknowledged messages, including those outside the measured time. */
  readonly acknowledged: number;
}

const BODIES = 8192;

/** Sends each kind of traffic in turn, in each round, to the same service. */
export async function runRounds(stage: Stage, options: RoundOptions): Promise<Measurement[]> {
  if (options.rounds === 0) return [];
  const { gantry, sensors } = stage;
  const { imageBytes, seed } = options;
  const cameras = await connect(gantry.client, sensors, 'hikvision');
  const readers = await connect(gantry.client, sensors, 'platerecognizer');
  const makers: Record<Way, MakeMessage> = {
    ingest: ingestMessages(
      sensors.map(({ apiKey }) => apiKey),
      seed,
    ),
    platerecognizer: plateRecognizerMessages(readers, seed),
    same: hikvisionMessages(cameras, { imageBytes, isSame: true, seed }),
    hikvision: hikvisionMessages(cameras, { imageBytes, isSame: false, seed: seed + 1 }),
  };
  const readTimes = await processorTimesOf(gantry.pid, stage.databaseUrl);
  const measurements: Measurement[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const way of Object.keys(WAYS) as Way[]) {
      const figures = await measure(stage, way, makers[way], readTimes, options);
      const measurement = { way, round, ...figures };
      options.onMeasured(measurement);
      measurements.push(measurement);
    }
  }
  return measurements;
}

function ingestMessages(apiKeys: readonly string[], seed: number): MakeMessage {
  const bodies = makeBodies(apiKeys, BODIES, seed);
  let number = 0;
  return () => ({
    path: '/trpc/events.ingest',
    contentType: 'application/json',
    body: bodies[number++ % BODIES]?.text ?? '',
  });
}

async function measure(
  stage: Stage,
  way: Way,
  make: MakeMessage,
  readTimes: ReadProcessorTimes,
  options: RoundOptions,
): Promise<Omit<Measurement, 'way' | 'round'>> {
  const { gantry, databaseUrl } = stage;
  const isGateway = way !== 'ingest';
  await checkpoint(databaseUrl);
  const [counts, statuses] = [await stage.count(), await countMessages(databaseUrl)];
  const [metrics, times] = [await gantry.metrics(), await readTimes()];
  const started = performance.now();
  const { acknowledged, perSecond, latencies, generatorLoad } = await send({
    ...options,
    who: WAYS[way],
    url: gantry.url,
    make,
    isAcknowledged: (body) => isGateway || acknowledgedByIngest(body) === 1,
  });
  if (isGateway) await waitUntilProcessed(stage, processedMessages(metrics) + acknowledged);
  const seconds = (performance.now() - started) / 1000;
  const used = usedBetween(times, await readTimes(), acknowledged);
  const answered = isGateway ? acknowledged : 0;
  await checkMessages(WAYS[way], stage, statuses, { answered, refused: 0 });
  checkCounts(WAYS[way], acknowledged, counts, await stage.count());
  return {
    ...used,
    answeredPerSecond: perSecond,
    storedPerSecond: acknowledged / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    generatorLoad,
    acknowledged,
  };
}

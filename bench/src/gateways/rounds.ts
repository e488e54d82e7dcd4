import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCounts } from '../counts.ts';
import { checkpoint, query } from '../database.ts';
import { acknowledgedByIngest } from '../ingest/answers.ts';
import { makeBodies, textsOf } from '../ingest/bodies.ts';
import { buildPeers, type Peer, startPeer } from '../ingest/peer-process.ts';
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
  floor: 'floor: hashed and stored as a file, no database',
  ingest: 'events.ingest',
  beside: 'events.ingest, beside Hikvision with new images',
  platerecognizer: 'Plate Recognizer, JSON without image',
  same: 'Hikvision, multipart, always the same image',
  hikvision: 'Hikvision, multipart, each with a new image',
  base64: 'events.ingest, each with a new image in base64',
} as const;
export type Way = keyof typeof WAYS;

export interface RoundOptions {
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly rounds: number;
  /** What is sent. */
  readonly ways: readonly Way[];
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
  /** What the processes of the server and PostgreSQL's write-ahead log wrote, per byte of the images; NaN without images. */
  readonly writtenPerByte: number;
  /** Synchronisations of files per message; NaN for the floor. */
  readonly syncs: number;
}

const BODIES = 8192;

/**
 * Sends each kind of traffic in turn, in each round, to the same service, and one to the floor.
 * @param folder for the files of the floor, on the same disk
 */
export async function runRounds(stage: Stage, folder: string, options: RoundOptions): Promise<Measurement[]> {
  if (options.rounds === 0) return [];
  const { gantry, sensors } = stage;
  const { imageBytes, seed } = options;
  const cameras = await connect(gantry.client, sensors, 'hikvision');
  const readers = await connect(gantry.client, sensors, 'platerecognizer');
  await buildPeers();
  const floor = await startPeer('images', { folder: join(folder, 'floor') });
  const apiKeys = sensors.map(({ apiKey }) => apiKey);
  const makers: Record<Way, MakeMessage> = {
    floor: hikvisionMessages(['/'], { imageBytes, isSame: false, seed: seed + 3 }),
    ingest: ingestMessages(apiKeys, seed),
    beside: ingestMessages(apiKeys, seed + 4),
    base64: ingestMessages(apiKeys, seed + 5, imageBytes),
    platerecognizer: plateRecognizerMessages(readers, seed),
    same: hikvisionMessages(cameras, { imageBytes, isSame: true, seed }),
    hikvision: hikvisionMessages(cameras, { imageBytes, isSame: false, seed: seed + 1 }),
  };
  const readTimes = await processorTimesOf(gantry.pid, stage.databaseUrl);
  const measurements: Measurement[] = [];
  try {
    for (let round = 1; round <= options.rounds; round++) {
      for (const way of options.ways) {
        const figures =
          way === 'floor'
            ? await measureFloor(floor, makers.floor, options)
            : await measure(stage, way, makers, readTimes, options);
        const measurement = { way, round, ...figures };
        options.onMeasured(measurement);
        measurements.push(measurement);
      }
    }
    return measurements;
  } finally {
    await floor.stop();
  }
}

type Figures = Omit<Measurement, 'way' | 'round'>;

async function measureFloor(floor: Peer, make: MakeMessage, options: RoundOptions): Promise<Figures> {
  const readTimes = await processorTimesOf(floor.pid, '');
  const [before, written] = [await readTimes(), await bytesWrittenBy([floor.pid])];
  const who = WAYS.floor;
  const sent = await send({ ...options, who, url: floor.url, make, isAcknowledged: () => true });
  const { acknowledged, perSecond, latencies, generatorLoad } = sent;
  return {
    ...usedBetween(before, await readTimes(), acknowledged),
    answeredPerSecond: perSecond,
    storedPerSecond: perSecond,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    generatorLoad,
    acknowledged,
    writtenPerByte: ((await bytesWrittenBy([floor.pid])) - written) / (acknowledged * options.imageBytes),
    syncs: 2,
  };
}

/** @param imageBytes the size of the new image that each event has; none by default */
function ingestMessages(apiKeys: readonly string[], seed: number, imageBytes?: number): MakeMessage {
  const bodies = makeBodies(apiKeys, BODIES, seed);
  const textOf = textsOf(bodies, imageBytes === undefined ? null : { bytes: imageBytes, oneIn: 1 });
  let number = 0;
  return () => ({ path: '/trpc/events.ingest', contentType: 'application/json', body: textOf(number++) });
}

/** Whether messages arrive through a gateway, and are processed after the answer. */
const isGateway = (way: Way): boolean => !['ingest', 'beside', 'base64'].includes(way);

async function measure(
  stage: Stage,
  way: Way,
  makers: Readonly<Record<Way, MakeMessage>>,
  readTimes: ReadProcessorTimes,
  options: RoundOptions,
): Promise<Figures> {
  const { gantry, databaseUrl } = stage;
  await checkpoint(databaseUrl);
  const [counts, statuses] = [await stage.count(), await countMessages(databaseUrl)];
  const [metrics, times, disk] = [await gantry.metrics(), await readTimes(), await readDisk(stage)];
  const started = performance.now();
  const sendAs = (sent: Way) =>
    send({
      ...options,
      who: WAYS[sent],
      url: gantry.url,
      make: makers[sent],
      isAcknowledged: (body) => isGateway(sent) || acknowledgedByIngest(body) === 1,
    });
  const [{ acknowledged, perSecond, latencies, generatorLoad }, others] = await Promise.all([
    sendAs(way),
    way === 'beside' ? sendAs('hikvision') : null,
  ]);
  const messages = (isGateway(way) ? acknowledged : 0) + (others?.acknowledged ?? 0);
  if (messages > 0) await waitUntilProcessed(stage, processedMessages(metrics) + messages);
  const seconds = (performance.now() - started) / 1000;
  const stored = acknowledged + (others?.acknowledged ?? 0);
  const used = usedBetween(times, await readTimes(), stored);
  const diskAfter = await readDisk(stage);
  await checkMessages(WAYS[way], stage, statuses, { answered: messages, refused: 0 });
  checkCounts(WAYS[way], stored, counts, await stage.count());
  return {
    ...used,
    answeredPerSecond: perSecond,
    storedPerSecond: acknowledged / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    generatorLoad,
    acknowledged,
    writtenPerByte:
      way === 'hikvision' || way === 'base64'
        ? (diskAfter.bytes - disk.bytes) / (acknowledged * options.imageBytes)
        : Number.NaN,
    syncs: (diskAfter.syncs - disk.syncs) / stored,
  };
}

interface DiskUse {
  /** What the service wrote to files, and PostgreSQL to its write-ahead log. */
  readonly bytes: number;
  /** Synchronisations of segments of images and of the write-ahead log. */
  readonly syncs: number;
}

async function readDisk({ gantry, databaseUrl }: Stage): Promise<DiskUse> {
  const [wal] = await query<{ bytes: string; syncs: string }>(
    databaseUrl,
    `SELECT wal_bytes::text AS bytes,
      (SELECT coalesce(sum(fsyncs), 0)::text FROM pg_stat_io WHERE object = 'wal') AS syncs FROM pg_stat_wal`,
  );
  const metrics = await gantry.metrics();
  return {
    bytes: (await bytesWrittenBy([gantry.pid])) + Number(wal?.bytes),
    syncs: (metrics.get('gantry_image_group_size_count') ?? 0) + Number(wal?.syncs),
  };
}

/** The bytes that processes have written to files, by the kernel. */
async function bytesWrittenBy(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, 'utf8')));
  return texts.reduce((sum, text) => sum + Number(/^write_bytes: (\d+)/m.exec(text)?.[1]), 0);
}

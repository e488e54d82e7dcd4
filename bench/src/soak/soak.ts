import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkCounts } from '../counts.ts';
import { databaseSize } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import { acknowledgedByIngest } from '../ingest/answers.ts';
import { makeBodies, textsOf } from '../ingest/bodies.ts';
import { drive } from '../ingest/load.ts';
import { processorTimesOf } from '../processor-time.ts';
import type { Stage } from '../stage.ts';
import { startDiskProbe } from './disk-probe.ts';
import { startPacer } from './pacer.ts';
import type { Sample } from './sample.ts';
import type { Second } from './second.ts';
import { startServerProbe } from './server-probe.ts';
import { type Watched, watch } from './watch.ts';

export interface SoakOptions {
  readonly minutes: number;
  /** Events per second; by default half of the maximum found in a short measurement. */
  readonly rate?: number;
  readonly connections: number;
  /** The size in bytes of the new image that one event in ten has; none by default. */
  readonly imageBytes?: number;
  readonly seed: number;
  /** Seconds between samples. */
  readonly every: number;
  /** A folder on the disk of the database, or on another one if the database is elsewhere. */
  readonly folder: string;
  /** Whether the database is in that folder, and may fill its disk. */
  readonly isEmbedded: boolean;
  readonly signal: AbortSignal;
  readonly onSample: (sample: Sample) => void;
  /** Called with the seconds recorded so far when the load fails, or the run is stopped. */
  readonly onBrokenOff: (seconds: readonly Second[]) => void;
}

export interface Soaked extends Watched {
  readonly rate: number;
  /** Acknowledged events, which were also found in the table, the totals and the statistics. */
  readonly stored: number;
}

const BODIES = 8192;
/** One event in so many has an image. */
const IMAGE_IN = 10;
/** The load that determines the maximum rate. */
const MEASURING = { connections: 128, warmupSeconds: 3, seconds: 5 };
/** If the rate is given, a short load that determines how much space an event takes on the disk. */
const SAMPLING = { connections: 32, warmupSeconds: 0, seconds: 0.5 };

/** How long the load runs before it is measured, in milliseconds, because code that has just started is slow. */
const WARM_UP_MS = 5_000;

/** Space for the WAL and the server itself, in bytes. */
const SPARE_BYTES = 4e9;

/** Keeps Gantry under a constant load, takes samples, and compares the counts at the end. */
export async function soak(stage: Stage, options: SoakOptions): Promise<Soaked> {
  const { minutes, every, connections, folder, isEmbedded, signal } = options;
  if (minutes * 60 < 2 * every) {
    throw new BenchmarkFailed('At least two samples are needed: raise --minutes or lower --every');
  }
  const url = `${stage.gantry.url}/trpc/events.ingest`;
  const apiKeys = stage.sensors.map(({ apiKey }) => apiKey);
  const bodies = makeBodies(apiKeys, BODIES, options.seed);

  const empty = await databaseSize(stage.databaseUrl);
  const most = await drive({
    ...(options.rate === undefined ? MEASURING : SAMPLING),
    who: 'Gantry',
    url,
    bodies,
    acknowledged: acknowledgedByIngest,
    readTimes: await processorTimesOf(stage.gantry.pid, stage.databaseUrl),
    signal,
  });
  const rate = options.rate ?? Math.floor(most.requests / most.seconds / 2);
  const images = options.imageBytes === undefined ? null : { bytes: options.imageBytes, oneIn: IMAGE_IN };
  const imageBytes = (images?.bytes ?? 0) / IMAGE_IN;
  if (isEmbedded) await checkRoom(stage, folder, { empty, imageBytes }, rate * minutes * 60);

  const before = await stage.count();
  const pacer = startPacer({ url, textOf: textsOf(bodies, images), rate, connections });
  await sleep(WARM_UP_MS, null, { signal });
  pacer.take();
  const disk = startDiskProbe(folder);
  const server = await startServerProbe(stage.databaseUrl);
  let watched: Watched;
  try {
    watched = await watch(stage, { pacer, disk, server }, options);
  } finally {
    await Promise.all([disk[Symbol.asyncDispose](), server[Symbol.asyncDispose]()]);
  }
  await pacer.finish();
  checkCounts('Gantry', pacer.acknowledged, before, await stage.count());
  return { rate, stored: pacer.acknowledged, ...watched };
}

/**
 * Checks that the disk has room for the events, estimated by the size of the existing ones.
 * @param empty the size of the database before them
 * @param imageBytes of an event, on average
 * @throws BenchmarkFailed when it has not
 */
async function checkRoom(
  stage: Stage,
  folder: string,
  { empty, imageBytes }: { empty: number; imageBytes: number },
  events: number,
): Promise<void> {
  const { rows } = await stage.count();
  const each = ((await databaseSize(stage.databaseUrl)) - empty) / rows + imageBytes;
  const { bavail, bsize } = await statfs(folder);
  const [needed, free] = [each * events + SPARE_BYTES, bavail * bsize];
  if (needed < free) return;
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(0);
  throw new BenchmarkFailed(
    `That would be ${events.toFixed(0)} events, some ${gigabytes(needed)} GB, and ${folder} has ${gigabytes(free)} GB free`,
  );
}

import { checkCounts } from '../counts.ts';
import { checkIndexedColumns, checkpoint, countEvents } from '../database.ts';
import { groupSizeBetween } from '../metrics.ts';
import { processorTimesOf } from '../processor-time.ts';
import type { Stage } from '../stage.ts';
import { acknowledgedByBatch, acknowledgedByIngest } from './answers.ts';
import { makeBatchBodies, makeBodies } from './bodies.ts';
import { drive, type LoadOptions } from './load.ts';
import { CONTESTANTS, type Measurement, measurementOf } from './measurement.ts';
import { buildPeers, type Peer, type PeerName, startPeer } from './peer-process.ts';

export interface RoundOptions {
  readonly connections: number;
  readonly batchConnections: number;
  readonly batchSize: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Called after every run. */
  readonly onMeasured: (measurement: Measurement) => void;
}

/** Number of distinct bodies with single events, and with batches. */
const BODIES = 8192;
const BATCH_BODIES = 256;

/** The options of a load, without those that depend on the server. */
type Traffic = Omit<LoadOptions, 'who' | 'url' | 'readTimes'>;

type Run = (round: number) => Promise<Measurement>;

/**
 * Measures all servers in turn, in each round. All of them run from the first round to the last, so that all are equally
 * warm, and those that are not being measured are idle. Each round begins with the next server, because a measurement is
 * affected by the one before it.
 * @param stages one for each number of workers to compare, on the same PostgreSQL server
 */
export async function runRounds(
  stages: readonly [Stage, ...Stage[]],
  options: RoundOptions,
): Promise<Measurement[]> {
  const [stage] = stages;
  await buildPeers();
  const peerDatabase = await stage.createTwin();
  const { ingest } = trafficOf(stage, options);
  const peers: Peer[] = [];
  const peerRun = async (name: PeerName, argument?: unknown): Promise<Run> => {
    const peer = await startPeer(name, argument);
    peers.push(peer);
    const readTimes = await processorTimesOf(peer.pid, stage.databaseUrl);
    return (round) => measurePeer(peer, name, round, { ...ingest, readTimes });
  };
  const measurements: Measurement[] = [];
  try {
    const insert = await peerRun('insert', { databaseUrl: peerDatabase, sensors: stage.sensors });
    const runs: Run[] = [
      await peerRun('floor'),
      await peerRun('stock'),
      (round) => withCountedRows(peerDatabase, () => insert(round)),
    ];
    for (const each of stages) {
      const traffic = trafficOf(each, options);
      runs.push((round) => measureGantry(each, 'single', round, traffic.ingest));
      runs.push((round) => measureGantry(each, 'batch', round, traffic.ingestBatch));
    }
    for (let round = 1; round <= options.rounds; round++) {
      const first = (round - 1) % runs.length;
      for (const run of [...runs.slice(first), ...runs.slice(0, first)]) {
        const measurement = await run(round);
        options.onMeasured(measurement);
        measurements.push(measurement);
      }
    }
  } finally {
    for (const peer of peers) await peer.stop();
  }
  for (const each of stages) await checkIndexedColumns(CONTESTANTS.single, each.databaseUrl);
  await checkIndexedColumns(CONTESTANTS.insert, peerDatabase);
  return measurements;
}

/** The traffic for Gantry: single events, which the peers get too, and batches. */
export function trafficOf(stage: Stage, options: RoundOptions): { ingest: Traffic; ingestBatch: Traffic } {
  const apiKeys = stage.sensors.map(({ apiKey }) => apiKey);
  const { warmupSeconds, seconds, signal, seed } = options;
  const ingest = {
    bodies: makeBodies(apiKeys, BODIES, seed),
    connections: options.connections,
    acknowledged: acknowledgedByIngest,
    warmupSeconds,
    seconds,
    signal,
  };
  const ingestBatch = {
    ...ingest,
    bodies: makeBatchBodies(apiKeys, { count: BATCH_BODIES, size: options.batchSize }, seed),
    connections: options.batchConnections,
    acknowledged: acknowledgedByBatch,
  };
  return { ingest, ingestBatch };
}

async function measurePeer(
  peer: Peer,
  contestant: PeerName,
  round: number,
  traffic: Omit<LoadOptions, 'who' | 'url'>,
): Promise<Measurement> {
  const load = await drive({
    ...traffic,
    who: CONTESTANTS[contestant],
    url: `${peer.url}/trpc/events.ingest`,
  });
  const memory = await peer.memory();
  return measurementOf(load, 1, { contestant, workers: null, round, groupSize: null, memory });
}

/**
 * Measures the peer that inserts events, and compares the number of acknowledged ones with its rows. It keeps no totals and
 * no statistics.
 */
async function withCountedRows(
  databaseUrl: string,
  measure: () => Promise<Measurement>,
): Promise<Measurement> {
  const count = async () => ({ rows: (await countEvents(databaseUrl)).rows, totals: null, stats: null });
  await checkpoint(databaseUrl);
  const before = await count();
  const measured = await measure();
  checkCounts(CONTESTANTS.insert, measured.acknowledged, before, await count());
  return measured;
}

/** Measures one kind of traffic to Gantry, and compares the number of acknowledged events with its counts. */
export async function measureGantry(
  stage: Stage,
  contestant: 'single' | 'batch',
  round: number,
  traffic: Traffic,
): Promise<Measurement> {
  const { gantry, workers } = stage;
  const procedure = contestant === 'single' ? 'events.ingest' : 'events.ingestBatch';
  await checkpoint(stage.databaseUrl);
  const [countBefore, metricsBefore] = [await stage.count(), await gantry.metrics()];
  const load = await drive({
    ...traffic,
    who: CONTESTANTS[contestant],
    url: `${gantry.url}/trpc/${procedure}`,
    readTimes: await processorTimesOf(gantry.pid, stage.databaseUrl),
  });
  const groupSize = groupSizeBetween(metricsBefore, await gantry.metrics());
  const memory = await gantry.memory();
  checkCounts(CONTESTANTS[contestant], load.acknowledged, countBefore, await stage.count());
  return measurementOf(load, traffic.bodies[0]?.events ?? 0, {
    contestant,
    workers,
    round,
    groupSize,
    memory,
  });
}

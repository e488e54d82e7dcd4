import { checkCounts } from '../counts.ts';
import { checkIndexedColumns, checkpoint, countEvents } from '../database.ts';
import { groupSizeBetween } from '../metrics.ts';
import type { Stage } from '../stage.ts';
import { acknowledgedByBatch, acknowledgedByIngest } from './answers.ts';
import { makeBatchBodies, makeBodies } from './bodies.ts';
import { drive, type LoadOptions } from './load.ts';
import { CONTESTANTS, type Contestant, type Measurement, measurementOf } from './measurement.ts';
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

/** Distinct bodies, of single events and of batches. */
const BODIES = 8192;
const BATCH_BODIES = 256;

/** The traffic for a server, without the server. */
type Traffic = Omit<LoadOptions, 'who' | 'url'>;

type Run = (round: number) => Promise<Measurement>;

/**
 * Measures all servers in turn, in each round. All of them run from the first round to the last, so none is colder
 * than another, and those that are not measured are idle.
 */
export async function runRounds(stage: Stage, options: RoundOptions): Promise<Measurement[]> {
  await buildPeers();
  const peerDatabase = await stage.createTwin();
  const apiKeys = stage.sensors.map(({ apiKey }) => apiKey);
  const { warmupSeconds, seconds, signal, seed } = options;
  const ingest: Traffic = {
    bodies: makeBodies(apiKeys, BODIES, seed),
    connections: options.connections,
    acknowledged: acknowledgedByIngest,
    warmupSeconds,
    seconds,
    signal,
  };
  const ingestBatch: Traffic = {
    ...ingest,
    bodies: makeBatchBodies(apiKeys, { count: BATCH_BODIES, size: options.batchSize }, seed),
    connections: options.batchConnections,
    acknowledged: acknowledgedByBatch,
  };

  const peers: Peer[] = [];
  const peerRun = async (name: PeerName, argument?: unknown): Promise<Run> => {
    const peer = await startPeer(name, argument);
    peers.push(peer);
    return (round) => measurePeer(peer, name, round, ingest);
  };
  const measurements: Measurement[] = [];
  try {
    const insert = await peerRun('insert', { databaseUrl: peerDatabase, sensors: stage.sensors });
    const runs: Record<Contestant, Run> = {
      floor: await peerRun('floor'),
      stock: await peerRun('stock'),
      insert: (round) => withCountedRows(peerDatabase, () => insert(round)),
      single: (round) => measureGantry(stage, 'single', round, ingest),
      batch: (round) => measureGantry(stage, 'batch', round, ingestBatch),
    };
    for (let round = 1; round <= options.rounds; round++) {
      for (const contestant of Object.keys(CONTESTANTS) as Contestant[]) {
        const measurement = await runs[contestant](round);
        options.onMeasured(measurement);
        measurements.push(measurement);
      }
    }
  } finally {
    for (const peer of peers) await peer.stop();
  }
  await checkIndexedColumns(CONTESTANTS.single, stage.databaseUrl);
  await checkIndexedColumns(CONTESTANTS.insert, peerDatabase);
  return measurements;
}

async function measurePeer(
  peer: Peer,
  contestant: PeerName,
  round: number,
  traffic: Traffic,
): Promise<Measurement> {
  const load = await drive({
    ...traffic,
    who: CONTESTANTS[contestant],
    url: `${peer.url}/trpc/events.ingest`,
  });
  return measurementOf(load, 1, { contestant, round, groupSize: null, memory: await peer.memory() });
}

/** The peer that inserts has neither totals nor statistics, so only its rows are counted. */
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

async function measureGantry(
  stage: Stage,
  contestant: 'single' | 'batch',
  round: number,
  traffic: Traffic,
): Promise<Measurement> {
  const { gantry } = stage;
  const procedure = contestant === 'single' ? 'events.ingest' : 'events.ingestBatch';
  await checkpoint(stage.databaseUrl);
  const [countBefore, metricsBefore] = [await stage.count(), await gantry.metrics()];
  const load = await drive({
    ...traffic,
    who: CONTESTANTS[contestant],
    url: `${gantry.url}/trpc/${procedure}`,
  });
  const groupSize = groupSizeBetween(metricsBefore, await gantry.metrics());
  const memory = await gantry.memory();
  checkCounts(CONTESTANTS[contestant], load.acknowledged, countBefore, await stage.count());
  return measurementOf(load, traffic.bodies[0]?.events ?? 0, { contestant, round, groupSize, memory });
}

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { checkServer, query, sibling } from '../database.ts';
import { stopLeftoverDatabase } from '../leftover-database.ts';
import { embeddedDatabaseUrl, type Service, startService } from '../service.ts';
import { fillHistory } from './fill.ts';
import { fillDetector, fillNetwork } from './fill-detector.ts';
import type { HistoryOptions } from './history.ts';
import { checkRoom } from './room.ts';

/** A Gantry service with a filled database. */
export interface History {
  readonly options: HistoryOptions;
  readonly gantry: Service;
  readonly databaseUrl: string;
}

/** Histories on one PostgreSQL server, so that each query can be sent to all in turn. Disposing stops their services. */
export interface Histories extends AsyncDisposable {
  readonly list: readonly History[];
  /** The version of PostgreSQL. */
  readonly postgresql: string;
}

export interface HistoriesOptions {
  /** The folder of the data. Data of an earlier run in it is used again. */
  readonly folder: string;
  /** A server on which databases may be created; by default the embedded one. */
  readonly server?: string | undefined;
  /** The number of events in each history. */
  readonly sizes: readonly number[];
  readonly spanDays: number;
  readonly sensors: number;
  readonly seed: number;
  /** Whether the data is kept for another run. */
  readonly isKept: boolean;
  readonly onProgress: (line: string) => void;
}

/**
 * Starts a Gantry service for each size, on a database with that number of events, which is filled if necessary.
 * @throws BenchmarkFailed before filling anything when there is not enough disk space
 */
export async function openHistories(options: HistoriesOptions): Promise<Histories> {
  const { folder, server, sizes, spanDays, sensors, seed, isKept, onProgress } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  const start = async (name: string, databaseUrl?: string): Promise<Service> => {
    const dataDir = join(folder, name);
    await mkdir(dataDir, { recursive: true });
    undo.push(() => stopLeftoverDatabase(dataDir));
    const service = await startService({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) });
    undo.push(service.stop);
    return service;
  };
  const startHome = async (): Promise<string> => {
    await start('gantry');
    return embeddedDatabaseUrl(join(folder, 'gantry'));
  };

  const fill = async (home: string, name: string, events: number): Promise<History> => {
    const until = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const history = { events, sensors, seed, from: until - spanDays * DAY_MS, until };
    const databaseUrl = sibling(home, name);
    await query(home, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await query(home, `CREATE DATABASE ${name}`);
    if (!isKept) undo.push(() => query(home, `DROP DATABASE ${name} WITH (FORCE)`));
    const gantry = await start(name, databaseUrl);
    const began = performance.now();
    await fillHistory(databaseUrl, history);
    await fillDetector(gantry.client, history);
    await fillNetwork(databaseUrl, history);
    if (isKept) await query(home, `COMMENT ON DATABASE ${name} IS '${JSON.stringify(history)}'`);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    onProgress(`${events.toLocaleString('en-US')} events made in ${seconds} s; the totals equal a recount`);
    return { options: history, databaseUrl, gantry };
  };

  try {
    const wanted = sizes.map((events) => ({
      events,
      name: `gantry_history_${events}_${spanDays}_${sensors}_${seed}`,
    }));
    // If there are no kept data, the required space is known before anything is started.
    if (server === undefined && !existsSync(join(folder, 'gantry')))
      await checkRoom(folder, eventsOf(wanted));
    const home = server ?? (await startHome());
    const postgresql = await checkServer(home);
    const kept = await findKept(home);
    const missing = wanted.filter(({ name }) => !kept.has(name));
    // The disk of an external server is not known here.
    if (server === undefined) await checkRoom(folder, eventsOf(missing));
    const list: History[] = [];
    for (const { events, name } of wanted) {
      const known = kept.get(name);
      const databaseUrl = sibling(home, name);
      if (known === undefined) list.push(await fill(home, name, events));
      else list.push({ options: known, databaseUrl, gantry: await start(name, databaseUrl) });
    }
    return { list, postgresql, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function eventsOf(histories: readonly { readonly events: number }[]): number {
  return histories.reduce((sum, { events }) => sum + events, 0);
}

/** The databases on a server with a complete history, which their comments describe. */
async function findKept(server: string): Promise<ReadonlyMap<string, HistoryOptions>> {
  const rows = await query<{ name: string; description: string }>(
    server,
    `SELECT datname AS name, shobj_description(oid, 'pg_database') AS description FROM pg_database
     WHERE datname LIKE 'gantry\\_history\\_%' AND shobj_description(oid, 'pg_database') IS NOT NULL`,
  );
  return new Map(rows.map(({ name, description }) => [name, JSON.parse(description) as HistoryOptions]));
}

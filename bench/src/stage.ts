import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Counts } from './counts.ts';
import { checkServer, countEvents, query, sibling } from './database.ts';
import { stopLeftoverDatabase } from './leftover-database.ts';
import { registerSensors, type Sensor } from './sensors.ts';
import { embeddedDatabaseUrl, type Service, startService } from './service.ts';
import { createUndo } from './undo.ts';

/** A running Gantry with an empty history, sensors and access to its database. Disposing stops and removes it. */
export interface Stage extends AsyncDisposable {
  readonly gantry: Service;
  readonly databaseUrl: string;
  /** The number of processes of Gantry. */
  readonly workers: number;
  /** The version of PostgreSQL. */
  readonly postgresql: string;
  readonly sensors: readonly Sensor[];
  /** Creates an empty database on the same server with the same schema and partitions. It is removed with the stage. */
  createTwin(): Promise<string>;
  /** Counts the events in every possible way. */
  count(): Promise<Counts>;
}

/** The default number of sensors. */
export const SENSORS = 20;

/** The settings of a stage. */
export interface StageSettings {
  /** A PostgreSQL server on which databases may be created; by default the embedded one. */
  readonly server?: string | undefined;
  /** The number of processes of Gantry. */
  readonly workers: number;
  readonly sensors?: number | undefined;
  /** Of its database on a given server, which distinguishes it from others of this run. */
  readonly name?: string | undefined;
}

/**
 * Starts Gantry and registers sensors.
 * @param folder the folder for data on disk
 */
export async function setStage(
  folder: string,
  { server, workers, sensors = SENSORS, name = `own_${workers}` }: StageSettings,
): Promise<Stage> {
  const undo = createUndo();
  const createDatabase = async (onServer: string, purpose: string): Promise<string> => {
    const database = `gantry_bench_${purpose}_${process.pid}`;
    await query(onServer, `CREATE DATABASE ${database}`);
    undo.add(() => query(onServer, `DROP DATABASE ${database} WITH (FORCE)`));
    return sibling(onServer, database);
  };
  const makeFolder = async (within: string): Promise<string> => {
    const path = join(folder, within);
    await mkdir(path, { recursive: true });
    return path;
  };

  try {
    const given = server === undefined ? undefined : await createDatabase(server, name);
    const dataDir = await makeFolder('gantry');
    undo.add(() => stopLeftoverDatabase(dataDir));
    const gantry = await startService({
      dataDir,
      ...(given !== undefined && { databaseUrl: given }),
      env: { WORKERS: String(workers) },
    });
    undo.add(gantry.stop);
    const databaseUrl = given ?? (await embeddedDatabaseUrl(dataDir));
    return {
      gantry,
      databaseUrl,
      workers,
      postgresql: await checkServer(databaseUrl),
      sensors: await registerSensors(gantry.client, sensors),
      async createTwin() {
        const twin = await createDatabase(server ?? databaseUrl, 'twin');
        await (await startService({ dataDir: await makeFolder('twin'), databaseUrl: twin })).stop();
        return twin;
      },
      async count() {
        const { total } = await gantry.client.api.events.getStats.query();
        return { ...(await countEvents(databaseUrl)), stats: total };
      },
      [Symbol.asyncDispose]: undo.run,
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

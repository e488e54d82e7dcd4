import type { TimezoneSettings } from '@gantry/contract/system';
import { lowerPriority } from '@gantry/embedded-postgres/running';
import type { Logger } from 'pino';
import { createSettingsCache } from './caches.ts';
import { type ClockSources, startClock } from './clock.ts';
import type { Config } from './config.ts';
import { type Core, Readiness } from './context.ts';
import { Client, clientSettings } from './database/address.ts';
import { migrate } from './database/migrate.ts';
import { readDatabaseTime } from './database/moment.ts';
import { followNodes, nodeAway } from './database/nodes.ts';
import { type Channel, channels, type Listener, listen } from './database/notify.ts';
import { tryConnection } from './database/open.ts';
import {
  createDatabase,
  type Database,
  HEALTH_TIMEOUT_MS,
  openKept,
  openPools,
  type Pools,
} from './database/pool.ts';
import { waitForDatabase, warnOfFewConnections } from './database/wait.ts';
import { filterOutages, RefusalLog } from './log.ts';
import { createMailer, mailSettings } from './mail.ts';
import { createMetrics, followDisks, followEventLoop, type Siblings } from './metrics.ts';
import { OutageMonitor } from './outages.ts';
import { startPeriodic } from './periodic.ts';
import type { Timings } from './timings.ts';

/** Resources that were opened one after another. Disposing closes all of them in reverse order, even if one fails. */
export class Resources implements AsyncDisposable {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];

  onClose(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close);
  }

  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.onClose(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be closed');
  }
}

/** What the modules need to start. */
export interface Foundation {
  readonly core: Core;
  readonly pools: Pools;
  readonly listener: Listener;
  /** Closes what was opened, in reverse order. */
  readonly resources: Resources;
}

export interface FoundationOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly resources: Resources;
  readonly timings: Timings;
  /** Time sources in place of the clocks of this process and of the database, for tests. */
  readonly clock?: Partial<ClockSources> | undefined;
  /** The other processes of the service, if there are any. */
  readonly siblings: Siblings | null;
  readonly connectionString: string;
  /** Whether the connections that are kept are opened at once, before others take all that the server allows. */
  readonly opensKept: boolean;
  /** The folder with the migrations. */
  readonly migrations: URL;
  readonly loadTimezone: (db: Database) => Promise<TimezoneSettings>;
  /** Interrupts the start. */
  readonly signal?: AbortSignal | undefined;
  readonly loadFormerTimezones: (db: Database) => Promise<readonly string[]>;
}

/** Refreshes a cache whenever a change is announced, and periodically. */
export function keepFresh(
  {
    core: { log, timings },
    listener,
    resources,
  }: Pick<Foundation, 'listener' | 'resources'> & { core: Pick<Core, 'log' | 'timings'> },
  channel: Channel,
  refresh: () => Promise<void>,
  failure: string,
): void {
  const announced = () => {
    refresh().catch((err: unknown) => log.warn({ err }, failure));
  };
  listener.on(channel, announced, announced);
  resources.use(startPeriodic({ everyMs: timings.refreshCachesMs, log, failure }, refresh));
}

/**
 * Waits for the database, migrates it, and opens what all modules use.
 * @throws UnsuitableDatabase for a server that Gantry cannot use
 */
export async function startFoundation(options: FoundationOptions): Promise<Foundation> {
  const { config, log, resources, connectionString, timings, signal } = options;
  await waitForDatabase(connectionString, { allowUnsafe: config.ALLOW_UNSAFE_DATABASE, log, signal });
  const migrations = await migrate(connectionString, { folder: options.migrations, log, signal });
  signal?.throwIfAborted();
  if (migrations.length > 0) log.info({ migrations }, 'the database schema was brought up to date');

  const pools = resources.use(
    openPools(connectionString, config.DATABASE_POOL_SIZE, timings, (reason) =>
      log.warn({ reason }, 'an idle database connection failed'),
    ),
  );
  for (const pool of [pools.rollUp, pools.upkeep]) lowerPriority(pool, config.DATA_DIR);
  const db = createDatabase(pools.ordinary);
  const health = createDatabase(pools.health);
  if ((options.siblings?.number ?? 1) === 1) await warnOfFewConnections(health, config, log);
  if (options.opensKept) await openKept(pools);
  const nodes = followNodes(db, health);
  const metrics = createMetrics(options.siblings);
  metrics.followPools({ ...pools });
  followDisks(metrics.registry, config.DATA_DIR);
  resources.onClose(followEventLoop(metrics.registry));
  const address = clientSettings(connectionString, {});
  const ports = [new Client(address).port, ...address.servers.map(({ port }) => port)];
  const probe = async (): Promise<void> => {
    await readDatabaseTime(health);
    const [absent] = await nodes.listAbsent();
    if (absent !== undefined) throw nodeAway(absent);
  };
  const outages = new OutageMonitor({
    log,
    metrics,
    ports,
    probe,
    connect: () => tryConnection(connectionString, HEALTH_TIMEOUT_MS),
  });
  filterOutages(log, outages);
  resources.onClose(async () => {
    filterOutages(log, null);
    await outages[Symbol.asyncDispose]();
  });
  const refusals = new RefusalLog(log);
  resources.onClose(() => refusals[Symbol.dispose]());
  const clock = resources.use(
    await startClock({
      readDatabaseTime: () => readDatabaseTime(health),
      ...options.clock,
      log,
      reportSkew: (milliseconds) => metrics.clockSkewSeconds.set(milliseconds / 1000),
    }),
  );
  const settings = await createSettingsCache(
    () => options.loadTimezone(db),
    () => options.loadFormerTimezones(db),
  );
  const core: Core = {
    config,
    log,
    pool: pools.ordinary,
    db,
    devices: createDatabase(pools.devices),
    gateways: createDatabase(pools.gateways),
    questions: createDatabase(pools.questions),
    health,
    nodes,
    metrics,
    clock,
    timings,
    settings,
    readiness: new Readiness(),
    refusals,
    mailer: resources.use(
      createMailer({ ...(await mailSettings(config)), now: clock.now, limitMs: timings.mailMs }, log),
    ),
  };
  const listener = resources.use(await listen(connectionString, log, timings));
  const foundation = { core, pools, listener, resources };
  keepFresh(foundation, channels.settings, settings.refresh, 'the settings could not be reloaded');
  return foundation;
}

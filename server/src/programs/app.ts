import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import type { Logger } from 'pino';
import { createFirstAdministrator, type FirstAdministrator } from '../accounts/first-administrator.ts';
import type { PasswordCost } from '../accounts/passwords.ts';
import { startAuth } from '../accounts/start.ts';
import { startLooks } from '../activity/looks.ts';
import type { Announce } from '../alarms/rounds.ts';
import { acknowledgeGroup } from '../alarms/service.ts';
import { startAlarms } from '../alarms/start.ts';
import type { AppContext } from '../api/context.ts';
import { appRouter } from '../api/router.ts';
import { startForwarding } from '../audit/feed.ts';
import { startCases } from '../cases/start.ts';
import { startMqtt } from '../devices/mqtt.ts';
import { startConnections, startGateways } from '../devices/start.ts';
import { startRollingUpCounts } from '../events/counts/roll-up.ts';
import { startRenewingPlateKeys } from '../events/plate-keys-store.ts';
import { findEvents } from '../events/store.ts';
import { startUpkeep } from '../events/upkeep.ts';
import { startEvidence } from '../evidence/start.ts';
import { startHotlists } from '../hotlists/start.ts';
import { explainListening, requireFreePort } from '../http/connections.ts';
import { requireMapTiles } from '../http/map-files.ts';
import { closeServer, createServer } from '../http/server.ts';
import { Workers } from '../http/workers/workers.ts';
import { startImages } from '../images/start.ts';
import { startIngest } from '../ingest/start.ts';
import { startMap } from '../map/start.ts';
import { announce } from '../notices/announce.ts';
import { startNotices } from '../notices/start.ts';
import { startBackupModule } from '../operations/backup/start.ts';
import { Retention } from '../operations/retention/schedule.ts';
import type { ClockSources } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { explainRefusal } from '../platform/database/explain-refusal.ts';
import { sqlState } from '../platform/database/failure.ts';
import { dataFolderAt } from '../platform/database/open.ts';
import { connectionsOf, createDatabase } from '../platform/database/pool.ts';
import { UnsuitableDatabase } from '../platform/database/wait.ts';
import { migrationsFolder } from '../platform/installation.ts';
import type { Siblings } from '../platform/metrics.ts';
import { stopDeadlineMs } from '../platform/process/own-process.ts';
import { type Foundation, Resources, startFoundation } from '../platform/start.ts';
import { TIMINGS, type Timings } from '../platform/timings.ts';
import { type RealtimeServices, startRealtime } from '../realtime/start.ts';
import { startPackages } from '../reports/packages/start.ts';
import { startReports } from '../reports/start.ts';
import { FrontEnd } from '../rpc/exchange.ts';
import { startSensors } from '../sensors/start.ts';
import { getTimezoneSettings, listFormerTimezones } from '../system/store.ts';
import { startTrafficRollUp } from '../traffic/roll-up.ts';
import { startStoringYears } from '../traffic/years.ts';
import { startWatchlist } from '../watchlist/start.ts';
import { startDeliveries, startWebhooks } from '../webhooks/start.ts';
import { startWorks } from '../works/start.ts';

/** The service, ready to listen. Disposing it finishes accepted requests and closes everything it opened. */
export interface Service extends AsyncDisposable {
  /** The administrator that this start created, if any. */
  readonly firstAdministrator: FirstAdministrator | null;
  /** Starts to accept requests. @returns the address */
  listen(): Promise<string>;
  /**
   * Reports that it is not ready and continues to answer for `DRAIN_SECONDS`, so that load balancers use other
   * processes.
   */
  drain(): Promise<void>;
}

/** What tests may replace. It never comes from the environment. */
export interface Overrides {
  readonly timings?: Partial<Timings>;
  readonly passwordCost?: PasswordCost | undefined;
  /** The sources of its clock: the time of this machine, of the database, or both. `now()` in SQL is not affected. */
  readonly clock?: Partial<ClockSources>;
  /** Replaces the writing of messages about alarms. */
  readonly announce?: Announce;
  /** The folder with the built console. */
  readonly consoleFolder?: string;
  /** Whether the connections that are kept are opened at the start. @default true */
  readonly opensKept?: boolean;
}

/** The service in this process. */
export interface App extends Service {
  readonly context: AppContext;
}

/**
 * Builds the service, with all its resources.
 * @param siblings the other processes of the service, if any
 * @param overrides replacements for tests
 * @param signal interrupts the start, which then fails with its reason or another error and leaves nothing running
 * @throws DataFolderInUse when another process owns the data folder
 * @throws UnsuitableDatabase for a server that Gantry cannot use, or that has too few connections
 */
export function createApp(
  config: Config,
  log: Logger,
  siblings: Siblings | null = null,
  overrides: Overrides = {},
  signal?: AbortSignal,
): Promise<App> {
  return withResources((resources) => compose(config, log, resources, siblings, overrides, signal)).catch(
    (error: unknown) => {
      // Other refusals already occur when the first connection is opened, where they are explained.
      const url = sqlState(error) === '53300' ? config.DATABASE_URL : undefined;
      if (url === undefined) throw error;
      throw new UnsuitableDatabase(explainRefusal(error, url) ?? undefined, { cause: error });
    },
  );
}

/**
 * Builds the service from WORKERS processes, each with an App of its own. This process holds only what they share and
 * restarts those that end.
 * @throws DataFolderInUse when another process owns the data folder
 */
export function createAppOfWorkers(config: Config, log: Logger, signal?: AbortSignal): Promise<Service> {
  return withResources(async (resources) => {
    await requireFreePort(config);
    const environment = await settleShared(config, log, resources, signal);
    const workers = resources.use(
      new Workers({ count: config.WORKERS, environment, stopDeadlineMs: stopDeadlineMs(config), log }),
    );
    return {
      get firstAdministrator() {
        return workers.firstAdministrator;
      },
      listen: () => workers.listen(),
      // Each of them drains when it is asked to stop.
      drain: async () => undefined,
      [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
    };
  });
}

async function openDatabase(
  config: Config,
  log: Logger,
  resources: Resources,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (config.DATABASE_URL) return config.DATABASE_URL;
  const folder = dataFolderAt(config.DATA_DIR);
  resources.use(await folder.claim(undefined, signal));
  signal?.throwIfAborted();
  const embedded = await startEmbeddedDatabase({
    folder,
    connections: connectionsOf(config),
    log: (line) => log.info(line),
    signal,
  });
  return resources.use(embedded).connectionString;
}

function jwtSecret(config: Config): Promise<string> | string {
  return (
    config.JWT_SECRET ??
    dataFolderAt(config.DATA_DIR).keepSecret('jwt-secret', () => randomBytes(48).toString('base64url'))
  );
}

/** Opens the database. @returns the settings that all processes of one service must have in common */
async function settleShared(
  config: Config,
  log: Logger,
  resources: Resources,
  signal: AbortSignal | undefined,
) {
  await requireMapTiles(config.MAP_PMTILES);
  return {
    DATABASE_URL: await openDatabase(config, log, resources, signal),
    JWT_SECRET: await jwtSecret(config),
  };
}

async function compose(
  config: Config,
  log: Logger,
  resources: Resources,
  siblings: Siblings | null,
  overrides: Overrides,
  signal: AbortSignal | undefined,
): Promise<App> {
  // A worker finds the port taken by its primary.
  if (siblings === null) await requireFreePort(config);
  const shared = await settleShared(config, log, resources, signal);
  const { DATABASE_URL: connectionString, JWT_SECRET: secret } = shared;
  const foundation = await startFoundation({
    config,
    log,
    resources,
    siblings,
    timings: { ...TIMINGS, ...overrides.timings },
    clock: overrides.clock,
    connectionString,
    opensKept: overrides.opensKept ?? true,
    migrations: migrationsFolder,
    loadTimezone: getTimezoneSettings,
    loadFormerTimezones: listFormerTimezones,
    signal,
  });
  const context = await startModules(foundation, { connectionString, secret }, overrides);
  const firstAdministrator = await createFirstAdministrator(context);

  const frontEnd = new FrontEnd(config, log);
  const gateways = startGateways(foundation, context, secret, frontEnd);
  await startMqtt(foundation, context, gateways.receiver, secret);
  const pagesFolder = overrides.consoleFolder;
  const handlers = [gateways.http];
  const server = await createServer(context, appRouter, {
    frontEnd,
    handlers,
    pagesFolder,
    acknowledgeGroup,
  });
  resources.onClose(() => closeServer(server));
  // Closed first, because open streams would delay the end of the server.
  resources.use(context.realtime);

  return {
    context,
    firstAdministrator,
    async listen() {
      await server.listen({ host: config.HOST, port: config.PORT }).catch((cause: unknown) => {
        throw explainListening(cause, config);
      });
      const { address, family, port } = server.server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    },
    async drain() {
      context.readiness.drain();
      await sleep(config.DRAIN_SECONDS * 1_000);
    },
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  };
}

/** Starts the services of all modules, in the order of their layers, and the work in the background. */
async function startModules(
  foundation: Foundation,
  { connectionString, secret }: { readonly connectionString: string; readonly secret: string },
  { passwordCost, announce: announceOtherwise }: Overrides,
): Promise<AppContext> {
  const { core, resources } = foundation;
  const { db, log } = core;
  const auth = await startAuth(foundation, secret, passwordCost);
  const activity = startLooks(foundation);
  const webhooks = await startWebhooks(foundation);
  const outbox = webhooks.webhooks;
  const findCommitted = (ids: readonly string[]) =>
    core.nodes.readCommitted(
      () => findEvents(db, ids),
      ({ size }) => size === ids.length,
    );
  const realtime = await startRealtime(foundation, { findEvents: findCommitted, outbox });
  const sensors = startSensors(foundation, realtime);
  const connections = await startConnections(foundation);
  const watchlist = await startWatchlist(foundation);
  const images = await startImages(foundation);
  const cases = await startCases(foundation, realtime);
  const zone = () => core.settings.current().timezone;
  const retention = resources.use(
    new Retention({ db, log, files: images.images.files, now: core.clock.now, zone }),
  );
  const ingest = await startIngest(
    foundation,
    { ...watchlist, ...webhooks, ...cases, outbox },
    realtime.feedGrew,
  );
  startMaintenance(foundation, realtime);
  // Closed before the follow-up of events: deliveries of its last round are sent after the next start.
  startDeliveries(foundation, webhooks.webhookUrls);
  const notices = startNotices(foundation, auth);
  const hotlists = startHotlists(foundation, { ...watchlist, ...webhooks, outbox }, connectionString);
  startWorks(foundation, realtime);
  await startForwarding(foundation, webhooks.webhooks);
  const reports = startReports(foundation, connectionString);
  const evidence = await startEvidence(foundation, connectionString);
  const packages = startPackages(foundation, { ...evidence, ...images, outbox });
  const backups = startBackupModule(foundation, connectionString);
  const map = startMap(foundation);
  startAlarms(foundation, announceOtherwise ?? ((tx, step) => announce({ ...core, ...auth }, tx, step)));
  return {
    ...core,
    ...auth,
    ...activity,
    ...realtime,
    ...sensors,
    ...connections,
    ...watchlist,
    ...images,
    ...cases,
    ...ingest,
    ...webhooks,
    ...notices,
    ...hotlists,
    ...reports,
    ...backups,
    ...evidence,
    ...packages,
    ...map,
    retention,
  };
}

/** Starts what keeps stored events and their counts in order. */
function startMaintenance(
  { core, pools, resources }: Foundation,
  { whenFeedGrows }: Pick<RealtimeServices, 'whenFeedGrows'>,
): void {
  const { log, timings, clock, metrics } = core;
  const db = createDatabase(pools.rollUp);
  const { now } = clock;
  const counts = resources.use(startRollingUpCounts({ db, log, timings }));
  const notePending = (events: number): void => metrics.pendingTrafficEvents.set(events);
  const parts = { log, now, zone: () => core.settings.current().timezone };
  const traffic = resources.use(
    startTrafficRollUp({ ...parts, db, everyMs: timings.rollUpTrafficMs, notePending }),
  );
  // Roll-ups must not wait for the connection of a year that takes long.
  const ordinary = createDatabase(pools.ordinary);
  resources.use(startStoringYears({ ...parts, db: ordinary, everyMs: timings.storeYearsMs }));
  whenFeedGrows(counts.rouse);
  whenFeedGrows(traffic.rouse);
  const { ordinary: pool, upkeep: own } = pools;
  resources.use(startUpkeep({ pool, own, log, now, everyMs: timings.upkeepMs }));
  resources.use(startRenewingPlateKeys({ db, log, everyMs: timings.renewPlateKeysMs }));
}

async function withResources<Result>(make: (resources: Resources) => Promise<Result>): Promise<Result> {
  const resources = new Resources();
  try {
    return await make(resources);
  } catch (error) {
    // The reason why it cannot start is more important than errors that result from it.
    await resources[Symbol.asyncDispose]().catch(() => undefined);
    throw error;
  }
}

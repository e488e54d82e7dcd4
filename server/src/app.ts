import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { appRouter } from './api/router.ts';
import { createPasswords, type PasswordCost } from './auth/passwords.ts';
import { startPruningSessions } from './auth/prune.ts';
import { createSessionWatch } from './auth/session-watch.ts';
import { createLoginThrottle } from './auth/throttle.ts';
import { createTokens } from './auth/tokens.ts';
import { startFolding } from './events/counts/fold.ts';
import { createPartitions } from './events/partitions.ts';
import { findEvents } from './events/store.ts';
import { closeServer, createServer } from './http/server.ts';
import { createImages } from './images/images.ts';
import { openBlobs } from './images/open-blobs.ts';
import { bringAbout, hasConsequences } from './ingest/effects.ts';
import { startFollowUp } from './ingest/follow-up.ts';
import { createRateLimits } from './ingest/rate-limits.ts';
import { EventWriter } from './ingest/writer.ts';
import { startClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { AppContext } from './platform/context.ts';
import { readDatabaseTime } from './platform/database/database-time.ts';
import { startEmbeddedDatabase } from './platform/database/embedded/embedded.ts';
import { migrate } from './platform/database/migrate.ts';
import { channels, listen } from './platform/database/notify.ts';
import { createDatabase, createPool } from './platform/database/pool.ts';
import { openPools, SPECIAL_CONNECTIONS } from './platform/database/pools.ts';
import { waitForDatabase } from './platform/database/wait.ts';
import { startJobs } from './platform/jobs/jobs.ts';
import { createMetrics, type Siblings } from './platform/metrics.ts';
import { startRounds } from './platform/periodic.ts';
import { claimDataFolder, keepSecret } from './platform/process/data-folder.ts';
import { createReadiness } from './platform/readiness.ts';
import { Resources } from './platform/resources.ts';
import { createSettingsCache } from './platform/settings-cache.ts';
import { TIMINGS, type Timings } from './platform/timings.ts';
import { forgetForeignChanges } from './realtime/changes-store.ts';
import { Hub } from './realtime/hub.ts';
import type { FindEvents } from './realtime/items.ts';
import { startPruning } from './realtime/prune.ts';
import { createStreams } from './realtime/streams.ts';
import { createReportFiles } from './reports/files.ts';
import { createReportRunner } from './reports/runner.ts';
import { generateReports } from './reports/start.ts';
import { createReportMaker } from './reports/thread.ts';
import { REPORT_CONNECTIONS } from './reports/thread-messages.ts';
import { startReportRounds } from './reports/upkeep.ts';
import { startRetention } from './retention/schedule.ts';
import { publicKeyView } from './sensors/api-key.ts';
import { createLastContacts } from './sensors/last-contacts.ts';
import { createPublicList } from './sensors/public-list.ts';
import { createSensorKeys } from './sensors/sensor-keys.ts';
import { findSensorByKey, touchSensors } from './sensors/store.ts';
import { startSweeper } from './sensors/sweeper.ts';
import { getTimezoneSettings, listFormerTimezones } from './system/store.ts';
import { startFoldingTraffic } from './traffic/fold.ts';
import { createFirstAdministrator, type FirstAdministrator } from './users/first-administrator.ts';
import { loadWatchedEntries } from './watchlist/store.ts';
import { createWatchlist } from './watchlist/watch.ts';
import { createAddressRules } from './webhooks/address.ts';
import { createDeliverer } from './webhooks/deliver.ts';
import { createWebhookDispatch } from './webhooks/dispatch.ts';
import { ATTEMPT_LIMIT_MS, createSender } from './webhooks/send.ts';
import { deliverNothing, deliverWebhooks } from './webhooks/start.ts';
import { listEnabledWebhooks } from './webhooks/store.ts';
import { startSweepingDeliveries } from './webhooks/sweep.ts';
import { createWorkers } from './workers/workers.ts';

/** The service, ready to listen. Disposing it finishes what was accepted and closes everything it opened. */
export interface Service extends AsyncDisposable {
  /** The administrator this start created, if it did. */
  readonly firstAdministrator: FirstAdministrator | null;
  /** Starts to answer. @returns the address it answers at */
  listen(): Promise<string>;
  /** Says that it is not ready and goes on answering for `DRAIN_SECONDS`, so that load balancers turn to others. */
  drain(): Promise<void>;
}

/** What a test may have otherwise than an installation. It never comes from the environment. */
export interface Overrides {
  readonly timings?: Partial<Timings>;
  readonly passwordCost?: PasswordCost;
}

/** The service in this process. */
export interface App extends Service {
  readonly context: AppContext;
}

const PARTITION_CHECK_MS = 3_600_000;
/** Connections on which a process works on the job queue: it listens on one of them. */
const JOB_CONNECTIONS = 2;
/** Connections of a process outside its ordinary pool: another one to listen on. The two that migrate are closed before. */
const FURTHER_CONNECTIONS = SPECIAL_CONNECTIONS + JOB_CONNECTIONS + REPORT_CONNECTIONS + 1;
/** Jobs that a process does at once. */
const JOBS_AT_ONCE = 2;

/** Streams that one process carries; a user has one for each open screen. */
const MOST_STREAMS = { ofOneUser: 50, inAll: 2_000 };

const openDatabase = async (config: Config, log: Logger, resources: Resources): Promise<string> => {
  if (config.DATABASE_URL) return config.DATABASE_URL;
  resources.use(await claimDataFolder(config.DATA_DIR));
  const embedded = await startEmbeddedDatabase({
    dataDir: config.DATA_DIR,
    connections: config.WORKERS * (config.DATABASE_POOL_SIZE + FURTHER_CONNECTIONS),
    log: (line) => log.info(line),
  });
  return resources.use(embedded).connectionString;
};

const jwtSecret = (config: Config): Promise<string> | string =>
  config.JWT_SECRET ?? keepSecret(config.DATA_DIR, 'jwt-secret', () => randomBytes(48).toString('base64url'));

/** The settings that all processes of one service must have in common. */
const settleShared = async (config: Config, log: Logger, resources: Resources) => ({
  DATABASE_URL: await openDatabase(config, log, resources),
  JWT_SECRET: await jwtSecret(config),
});

const compose = async (
  config: Config,
  log: Logger,
  resources: Resources,
  siblings: Siblings | null,
  overrides: Overrides,
): Promise<App> => {
  const timings: Timings = { ...TIMINGS, ...overrides.timings };
  const { DATABASE_URL: connectionString, JWT_SECRET: secret } = await settleShared(config, log, resources);
  await waitForDatabase(connectionString, { allowUnsafe: config.ALLOW_UNSAFE_DATABASE, log });
  const migrations = await migrate(connectionString, { log });
  if (migrations.length > 0) log.info({ migrations }, 'the database schema was brought up to date');

  const pools = openPools(connectionString, config.DATABASE_POOL_SIZE, ({ message }) =>
    log.warn({ reason: message }, 'an idle database connection failed'),
  );
  resources.use(pools);
  const pool = pools.ordinary;
  const db = createDatabase(pool);
  const devices = createDatabase(pools.devices);
  const questions = createDatabase(pools.questions);
  const health = createDatabase(pools.health);
  const metrics = createMetrics(siblings);
  metrics.followPools({ ...pools });
  const clock = resources.use(
    await startClock({
      readDatabaseTime: () => readDatabaseTime(health),
      log,
      tellSkew: (milliseconds) => metrics.clockSkewSeconds.set(milliseconds / 1000),
    }),
  );

  const settings = await createSettingsCache(
    () => getTimezoneSettings(db),
    () => listFormerTimezones(db),
  );
  const sensorKeys = createSensorKeys((apiKey) => findSensorByKey(devices, apiKey));
  const publicSensors = createPublicList(questions, publicKeyView(config.PUBLIC_SENSOR_KEYS));
  const listener = resources.use(await listen(connectionString, log));
  const refreshSettings = () => {
    settings.refresh().catch((err: unknown) => log.warn({ err }, 'the settings could not be read anew'));
  };
  listener.on(channels.settings, refreshSettings, refreshSettings);
  const findEventsById: FindEvents = (ids) => findEvents(db, ids);
  const realtime = new Hub({ pool, findEvents: findEventsById, log });
  listener.on(channels.changes, realtime.wake, realtime.wake);
  listener.on(
    channels.sensors,
    (sensorId) => {
      publicSensors.forget();
      if (sensorId === '*') sensorKeys.forgetAll();
      else sensorKeys.forget(sensorId);
    },
    () => {
      publicSensors.forget();
      sensorKeys.forgetAll();
    },
  );

  const watchlist = resources.use(await createWatchlist(() => loadWatchedEntries(db), log));
  listener.on(channels.watchlist, watchlist.refresh, watchlist.refresh);

  const areWebhooksOn = config.FEATURES.includes('webhooks');
  const webhooks = await createWebhookDispatch(async () => (areWebhooksOn ? listEnabledWebhooks(db) : []));
  const refreshWebhooks = () => {
    webhooks.refresh().catch((err: unknown) => log.warn({ err }, 'the webhooks could not be read anew'));
  };
  listener.on(channels.webhooks, refreshWebhooks, refreshWebhooks);
  // Keys of sensors expire one by one, so that they are not all asked for at the same moment.
  resources.use(
    startRounds(
      { everyMs: timings.refreshCachesMs, log, failure: 'what is cached could not be read anew' },
      () => Promise.all([settings.refresh(), watchlist.refresh(), webhooks.refresh()]),
    ),
  );

  const partitions = createPartitions(pools.devices, clock.now);
  await partitions.ensureAhead();
  resources.use(
    startRounds({ everyMs: PARTITION_CHECK_MS, log, failure: 'next month has no partition yet' }, () =>
      partitions.ensureAhead(),
    ),
  );

  const blobs = resources.use(await openBlobs(config));
  const zone = () => settings.current().timezone;
  const retention = resources.use(startRetention({ db, log, blobs, zone }));

  const parts = { config, watchlist, webhooks };
  // Closed after the writer, so that what was stored last is followed up too.
  const followUp = resources.use(
    startFollowUp({
      db: devices,
      log,
      bringAbout: (tx, rows) => bringAbout(parts, tx, rows),
      tellLate: ({ events, oldestSeconds }) => {
        metrics.lateFollowUps.set(events);
        metrics.oldestFollowUpSeconds.set(oldestSeconds);
      },
    }),
  );
  const reportFolder = join(config.DATA_DIR, 'reports');
  const context: AppContext = {
    config,
    log,
    pool,
    db,
    devices,
    questions,
    health,
    metrics,
    clock,
    eventTimes: { oldestDays: config.OLDEST_EVENT_DAYS ?? null, mayBeWrong: clock.mayBeWrong },
    eventRates: createRateLimits(config.EVENT_RATE_FACTOR),
    settings,
    sensorKeys,
    publicSensors,
    tokens: createTokens(secret),
    passwords: await createPasswords(overrides.passwordCost),
    loginThrottle: createLoginThrottle(pool),
    sessionWatch: resources.use(createSessionWatch({ db, log })),
    lastContacts: resources.use(
      createLastContacts((contacts) => touchSensors(pools.devices, contacts), log, clock.now),
    ),
    watchlist,
    webhooks,
    webhookAddresses: createAddressRules(config.WEBHOOK_ALLOW_HOSTS),
    eventWriter: resources.use(
      new EventWriter({
        pool: pools.writer,
        partitions,
        metrics,
        log,
        hasConsequences: (row) => hasConsequences(parts, row),
        followUp: followUp.add,
      }),
    ),
    images: createImages({ db, log, blobs }),
    retention,
    findEvents: findEventsById,
    realtime,
    streams: createStreams(MOST_STREAMS),
    readiness: createReadiness(),
    reportFiles: createReportFiles(reportFolder),
  };
  resources.use(startFolding({ db, log }));
  resources.use(startFoldingTraffic({ db, log }));
  await forgetForeignChanges(pool);
  resources.use(startPruning({ pool, log }));
  resources.use(startPruningSessions({ db, log }));
  const send = createSender(context.webhookAddresses);
  const deliverer = resources.use(createDeliverer({ db, log, send, limitMs: ATTEMPT_LIMIT_MS }));
  resources.use(
    startSweepingDeliveries({ db, log, wakesLate: areWebhooksOn, everyMs: timings.sweepDeliveriesMs }),
  );
  const makeReport = createReportMaker({ connectionString, folder: reportFolder });
  const reportParts = { db, log, files: context.reportFiles };
  const reportRunner = resources.use(createReportRunner({ ...reportParts, makeReport }));
  resources.use(
    startReportRounds({
      ...reportParts,
      runner: reportRunner,
      everyMs: timings.reportRoundsMs,
      deadMs: timings.reportDeadMs,
    }),
  );
  const jobPool = createPool(
    connectionString,
    JOB_CONNECTIONS,
    ({ message }) => log.warn({ reason: message }, 'an idle connection of the job queue failed'),
    { name: 'gantry jobs' },
  );
  resources.onClose(() => jobPool.end());
  const tasks = {
    'deliver-webhooks': areWebhooksOn ? deliverWebhooks(deliverer) : deliverNothing,
    'generate-reports': generateReports(reportRunner),
  };
  resources.use(startJobs({ pool: jobPool, tasks, log, concurrency: JOBS_AT_ONCE }));
  const firstAdministrator = await createFirstAdministrator(context);
  resources.use(startSweeper(context, config.HEARTBEAT_TIMEOUT_SECONDS));

  const server = await createServer(context, appRouter);
  resources.onClose(() => closeServer(server));
  // Streams would hold up the end of the server for as long as they last.
  resources.use(realtime);

  return {
    context,
    firstAdministrator,
    async listen() {
      await server.listen({ host: config.HOST, port: config.PORT }).catch((cause: unknown) => {
        throw new Error(`HOST ${config.HOST} with PORT ${config.PORT} cannot be listened on: choose others`, {
          cause,
        });
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
};

const withResources = async <Result>(make: (resources: Resources) => Promise<Result>): Promise<Result> => {
  const resources = new Resources();
  try {
    return await make(resources);
  } catch (error) {
    await resources[Symbol.asyncDispose]();
    throw error;
  }
};

/**
 * Builds the whole service: the one place where resources are made.
 * @param siblings the processes it serves together with, if it does
 * @param overrides what tests have otherwise than an installation
 * @throws DataFolderInUse when another process owns the data folder
 */
export const createApp = (
  config: Config,
  log: Logger,
  siblings: Siblings | null = null,
  overrides: Overrides = {},
): Promise<App> => withResources((resources) => compose(config, log, resources, siblings, overrides));

/**
 * Builds the service out of WORKERS processes, each of which makes an App. This one only holds what they share, and
 * brings back what dies.
 * @throws DataFolderInUse when another process owns the data folder
 */
export const createAppOfWorkers = (config: Config, log: Logger): Promise<Service> =>
  withResources(async (resources) => {
    const environment = await settleShared(config, log, resources);
    const workers = resources.use(createWorkers({ count: config.WORKERS, environment, log }));
    return {
      get firstAdministrator() {
        return workers.firstAdministrator;
      },
      listen: workers.listen,
      // Each of them drains when it is asked to stop.
      drain: async () => undefined,
      [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
    };
  });

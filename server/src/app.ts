import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createPasswords } from './auth/passwords.ts';
import { createLoginThrottle } from './auth/throttle.ts';
import { createTokens } from './auth/tokens.ts';
import type { Config } from './config.ts';
import type { AppContext } from './context.ts';
import { claimDataFolder, keepSecret } from './data-folder.ts';
import { startEmbeddedDatabase } from './database/embedded.ts';
import { migrate } from './database/migrate.ts';
import { channels, listen } from './database/notify.ts';
import { createDatabase, createPool } from './database/pool.ts';
import { waitForDatabase } from './database/wait.ts';
import { startFolding } from './events/fold-totals.ts';
import { createPartitions } from './events/partitions.ts';
import { createLastContacts } from './ingest/last-contacts.ts';
import { createSensorKeys } from './ingest/sensor-keys.ts';
import { EventWriter } from './ingest/writer.ts';
import { createMetrics, type Siblings } from './metrics.ts';
import { Resources } from './resources.ts';
import { appRouter } from './router.ts';
import { findSensorByKey, touchSensors } from './sensors/store.ts';
import { startSweeper } from './sensors/sweeper.ts';
import { createSettingsCache } from './system/settings-cache.ts';
import { getTimezoneSettings } from './system/store.ts';
import { createFirstAdministrator, type FirstAdministrator } from './users/first-administrator.ts';
import { closeServer, createServer } from './wire/server.ts';
import { createWorkers } from './workers/workers.ts';

/** The service, ready to listen. Disposing it finishes what was accepted and closes everything it opened. */
export interface Service extends AsyncDisposable {
  /** The administrator this start created, if it did. */
  readonly firstAdministrator: FirstAdministrator | null;
  /** Starts to answer. @returns the address it answers at */
  listen(): Promise<string>;
}

/** The service in this process. */
export interface App extends Service {
  readonly context: AppContext;
}

const PARTITION_CHECK_MS = 3_600_000;
/** Connections of a process outside its pool: it listens on one, and migrates on another. */
const FURTHER_CONNECTIONS = 2;

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
): Promise<App> => {
  const { DATABASE_URL: connectionString, JWT_SECRET: secret } = await settleShared(config, log, resources);
  await waitForDatabase(connectionString, log);
  const migrations = await migrate(connectionString);
  if (migrations.length > 0) log.info({ migrations }, 'the database schema was brought up to date');

  const pool = createPool(connectionString, config.DATABASE_POOL_SIZE, ({ message }) =>
    log.warn({ reason: message }, 'an idle database connection failed'),
  );
  resources.onClose(() => pool.end());
  const db = createDatabase(pool);
  const metrics = createMetrics(siblings);

  const settings = await createSettingsCache(() => getTimezoneSettings(db));
  const sensorKeys = createSensorKeys((apiKey) => findSensorByKey(db, apiKey));
  const listener = resources.use(await listen(connectionString, log));
  const refreshSettings = () => {
    settings.refresh().catch((err: unknown) => log.warn({ err }, 'the settings could not be read anew'));
  };
  listener.on(channels.settings, refreshSettings, refreshSettings);
  listener.on(
    channels.sensors,
    (sensorId) => (sensorId === '*' ? sensorKeys.forgetAll() : sensorKeys.forget(sensorId)),
    sensorKeys.forgetAll,
  );

  const partitions = createPartitions(pool);
  await partitions.ensureAhead();
  const partitionTimer = setInterval(() => {
    partitions.ensureAhead().catch((err: unknown) => log.error({ err }, 'next month has no partition yet'));
  }, PARTITION_CHECK_MS);
  resources.onClose(() => clearInterval(partitionTimer));

  const context: AppContext = {
    config,
    log,
    pool,
    db,
    metrics,
    settings,
    sensorKeys,
    tokens: createTokens(secret),
    passwords: await createPasswords(),
    loginThrottle: createLoginThrottle(pool),
    lastContacts: resources.use(createLastContacts((contacts) => touchSensors(pool, contacts), log)),
    eventWriter: resources.use(new EventWriter({ pool, partitions, metrics, log })),
  };
  resources.use(startFolding({ db, log }));
  const firstAdministrator = await createFirstAdministrator(context);
  resources.use(startSweeper({ pool, log, timeoutSeconds: config.HEARTBEAT_TIMEOUT_SECONDS }));

  const server = await createServer(context, appRouter);
  resources.onClose(() => closeServer(server));

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
 * @throws DataFolderInUse when another process owns the data folder
 */
export const createApp = (config: Config, log: Logger, siblings: Siblings | null = null): Promise<App> =>
  withResources((resources) => compose(config, log, resources, siblings));

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
      [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
    };
  });

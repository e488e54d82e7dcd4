import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';
import { formatNamed } from '@gantry/device-formats';
import { keyedEventId } from '../events/id.ts';
import { locks, startLeading } from '../platform/database/locks.ts';
import { channels } from '../platform/database/notify.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { listDeviceIds } from '../sensors/store.ts';
import type { GatewayApp } from './context.ts';
import { type BrokerAddress, BrokerClient } from './mqtt-client.ts';
import type { Receiver } from './receive.ts';
import type { KnownConnection } from './store.ts';
import { matchesTopic, topicsOf } from './topic.ts';

/** A connection and the topics that it subscribes to. */
interface Subscriber {
  readonly connection: KnownConnection;
  readonly topics: readonly string[];
}

/**
 * Receives the messages of the MQTT broker in one of all processes, if MQTT_URL is set. A message is acknowledged to the
 * broker after the commit, so that the broker sends it again if the process is killed while it is being stored.
 * @param secret the default id of the client is derived from it, which identifies the installation to the broker
 */
export async function startMqtt(
  { pools, resources, listener }: Pick<Foundation, 'pools' | 'resources' | 'listener'>,
  app: GatewayApp,
  receiver: Pick<Receiver, 'store'>,
  secret: string,
): Promise<void> {
  const { config, log, timings, metrics } = app;
  if (config.MQTT_URL === undefined) return;
  const address = await addressOf(app, config.MQTT_URL, secret);

  const lead = async (): Promise<AsyncDisposable> => {
    let subscribers = await subscribersOf(app);
    const client = new BrokerClient({
      address,
      log,
      report: (isConnected) => metrics.mqttConnected.set(isConnected ? 1 : 0),
      receive: (topic, body) => {
        // Such a message cannot be stored, and the broker would send it for ever. It is acknowledged without being stored.
        if (body.length > MAX_BODY_BYTES) {
          app.refusals.note(`gateway mqtt 413 ${topic}`, 'a message of a device was refused', () => ({
            topic,
            bytes: body.length,
            reason: `The message is larger than ${MAX_BODY_BYTES} bytes`,
          }));
          return async () => undefined;
        }
        const receivedAt = app.clock.now();
        // Every attempt has the same ids, and none puts the message on disk: it stays with the broker until it is stored.
        const key = randomUUID();
        return async () => {
          const wanted = subscribers.filter(({ topics }) =>
            topics.some((filter) => matchesTopic(filter, topic)),
          );
          await Promise.all(
            wanted.map(({ connection }) =>
              receiver.store(keyedEventId(receivedAt, connection.id, key), {
                connection,
                receivedAt,
                method: 'MQTT',
                path: '',
                topic,
                contentType: null,
                encoding: null,
                body,
              }),
            ),
          );
        };
      },
    });
    const follow = (): void => client.follow(new Set(subscribers.flatMap(({ topics }) => topics)));
    follow();
    const refresh = startPeriodic(
      { everyMs: timings.refreshCachesMs, log, failure: 'the topics of connections could not be reloaded' },
      async () => {
        await app.connections.refresh();
        subscribers = await subscribersOf(app);
        follow();
      },
    );
    onChange = refresh.startNow;
    return {
      async [Symbol.asyncDispose]() {
        onChange = null;
        await refresh[Symbol.asyncDispose]();
        await client[Symbol.asyncDispose]();
      },
    };
  };

  let onChange: (() => void) | null = null;
  listener.on(
    channels.connections,
    () => onChange?.(),
    () => onChange?.(),
  );
  resources.use(
    startLeading({
      pool: pools.gateways,
      lock: locks.mqtt,
      everyMs: timings.leadershipMs,
      log,
      failure: 'no process could be chosen to receive from the MQTT broker',
      lead,
    }),
  );
}

async function addressOf(
  { config }: Pick<GatewayApp, 'config'>,
  url: string,
  secret: string,
): Promise<BrokerAddress> {
  const file = async (name: 'MQTT_CA_FILE' | 'MQTT_CERT_FILE' | 'MQTT_KEY_FILE') => {
    const path = config[name];
    if (path === undefined) return undefined;
    return readFile(path).catch((cause: unknown) => {
      throw new Error(`${name} cannot be read: ${path}`, { cause });
    });
  };
  const [ca, cert, key] = [
    await file('MQTT_CA_FILE'),
    await file('MQTT_CERT_FILE'),
    await file('MQTT_KEY_FILE'),
  ];
  // The same in all processes and different for each installation: a broker ends the session of a client when another
  // one uses the same id.
  const own = createHash('sha256').update(`mqtt ${secret}`).digest('hex').slice(0, 12);
  return {
    url,
    clientId: config.MQTT_CLIENT_ID ?? `gantry-${own}`,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  };
}

/** The connections whose formats come over MQTT, with their topics. */
async function subscribersOf(app: GatewayApp): Promise<readonly Subscriber[]> {
  const connections = app.connections
    .all()
    .filter(({ format }) => formatNamed(format).transports.includes('mqtt'));
  const deviceIds = await listDeviceIds(
    app.devices,
    connections.map(({ sensorId }) => sensorId),
  );
  return connections.map((connection) => ({
    connection,
    topics: topicsOf(connection, deviceIds.get(connection.sensorId)),
  }));
}

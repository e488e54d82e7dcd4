import { connect, type IClientOptions, type MqttClient as Mqtt } from 'mqtt';
import type { Logger } from 'pino';

/** How the broker is reached. */
export interface BrokerAddress {
  /** `mqtt:`, `mqtts:`, `ws:` or `wss:`, possibly with user and password. */
  readonly url: string;
  /** Identifies the session, which the broker keeps while the client is away. */
  readonly clientId: string;
  /** In PEM; the certificates that the system trusts if left out. */
  readonly ca?: Buffer;
  /** The certificate of the client and its key, in PEM. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface BrokerClientParts {
  readonly address: BrokerAddress;
  readonly log: Logger;
  /**
   * Stores a message. It is acknowledged to the broker when this resolves, and not before; while it rejects, it is tried
   * again, and nothing else is received.
   */
  readonly receive: (topic: string, body: Buffer) => Promise<void>;
  /** Called when the connection is made or lost. */
  readonly report: (isConnected: boolean) => void;
}

/** A connection to a broker, which is made again whenever it is lost. Disposing leaves what is not stored to the broker. */
export interface BrokerClient extends AsyncDisposable {
  /** Subscribes to these topics and to no others. */
  follow(topics: ReadonlySet<string>): void;
}

const RECONNECT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Between two attempts to store a message, in milliseconds. */
const RETRY_MS = 1_000;

/** Connects to a broker with a persistent session (MQTT 3.1.1, clean session off) and QoS 1. */
export function connectToBroker({ address, log, receive, report }: BrokerClientParts): BrokerClient {
  const { url, ...options } = address;
  const broker = new URL(url).host;
  const settings: IClientOptions = {
    ...options,
    protocolVersion: 4,
    clean: false,
    keepalive: 30,
    reconnectPeriod: RECONNECT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Subscriptions are compared with those that are wanted after each connect.
    resubscribe: false,
  };
  const client: Mqtt = connect(url, settings);
  let wanted: ReadonlySet<string> = new Set();
  const subscribed = new Set<string>();
  let isEnding = false;
  let isReported = false;

  client.handleMessage = ({ topic, payload }, done) => {
    const attempt = (): void => {
      if (isEnding) return;
      receive(topic, Buffer.from(payload)).then(
        () => done(),
        (err: unknown) => {
          log.warn({ err, topic }, 'a message from the MQTT broker could not be stored; it is tried again');
          setTimeout(attempt, RETRY_MS).unref();
        },
      );
    };
    attempt();
  };

  const settle = (): void => {
    if (!client.connected) return;
    const missing = [...wanted].filter((topic) => !subscribed.has(topic));
    const unwanted = [...subscribed].filter((topic) => !wanted.has(topic));
    for (const topic of missing) subscribed.add(topic);
    for (const topic of unwanted) subscribed.delete(topic);
    if (unwanted.length > 0) client.unsubscribe(unwanted);
    if (missing.length === 0) return;
    client.subscribe(missing, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos === 128).map(({ topic }) => topic) ?? [];
      if (!error && refused.length === 0) return;
      for (const topic of error ? missing : refused) subscribed.delete(topic);
      log.error({ err: error, broker, refused }, 'the MQTT broker refuses subscriptions');
    });
  };

  client.on('connect', () => {
    log.info({ broker }, 'connected to the MQTT broker');
    isReported = false;
    report(true);
    // The broker may have lost the session, and subscribing again does no harm.
    subscribed.clear();
    settle();
  });
  client.on('close', () => report(false));
  client.on('error', (err) => {
    if (isReported) return;
    isReported = true;
    log.error({ err, broker }, 'the MQTT broker cannot be used; it is tried again');
  });

  return {
    follow(topics) {
      wanted = topics;
      settle();
    },
    async [Symbol.asyncDispose]() {
      isEnding = true;
      // Not closed politely, because that waits for the message that is being stored.
      await client.endAsync(true);
      report(false);
    },
  };
}

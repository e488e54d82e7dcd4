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
   * Takes a message. It may be called for further messages before this one is stored.
   * @returns a function that stores the message. The message is acknowledged to the broker when that function has resolved
   * for it and for all messages before it. While it rejects, it is called again, and no further messages are received.
   */
  readonly receive: (topic: string, body: Buffer) => () => Promise<void>;
  /** Called when the connection is made or lost. */
  readonly report: (isConnected: boolean) => void;
}

/**
 * A connection to a broker, which is made again whenever it is lost. Messages that are not stored when it is disposed of
 * stay with the broker.
 */
export interface BrokerClient extends AsyncDisposable {
  /** Subscribes to these topics and to no others. */
  follow(topics: ReadonlySet<string>): void;
}

const RECONNECT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Pause between two attempts to store a message, in milliseconds. */
const RETRY_MS = 1_000;

/** Maximum number of messages that are being stored at the same time. */
const MAX_IN_FLIGHT = 64;

/** A message that is being stored, or waits for its acknowledgement until those before it are stored. */
interface InFlight {
  isStored: boolean;
  /** Undefined for QoS 0, which is not acknowledged. */
  readonly messageId: number | undefined;
  /** The connection on which it came, counted from 0. If that was lost, the broker sends the message again on the next one. */
  readonly link: number;
}

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

  let isAccepted = false;
  const inFlight: InFlight[] = [];
  let failing = 0;
  let link = 0;
  let goOn: (() => void) | null = null;

  // The library acknowledges a message before it reads the next one. Messages of QoS 1 are therefore treated as messages of
  // QoS 0, which do not hold it up, and are acknowledged here.
  const messageIds = new WeakMap<object, number>();
  client.on('packetreceive', (packet) => {
    if (packet.cmd !== 'publish' || packet.qos !== 1 || packet.messageId === undefined) return;
    messageIds.set(packet, packet.messageId);
    packet.qos = 0;
  });

  const mayGoOn = (): boolean => inFlight.length < MAX_IN_FLIGHT && failing === 0;

  const acknowledge = (): void => {
    while (inFlight[0]?.isStored) {
      const { messageId, link: itsLink } = inFlight.shift() as InFlight;
      if (messageId === undefined || itsLink !== link || !client.connected) continue;
      // biome-ignore lint/complexity/useLiteralKeys: it is private to TypeScript, and there is no other access
      client['_sendPacket']({ cmd: 'puback', messageId });
    }
    if (!mayGoOn()) return;
    const next = goOn;
    goOn = null;
    next?.();
  };

  client.handleMessage = (packet, done) => {
    const { topic, payload } = packet;
    const entry: InFlight = { isStored: false, messageId: messageIds.get(packet), link };
    inFlight.push(entry);
    let isFailing = false;
    const store = receive(topic, Buffer.from(payload));
    const attempt = (): void => {
      if (isEnding) return;
      store().then(
        () => {
          if (isFailing) failing--;
          entry.isStored = true;
          acknowledge();
        },
        (err: unknown) => {
          if (!isFailing) failing++;
          isFailing = true;
          log.warn({ err, topic }, 'a message from the MQTT broker could not be stored; it is tried again');
          setTimeout(attempt, RETRY_MS).unref();
        },
      );
    };
    attempt();
    if (mayGoOn()) done();
    else goOn = done;
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

  client.on('connect', ({ sessionPresent }) => {
    log.info({ broker }, 'connected to the MQTT broker');
    isReported = false;
    isAccepted = true;
    report(true);
    // Topics are not subscribed to again without need: after each subscription, the broker sends its retained messages,
    // which were received before.
    if (!sessionPresent) subscribed.clear();
    settle();
  });
  const logFailure = (err: Error): void => {
    if (isReported) return;
    isReported = true;
    log.error({ err, broker }, 'the MQTT broker cannot be used; trying again');
  };
  client.on('close', () => {
    link++;
    report(false);
    // With TLS 1.3, this is how a broker refuses the certificate of a client.
    if (!isAccepted && !isEnding)
      logFailure(new Error('The broker closed the connection before it accepted the client'));
    isAccepted = false;
  });
  client.on('error', logFailure);

  return {
    follow(topics) {
      wanted = topics;
      settle();
    },
    async [Symbol.asyncDispose]() {
      isEnding = true;
      // Closed without DISCONNECT, which would wait for the message that is being stored.
      await client.endAsync(true);
      report(false);
    },
  };
}

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

interface BrokerClientParts {
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

const SETTINGS: IClientOptions = {
  protocolVersion: 4,
  clean: false,
  keepalive: 30,
  reconnectPeriod: 2_000,
  connectTimeout: 10_000,
  // Subscriptions are compared with those that are wanted after each connect.
  resubscribe: false,
};

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

/**
 * A connection to a broker with a persistent session (MQTT 3.1.1, clean session off) and QoS 1, which is made again
 * whenever it is lost. Messages that are not stored when it is disposed of stay with the broker.
 */
export class BrokerClient implements AsyncDisposable {
  readonly #parts: BrokerClientParts;
  readonly #broker: string;
  readonly #client: Mqtt;
  #wanted: ReadonlySet<string> = new Set();
  readonly #subscribed = new Set<string>();
  /** The messages that are being stored, in the order in which they came. */
  readonly #inFlight: InFlight[] = [];
  /** The numbers under which the broker waits for the acknowledgement of messages. */
  readonly #messageIds = new WeakMap<object, number>();
  /** How many of the messages could not be stored yet. */
  #failing = 0;
  /** The number of the present connection. */
  #link = 0;
  /** Has the library read on. */
  #goOn: (() => void) | null = null;
  #isAccepted = false;
  #isEnding = false;
  /** Whether the failure of the connection is in the log. */
  #isReported = false;

  /** Begins to connect. */
  constructor(parts: BrokerClientParts) {
    this.#parts = parts;
    const { url, ...options } = parts.address;
    this.#broker = new URL(url).host;
    this.#client = connect(url, { ...options, ...SETTINGS });
    this.#receive();
    this.#watch();
  }

  /** Subscribes to these topics and to no others. */
  follow(topics: ReadonlySet<string>): void {
    this.#wanted = topics;
    this.#subscribe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    // Closed without DISCONNECT, which would wait for the message that is being stored.
    await this.#client.endAsync(true);
    this.#parts.report(false);
  }

  #receive(): void {
    // The library acknowledges a message before it reads the next one. Messages of QoS 1 are therefore treated as messages
    // of QoS 0, which do not hold it up, and are acknowledged here.
    this.#client.on('packetreceive', (packet) => {
      if (packet.cmd !== 'publish' || packet.qos !== 1 || packet.messageId === undefined) return;
      this.#messageIds.set(packet, packet.messageId);
      packet.qos = 0;
    });
    this.#client.handleMessage = (packet, done) => {
      const { topic, payload } = packet;
      const entry: InFlight = {
        isStored: false,
        messageId: this.#messageIds.get(packet),
        link: this.#link,
      };
      this.#inFlight.push(entry);
      this.#store(entry, topic, this.#parts.receive(topic, Buffer.from(payload)));
      if (this.#mayGoOn()) done();
      else this.#goOn = done;
    };
  }

  #mayGoOn(): boolean {
    return this.#inFlight.length < MAX_IN_FLIGHT && this.#failing === 0;
  }

  /** Stores a message, and tries again until it is stored. */
  #store(entry: InFlight, topic: string, store: () => Promise<void>): void {
    let isFailing = false;
    const attempt = (): void => {
      if (this.#isEnding) return;
      store().then(
        () => {
          if (isFailing) this.#failing--;
          entry.isStored = true;
          this.#acknowledge();
        },
        (err: unknown) => {
          if (!isFailing) this.#failing++;
          isFailing = true;
          this.#parts.log.warn(
            { err, topic },
            'a message from the MQTT broker could not be stored; it is tried again',
          );
          setTimeout(attempt, RETRY_MS).unref();
        },
      );
    };
    attempt();
  }

  #acknowledge(): void {
    while (this.#inFlight[0]?.isStored) {
      const { messageId, link } = this.#inFlight.shift() as InFlight;
      if (messageId === undefined || link !== this.#link || !this.#client.connected) continue;
      // biome-ignore lint/complexity/useLiteralKeys: it is private to TypeScript, and there is no other access
      this.#client['_sendPacket']({ cmd: 'puback', messageId });
    }
    if (!this.#mayGoOn()) return;
    const next = this.#goOn;
    this.#goOn = null;
    next?.();
  }

  #watch(): void {
    const { log, report } = this.#parts;
    this.#client.on('connect', ({ sessionPresent }) => {
      log.info({ broker: this.#broker }, 'connected to the MQTT broker');
      this.#isReported = false;
      this.#isAccepted = true;
      report(true);
      // Topics are not subscribed to again without need: after each subscription, the broker sends its retained messages,
      // which were received before.
      if (!sessionPresent) this.#subscribed.clear();
      this.#subscribe();
    });
    this.#client.on('close', () => {
      this.#link++;
      report(false);
      // With TLS 1.3, this is how a broker refuses the certificate of a client.
      if (!this.#isAccepted && !this.#isEnding)
        this.#logFailure(new Error('The broker closed the connection before it accepted the client'));
      this.#isAccepted = false;
    });
    this.#client.on('error', (error) => this.#logFailure(error));
  }

  #logFailure(err: Error): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { log } = this.#parts;
    log.error({ err, broker: this.#broker }, 'the MQTT broker cannot be used; trying again');
  }

  /** Brings the subscriptions in line with the topics that are wanted. */
  #subscribe(): void {
    const [client, subscribed] = [this.#client, this.#subscribed];
    if (!client.connected) return;
    const missing = [...this.#wanted].filter((topic) => !subscribed.has(topic));
    const unwanted = [...subscribed].filter((topic) => !this.#wanted.has(topic));
    for (const topic of missing) subscribed.add(topic);
    for (const topic of unwanted) subscribed.delete(topic);
    if (unwanted.length > 0) client.unsubscribe(unwanted);
    if (missing.length === 0) return;
    client.subscribe(missing, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos === 128).map(({ topic }) => topic) ?? [];
      if (!error && refused.length === 0) return;
      for (const topic of error ? missing : refused) subscribed.delete(topic);
      const { log } = this.#parts;
      log.error({ err: error, broker: this.#broker, refused }, 'the MQTT broker refuses subscriptions');
    });
  }
}

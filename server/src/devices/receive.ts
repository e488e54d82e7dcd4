import { formatNamed } from '@gantry/device-formats';
import { type StoredPart, splitBody } from '@gantry/device-formats/split-body';
import { newIdInOrder } from '../events/id.ts';
import { databaseAway, isBadRow, isOutage } from '../platform/database/failure.ts';
import { AppError } from '../platform/error.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import type { Incoming } from './incoming.ts';
import { isCompressed } from './inflate.ts';
import { type ClaimedMessage, insertMessages, type NewMessage } from './messages-store.ts';
import type { MissedMessages } from './missed-store.ts';
import type { Processor } from './process.ts';
import { refusalOf } from './read.ts';
import { Sequences } from './sequences.ts';
import type { MessageSpool } from './spool.ts';

/** After the database was found to be unavailable, messages are refused at once for this long, in milliseconds. */
const AWAY_MS = 500;

/**
 * Maximum number of messages of one connection that are stored at the same time, so that one that sends too much does not
 * delay others.
 */
const MAX_AT_ONCE_OF_ONE = 32;

const MAX_PATH = 2_000;
const MAX_TYPE = 300;

interface ReceiverParts {
  readonly app: GatewayApp;
  readonly processor: Pick<Processor, 'hasRoom' | 'accept' | 'storeWithEvent'>;
  readonly spool: MessageSpool;
  readonly missed: MissedMessages;
  /** Called for each message that was stored and is to be processed, by this process or another. */
  readonly onStored?: () => void;
  /** Called when messages are put on disk, to be stored later. */
  readonly onSpooled?: () => void;
}

/** A message whose images are stored: as it is stored, and as it is processed. */
interface Prepared {
  readonly row: NewMessage;
  readonly message: ClaimedMessage;
}

/** A message that has its place in a group. */
interface Queued extends Prepared {
  /** Resolves when the group is stored, with whether the message was not stored before; null if it was stored with its event. */
  readonly written: Promise<boolean> | null;
}

/** Stores messages of devices, however they arrive. Disposing waits for those in progress. */
export class Receiver implements AsyncDisposable {
  readonly #parts: ReceiverParts;
  readonly #groups: Groups<NewMessage, boolean>;
  readonly #sequences = new Sequences(MAX_AT_ONCE_OF_ONE);
  readonly #inOrder = new Sequences(1);
  /** Until when messages are refused, in milliseconds of the monotonic clock. */
  #awayUntil = Number.NEGATIVE_INFINITY;
  #next: Promise<void> | null = null;

  constructor(parts: ReceiverParts) {
    const { app } = parts;
    this.#parts = parts;
    this.#groups = new Groups({
      write: async (messages) => {
        const isNew = await insertMessages(app.gateways, messages, app.timings.messageLeaseMs);
        for (const { images } of messages) app.images.noteRecorded(images.durable);
        return isNew;
      },
      mayBeOne: isBadRow,
      sizeOf: ({ partsJson }) => partsJson.length,
    });
  }

  /**
   * Resolves when the message is stored; it is interpreted afterwards.
   * @returns why it will not be read, as a sentence; null if it will
   * @throws AppError `unavailable` when it cannot be stored now. A message of a device that does not send again is then
   * kept on disk, if there is space, and is stored later.
   */
  async receive(incoming: Incoming): Promise<string | null> {
    const id = newIdInOrder(incoming.receivedAt);
    try {
      return await this.store(id, incoming);
    } catch (error) {
      const isAway = error instanceof AppError && error.kind === 'unavailable';
      if (isAway && !formatNamed(incoming.connection.format).repeats) {
        const { spool, missed, onSpooled } = this.#parts;
        if (await spool.put(id, incoming)) onSpooled?.();
        else missed.note(incoming.connection, 'lost');
      }
      throw error;
    }
  }

  /** Stores a message that is kept elsewhere until then, once for each id. @throws AppError `unavailable` as `receive` does */
  async store(id: string, incoming: Incoming): Promise<string | null> {
    if (performance.now() < this.#awayUntil) throw databaseAway();
    await this.#turn();
    try {
      return await this.#sequences.run(incoming.connection.id, () => this.#storeNow(id, incoming));
    } catch (error) {
      // A message that the database refuses will not be stored later either.
      if (!isOutage(error) || isBadRow(error)) throw error;
      this.#awayUntil = performance.now() + AWAY_MS;
      throw databaseAway(error);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#groups[Symbol.asyncDispose]();
  }

  /** Resolves for all messages of a turn of the event loop at once, so that they pass each step of their processing together. */
  #turn(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = null;
        resolve();
      });
    });
    return this.#next;
  }

  async #storeNow(id: string, incoming: Incoming): Promise<string | null> {
    const { app, processor } = this.#parts;
    const { connection, method } = incoming;
    // Several messages of a broker are stored at the same time, but their order counts.
    const { row, message, written } =
      method === 'MQTT'
        ? await this.#inOrder.run(connection.id, async () => this.#queue(await this.#prepare(id, incoming)))
        : await this.#storeOrQueue(await this.#prepare(id, incoming));
    const isNew = await written;
    if (row.refusal !== null) {
      app.metrics.deviceMessages.inc({ format: connection.format, outcome: 'REFUSED' });
    } else if (written === null) {
      app.metrics.deviceMessages.inc({ format: connection.format, outcome: 'STORED' });
    } else if (isNew) {
      this.#parts.onStored?.();
      if (row.isTaken) processor.accept(message);
    }
    return row.refusal;
  }

  /** Stores a message with its event, or gives it its place in a group. */
  async #storeOrQueue(prepared: Prepared): Promise<Queued> {
    const { row, message } = prepared;
    const mayHaveEvent = row.isTaken && row.images.hashes.length === 0;
    const isStored = mayHaveEvent && (await this.#parts.processor.storeWithEvent(message, row));
    return isStored ? { ...prepared, written: null } : this.#queue(prepared);
  }

  #queue(prepared: Prepared): Queued {
    return { ...prepared, written: this.#groups.add(prepared.row) };
  }

  async #prepare(id: string, incoming: Incoming): Promise<Prepared> {
    const { app, processor } = this.#parts;
    const { connection, receivedAt, method, contentType, topic, headers, body } = incoming;
    const compressed = refusalOfCompressed(incoming);
    const { parts, pictures, flaws } =
      compressed === null
        ? splitBody(contentType, body)
        : { parts: [whole(contentType, body)], pictures: [], flaws: [] };
    // The images are stored before the message, so that no message lacks its images.
    const durable = pictures.length === 0 ? [] : await app.images.keepForMessage(connection.id, pictures);
    const path = storable(incoming.path, MAX_PATH);
    const refusal = compressed ?? (await refusalOf(connection.format, { parts, path, topic, receivedAt }));
    const isTaken = refusal === null && processor.hasRoom(connection.id);
    const row: NewMessage = {
      id,
      connectionId: connection.id,
      receivedAt,
      method,
      path,
      topic: topic === null ? null : storable(topic, MAX_PATH),
      contentType: contentType === null ? null : storable(contentType, MAX_TYPE),
      bytes: body.length,
      partsJson: JSON.stringify(parts),
      flawsJson: JSON.stringify(flaws),
      headersJson: headers === undefined ? null : JSON.stringify(headers),
      refusal,
      isTaken,
      images: { hashes: pictures.map(({ sha256 }) => sha256), durable },
    };
    const asReceived = { connectionId: connection.id, claim: 0, failures: 0, unfinished: 0 };
    return { row, message: { id, receivedAt, method, path, topic, headers, parts, flaws, ...asReceived } };
  }
}

/** Why a body is not read that is compressed, which is removed only over HTTP; null if it is not compressed. */
function refusalOfCompressed({ encoding, body }: Incoming): string | null {
  return isCompressed(encoding, body) ? 'The body is compressed: switch compression off in the device' : null;
}

function whole(contentType: string | null, body: Buffer): StoredPart {
  return {
    name: null,
    fileName: null,
    contentType,
    text: null,
    base64: body.toString('base64'),
    picture: null,
  };
}

/** The text without what PostgreSQL cannot store. */
function storable(text: string, max: number): string {
  return text.slice(0, max).replaceAll('\0', '').toWellFormed();
}

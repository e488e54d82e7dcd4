import { formatNamed } from '@gantry/device-formats';
import { type StoredPart, splitBody } from '@gantry/device-formats/split-body';
import { newIdInOrder } from '../events/id.ts';
import { databaseAway, isBadRow, isOutage } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { AppError } from '../platform/error.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import type { Incoming } from './incoming.ts';
import { isCompressed } from './inflate.ts';
import { insertMessages, type NewMessage } from './messages-store.ts';
import type { Missed } from './missed-store.ts';
import type { Processor } from './process.ts';
import { refusalOf } from './read.ts';
import { createSequences } from './sequences.ts';
import type { MessageSpool } from './spool.ts';

/** Stores messages of devices, however they arrive. Disposing waits for those in progress. */
export interface Receiver extends AsyncDisposable {
  /**
   * Resolves when the message is stored; it is interpreted afterwards.
   * @returns why it will not be read, as a sentence; null if it will
   * @throws AppError `unavailable` when it cannot be stored now. A message of a device that does not send again is then
   * kept on disk, if there is space, and is stored later.
   */
  receive(incoming: Incoming): Promise<string | null>;
  /** Stores a message that is kept elsewhere until then, once for each id. @throws AppError `unavailable` as `receive` does */
  store(id: string, incoming: Incoming): Promise<string | null>;
}

/** After the database was found to be unavailable, messages are refused at once for this long, in milliseconds. */
const AWAY_MS = 500;

/**
 * Maximum number of messages of one connection that are stored at the same time, so that one that sends too much does not
 * delay others.
 */
const MAX_AT_ONCE_OF_ONE = 32;

const MAX_PATH = 2_000;
const MAX_TYPE = 300;

export function createReceiver(
  app: GatewayApp,
  db: Database,
  {
    processor,
    spool,
    missed,
  }: { readonly processor: Processor; readonly spool: MessageSpool; readonly missed: Missed },
): Receiver {
  const sequences = createSequences(MAX_AT_ONCE_OF_ONE);
  const inOrder = createSequences(1);
  const groups = new Groups<NewMessage, boolean>({
    write: (messages) => insertMessages(db, messages, app.timings.messageLeaseMs),
    mayBeOne: isBadRow,
    sizeOf: ({ partsJson }) => partsJson.length,
  });

  /** Resolves when the message has its place in a group; the property `written` resolves when that group is stored. */
  const prepare = async (id: string, incoming: Incoming) => {
    const { connection, receivedAt, method, contentType, topic, headers, body } = incoming;
    const compressed = refusalOfCompressed(incoming);
    const { parts, pictures, flaws } =
      compressed === null
        ? await splitBody(contentType, body)
        : { parts: [whole(contentType, body)], pictures: [], flaws: [] };
    // The images are stored before the message, so that no message lacks its images.
    const putImages =
      pictures.length === 0 ? [] : await app.images.keepForMessage({ messageId: id, pictures });
    const path = storable(incoming.path, MAX_PATH);
    const refusal = compressed ?? (await refusalOf(connection.format, { parts, path, topic, receivedAt }));
    const isTaken = refusal === null && processor.hasRoom(connection.id);
    const written = groups.add({
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
      putImages,
    });
    return {
      written,
      isTaken,
      refusal,
      message: { id, receivedAt, method, path, topic, headers, parts, flaws },
    };
  };

  const store = async (id: string, incoming: Incoming): Promise<string | null> => {
    const { connection, method } = incoming;
    const begin = () => prepare(id, incoming);
    // Several messages of a broker are stored at the same time, but their order counts.
    const prepared = method === 'MQTT' ? await inOrder(connection.id, begin) : await begin();
    const { written, isTaken, refusal, message } = prepared;
    const isNew = await written;
    if (refusal !== null) {
      app.metrics.deviceMessages.inc({ format: connection.format, outcome: 'REFUSED' });
    } else if (isNew && isTaken) {
      processor.accept({ ...message, connectionId: connection.id, claim: 0, failures: 0, unfinished: 0 });
    }
    return refusal;
  };

  let awayUntil = Number.NEGATIVE_INFINITY;

  const storeOrRefuse = async (id: string, incoming: Incoming): Promise<string | null> => {
    if (performance.now() < awayUntil) throw databaseAway();
    try {
      return await sequences(incoming.connection.id, () => store(id, incoming));
    } catch (error) {
      // A message that the database refuses will not be stored later either.
      if (!isOutage(error) || isBadRow(error)) throw error;
      awayUntil = performance.now() + AWAY_MS;
      throw databaseAway(error);
    }
  };

  return {
    store: storeOrRefuse,
    async receive(incoming) {
      const id = newIdInOrder(incoming.receivedAt);
      try {
        return await storeOrRefuse(id, incoming);
      } catch (error) {
        const isAway = error instanceof AppError && error.kind === 'unavailable';
        if (isAway && !formatNamed(incoming.connection.format).repeats) {
          const isKept = await spool.put(id, incoming);
          if (!isKept) missed.note(incoming.connection, 'lost');
        }
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => groups[Symbol.asyncDispose](),
  };
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

import type {
  ListMessagesInput,
  MessageDetail,
  MessageStatus,
  DeviceMessage as ShownMessage,
} from '@gantry/contract/connections';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { imageUrl } from '@gantry/device-formats/image';
import type { StoredPart } from '@gantry/device-formats/split-body';
import { type SQL, sql } from 'drizzle-orm';
import { channels, notify } from '../platform/database/notify.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { CUT } from './outcome.ts';

interface ShownRow extends Record<string, unknown> {
  id: string;
  connection_id: string;
  received_at: string;
  status: MessageStatus;
  reason: string | null;
  event_ids: string[];
  method: string;
  path: string;
  content_type: string | null;
  bytes: number;
}

const SHOWN = sql.raw(
  'id, connection_id, received_at, status, reason, event_ids, method, path, content_type, bytes',
);

/** Messages of a connection, newest first. */
export async function listMessages(
  db: Executor,
  { connectionId, status, skip, take }: ListMessagesInput,
): Promise<Page<ShownMessage>> {
  const wanted = sql`connection_id = ${connectionId}::uuid
    AND ${status === undefined ? sql`true` : sql`status = ${status}`}`;
  const { rows } = await db.execute<ShownRow>(
    sql`SELECT ${SHOWN} FROM device_messages WHERE ${wanted} ORDER BY id DESC LIMIT ${take} OFFSET ${skip}`,
  );
  const counted = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM device_messages WHERE ${wanted}`,
  );
  return { items: await shown(db, rows), total: counted.rows[0]?.n ?? 0 };
}

/** A message with its body. @throws AppError `notFound` */
export async function getMessage(db: Executor, id: string): Promise<MessageDetail> {
  const { rows } = isUuid(id)
    ? await db.execute<ShownRow & { parts: string }>(sql`
        SELECT ${SHOWN}, parts FROM device_messages WHERE id = ${id}::uuid
          AND EXISTS (SELECT FROM connections WHERE id = connection_id AND deleted_at IS NULL)`)
    : { rows: [] };
  const [row] = rows;
  const [message] = await shown(db, rows);
  if (!row || !message) throw notFound('Message');
  return { ...message, parts: JSON.parse(row.parts) as StoredPart[] };
}

/** A stored message that is to be interpreted again. */
export interface MessageToRead {
  readonly id: string;
  readonly connectionId: string;
  /** Unix milliseconds */
  readonly receivedAt: number;
  readonly path: string;
  readonly topic: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly StoredPart[];
  readonly flaws: readonly string[];
}

/**
 * A message of a connection that is to be interpreted again.
 * @param id null for the latest one
 * @throws AppError `notFound` when there is none
 */
export async function findMessageToRead(
  db: Executor,
  connectionId: string,
  id: string | null,
): Promise<MessageToRead> {
  if (id !== null && !isUuid(id)) throw notFound('Message');
  const { rows } = await db.execute<{
    id: string;
    received_at: string;
    path: string;
    topic: string | null;
    headers: string | null;
    parts: string;
    flaws: string;
  }>(sql`
    SELECT id, received_at, path, topic, headers, parts, flaws FROM device_messages
    WHERE connection_id = ${connectionId}::uuid AND ${id === null ? sql`true` : sql`id = ${id}::uuid`}
    ORDER BY id DESC LIMIT 1`);
  const [row] = rows;
  if (!row) throw notFound('Message');
  return {
    ...row,
    connectionId,
    receivedAt: new Date(row.received_at).getTime(),
    headers: row.headers === null ? undefined : (JSON.parse(row.headers) as Record<string, string>),
    parts: JSON.parse(row.parts) as StoredPart[],
    flaws: JSON.parse(row.flaws) as string[],
  };
}

/** Maximum number of messages that one call processes again. */
export const REPLAYED_AT_ONCE = 10_000;

/** Which messages of a connection are processed again. */
export interface Replayed {
  readonly id?: string | undefined;
  /** Only messages with this status; undefined for all. Messages that are RECEIVED are left out, because they are due anyway. */
  readonly status?: MessageStatus | undefined;
  /** Only messages that arrived before this one. */
  readonly before?: string | undefined;
  /** Only messages with one of these sentences in their reason, or with a reason that was cut. */
  readonly sentences?: readonly string[] | undefined;
}

/**
 * Makes messages due to be processed again, the newest ones if there are more than `REPLAYED_AT_ONCE`. Results of
 * processing that is in progress are discarded.
 * @returns their number, and the id of the oldest of them
 */
export async function replayMessages(
  tx: Executor,
  connectionId: string,
  { id, status, before, sentences }: Replayed,
): Promise<{ readonly count: number; readonly oldestId: string | null }> {
  const contains = (text: string): SQL => sql`strpos(reason, ${text}) > 0`;
  const { rows } = await tx.execute<{ count: number; oldest: string | null }>(sql`
    WITH replayed AS (
      UPDATE device_messages SET status = 'RECEIVED', reason = NULL, due_at = now(), claim = claim + 1, failures = 0, unfinished = 0,
        changed_by = pg_current_xact_id()
      WHERE id IN (
        SELECT id FROM device_messages WHERE connection_id = ${connectionId}::uuid AND status <> 'RECEIVED'
          AND ${id === undefined ? sql`true` : sql`id = ${id}::uuid`}
          AND ${status === undefined ? sql`true` : sql`status = ${status}`}
          AND ${before === undefined ? sql`true` : sql`id < ${before}::uuid`}
          AND ${sentences === undefined ? sql`true` : sql`(${sql.join([...sentences, CUT].map(contains), sql` OR `)})`}
        ORDER BY id DESC LIMIT ${REPLAYED_AT_ONCE})
      RETURNING id
    )
    SELECT count(*) AS count, min(id::text) AS oldest FROM replayed`);
  // An empty payload announces that messages are due.
  await notify(tx, channels.messages, '');
  const [row] = rows;
  return { count: row?.count ?? 0, oldestId: row?.oldest ?? null };
}

/** The connection of a message. @throws AppError `notFound` */
export async function connectionOfMessage(db: Executor, id: string): Promise<string> {
  const { rows } = isUuid(id)
    ? await db.execute<{ connection_id: string }>(
        sql`SELECT connection_id FROM device_messages WHERE id = ${id}::uuid`,
      )
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Message');
  return row.connection_id;
}

/** A position in the stream of the messages of a connection. */
export interface StreamPosition {
  /** The transaction that changed the message. */
  readonly xid: string;
  readonly id: string;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** The current end of the stream. All later commits follow it; some of the latest earlier commits may follow it, too. */
export async function endOfMessages(db: Executor): Promise<StreamPosition> {
  const { rows } = await db.execute<{ xid: string }>(
    sql`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid`,
  );
  return { xid: rows[0]?.xid ?? '0', id: NIL };
}

/** A message that changed, with the position after it. */
export interface ChangedMessage {
  readonly position: StreamPosition;
  readonly message: ShownMessage;
}

/**
 * The messages of a connection that changed after the position, in the order of the stream. A transaction that may
 * still commit holds back those after it, so that none is skipped.
 */
export async function listChangedMessages(
  db: Executor,
  connectionId: string,
  { xid, id }: StreamPosition,
  limit: number,
): Promise<ChangedMessage[]> {
  const { rows } = await db.execute<ShownRow & { xid: string }>(sql`
    SELECT ${SHOWN}, changed_by::text AS xid FROM device_messages
    WHERE connection_id = ${connectionId}::uuid AND (changed_by, id) > (${xid}::text::xid8, ${id}::uuid)
      AND changed_by < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY changed_by, id LIMIT ${limit}`);
  const messages = await shown(db, rows);
  return messages.map((message, index) => ({
    position: { xid: rows[index]?.xid ?? xid, id: message.id },
    message,
  }));
}

async function shown(db: Executor, rows: readonly ShownRow[]): Promise<ShownMessage[]> {
  const pictures = await findImages(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    connectionId: row.connection_id,
    receivedAt: new Date(row.received_at),
    status: row.status,
    reason: row.reason,
    eventIds: row.event_ids,
    method: row.method,
    path: row.path,
    contentType: row.content_type,
    bytes: row.bytes,
    pictures: pictures.get(row.id) ?? [],
  }));
}

async function findImages(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.execute<{ id: string; hashes: string[] }>(sql`
    SELECT message_id AS id, array_agg(encode(sha256, 'hex') ORDER BY sha256) AS hashes
    FROM device_message_images WHERE message_id = ANY (${sql.param(ids)}::uuid[]) GROUP BY message_id`);
  return new Map(rows.map(({ id, hashes }) => [id, hashes.map(imageUrl)]));
}

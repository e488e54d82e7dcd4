import type { MessageStatus } from '@gantry/contract/connections';
import type { StoredPart } from '@gantry/device-formats/split-body';
import { sql } from 'drizzle-orm';
import { type ImagesOfMessage, messageImageValues, recordingImagesOfMessages } from '../images/store.ts';
import type { CompanionRows } from '../ingest/insert-statements-store.ts';
import {
  type Column,
  double,
  doubleArray,
  namesOf,
  rowsOf,
  text,
  textArray,
  uuid,
  uuidArray,
} from '../platform/database/arrays.ts';
import { channels } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, prepare, WITHOUT_WAITING } from '../platform/database/transaction.ts';
import { type ReportTime, recordingReports } from './reports-store.ts';

/** A message to store. */
export interface NewMessage {
  /** Begins with the time of receipt. */
  readonly id: string;
  readonly connectionId: string;
  /** Unix milliseconds */
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly topic: string | null;
  readonly contentType: string | null;
  readonly bytes: number;
  /** JSON of `StoredPart[]`. */
  readonly partsJson: string;
  /** JSON of sentences. */
  readonly flawsJson: string;
  /** JSON of the headers that the format reads; null if it reads none. */
  readonly headersJson: string | null;
  /** For a message that is not processed: why. */
  readonly refusal: string | null;
  /** Whether this process works on it as soon as it is stored. */
  readonly isTaken: boolean;
  /** Its images. */
  readonly images: Omit<ImagesOfMessage, 'messageId'>;
}

const columns: readonly Column<NewMessage>[] = [
  uuid('id', ({ id }) => id),
  uuid('connection_id', ({ connectionId }) => connectionId),
  double('received_at', ({ receivedAt }) => receivedAt / 1_000, 'to_timestamp(received_at)'),
  text('method', ({ method }) => method),
  text('path', ({ path }) => path),
  text('topic', ({ topic }) => topic),
  text('content_type', ({ contentType }) => contentType),
  double('bytes', ({ bytes }) => bytes, 'bytes::integer'),
  text('parts', ({ partsJson }) => partsJson),
  text('flaws', ({ flawsJson }) => flawsJson),
  text('headers', ({ headersJson }) => headersJson),
];

const received = [...columns, text<NewMessage>('reason', ({ refusal }) => refusal)];

const INSERT = `
  WITH given AS (${rowsOf(
    received,
    received.map((_, index) => `$${index + 1}`),
  )}), stored AS (
    INSERT INTO device_messages (${namesOf(received)}, status, due_at, unfinished)
    SELECT given.*, CASE WHEN reason IS NULL THEN 'RECEIVED' ELSE 'REFUSED' END,
      CASE WHEN reason IS NOT NULL THEN NULL WHEN id = ANY ($${received.length + 2}::uuid[]) THEN now()
        ELSE now() + $${received.length + 1}::float8 * interval '1 millisecond' END,
      (reason IS NULL AND id <> ALL ($${received.length + 2}::uuid[]))::int
    FROM given
    ON CONFLICT (id) DO NOTHING
    RETURNING id
  )`;
const INSERT_ONLY = `${INSERT} SELECT id FROM stored`;
const INSERT_WITH_IMAGES = `${INSERT}, ${recordingImagesOfMessages(received.length + 3)} SELECT id FROM stored`;

/**
 * Stores messages, and records their images. This process then works on those that it took, until the
 * lease ends; the others are due at once.
 * @returns for each, whether it was not stored before
 */
export async function insertMessages(
  db: Database,
  messages: readonly NewMessage[],
  leaseMs: number,
): Promise<boolean[]> {
  const withImages = messages.filter(({ images }) => images.hashes.length > 0);
  const values = [
    ...received.map(({ encode }) => encode(messages)),
    leaseMs,
    messages.filter(({ isTaken }) => !isTaken).map(({ id }) => id),
  ];
  const { rows } = await db.$client.query<{ id: string }>(
    withImages.length === 0
      ? { name: 'insert-device-messages', text: INSERT_ONLY, values }
      : {
          name: 'insert-device-messages-with-images',
          text: INSERT_WITH_IMAGES,
          values: [
            ...values,
            ...messageImageValues(withImages.map(({ id, images }) => ({ messageId: id, ...images }))),
          ],
        },
  );
  const stored = new Set(rows.map(({ id }) => id));
  return messages.map(({ id }) => stored.has(id));
}

/** A message without images that is stored together with the event of its only report. */
export interface MessageWithEvent extends NewMessage {
  readonly eventId: string;
  /** As `MessageResult.reason`. */
  readonly note: string | null;
  /** The report, which is the first with its key; null for one without a key. */
  readonly report: ReportTime | null;
}

const withEvent: readonly Column<MessageWithEvent>[] = [
  ...columns,
  text('reason', ({ note }) => note),
  { ...uuid<MessageWithEvent>('event_ids', ({ eventId }) => eventId), as: 'ARRAY[event_ids]' },
];

/** Stores messages and the keys of their reports with the events of the reports. */
export const MESSAGES_WITH_EVENTS: CompanionRows<MessageWithEvent> = {
  name: 'messages',
  inserting: (add) => [
    `stored_messages AS (
      INSERT INTO device_messages (${namesOf(withEvent)}, status)
      SELECT *, 'STORED' FROM (${rowsOf(
        withEvent,
        withEvent.map(({ encode }) => add(encode)),
      )}) AS given)`,
    recordingReports((encode) => add((messages) => encode(messages.flatMap(({ report }) => report ?? [])))),
  ],
};

/** A message that this process works on. */
export interface ClaimedMessage {
  readonly id: string;
  readonly connectionId: string;
  /** Unix milliseconds */
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly topic: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly StoredPart[];
  readonly flaws: readonly string[];
  readonly claim: number;
  readonly failures: number;
  /** How often a process had started to process it since it last had a result, without this time. */
  readonly unfinished: number;
}

/**
 * Claims the messages that have been due for longest. A message that a process began to process without a result is
 * claimed alone: if it blocks or ends this process, too, no other message seems to have done so.
 * @param mostBytes maximum size of their bodies together; a larger message is claimed alone
 * @returns the messages in the order in which they arrived
 */
export async function claimMessages(
  db: Executor,
  {
    most,
    mostBytes,
    leaseMs,
  }: { readonly most: number; readonly mostBytes: number; readonly leaseMs: number },
): Promise<ClaimedMessage[]> {
  const { rows } = await db.execute<{
    id: string;
    connection_id: string;
    received_at: string;
    method: string;
    path: string;
    topic: string | null;
    headers: string | null;
    parts: string;
    flaws: string;
    claim: number;
    failures: number;
    unfinished: number;
  }>(sql`
    UPDATE device_messages SET claim = claim + 1, unfinished = unfinished + 1,
      due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    WHERE id = ANY (ARRAY(
      SELECT id FROM (
        SELECT id, bytes, row_number() OVER earlier AS place, sum(bytes) OVER earlier AS bytes_so_far,
          bool_or(unfinished > 0) OVER earlier AS is_suspect
        FROM (
          SELECT id, due_at, bytes, unfinished FROM device_messages WHERE due_at <= now() ORDER BY due_at, id
          LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED) AS due
        WINDOW earlier AS (ORDER BY due_at, id)) AS due
      WHERE place = 1 OR (NOT is_suspect AND bytes_so_far <= ${mostBytes})))
    RETURNING id, connection_id, received_at, method, path, topic, headers, parts, flaws, claim, failures,
      unfinished - 1 AS unfinished`);
  return rows
    .map((row) => ({
      ...row,
      connectionId: row.connection_id,
      receivedAt: new Date(row.received_at).getTime(),
      headers: row.headers === null ? undefined : (JSON.parse(row.headers) as Record<string, string>),
      parts: JSON.parse(row.parts) as StoredPart[],
      flaws: JSON.parse(row.flaws) as string[],
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Whether any message is to be processed, now or later. */
export async function hasDueMessages(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM device_messages WHERE due_at IS NOT NULL) AS found`,
  );
  return rows[0]?.found === true;
}

/** Extends the leases of messages, except those that another process has claimed meanwhile. */
export async function extendLeases(
  db: Executor,
  messages: readonly Pick<ClaimedMessage, 'id' | 'claim'>[],
  leaseMs: number,
): Promise<void> {
  const given = messages.map(({ id, claim }) => ({ id, claim }));
  // The rows are locked in the order of their ids, as they are for results.
  await db.execute(sql`
    UPDATE device_messages SET due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    WHERE due_at IS NOT NULL AND id = ANY (ARRAY(
      SELECT message.id FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, claim int)
      JOIN device_messages AS message USING (id, claim) ORDER BY id FOR NO KEY UPDATE OF message))`);
}

/**
 * Hands back messages that this process did not begin to process, except those that another process has claimed meanwhile.
 * They are due at once.
 */
export async function handBack(
  db: Executor,
  messages: readonly Pick<ClaimedMessage, 'id' | 'claim'>[],
): Promise<void> {
  const given = messages.map(({ id, claim }) => ({ id, claim }));
  await db.execute(sql`
    UPDATE device_messages SET due_at = now(), unfinished = greatest(unfinished - 1, 0)
    WHERE due_at IS NOT NULL AND id = ANY (ARRAY(
      SELECT message.id FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, claim int)
      JOIN device_messages AS message USING (id, claim) ORDER BY id FOR NO KEY UPDATE OF message))`);
}

/** The result of processing a message. */
export interface MessageResult {
  readonly id: string;
  readonly claim: number;
  readonly status: MessageStatus;
  readonly reason: string | null;
  readonly eventIds: readonly string[];
  /** Milliseconds after which it is tried again; null for never. */
  readonly retryMs: number | null;
}

// The rows are locked in the order of their ids, so that two processes do not wait for each other. The commit does not wait
// for the disk: a message whose result is lost in a power failure is processed again, and its event is already stored.
const RECORD_RESULTS = prepare(
  'record-device-message-results',
  sql`
    WITH given AS (
      SELECT id, claim::integer, status, reason, event_ids::uuid[], retry_ms
      FROM unnest(${sql.placeholder('ids')}::uuid[], ${sql.placeholder('claims')}::float8[],
        ${sql.placeholder('statuses')}::text[], ${sql.placeholder('reasons')}::text[],
        ${sql.placeholder('eventIds')}::text[], ${sql.placeholder('retryMs')}::float8[])
        AS given (id, claim, status, reason, event_ids, retry_ms)
    ), locked AS (
      SELECT given.* FROM given JOIN device_messages AS message USING (id, claim)
      ORDER BY given.id FOR NO KEY UPDATE OF message
    ), changed AS (
      UPDATE device_messages AS message SET status = given.status, reason = given.reason,
        event_ids = given.event_ids, due_at = now() + given.retry_ms * interval '1 millisecond',
        failures = message.failures + (given.status = 'FAILED')::int, unfinished = 0, changed_by = pg_current_xact_id()
      FROM locked AS given WHERE message.id = given.id
      RETURNING message.connection_id
    )
    SELECT ${sql.raw(WITHOUT_WAITING)},
      (SELECT count(pg_notify(${sql.raw(`'${channels.messages}'`)}, connection_id::text))
        FROM (SELECT DISTINCT connection_id FROM changed) AS changed)`,
);

/** Records results. A result is skipped if its message was claimed by another process meanwhile, or is to be processed again. */
export async function recordResults(db: Executor, results: readonly MessageResult[]): Promise<void> {
  await RECORD_RESULTS(db, {
    ids: uuidArray(results, ({ id }) => id),
    claims: doubleArray(results, ({ claim }) => claim),
    statuses: textArray(results, ({ status }) => status),
    reasons: textArray(results, ({ reason }) => reason),
    eventIds: textArray(results, ({ eventIds }) => `{${eventIds.join()}}`),
    retryMs: doubleArray(results, ({ retryMs }) => retryMs),
  });
}

/** Locks messages until the transaction ends, so that results that are being recorded are recorded first. */
export async function lockMessages(tx: Executor, messageIds: readonly string[]): Promise<void> {
  await tx.execute(sql`
    SELECT FROM device_messages WHERE id = ANY (${uuidArray(messageIds, (id) => id)}) ORDER BY id FOR NO KEY UPDATE`);
}

/**
 * Records the event of messages that were held for it, or why there is none. A message may be about several vehicles, each
 * of which is an event of its own.
 */
export async function recordEventOfHeld(
  db: Executor,
  messageIds: readonly string[],
  { eventId, status, reason }: { eventId: string | null; status: MessageStatus; reason: string | null },
): Promise<void> {
  await db.execute(sql`
    UPDATE device_messages SET changed_by = pg_current_xact_id(),
      status = CASE WHEN status = 'HELD' OR ${eventId}::uuid IS NOT NULL THEN ${status} ELSE status END,
      reason = CASE WHEN strpos(reason, ${reason}) > 0 THEN reason
        ELSE nullif(concat_ws('; ', reason, ${reason}::text), '') END,
      event_ids = CASE WHEN ${eventId}::uuid IS NULL OR ${eventId}::uuid = ANY (event_ids) THEN event_ids
        ELSE event_ids || ${eventId}::uuid END
    WHERE id = ANY (${uuidArray(messageIds, (id) => id)}) AND status IN ('HELD', 'STORED', 'REFUSED', 'UNKNOWN_DEVICE')`);
}

import type { Severity } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type {
  ChannelKind,
  ChannelSettings,
  ListNoticesInput,
  Notice,
  NoticeKind,
  NoticeLanguage,
} from '@gantry/contract/notices';
import type { Page } from '@gantry/contract/page';
import type { Role } from '@gantry/contract/permissions';
import { and, asc, type Column, desc, eq, type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { claimableIds } from '../platform/database/jobs.ts';
import { locks } from '../platform/database/locks.ts';
import { isWithin } from '../platform/database/moment.ts';
import { channels as notifyChannels } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { notices } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { LeasedAttempt } from '../platform/deliverer.ts';
import { found, notFound } from '../platform/error.ts';
import type { AttemptResult } from '../platform/outbound.ts';
import type { Interval } from '../platform/time.ts';

/** A message to store. */
export interface NewNotice {
  readonly groupId: string | null;
  readonly step: number | null;
  readonly kind: NoticeKind;
  readonly severity: Severity;
  /** Unix milliseconds; with the group and the step, it identifies a repeated message. */
  readonly announcedFor: number;
  readonly channelId: string;
  readonly channelName: string;
  readonly userId: string | null;
  readonly recipient: string;
  readonly language: NoticeLanguage;
  readonly policyName: string | null;
  readonly total: number;
  readonly subject: string;
  readonly body: string;
  readonly status: 'PENDING' | 'DROPPED';
  readonly lastError: string | null;
  /** The id and the hash of the token of the link; null without a link. */
  readonly ack: { readonly id: string; readonly hash: string } | null;
  /** Milliseconds until it is sent. @default 0 */
  readonly waitMs?: number;
}

/**
 * Stores messages, except those that were announced before. They are sent after the commit, if `wakeChannels` follows.
 * @returns the stored ones
 */
export async function insertNotices(
  tx: Executor,
  given: readonly NewNotice[],
): Promise<{ id: string; channelId: string }[]> {
  if (given.length === 0) return [];
  const rows = given.map(({ announcedFor, waitMs = 0, ack, ...each }) => ({
    ...each,
    id: ack?.id ?? null,
    ackHash: ack?.hash ?? null,
    announcedFor: new Date(announcedFor).toISOString(),
    waitMs,
  }));
  const { rows: stored } = await tx.execute<{ id: string; channelId: string }>(sql`
    INSERT INTO notices (id, group_id, step, kind, severity, announced_for, channel_id, channel_name, user_id, recipient,
      language, policy_name, total, subject, body, status, last_error, ack_hash, due_at)
    SELECT coalesce(id, gen_random_uuid()), "groupId", step, kind, severity, "announcedFor", "channelId", "channelName",
      "userId", recipient, language, "policyName", total, subject, body, status, "lastError", "ackHash",
      now() + "waitMs" * interval '1 millisecond'
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (
      id uuid, "groupId" uuid, step integer, kind text, severity text, "announcedFor" timestamptz, "channelId" uuid,
      "channelName" text, "userId" uuid, recipient text, language text, "policyName" text, total integer, subject text,
      body text, status text, "lastError" text, "ackHash" text, "waitMs" float8)
    ON CONFLICT DO NOTHING
    RETURNING id, channel_id AS "channelId"`);
  return stored;
}

/** Has every process look for messages of these channels that are due, when the transaction commits. */
export async function wakeChannels(tx: Executor, channelIds: readonly string[]): Promise<void> {
  const ids = sql.param([...new Set(channelIds)]);
  await tx.execute(
    sql`SELECT count(pg_notify(${notifyChannels.notices}, id)) FROM unnest(${ids}::text[]) AS waking (id)`,
  );
}

/** Waits for other transactions that announce alarms, and excludes them until this one ends. */
export async function lockNotices(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.notices})`);
}

/** What a recipient was sent in the last hour. */
export interface SentBefore {
  /** Number of messages that were not withheld. */
  readonly sent: number;
  /** Number of messages that were withheld since the last one that was not. */
  readonly withheld: number;
}

/** The reason of a message that a limit withholds, by which they are counted. */
export const OVER_LIMIT = 'More messages than may be sent in an hour';

/** What each recipient, as channel and address, was sent in the last hour. */
export async function countSent(
  tx: Executor,
  recipients: readonly { readonly channelId: string; readonly recipient: string }[],
): Promise<SentBefore[]> {
  const { rows } = await tx.execute<{ sent: number; withheld: number }>(sql`
    SELECT
      (SELECT count(*) FROM notices n WHERE n.channel_id = r.channel_id AND n.recipient = r.recipient
        AND n.created_at > now() - interval '1 hour' AND n.status <> 'DROPPED' AND n.kind <> 'TEST')::int AS sent,
      (SELECT count(*) FROM notices n WHERE n.channel_id = r.channel_id AND n.recipient = r.recipient
        AND n.status = 'DROPPED' AND n.last_error = ${OVER_LIMIT} AND n.created_at > coalesce((
          SELECT max(l.created_at) FROM notices l WHERE l.channel_id = r.channel_id AND l.recipient = r.recipient
            AND l.status <> 'DROPPED' AND l.kind <> 'TEST'), '-infinity'))::int AS withheld
    FROM unnest(${sql.param(recipients.map(({ channelId }) => channelId))}::uuid[],
      ${sql.param(recipients.map(({ recipient }) => recipient))}::text[]) WITH ORDINALITY AS r (channel_id, recipient, n)
    ORDER BY r.n`);
  return rows;
}

const columns = {
  id: notices.id,
  groupId: notices.groupId,
  step: notices.step,
  kind: notices.kind,
  severity: notices.severity,
  channelId: notices.channelId,
  channelName: notices.channelName,
  userId: notices.userId,
  recipient: notices.recipient,
  subject: notices.subject,
  text: notices.body,
  status: notices.status,
  attempts: notices.attempts,
  dueAt: notices.dueAt,
  lastError: notices.lastError,
  lastAnswer: notices.lastAnswer,
  acknowledgedAt: notices.acknowledgedAt,
  createdAt: notices.createdAt,
  sentAt: notices.sentAt,
};
type Row = Omit<Notice, 'user' | 'dueAt'> & { readonly userId: string | null; readonly dueAt: Date };

async function shown(db: Executor, rows: readonly Row[]): Promise<Notice[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  return rows.map(({ userId, dueAt, ...row }) => ({
    ...row,
    user: nameOf(userId),
    dueAt: row.status === 'PENDING' ? dueAt : null,
  }));
}

/** Messages that were created in the interval, by the time of their creation. */
export async function listNotices(
  db: Executor,
  { skip, take, channelId, userId, groupId, status, kind, sortOrder }: ListNoticesInput,
  interval: Interval,
): Promise<Page<Notice>> {
  const ofId = (column: Column, id: string | undefined) =>
    id === undefined ? undefined : isUuid(id) ? eq(column, id) : sql`false`;
  const wanted = and(
    isWithin(notices.createdAt, interval),
    ofId(notices.channelId, channelId),
    ofId(notices.userId, userId),
    ofId(notices.groupId, groupId),
    status === undefined ? undefined : eq(notices.status, status),
    kind === undefined ? undefined : eq(notices.kind, kind),
  );
  const direction = sortOrder === 'asc' ? asc : desc;
  // Plan: notices_by_time, or notices_of_group.
  const rows = await db
    .select(columns)
    .from(notices)
    .where(wanted)
    .orderBy(direction(notices.createdAt), direction(notices.id))
    .limit(take)
    .offset(skip);
  return { items: await shown(db, rows), total: await db.$count(notices, wanted) };
}

/** @throws AppError `notFound` */
export async function getNotice(db: Executor, id: string): Promise<Notice> {
  const rows = isUuid(id) ? await db.select(columns).from(notices).where(eq(notices.id, id)) : [];
  return found(await shown(db, rows), 'Notice');
}

/** Makes one message due again, whatever its status. @throws AppError `notFound` */
export async function redeliverOne(tx: Executor, id: string): Promise<void> {
  if (!isUuid(id) || (await makeDue(tx, sql`id = ${id}`)) === 0) throw notFound('Notice');
}

/** Makes the failed messages of a channel of the last day due again. @returns their number */
export function redeliverFailed(tx: Executor, channelId: string): Promise<number> {
  return makeDue(
    tx,
    sql`channel_id = ${channelId} AND status = 'FAILED' AND created_at > now() - interval '1 day'`,
  );
}

async function makeDue(tx: Executor, which: SQL): Promise<number> {
  const { rows } = await tx.execute<{ channelId: string }>(sql`
    UPDATE notices SET due_at = now(), pending_since = now(), status = 'PENDING',
      attempts = CASE status WHEN 'PENDING' THEN attempts ELSE 0 END,
      by_hand = CASE WHEN status <> 'PENDING' THEN 0 WHEN attempts > 0 AND due_at > now() THEN by_hand + 1 ELSE by_hand END
    WHERE ${which}
    RETURNING channel_id AS "channelId"`);
  await wakeChannels(
    tx,
    rows.map(({ channelId }) => channelId),
  );
  return rows.length;
}

// Delivery.

/** A message that this process is attempting to send, with its channel. */
export interface NoticeAttempt extends LeasedAttempt {
  readonly groupId: string | null;
  readonly kind: NoticeKind;
  readonly severity: Severity;
  readonly policyName: string | null;
  readonly total: number;
  readonly subject: string;
  readonly body: string;
  readonly recipient: string;
  readonly language: NoticeLanguage;
  readonly hasLink: boolean;
  /** null for a recipient of the channel itself. */
  readonly userId: string | null;
  /** The role that the user has now; null if they were deleted or deactivated, and without a user. */
  readonly role: Role | null;
  /** The plates of its alarms, if they may have to be hidden since it was written. */
  readonly plates: readonly string[];
  /** Whether it is about a hit whose list has become covert. */
  readonly isWithheld: boolean;
  readonly channelId: string;
  readonly channelKind: ChannelKind;
  readonly channelPlates: 'HIDE' | 'SHOW';
  readonly settings: ChannelSettings;
  /** The sealed secret. */
  readonly secret: string | null;
}

/** The alarms of a message: those of its group, or of all groups of its policy at that time, of which a summary tells. */
function alarmsOf(notice: SQL): SQL {
  return sql`alarms JOIN alarm_groups AS theirs ON theirs.id = alarms.group_id
    JOIN alarm_groups AS its ON its.id = ${notice}.group_id AND (theirs.id = its.id OR (
      ${notice}.kind = 'SUMMARY' AND theirs.policy_id = its.policy_id
      AND (theirs.closed_at IS NULL OR theirs.closed_at > ${notice}.created_at - interval '1 hour')))`;
}

function platesOf(notice: SQL): SQL {
  return sql`ARRAY(SELECT DISTINCT plate FROM ${alarmsOf(notice)} WHERE plate IS NOT NULL)`;
}

/** Whether the list of a hit has become covert since a message told of it. Alarms are read only if any list may have. */
function isAboutCovertHit(notice: SQL): SQL {
  return sql`CASE WHEN EXISTS (SELECT FROM hotlists WHERE covert AND updated_at > ${notice}.created_at) THEN EXISTS (
      SELECT FROM ${alarmsOf(notice)} JOIN watchlist_alerts AS hit ON hit.id = alarms.alert_id
      WHERE hit.hotlist_id IN (SELECT id FROM hotlists WHERE covert AND updated_at > ${notice}.created_at))
    ELSE false END`;
}

/**
 * Claims the messages of a channel that have been due for longest. No other process takes them until their result is
 * recorded or, if this process ends before, until `leaseMs` milliseconds have passed (for e-mail, `mailLeaseMs`).
 * @param hideFrom the roles from which plates are hidden now
 */
export async function claimDueNotices(
  db: Executor,
  channelId: string,
  {
    most,
    leaseMs,
    mailLeaseMs,
    hideFrom,
  }: { most: number; leaseMs: number; mailLeaseMs: number; hideFrom: readonly Role[] },
): Promise<NoticeAttempt[]> {
  const due = claimableIds(notices, {
    due: sql`channel_id = ${channelId} AND status = 'PENDING' AND due_at <= now() AND ${IS_FRESH}`,
    order: sql`due_at`,
    most,
  });
  const { rows } = await db.execute<{ [Field in keyof NoticeAttempt]: NoticeAttempt[Field] }>(sql`
    UPDATE notices AS taken SET attempts = attempts + 1,
      due_at = now() + CASE channel.kind WHEN 'SMTP' THEN ${mailLeaseMs}::float8 ELSE ${leaseMs}::float8 END * interval '1 millisecond'
    FROM channels AS channel
    WHERE channel.id = ${channelId} AND channel.enabled AND taken.channel_id = channel.id AND taken.id = ANY (${due})
    RETURNING taken.id, taken.attempts AS number, taken.by_hand AS "byHand", taken.group_id AS "groupId", taken.kind,
      taken.severity, taken.policy_name AS "policyName", taken.total, taken.subject, taken.body, taken.recipient,
      taken.language, taken.ack_hash IS NOT NULL AS "hasLink", taken.user_id AS "userId",
      (SELECT role FROM users WHERE users.id = taken.user_id AND is_active) AS role,
      CASE WHEN channel.updated_at > taken.created_at
          OR EXISTS (SELECT FROM users WHERE users.id = taken.user_id AND role = ANY (${sql.param([...hideFrom])}::text[]))
        THEN ${platesOf(sql`taken`)} ELSE '{}' END AS plates, ${isAboutCovertHit(sql`taken`)} AS "isWithheld",
      channel.id AS "channelId", channel.kind AS "channelKind", channel.plates AS "channelPlates", channel.settings,
      channel.secret`);
  return rows;
}

/** A message about an alarm is of no use after a day. */
const IS_FRESH = sql`pending_since > now() - interval '1 day'`;

/** Records that the receiver took a message, unless it is completed already. */
export async function markSent(db: Executor, id: string, { answer }: AttemptResult): Promise<void> {
  await db.execute(sql`
    UPDATE notices SET status = 'SENT', sent_at = now(), last_error = NULL, last_answer = ${answer}
    WHERE id = ${id} AND status = 'PENDING'`);
}

/**
 * Records that the attempt failed, unless the message was completed or requested again meanwhile.
 * @param waitMs milliseconds until it is due again; null for never
 */
export async function markFailed(
  db: Executor,
  { id, number, byHand }: LeasedAttempt,
  { error, answer }: AttemptResult,
  waitMs: number | null,
): Promise<void> {
  await db.execute(sql`
    UPDATE notices SET status = ${waitMs === null ? 'FAILED' : 'PENDING'}, last_error = ${error}, last_answer = ${answer},
      due_at = now() + ${waitMs ?? 0} * interval '1 millisecond'
    WHERE id = ${id} AND status = 'PENDING' AND attempts = ${number} AND by_hand = ${byHand}`);
}

/** The enabled channels with a message that is due. */
export async function listDueChannels(db: Database): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM channels WHERE enabled AND EXISTS (
      SELECT FROM notices WHERE channel_id = channels.id AND status = 'PENDING' AND due_at <= now() AND ${IS_FRESH})`);
  return rows.map(({ id }) => id);
}

/** Gives up the messages that were not sent within a day. @returns whether any message waits */
export async function giveUpOld(db: Database): Promise<boolean> {
  const { rows } = await db.execute<{ waits: boolean }>(sql`
    WITH old AS (
      UPDATE notices SET status = 'FAILED', last_error = coalesce(last_error, 'It was not sent within a day')
      WHERE status = 'PENDING' AND NOT (${IS_FRESH}) AND due_at <= now()
    )
    SELECT EXISTS (SELECT FROM notices WHERE status = 'PENDING') AS waits`);
  return rows[0]?.waits === true;
}

/** Larger numbers are not counted, so that the count stays cheap. */
const MAX_COUNTED = 100_000;

/** The number of messages that wait, and of those that failed in the last day; at most 100,000 of each. */
export async function countOpenNotices(db: Database): Promise<{ pending: number; failed: number }> {
  const { rows } = await db.execute<{ pending: number; failed: number }>(sql`
    SELECT
      (SELECT count(*)::int FROM (SELECT FROM notices WHERE status = 'PENDING' LIMIT ${MAX_COUNTED}) AS p) AS pending,
      (SELECT count(*)::int FROM (SELECT FROM notices WHERE status = 'FAILED' AND created_at > now() - interval '1 day'
        LIMIT ${MAX_COUNTED}) AS f) AS failed`);
  return rows[0] ?? { pending: 0, failed: 0 };
}

/** Number of messages that the service removes in one statement. */
const REMOVED_AT_ONCE = 10_000;

/** Removes messages that are older than 90 days. @returns their number */
export async function removeOldNotices(db: Database): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM notices WHERE id IN (
      SELECT id FROM notices WHERE created_at < now() - interval '90 days' ORDER BY created_at LIMIT ${REMOVED_AT_ONCE})`);
  return rowCount ?? 0;
}

// Links.

/** The message of a link, with its recipient. */
export interface LinkedNotice {
  readonly noticeId: string;
  readonly groupId: string;
  readonly userId: string;
  readonly language: NoticeLanguage;
  readonly subject: string;
  readonly body: string;
  readonly isUsed: boolean;
  /** The plates of its alarms. */
  readonly plates: readonly string[];
  /** Whether its channel shows plates now. */
  readonly channelShowsPlates: boolean;
}

/** The message of a link that was sent within the last day; null if there is none, and for a hit whose list has become covert. */
export async function findByTokenHash(db: Executor, ackHash: string): Promise<LinkedNotice | null> {
  const { rows } = await db.execute<{ [Field in keyof LinkedNotice]: LinkedNotice[Field] }>(sql`
    SELECT id AS "noticeId", group_id AS "groupId", user_id AS "userId", language, subject, body,
      acknowledged_at IS NOT NULL AS "isUsed",
      ${platesOf(sql`notices`)} AS plates,
      EXISTS (SELECT FROM channels WHERE channels.id = channel_id AND plates = 'SHOW') AS "channelShowsPlates"
    FROM notices
    WHERE ack_hash = ${ackHash} AND group_id IS NOT NULL AND user_id IS NOT NULL
      AND created_at > now() - interval '24 hours' AND NOT ${isAboutCovertHit(sql`notices`)}`);
  return rows[0] ?? null;
}

/** Uses the link of a message, once. @returns false if it was used before */
export async function useLink(tx: Transaction, noticeId: string, address: string): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    UPDATE notices SET acknowledged_at = now(), acknowledged_from = ${address}
    WHERE id = ${noticeId} AND acknowledged_at IS NULL`);
  return rowCount === 1;
}

import { isUuid } from '@gantry/contract/id';
import { MAX_CHANNELS, type NoticeChannel } from '@gantry/contract/notices';
import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { noticeChannels } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';

/** A channel as it is stored, with its sealed secret. */
export type ChannelRow = typeof noticeChannels.$inferSelect;

/** All channels, the oldest first. There are few. */
export function listChannelRows(db: Executor): Promise<ChannelRow[]> {
  return db.select().from(noticeChannels).orderBy(asc(noticeChannels.createdAt), asc(noticeChannels.id));
}

/** @throws AppError `notFound` */
export async function getChannelRow(db: Executor, id: string): Promise<ChannelRow> {
  const rows = isUuid(id) ? await db.select().from(noticeChannels).where(eq(noticeChannels.id, id)) : [];
  return found(rows, 'Channel');
}

/** Channels as they are shown, without their secrets. */
export async function showChannels(db: Executor, rows: readonly ChannelRow[]): Promise<NoticeChannel[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map(({ settings, secret, createdBy, ...row }) => ({
    ...row,
    url: settings.url ?? null,
    method: settings.method ?? null,
    headers: { ...settings.headers },
    body: settings.body ?? null,
    to: [...(settings.to ?? [])],
    hasSecret: secret !== null,
    createdBy: nameOf(createdBy),
  }));
}

/** Adds a channel. @throws AppError `badRequest` when there are too many */
export async function insertChannel(
  tx: Transaction,
  fields: typeof noticeChannels.$inferInsert,
): Promise<ChannelRow> {
  await lockAdditions(tx, 'channels');
  if ((await tx.$count(noticeChannels)) >= MAX_CHANNELS)
    throw new AppError('badRequest', `There are ${MAX_CHANNELS} channels already: delete one first`);
  return found(await tx.insert(noticeChannels).values(fields).returning(), 'Channel');
}

/** Locks a channel until the transaction ends. @throws AppError `notFound` */
export async function lockChannel(tx: Transaction, id: string): Promise<ChannelRow> {
  const rows = isUuid(id)
    ? await tx.select().from(noticeChannels).where(eq(noticeChannels.id, id)).for('update')
    : [];
  return found(rows, 'Channel');
}

export async function updateChannelRow(
  tx: Transaction,
  id: string,
  fields: Partial<ChannelRow>,
): Promise<ChannelRow> {
  const rows = await tx
    .update(noticeChannels)
    .set({ ...fields, updatedAt: timeOfUpdate() })
    .where(eq(noticeChannels.id, id))
    .returning();
  return found(rows, 'Channel');
}

/** Deletes a channel; its messages stay in the log, and those that wait are dropped. @throws AppError `notFound` */
export async function deleteChannelRow(tx: Transaction, id: string): Promise<ChannelRow> {
  const row = await lockChannel(tx, id);
  await tx.delete(noticeChannels).where(eq(noticeChannels.id, row.id));
  await tx.execute(sql`
    UPDATE notices SET status = 'DROPPED', last_error = 'The channel was deleted'
    WHERE channel_id = ${row.id} AND status = 'PENDING'`);
  return row;
}

/** The names of the policies that have a channel, or whoever is on duty of a rota, told of alarms. */
export async function findPoliciesNaming(
  db: Executor,
  target: 'channelId' | 'rotaId',
  id: string,
): Promise<string[]> {
  if (!isUuid(id)) return [];
  const { rows } = await db.execute<{ name: string }>(sql`
    SELECT DISTINCT name FROM policies, jsonb_array_elements(steps) AS step, jsonb_array_elements(step -> 'to') AS named
    WHERE lower(named ->> ${target}::text) = lower(${id}) ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** A channel that takes no messages. */
export interface FailingChannel {
  readonly id: string;
  readonly name: string;
  readonly since: Date;
  /** Why the last message was not taken. */
  readonly error: string;
}

/** The enabled channels that take no messages, the longest failing first. Others can tell of them. */
export async function findFailingChannels(db: Executor): Promise<FailingChannel[]> {
  const rows = await db
    .select({
      id: noticeChannels.id,
      name: noticeChannels.name,
      since: noticeChannels.failingSince,
      error: noticeChannels.lastError,
    })
    .from(noticeChannels)
    .where(and(eq(noticeChannels.enabled, true), isNotNull(noticeChannels.failingSince)))
    .orderBy(asc(noticeChannels.failingSince));
  return rows.flatMap(({ since, error, ...row }) => (since ? [{ ...row, since, error: error ?? '' }] : []));
}

/** Records that a channel took a message, or why it did not. Nothing is written while its state stays the same. */
export async function noteChannel(db: Executor, id: string, error: string | null): Promise<void> {
  await db.execute(
    error === null
      ? sql`UPDATE channels SET failing_since = NULL, last_error = NULL WHERE id = ${id} AND failing_since IS NOT NULL`
      : sql`
        UPDATE channels SET failing_since = coalesce(failing_since, now()), last_error = ${error}
        WHERE id = ${id} AND (failing_since IS NULL OR last_error IS DISTINCT FROM ${error})`,
  );
}

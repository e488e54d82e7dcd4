import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import {
  type CreateWebhookInput,
  type DeliveryStatus,
  type ListWebhooksInput,
  MAX_WEBHOOKS,
  type UpdateWebhookInput,
  type WatchedWebhook,
  type Webhook,
} from '@gantry/contract/webhooks';
import { asc, count, desc, eq, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { webhooks } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import type { ActiveWebhook } from './dispatch.ts';

/** The enabled webhooks. */
export function listEnabledWebhooks(db: Executor): Promise<ActiveWebhook[]> {
  return db
    .select({ id: webhooks.id, kinds: webhooks.kinds, filter: webhooks.filter })
    .from(webhooks)
    .where(eq(webhooks.enabled, true));
}

// All columns except the secret, which is returned only when it is created.
const columns = {
  id: webhooks.id,
  url: webhooks.url,
  description: webhooks.description,
  kinds: webhooks.kinds,
  filter: webhooks.filter,
  enabled: webhooks.enabled,
  createdBy: webhooks.createdBy,
  createdAt: webhooks.createdAt,
  updatedAt: webhooks.updatedAt,
};
type Row = Omit<Webhook, 'createdBy'> & { createdBy: string };

const NO_FORTUNE: DeliveryHealth = { pending: 0, dead: 0, lastDelivery: null };

/** @throws AppError `notFound` */
export async function getWebhook(db: Executor, id: string): Promise<WatchedWebhook> {
  const rows = isUuid(id) ? await db.select(columns).from(webhooks).where(eq(webhooks.id, id)) : [];
  const [hook] = await watched(db, rows);
  if (!hook) throw notFound('Webhook');
  return hook;
}

export async function listWebhooks(
  db: Executor,
  { skip, take, sortOrder }: ListWebhooksInput,
): Promise<Page<WatchedWebhook>> {
  const direction = sortOrder === 'asc' ? asc : desc;
  const rows = await db
    .select(columns)
    .from(webhooks)
    .orderBy(direction(webhooks.createdAt), direction(webhooks.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(webhooks);
  return { items: await watched(db, rows), total: counted?.total ?? 0 };
}

/**
 * Adds a webhook, and prevents other transactions from doing so until this one ends.
 * @returns its id
 * @throws AppError `badRequest` when the maximum number is reached
 */
export async function insertWebhook(
  tx: Transaction,
  fields: CreateWebhookInput & { secret: string; createdBy: string },
): Promise<string> {
  await lockAdditions(tx, 'webhooks');
  const [counted] = await tx.select({ total: count() }).from(webhooks);
  if ((counted?.total ?? 0) >= MAX_WEBHOOKS) {
    throw new AppError('badRequest', `There are ${MAX_WEBHOOKS} webhooks already: delete one first`);
  }
  const [row] = await tx.insert(webhooks).values(fields).returning({ id: webhooks.id });
  if (!row) throw new Error('PostgreSQL did not return the inserted webhook');
  return row.id;
}

/** Sets the given fields. @throws AppError `notFound` */
export async function updateWebhookRow(
  tx: Executor,
  id: string,
  fields: Omit<UpdateWebhookInput, 'id' | 'rotateSecret'> & { secret?: string },
): Promise<void> {
  const changed = isUuid(id)
    ? await tx
        .update(webhooks)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(eq(webhooks.id, id))
        .returning({ id: webhooks.id })
    : [];
  if (changed.length === 0) throw notFound('Webhook');
}

/** Has all processes look for due deliveries of a webhook, when the transaction that enables it is committed. */
export async function wakeWebhook(tx: Executor, id: string): Promise<void> {
  await notify(tx, channels.deliveries, id);
}

/**
 * Deletes a webhook and its deliveries.
 * @returns the deleted webhook
 * @throws AppError `notFound`
 */
export async function deleteWebhookRow(tx: Executor, id: string): Promise<{ id: string; url: string }> {
  const [row] = isUuid(id)
    ? await tx.delete(webhooks).where(eq(webhooks.id, id)).returning({ id: webhooks.id, url: webhooks.url })
    : [];
  if (!row) throw notFound('Webhook');
  return row;
}

/** The state of the deliveries of a webhook. */
export type DeliveryHealth = Pick<WatchedWebhook, 'pending' | 'dead' | 'lastDelivery'>;

interface HealthRow extends Record<string, unknown> {
  id: string;
  pending: number;
  dead: number;
  last_at: Date | null;
  last_status: DeliveryStatus | null;
  last_error: string | null;
}

/** The state of the deliveries of these webhooks. Each part of the query has an index of its own. */
async function findDeliveryHealth(
  db: Executor,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, DeliveryHealth>> {
  if (webhookIds.length === 0) return new Map();
  const { rows } = await db.execute<HealthRow>(sql`
    SELECT hook.id,
      (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = hook.id AND status = 'PENDING') AS pending,
      (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = hook.id AND status = 'DEAD') AS dead,
      latest.last_attempt_at AS last_at, latest.status AS last_status, latest.last_error
    FROM unnest(${sql.param(webhookIds)}::uuid[]) AS hook (id)
    LEFT JOIN LATERAL (
      SELECT last_attempt_at, status, last_error FROM webhook_deliveries
      WHERE webhook_id = hook.id AND last_attempt_at IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1
    ) AS latest ON true`);
  return new Map(
    rows.map(({ id, pending, dead, last_at, last_status, last_error }) => [
      id,
      {
        pending: Number(pending),
        dead: Number(dead),
        lastDelivery:
          last_at === null || last_status === null
            ? null
            : { at: new Date(last_at), status: last_status, error: last_error },
      },
    ]),
  );
}

async function watched(db: Executor, rows: readonly Row[]): Promise<WatchedWebhook[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  const fortunes = await findDeliveryHealth(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...row,
    createdBy: nameOf(row.createdBy),
    ...(fortunes.get(row.id) ?? NO_FORTUNE),
  }));
}

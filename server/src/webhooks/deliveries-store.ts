import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { Delivery, ListDeliveriesInput } from '@gantry/contract/webhooks';
import { and, asc, count, desc, eq, type SQL, sql } from 'drizzle-orm';
import { webhookDeliveries as deliveries } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { addWakeUps } from './wake-store.ts';

const columns = {
  id: deliveries.id,
  webhookId: deliveries.webhookId,
  kind: deliveries.kind,
  status: deliveries.status,
  attempts: deliveries.attempts,
  dueAt: deliveries.dueAt,
  createdAt: deliveries.createdAt,
  lastAttemptAt: deliveries.lastAttemptAt,
  lastStatus: deliveries.lastStatus,
  lastAnswer: deliveries.lastAnswer,
  lastError: deliveries.lastError,
  finishedAt: deliveries.finishedAt,
  body: deliveries.body,
};

/** Deliveries by the time at which they were written. */
export const listDeliveries = async (
  db: Executor,
  { skip, take, webhookId, status, kind, sortOrder }: ListDeliveriesInput,
): Promise<Page<Delivery>> => {
  if (webhookId !== undefined && !isUuid(webhookId)) throw notFound('Webhook');
  const wanted = and(
    webhookId === undefined ? undefined : eq(deliveries.webhookId, webhookId),
    status === undefined ? undefined : eq(deliveries.status, status),
    kind === undefined ? undefined : eq(deliveries.kind, kind),
  );
  const direction = sortOrder === 'asc' ? asc : desc;
  const rows = await db
    .select(columns)
    .from(deliveries)
    .where(wanted)
    .orderBy(direction(deliveries.createdAt), direction(deliveries.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(deliveries).where(wanted);
  const items = rows.map((row) => ({ ...row, dueAt: row.status === 'PENDING' ? row.dueAt : null }));
  return { items, total: counted?.total ?? 0 };
};

/**
 * Makes deliveries pending and due again. Of those that were pending already the attempts go on being counted, and the one
 * that is asked for here is noted as such, unless it is due anyway.
 */
const makeDue = async (tx: Executor, which: SQL): Promise<number> => {
  const { rows } = await tx.execute<{ count: number }>(sql`
    WITH due AS (
      UPDATE webhook_deliveries SET due_at = now(), finished_at = NULL, status = 'PENDING',
        attempts = CASE status WHEN 'PENDING' THEN attempts ELSE 0 END,
        by_hand = CASE WHEN status <> 'PENDING' THEN 0 WHEN attempts > 0 AND due_at > now() THEN by_hand + 1 ELSE by_hand END
      WHERE ${which}
      RETURNING webhook_id
    ), woken AS (
      ${addWakeUps(sql`SELECT webhook_id FROM due`)}
    )
    SELECT (SELECT count(*) FROM due) AS count, (SELECT * FROM woken) AS woken`);
  return Number(rows[0]?.count ?? 0);
};

/** Has one delivery attempted again, whatever became of it. @throws AppError `notFound` */
export const redeliverOne = async (tx: Executor, id: string): Promise<void> => {
  const made = isUuid(id) ? await makeDue(tx, sql`id = ${id}`) : 0;
  if (made === 0) throw notFound('Delivery');
};

/** Has all dead deliveries of a hook attempted again. @returns how many there are */
export const redeliverDead = (tx: Executor, webhookId: string): Promise<number> =>
  makeDue(tx, sql`webhook_id = ${webhookId} AND status = 'DEAD'`);

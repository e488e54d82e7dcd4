import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { Delivery, DeliveryKind, ListDeliveriesInput } from '@gantry/contract/webhooks';
import { and, asc, count, desc, eq, type SQL, sql } from 'drizzle-orm';
import { claimableIds } from '../platform/database/jobs.ts';
import { locks } from '../platform/database/locks.ts';
import { isWithin, moment, readDatabaseTime } from '../platform/database/moment.ts';
import { channels } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { webhookDeliveries as deliveries, webhookDeliveries } from '../platform/database/tables.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import type { LeasedAttempt } from '../platform/deliverer.ts';
import { notFound } from '../platform/error.ts';
import type { AttemptResult } from '../platform/outbound.ts';
import type { Interval } from '../platform/time.ts';

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

type DeliveryRow = Omit<Delivery, 'dueAt'> & { readonly dueAt: Date | null };

/** Deliveries that were created in the interval, by the time of their creation. */
export async function listDeliveries(
  db: Executor,
  { skip, take, webhookId, status, kind, sortOrder }: ListDeliveriesInput,
  interval: Interval,
): Promise<Page<Delivery>> {
  if (webhookId !== undefined && !isUuid(webhookId)) throw notFound('Webhook');
  const wanted = and(
    isWithin(deliveries.createdAt, interval),
    webhookId === undefined ? undefined : eq(deliveries.webhookId, webhookId),
    status === undefined ? undefined : eq(deliveries.status, status),
    kind === undefined ? undefined : eq(deliveries.kind, kind),
  );
  const direction = sortOrder === 'asc' ? asc : desc;
  // Plan: webhook_deliveries_by_time, or webhook_deliveries_of_hook.
  const rows = await db
    .select(columns)
    .from(deliveries)
    .where(wanted)
    .orderBy(direction(deliveries.createdAt), direction(deliveries.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(deliveries).where(wanted);
  return { items: rows.map(deliveryOf), total: counted?.total ?? 0 };
}

/** @throws AppError `notFound` */
export async function getDelivery(db: Executor, id: string): Promise<Delivery> {
  const [row] = isUuid(id) ? await db.select(columns).from(deliveries).where(eq(deliveries.id, id)) : [];
  if (!row) throw notFound('Delivery');
  return deliveryOf(row);
}

function deliveryOf(row: DeliveryRow): Delivery {
  return { ...row, dueAt: row.status === 'PENDING' ? row.dueAt : null };
}

/** Makes one delivery due again, whatever its status. @throws AppError `notFound` */
export async function redeliverOne(tx: Executor, id: string): Promise<void> {
  const made = isUuid(id) ? await makeDue(tx, sql`id = ${id}`) : 0;
  if (made === 0) throw notFound('Delivery');
}

/** Number of dead deliveries that the service makes due in one transaction. */
export const REDELIVERED_AT_ONCE = 2_000;

/**
 * Makes all present dead deliveries of a webhook due again, at most `most` in one transaction. Those that die again
 * meanwhile stay dead.
 * @param record what else to write in each transaction, with the number of its deliveries
 * @returns their number
 */
export async function redeliverDead(
  db: Database,
  webhookId: string,
  most: number,
  record: (tx: Transaction, count: number) => Promise<void>,
): Promise<number> {
  const until = await readDatabaseTime(db);
  let count = 0;
  let after: DeadRow | undefined;
  for (;;) {
    const portion = await listDead(db, { webhookId, until, after, most });
    after = portion.at(-1);
    if (!after) return count;
    const ids = portion.map(({ id }) => id);
    count += await inTransaction(db, async (tx) => {
      const made = await makeDue(tx, sql`id = ANY (${sql.param(ids)}::uuid[]) AND status = 'DEAD'`);
      if (made > 0) await record(tx, made);
      return made;
    });
  }
}

interface DeadRow extends Record<string, unknown> {
  readonly id: string;
  readonly createdAt: string;
}

/** The next dead deliveries of a webhook that were created by a time (Unix milliseconds), in order. */
async function listDead(
  db: Executor,
  {
    webhookId,
    until,
    after,
    most,
  }: { webhookId: string; until: number; after: DeadRow | undefined; most: number },
): Promise<DeadRow[]> {
  const rest = after && sql`AND (created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  // Plan: webhook_deliveries_dead.
  const { rows } = await db.execute<DeadRow>(sql`
    SELECT id, created_at::text AS "createdAt" FROM webhook_deliveries
    WHERE webhook_id = ${webhookId} AND status = 'DEAD' AND created_at <= ${moment(until)} ${rest}
    ORDER BY created_at, id LIMIT ${most}`);
  return rows;
}

/** A delivery to create. */
export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly kind: DeliveryKind;
  readonly body: string;
}

/**
 * Creates deliveries, which are made after the transaction commits. Webhooks that were deleted or disabled meanwhile
 * get none; the rows of the others are locked, so that they cannot be deleted before the commit.
 */
export async function insertDeliveries(tx: Executor, deliveries: readonly NewDelivery[]): Promise<void> {
  const column = (pick: (delivery: NewDelivery) => string) => sql.param(deliveries.map(pick));
  await tx.execute(sql`
    WITH given AS (
      SELECT * FROM unnest(
        ${column(({ id }) => id)}::uuid[], ${column(({ webhookId }) => webhookId)}::uuid[],
        ${column(({ kind }) => kind)}::text[], ${column(({ body }) => body)}::text[]
      ) AS given (id, webhook_id, kind, body)
    ), alive AS (
      SELECT id FROM webhooks WHERE enabled AND id IN (SELECT webhook_id FROM given) ORDER BY id FOR KEY SHARE
    ), written AS (
      INSERT INTO webhook_deliveries (id, webhook_id, kind, body)
      SELECT given.id, webhook_id, kind, body FROM given JOIN alive ON alive.id = webhook_id
      RETURNING webhook_id
    )
    ${addWakeUps(sql`SELECT webhook_id FROM written`)}`);
}

/** Number of deliveries of a webhook that the service removes in one transaction. */
export const REMOVED_AT_ONCE = 10_000;

/** Removes all deliveries of a webhook, at most `most` in one transaction. */
export async function removeDeliveriesOf(db: Database, webhookId: string, most: number): Promise<void> {
  let last: { created_at: string; id: string } | undefined;
  do {
    const rest = last && sql`AND (created_at, id) > (${last.created_at}::timestamptz, ${last.id}::uuid)`;
    // Plan: webhook_deliveries_of_hook, from the last removed one on, because those before it are still in the index.
    const { rows } = await db.execute<{ created_at: string; id: string }>(sql`
      WITH batch AS MATERIALIZED (
        SELECT id, created_at FROM webhook_deliveries WHERE webhook_id = ${webhookId} ${rest}
        ORDER BY created_at, id LIMIT ${most}
      ), gone AS (
        DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(SELECT id FROM batch))
      )
      SELECT created_at::text, id FROM batch ORDER BY created_at DESC, id DESC LIMIT 1`);
    last = rows[0];
  } while (last);
}

/** How long successful deliveries are kept. Dead ones are kept as long as their webhook. */
const KEPT = sql`interval '30 days'`;

/** The enabled webhooks with a delivery that is due: a retry, one whose process died, or one whose notification was lost. */
export async function listDueWebhooks(db: Database): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM webhooks
    WHERE enabled AND EXISTS (
      SELECT FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'PENDING' AND due_at <= now())`);
  return rows.map(({ id }) => id);
}

/** Whether any delivery is not made yet, now or later. */
export async function hasOpenDeliveries(db: Database): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'PENDING') AS found`,
  );
  return rows[0]?.found === true;
}

/** Larger numbers are not counted, so that the count stays cheap. */
const MAX_COUNTED = 100_000;

/** The number of deliveries that are not made yet, and of those that were given up; at most 100,000 of each. */
export async function countOpenDeliveries(db: Database): Promise<{ pending: number; dead: number }> {
  const { rows } = await db.execute<{ pending: number; dead: number }>(sql`
    SELECT
      (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE status = 'PENDING' LIMIT ${MAX_COUNTED}) AS p) AS pending,
      (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE status = 'DEAD' LIMIT ${MAX_COUNTED}) AS d) AS dead`);
  return rows[0] ?? { pending: 0, dead: 0 };
}

/**
 * Removes old successful deliveries, at most `most` of each webhook in one transaction. If another process is removing
 * some, nothing is done.
 * @param isOver whether to finish although some may be left
 */
export async function removeOldDeliveries(db: Database, most: number, isOver: () => boolean): Promise<void> {
  let removed = 0;
  do removed = await removeSome(db, most);
  while (removed > 0 && !isOver());
}

/** @returns the number of removed deliveries */
async function removeSome(db: Database, most: number): Promise<number> {
  const removed = await ifFree(db, async (tx) => {
    const { rowCount } = await tx.execute(sql`
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT old.id FROM webhooks w CROSS JOIN LATERAL (
          SELECT d.id FROM webhook_deliveries d
          WHERE d.webhook_id = w.id AND d.created_at < now() - ${KEPT}
            AND d.status = 'DELIVERED' AND d.finished_at < now() - ${KEPT}
          ORDER BY d.created_at LIMIT ${most}
        ) AS old)`);
    return rowCount;
  });
  return removed ?? 0;
}

/**
 * The last part of a statement: when the transaction commits, every process looks for due deliveries of the webhooks
 * in the rows `(webhook_id)` of the query. PostgreSQL notifies once for each webhook and transaction.
 */
function addWakeUps(of: SQL): SQL {
  return sql`SELECT count(pg_notify(${channels.deliveries}, webhook_id::text)) FROM (${of}) AS waking`;
}

/**
 * Makes deliveries pending and due again. Pending ones keep their number of attempts, and the requested attempt is
 * recorded as such unless it is due anyway.
 */
async function makeDue(tx: Executor, which: SQL): Promise<number> {
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
}

/** Runs the work. @returns its result; null when another process is doing the work */
function ifFree<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result | null> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.execute<{ free: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${locks.webhooks}) AS free`,
    );
    return rows[0]?.free ? work(tx) : null;
  });
}

/** A delivery that this process is attempting. */
export interface Attempt extends LeasedAttempt {
  readonly kind: DeliveryKind;
  readonly body: string;
  readonly url: string;
  readonly secret: string;
  /** Whether it is about a hit whose list has become covert since. */
  readonly isWithheld: boolean;
}

/**
 * Claims the deliveries of a webhook that have been due for longest. No other process takes them until their result
 * is recorded or, if this process ends before, until `leaseMs` milliseconds have passed.
 */
export async function claimDueDeliveries(
  db: Executor,
  webhookId: string,
  { most, leaseMs }: { most: number; leaseMs: number },
): Promise<Attempt[]> {
  const due = claimableIds(webhookDeliveries, {
    due: sql`webhook_id = ${webhookId} AND status = 'PENDING' AND due_at <= now()`,
    order: sql`due_at`,
    most,
  });
  const { rows } = await db.execute<{ [Field in keyof Attempt]: Attempt[Field] }>(sql`
    UPDATE webhook_deliveries AS taken SET
      attempts = attempts + 1, last_attempt_at = now(), due_at = now() + ${leaseMs} * interval '1 millisecond'
    FROM webhooks AS hook
    WHERE hook.id = ${webhookId} AND hook.enabled AND taken.webhook_id = hook.id AND taken.id = ANY (${due})
    RETURNING taken.id, taken.kind, taken.body, taken.attempts AS number, taken.by_hand AS "byHand", hook.url, hook.secret,
      CASE WHEN taken.kind = 'watchlist.alert' THEN EXISTS (
        SELECT FROM watchlist_alerts AS hit JOIN hotlists ON hotlists.id = hit.hotlist_id
        WHERE hit.id = (taken.body::json #>> '{data,id}')::uuid AND hotlists.covert) ELSE false END AS "isWithheld"`);
  return rows;
}

/** Records that the receiver accepted a delivery, unless the delivery is completed already. */
export async function markDelivered(db: Executor, id: string, result: AttemptResult): Promise<void> {
  await db.execute(sql`
    UPDATE webhook_deliveries SET status = 'DELIVERED', finished_at = now(),
      last_status = ${result.status}, last_answer = ${result.answer}, last_error = NULL
    WHERE id = ${id} AND status = 'PENDING'`);
}

/**
 * Records that the attempt failed, unless the delivery was completed or requested again meanwhile.
 * @param waitMs milliseconds until it is due again; null for never
 */
export async function markFailed(
  db: Executor,
  { id, number, byHand }: Pick<Attempt, 'id' | 'number' | 'byHand'>,
  result: AttemptResult,
  waitMs: number | null,
): Promise<void> {
  const isDead = waitMs === null;
  await db.execute(sql`
    UPDATE webhook_deliveries SET
      status = ${isDead ? 'DEAD' : 'PENDING'},
      finished_at = ${isDead ? sql`now()` : sql`NULL::timestamptz`},
      due_at = now() + ${waitMs ?? 0} * interval '1 millisecond',
      last_status = ${result.status}, last_answer = ${result.answer}, last_error = ${result.error}
    WHERE id = ${id} AND status = 'PENDING' AND attempts = ${number} AND by_hand = ${byHand}`);
}

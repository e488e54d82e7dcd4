import type { DeliveryKind } from '@gantry/contract/webhooks';
import { sql } from 'drizzle-orm';
import { claimableIds } from '../platform/database/jobs.ts';
import { webhookDeliveries } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** A delivery that this process is attempting. */
export interface Attempt {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly body: string;
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The number of attempts requested by users. */
  readonly byHand: number;
  readonly url: string;
  readonly secret: string;
}

/** The result of an attempt. */
export interface AttemptResult {
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  /** The beginning of the answer. */
  readonly answer: string | null;
  /** Why it failed; null for success. */
  readonly error: string | null;
  /** The delay that the receiver requested, in milliseconds. */
  readonly retryAfterMs?: number | null;
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
    RETURNING taken.id, taken.kind, taken.body, taken.attempts AS number, taken.by_hand AS "byHand", hook.url, hook.secret`);
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

import type { DeliveryKind } from '@gantry/contract/webhooks';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { addWakeUps } from './wake-store.ts';

/** A delivery that is to be made. */
export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly kind: DeliveryKind;
  readonly body: string;
}

/**
 * Writes deliveries, which are made a moment after the transaction commits. A hook that went or was switched off
 * meanwhile gets none; its row is locked, so that it cannot go before.
 */
export const insertDeliveries = async (tx: Executor, deliveries: readonly NewDelivery[]): Promise<void> => {
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
};

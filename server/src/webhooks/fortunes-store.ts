import type { DeliveryStatus, WatchedWebhook } from '@gantry/contract/webhooks';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** How the deliveries of a hook fare. */
export type Fortune = Pick<WatchedWebhook, 'pending' | 'dead' | 'lastDelivery'>;

interface Row extends Record<string, unknown> {
  id: string;
  pending: number;
  dead: number;
  last_at: Date | null;
  last_status: DeliveryStatus | null;
}

/** How the deliveries of these hooks fare. Each question has an index of its own. */
export const findFortunes = async (
  db: Executor,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, Fortune>> => {
  if (webhookIds.length === 0) return new Map();
  const { rows } = await db.execute<Row>(sql`
    SELECT hook.id,
      (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = hook.id AND status = 'PENDING') AS pending,
      (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = hook.id AND status = 'DEAD') AS dead,
      latest.last_attempt_at AS last_at, latest.status AS last_status
    FROM unnest(${sql.param(webhookIds)}::uuid[]) AS hook (id)
    LEFT JOIN LATERAL (
      SELECT last_attempt_at, status FROM webhook_deliveries
      WHERE webhook_id = hook.id AND last_attempt_at IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1
    ) AS latest ON true`);
  return new Map(
    rows.map(({ id, pending, dead, last_at, last_status }) => [
      id,
      {
        pending: Number(pending),
        dead: Number(dead),
        lastDelivery:
          last_at === null || last_status === null ? null : { at: new Date(last_at), status: last_status },
      },
    ]),
  );
};

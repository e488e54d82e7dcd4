import type { IncidentChange } from '@gantry/contract/incidents';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { WebhookKind } from '@gantry/contract/webhooks';
import type { Executor } from '../platform/database/transaction.ts';
import { recordChanges } from './changes-store.ts';

/** A change, other than an event, that is published to subscribers and webhooks. */
export type Notice =
  | { readonly topic: 'sensors'; readonly body: SensorStatusChange }
  | { readonly topic: 'incidents'; readonly body: IncidentChange }
  | { readonly topic: 'watchlist'; readonly body: WatchlistAlert };

const webhookKinds = {
  sensors: 'sensor.statusChanged',
  incidents: 'incident.changed',
  watchlist: 'watchlist.alert',
} as const;

/** Receives everything that is published, in the transaction that causes it, by kind. */
export interface Outbox {
  enqueue(
    tx: Executor,
    occurrences: readonly { readonly kind: WebhookKind; readonly subject: Notice['body'] }[],
  ): Promise<void>;
}

/** Publishes changes to subscribers and webhooks when the transaction that causes them commits. */
export async function publish(
  { outbox }: { readonly outbox: Outbox },
  tx: Executor,
  notices: readonly Notice[],
): Promise<void> {
  if (notices.length === 0) return;
  await recordChanges(tx, notices);
  await outbox.enqueue(
    tx,
    notices.map(({ topic, body }) => ({ kind: webhookKinds[topic], subject: body })),
  );
}

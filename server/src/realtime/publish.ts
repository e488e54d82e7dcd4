import type { IncidentChange } from '@gantry/contract/incidents';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { WebhookKind } from '@gantry/contract/webhooks';
import type { Executor } from '../platform/database/transaction.ts';
import { recordChanges } from './changes-store.ts';

/** Something that happened, other than an event, which subscribers and webhooks are told of. */
export type Notice =
  | { readonly topic: 'sensors'; readonly body: SensorStatusChange }
  | { readonly topic: 'incidents'; readonly body: IncidentChange }
  | { readonly topic: 'watchlist'; readonly body: WatchlistAlert };

const webhookKinds = {
  sensors: 'sensor.statusChanged',
  incidents: 'incident.changed',
  watchlist: 'watchlist.alert',
} as const;

/** Takes what is published, besides the streams: each thing by its kind, in the transaction that causes it. */
export interface Outbox {
  enqueue(
    tx: Executor,
    occurrences: readonly { readonly kind: WebhookKind; readonly subject: Notice['body'] }[],
  ): Promise<void>;
}

/** Tells subscribers and webhooks of what happened, if and when the transaction that causes it commits. */
export async function publish(
  { outbox }: { readonly outbox: Outbox },
  tx: Executor,
  happenings: readonly Notice[],
): Promise<void> {
  if (happenings.length === 0) return;
  await recordChanges(tx, happenings);
  await outbox.enqueue(
    tx,
    happenings.map(({ topic, body }) => ({ kind: webhookKinds[topic], subject: body })),
  );
}

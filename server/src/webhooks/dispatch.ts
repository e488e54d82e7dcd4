import { randomUUID } from 'node:crypto';
import type { Event } from '@gantry/contract/events';
import type { WebhookFilter, WebhookKind } from '@gantry/contract/webhooks';
import { keepLatest } from '../platform/caches.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { insertDeliveries, type NewDelivery } from './deliveries-store.ts';
import { matchesKind, type Occurrence, occurrencesOf } from './matching.ts';

/** The fields of a webhook that dispatching needs. */
export interface ActiveWebhook {
  readonly id: string;
  readonly kinds: readonly WebhookKind[];
  readonly filter: WebhookFilter;
}

/**
 * The webhooks that want each kind of message, as known to this process; changes made by other processes arrive within
 * a second.
 */
export interface WebhookDispatch {
  /** Whether any webhook subscribes to a kind of messages. It only looks into memory. */
  wants(kind: WebhookKind): boolean;
  /** Whether any webhook subscribes to events. It only looks into memory. */
  wantsEvents(): boolean;
  /** Whether any webhook wants this event. */
  wantsEvent(event: Event): boolean;
  /**
   * Creates a delivery for every webhook that wants an occurrence, in the transaction that causes it. Without such a
   * webhook no statement is run.
   */
  enqueue(tx: Executor, occurrences: readonly Occurrence[]): Promise<void>;
  /** Reads the webhooks again, after a change. */
  refresh(): Promise<void>;
}

interface Subscriber {
  readonly id: string;
  readonly matches: (subject: object) => boolean;
}
type Subscribers = ReadonlyMap<WebhookKind, readonly Subscriber[]>;

/** The body that the receiver gets, which never changes. `data` is JSON. */
export function bodyOf(id: string, kind: string, at: Date, data: string): string {
  return `{"id":"${id}","kind":"${kind}","createdAt":"${at.toISOString()}","data":${data}}`;
}

/**
 * @param load reads the enabled webhooks from the database
 * @param now the time in Unix milliseconds
 */
export async function createWebhookDispatch(
  load: () => Promise<readonly ActiveWebhook[]>,
  now: () => number,
): Promise<WebhookDispatch> {
  const subscribers = await keepLatest(async () => subscribersOf(await load()));

  const isWanted = ({ kind, subject }: Occurrence): boolean =>
    subscribers
      .current()
      .get(kind)
      ?.some(({ matches }) => matches(subject)) ?? false;

  return {
    wants: (kind) => subscribers.current().has(kind),
    wantsEvents: () =>
      subscribers.current().has('event.ingested') || subscribers.current().has('event.violation'),
    wantsEvent: (event) => occurrencesOf(event).some(isWanted),
    async enqueue(tx, occurrences) {
      const at = new Date(now());
      const deliveries = occurrences.flatMap((occurrence) =>
        deliveriesOf(occurrence, subscribers.current(), at),
      );
      if (deliveries.length > 0) await insertDeliveries(tx, deliveries);
    },
    refresh: subscribers.refresh,
  };
}

function subscribersOf(webhooks: readonly ActiveWebhook[]): Subscribers {
  const byKind = new Map<WebhookKind, Subscriber[]>();
  for (const { id, kinds, filter } of webhooks) {
    for (const kind of kinds) {
      const subscribers = byKind.get(kind) ?? [];
      byKind.set(kind, subscribers);
      subscribers.push({ id, matches: matchesKind(kind, filter) });
    }
  }
  return byKind;
}

function deliveriesOf({ kind, subject }: Occurrence, subscribers: Subscribers, at: Date): NewDelivery[] {
  const wanting = (subscribers.get(kind) ?? []).filter(({ matches }) => matches(subject));
  if (wanting.length === 0) return [];
  const data = JSON.stringify(subject);
  return wanting.map(({ id: webhookId }) => {
    const id = randomUUID();
    return { id, webhookId, kind, body: bodyOf(id, kind, at, data) };
  });
}

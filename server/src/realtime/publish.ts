import type { CaseChange } from '@gantry/contract/cases';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { WebhookKind } from '@gantry/contract/webhooks';
import type { Pool } from 'pg';
import { channels } from '../platform/database/notify.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { recordChanges } from './changes-store.ts';

/** The pause after an announcement in milliseconds, during which further ones are combined into one. */
const PAUSE_MS = 50;

/**
 * Tells the other processes about additions to the feed of changes that are committed already. It does so outside of the
 * transactions that make them: a transaction with NOTIFY holds a lock of the whole server from before its commit is
 * written until it is on disk, so all others with NOTIFY commit one after another. An announcement that is lost is made
 * up for by the regular reading of the feed.
 */
export class Announcer implements AsyncDisposable {
  readonly #pool: Pool;
  #isDue = false;
  #running: Promise<void> | null = null;
  #isOver = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  announce(): void {
    this.#isDue = true;
    this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      await this.#pool.query(`NOTIFY ${channels.changes}`).catch(() => undefined);
      if (!this.#isOver) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    this.#running = null;
  }
}

/** A change, other than an event, that is published to subscribers and webhooks. */
type Notice =
  | { readonly topic: 'sensors'; readonly body: SensorStatusChange }
  | { readonly topic: 'incidents'; readonly body: IncidentChange }
  | { readonly topic: 'watchlist'; readonly body: WatchlistAlert }
  | { readonly topic: 'cases'; readonly body: CaseChange };

const webhookKinds = {
  sensors: 'sensor.statusChanged',
  incidents: 'incident.changed',
  watchlist: 'watchlist.alert',
  cases: 'case.changed',
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

import type { Logger } from 'pino';
import { type JobRunner, startJobs } from '../platform/database/jobs.ts';
import { channels, type Listener } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { createDeliverer } from '../platform/deliverer.ts';
import type { AttemptResult } from '../platform/outbound.ts';
import {
  type Attempt,
  claimDueDeliveries,
  hasOpenDeliveries,
  listDueWebhooks,
  markDelivered,
  markFailed,
} from './deliveries-store.ts';
import type { SendAttempt } from './send.ts';

/**
 * Maximum number of concurrent attempts of this process for one webhook, so that a slow receiver delays only its own
 * deliveries.
 */
const MAX_PER_HOOK = 4;

const WITHHELD: AttemptResult = {
  status: null,
  answer: null,
  error: 'It is about a hit whose hotlist has become covert',
  isPermanent: true,
};

export interface DelivererOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly send: SendAttempt;
  /** Time limit of an attempt, in milliseconds. */
  readonly limitMs: number;
  /** How much longer than the time limit of an attempt other processes leave its delivery alone, in milliseconds; by default 10 s. */
  readonly leaseMarginMs?: number;
  /** The wait after each failed attempt, in milliseconds; by default about a day in total. */
  readonly backOff?: readonly number[];
}

/** Makes the deliveries that are due; the groups of its jobs are webhooks. */
export function createWebhookDeliverer({ db, send, ...options }: DelivererOptions): JobRunner {
  return createDeliverer<Attempt>({
    ...options,
    send: async (attempt) => (attempt.isWithheld ? WITHHELD : send(attempt)),
    concurrency: MAX_PER_HOOK,
    failure: 'deliveries are delayed until the next sweep',
    claim: (webhookId, most, leaseMs) => claimDueDeliveries(db, webhookId, { most, leaseMs }),
    succeed: (attempt, result) => markDelivered(db, attempt.id, result),
    fail: (attempt, result, wait) => markFailed(db, attempt, result, wait),
  });
}

export interface DeliveringOptions extends DelivererOptions {
  readonly listener: Pick<Listener, 'on'>;
  /** How often to look for deliveries that are due, in milliseconds, which bounds the delay of retries. */
  readonly sweepMs: number;
}

/** Makes deliveries as soon as they are due. Disposing waits for the attempts in progress. */
export function startDelivering({ listener, sweepMs, ...options }: DeliveringOptions): AsyncDisposable {
  const { db, log } = options;
  const runner = createWebhookDeliverer(options);
  return startJobs({
    runner,
    listener,
    channel: channels.deliveries,
    everyMs: sweepMs,
    restMs: 10 * sweepMs,
    log,
    failure: 'due deliveries cannot be looked for now; the next sweep will try again',
    async sweep() {
      const due = await listDueWebhooks(db);
      for (const webhookId of due) runner.wake(webhookId);
      return due.length > 0 || (await hasOpenDeliveries(db));
    },
  });
}

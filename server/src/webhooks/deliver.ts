import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { type Attempt, settleDelivered, settleFailed, takeDueDeliveries } from './attempts-store.ts';
import { waitAfter } from './back-off.ts';
import type { SendAttempt } from './send.ts';

/** Most attempts that this process makes at once for one hook: a slow receiver holds up its own deliveries and no others. */
const MOST_PER_HOOK = 4;
/** Connections of the pool that deliveries use at most, so that others find one. */
const MOST_STATEMENTS = 2;
/** How much longer than the attempt itself its delivery is kept from others, in milliseconds. */
const LEASE_MARGIN_MS = 10_000;

export interface DelivererOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly send: SendAttempt;
  /** Longest that an attempt takes, in milliseconds. */
  readonly limitMs: number;
  /** How long to wait after each failed attempt, in milliseconds; left out: about a day in all. */
  readonly backOff?: readonly number[];
}

/** Makes the deliveries that are due. Disposing waits for the attempts under way and begins no others. */
export interface Deliverer extends AsyncDisposable {
  /** Looks for what is due to a hook; answers before it is delivered. */
  wake(webhookId: string): void;
}

/** What this process does for one hook at the moment. */
interface Activity {
  underWay: number;
  looking: boolean;
  /** Whether something may have become due since it began to look. */
  again: boolean;
}

export const createDeliverer = ({ db, log, send, limitMs, backOff }: DelivererOptions): Deliverer => {
  const activities = new Map<string, Activity>();
  const statement = pLimit(MOST_STATEMENTS);
  const working = new Set<Promise<void>>();
  const leaseMs = limitMs + LEASE_MARGIN_MS;
  let stopped = false;

  /** Does the work, after which there is room for more of the same hook. */
  const track = (webhookId: string, activity: Activity, work: Promise<void>): void => {
    const tracked = work
      .catch((err: unknown) =>
        log.warn({ err, webhookId }, 'deliveries are delayed; the next run will find them'),
      )
      .finally(() => {
        working.delete(tracked);
        if (!activity.looking && activity.underWay === 0) activities.delete(webhookId);
      });
    working.add(tracked);
  };

  const attempt = async (webhookId: string, activity: Activity, taken: Attempt): Promise<void> => {
    try {
      const result = await send(taken);
      const backOffMs = waitAfter(taken.number - taken.byHand, backOff);
      const wait = backOffMs && Math.max(backOffMs, result.retryAfterMs ?? 0);
      await statement(() =>
        result.error === null ? settleDelivered(db, taken.id, result) : settleFailed(db, taken, result, wait),
      );
    } finally {
      activity.underWay--;
      look(webhookId, activity);
    }
  };

  const takeWhatIsDue = async (webhookId: string, activity: Activity): Promise<void> => {
    try {
      do {
        activity.again = false;
        const most = MOST_PER_HOOK - activity.underWay;
        const due = await statement(() => takeDueDeliveries(db, webhookId, { most, leaseMs }));
        for (const taken of due) {
          activity.underWay++;
          track(webhookId, activity, attempt(webhookId, activity, taken));
        }
      } while (activity.again && activity.underWay < MOST_PER_HOOK && !stopped);
    } finally {
      activity.looking = false;
    }
  };

  const look = (webhookId: string, activity: Activity): void => {
    activity.again = true;
    if (stopped || activity.looking || activity.underWay === MOST_PER_HOOK) return;
    activity.looking = true;
    track(webhookId, activity, takeWhatIsDue(webhookId, activity));
  };

  return {
    wake(webhookId) {
      const activity = activities.get(webhookId) ?? { underWay: 0, looking: false, again: false };
      activities.set(webhookId, activity);
      look(webhookId, activity);
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      while (working.size > 0) await Promise.all(working);
    },
  };
};

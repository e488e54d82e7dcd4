import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { delayAfter } from './back-off.ts';
import { createJobRunner, type JobRunner } from './database/jobs.ts';
import type { AttemptResult } from './outbound.ts';

/** Maximum number of pooled connections for recording deliveries, so that some remain for other work. */
const MAX_STATEMENTS = 2;

const LEASE_MARGIN_MS = 10_000;

/** A row that this process is attempting to deliver. */
export interface LeasedAttempt {
  readonly id: string;
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The number of attempts requested by users, which do not count towards the schedule. */
  readonly byHand: number;
}

export interface DelivererOptions<Attempt extends LeasedAttempt> {
  readonly log: Logger;
  /** The log message when rows cannot be claimed or results cannot be recorded. */
  readonly failure: string;
  /** Maximum number of concurrent attempts of this process in one group. */
  readonly concurrency: number;
  /** Claims due rows of a group for `leaseMs` milliseconds. */
  readonly claim: (group: string, most: number, leaseMs: number) => Promise<readonly Attempt[]>;
  /** @param ending aborts when the process is about to end, for what may take longer than that may wait */
  readonly send: (attempt: Attempt, ending: AbortSignal) => Promise<AttemptResult>;
  readonly succeed: (attempt: Attempt, result: AttemptResult) => Promise<void>;
  /** @param waitMs milliseconds until the next attempt; null if there is none */
  readonly fail: (attempt: Attempt, result: AttemptResult, waitMs: number | null) => Promise<void>;
  /** Time limit of an attempt, in milliseconds. */
  readonly limitMs: number;
  /** How much longer than the time limit of an attempt other processes leave its row alone, in milliseconds; by default 10 s. */
  readonly leaseMarginMs?: number | undefined;
  /** The wait after each failed attempt, in milliseconds; by default about a day in total. */
  readonly backOff?: readonly number[] | undefined;
}

/**
 * Delivers the rows of a table that are due, at least once: with a lease, and again after each failure until the
 * waits are used up. Groups of rows do not wait for one another.
 */
export function createDeliverer<Attempt extends LeasedAttempt>({
  log,
  failure,
  concurrency,
  claim,
  send,
  succeed,
  fail,
  limitMs,
  leaseMarginMs = LEASE_MARGIN_MS,
  backOff,
}: DelivererOptions<Attempt>): JobRunner {
  const statement = pLimit(MAX_STATEMENTS);
  const leaseMs = limitMs + leaseMarginMs;

  return createJobRunner<Attempt>({
    concurrency,
    log,
    failure,
    claim: (group, most) => statement(() => claim(group, most, leaseMs)),
    async perform(attempt, ending) {
      const result = await send(attempt, ending);
      // It may have failed because the process ends. Another one makes the next attempt once the lease is over.
      if (ending.aborted && result.error !== null && !result.isPermanent) return;
      const backOffMs = result.isPermanent ? null : delayAfter(attempt.number - attempt.byHand, backOff);
      const wait = backOffMs && Math.max(backOffMs, result.retryAfterMs ?? 0);
      await statement(() => (result.error === null ? succeed(attempt, result) : fail(attempt, result, wait)));
    },
  });
}

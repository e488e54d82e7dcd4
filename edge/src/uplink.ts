import { setTimeout as sleep } from 'node:timers/promises';
import type { Spool } from '@gantry/spool';
import type { Clock } from './clock.ts';
import type { Progress, Range } from './progress.ts';
import type { Kept } from './stamp.ts';
import { NotDelivered, type Refused, type Target } from './target.ts';

/** The maximum number of messages in one request, and their maximum size in bytes. */
const MAX_BATCH = { records: 500, bytes: 2 * 1024 * 1024 };

/** Size of the unsent messages, in bytes, above which they become backlog, and newer messages are sent in turn with them. */
const LAG_BYTES = 256 * 1024;

/** How often to look whether the clock is set, in milliseconds. */
const CLOCK_MS = 1_000;

const INITIAL_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export interface UplinkParts {
  readonly spool: Spool;
  readonly progress: Progress;
  readonly target: Target;
  /** Nothing is sent before this clock is set. */
  readonly clock: Clock;
  /** Returns the message with its true time, as it is sent. */
  readonly corrected: (kept: Kept) => Kept;
  /** Stores messages that the service will never accept. Resolves when they are durable. */
  readonly refuse: (refused: readonly Refused[]) => Promise<void>;
  readonly log: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Sends the messages in the spool until the signal is aborted. */
export interface Uplink {
  /** Whether the last attempt succeeded; null before the first. */
  readonly isUp: boolean | null;
  /** Resolves when the signal is aborted and no request is in progress. */
  readonly ended: Promise<void>;
  /** Resolves with true when everything has been sent, or with false after `ms` milliseconds. */
  drained(ms: number): Promise<boolean>;
}

/**
 * Starts sending. Messages are sent in batches, one after the other. While there is a backlog, batches of it, oldest first,
 * alternate with batches of newer messages, so that neither waits for the other.
 */
export function startUplink(parts: UplinkParts): Uplink {
  const { spool, progress, target, clock, corrected, refuse, log, signal } = parts;
  let isUp: boolean | null = null;
  let pauseMs = INITIAL_PAUSE_MS;
  let most = MAX_BATCH.records;
  let isBacklogNext = true;

  const nextRange = (): Readonly<Range> | null => {
    const [oldest] = progress.ranges;
    const newest = progress.ranges.at(-1);
    if (!oldest || !newest) return null;
    if (spool.end - newest.from > LAG_BYTES) progress.divideAt(spool.end);
    const backlog = progress.ranges[0] ?? oldest;
    const live = progress.ranges.at(-1) ?? newest;
    isBacklogNext = !isBacklogNext;
    const first = isBacklogNext ? backlog : live;
    if (first.from < Math.min(first.to, spool.end)) return first;
    return backlog.from < Math.min(backlog.to, spool.end) ? backlog : null;
  };

  /**
   * Delivers messages. If the request for a single message is refused because of its content, the message counts as refused,
   * because it would block all messages after it.
   * @returns the refused messages
   */
  const deliver = async (messages: readonly Kept[]): Promise<readonly Refused[]> => {
    try {
      return await target(messages, signal);
    } catch (error) {
      const [only] = messages;
      if (!(error instanceof NotDelivered && error.isRefusal && only && messages.length === 1)) throw error;
      return [{ kept: only, reason: error.message }];
    }
  };

  /** Sends the next messages of a range. @returns false if only damaged records were left, so that nothing was sent */
  const send = async (range: Readonly<Range>): Promise<boolean> => {
    const { records, end } = await spool.read(range.from, range.to, { ...MAX_BATCH, records: most });
    if (records.length > 0) {
      const refused = await deliver(
        records.map((record) => corrected(JSON.parse(record.toString()) as Kept)),
      );
      if (refused.length > 0) await refuse(refused);
    }
    try {
      await progress.advance(range, end);
    } catch (error) {
      // On a full disk, this makes room for the progress.
      await spool.removeBefore(progress.sentBefore, true);
      throw error;
    }
    await spool.removeBefore(progress.sentBefore);
    return records.length > 0;
  };

  const fail = async (error: unknown): Promise<void> => {
    if (signal.aborted) return;
    let wait = pauseMs * (0.5 + Math.random());
    if (error instanceof NotDelivered) {
      if (error.isRefusal && most > 1) {
        most = Math.max(1, most >> 2);
        return;
      }
      if (isUp !== false) log(`${error.message}; messages are kept on the disk and sent later`);
      isUp = false;
      wait = Math.max(error.retryAfterMs ?? 0, wait);
    } else log(`the disk cannot be used (${String(error)}); trying again`);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    await sleep(Math.min(wait, MAX_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  };

  const succeed = (): void => {
    if (isUp === false) log('the service can be reached again');
    isUp = true;
    pauseMs = INITIAL_PAUSE_MS;
    most = Math.min(MAX_BATCH.records, most * 2);
  };

  const run = async (): Promise<void> => {
    if (!clock.isSet()) {
      log('the clock of this machine is not set; messages are kept on the disk and sent when it is');
      while (!clock.isSet() && !signal.aborted)
        await sleep(CLOCK_MS, undefined, { signal }).catch(() => undefined);
    }
    while (!signal.aborted) {
      const range = nextRange();
      if (range === null) {
        await spool.appended(signal);
        continue;
      }
      try {
        if (await send(range)) succeed();
      } catch (error) {
        await fail(error);
      }
    }
  };

  const ended = run();
  return {
    get isUp() {
      return isUp;
    },
    ended,
    async drained(ms) {
      const until = performance.now() + ms;
      while (progress.sentBefore < spool.end && performance.now() < until) await sleep(50);
      return progress.sentBefore >= spool.end;
    },
  };
}

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

/**
 * Sends the messages in the spool until the signal is aborted, in batches, one after the other. While there is a backlog,
 * batches of it, oldest first, alternate with batches of newer messages, so that neither waits for the other.
 */
export class Uplink {
  /** Resolves when the signal is aborted and no request is in progress. */
  readonly ended: Promise<void>;
  readonly #parts: UplinkParts;
  #isUp: boolean | null = null;
  #pauseMs = INITIAL_PAUSE_MS;
  #maxRecords = MAX_BATCH.records;
  #isBacklogNext = true;

  constructor(parts: UplinkParts) {
    this.#parts = parts;
    this.ended = this.#run();
  }

  /** Whether the last attempt succeeded; null before the first. */
  get isUp(): boolean | null {
    return this.#isUp;
  }

  /** Resolves with true when everything has been sent, or with false after `ms` milliseconds. */
  async drained(ms: number): Promise<boolean> {
    const { spool, progress } = this.#parts;
    const until = performance.now() + ms;
    while (progress.sentBefore < spool.end && performance.now() < until) await sleep(50);
    return progress.sentBefore >= spool.end;
  }

  async #run(): Promise<void> {
    const { spool, clock, log, signal } = this.#parts;
    if (!clock.isSet()) {
      log('the clock of this machine is not set; messages are kept on the disk and sent when it is');
      while (!clock.isSet() && !signal.aborted)
        await sleep(CLOCK_MS, undefined, { signal }).catch(() => undefined);
    }
    while (!signal.aborted) {
      const range = this.#nextRange();
      if (range === null) {
        await spool.appended(signal);
        continue;
      }
      try {
        if (await this.#send(range)) this.#succeed();
      } catch (error) {
        await this.#fail(error);
      }
    }
  }

  #nextRange(): Readonly<Range> | null {
    const { spool, progress } = this.#parts;
    const [oldest] = progress.ranges;
    const newest = progress.ranges.at(-1);
    if (!oldest || !newest) return null;
    if (spool.end - newest.from > LAG_BYTES) progress.divideAt(spool.end);
    const backlog = progress.ranges[0] ?? oldest;
    const live = progress.ranges.at(-1) ?? newest;
    this.#isBacklogNext = !this.#isBacklogNext;
    const first = this.#isBacklogNext ? backlog : live;
    if (first.from < Math.min(first.to, spool.end)) return first;
    return backlog.from < Math.min(backlog.to, spool.end) ? backlog : null;
  }

  /** Sends the next messages of a range. @returns false if only damaged records were left, so that nothing was sent */
  async #send(range: Readonly<Range>): Promise<boolean> {
    const { spool, progress, corrected, refuse } = this.#parts;
    const { records, end } = await spool.read(range.from, range.to, {
      ...MAX_BATCH,
      records: this.#maxRecords,
    });
    if (records.length > 0) {
      const refused = await this.#deliver(
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
  }

  /**
   * Delivers messages. If the request for a single message is refused because of its content, the message counts as refused,
   * because it would block all messages after it.
   * @returns the refused messages
   */
  async #deliver(messages: readonly Kept[]): Promise<readonly Refused[]> {
    try {
      return await this.#parts.target(messages, this.#parts.signal);
    } catch (error) {
      const [only] = messages;
      if (!(error instanceof NotDelivered && error.isRefusal && only && messages.length === 1)) throw error;
      return [{ kept: only, reason: error.message }];
    }
  }

  #succeed(): void {
    if (this.#isUp === false) this.#parts.log('the service can be reached again');
    this.#isUp = true;
    this.#pauseMs = INITIAL_PAUSE_MS;
    this.#maxRecords = Math.min(MAX_BATCH.records, this.#maxRecords * 2);
  }

  async #fail(error: unknown): Promise<void> {
    const { log, signal } = this.#parts;
    if (signal.aborted) return;
    let wait = this.#pauseMs * (0.5 + Math.random());
    if (error instanceof NotDelivered) {
      if (error.isRefusal && this.#maxRecords > 1) {
        this.#maxRecords = Math.max(1, this.#maxRecords >> 2);
        return;
      }
      if (this.#isUp !== false) log(`${error.message}; messages are kept on the disk and sent later`);
      this.#isUp = false;
      wait = Math.max(error.retryAfterMs ?? 0, wait);
    } else log(`the disk cannot be used (${String(error)}); trying again`);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    await sleep(Math.min(wait, MAX_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
}

import pLimit from 'p-limit';
import { isBadRow } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import { createReportDates } from './date-reports.ts';
import {
  type ClaimedMessage,
  claimMessages,
  extendLeases,
  handBack,
  type MessageResult,
} from './messages-store.ts';
import { createPassages, type ResultWithPassages } from './passages.ts';
import type { PassageKey } from './passages-store.ts';
import { createSequences } from './sequences.ts';
import { createTakeMessage } from './take-message.ts';

/** Converts stored messages to events. Disposing finishes those in progress, and hands back the others. */
export interface Processor extends AsyncDisposable {
  /** Whether it can take another message of the connection now; those that it does not take are left to the sweep. */
  hasRoom(connectionId: string): boolean;
  /** Processes a message that this process has just stored. */
  accept(message: ClaimedMessage): void;
  /** Processes messages that are due, such as those whose lease has ended. */
  sweep(isOver: () => boolean): Promise<void>;
  /** Stores the observations of vehicles that are due. */
  sweepPassages(isOver: () => boolean): Promise<void>;
}

/** Number of messages processed at once. Their events are committed in common groups. */
const MAX_AT_ONCE = 64;

/** Maximum number of messages that wait in memory, and of their characters. */
const MAX_WAITING = 2_000;
const MAX_CHARS = 64_000_000;

/** The share of these limits that one connection may use, so that one that sends too much does not delay the others. */
const MAX_AT_ONCE_OF_ONE = 8;
const MAX_WAITING_OF_ONE = 250;
const MAX_CHARS_OF_ONE = 8_000_000;

const CLAIMED_AT_ONCE = 100;
const CLAIMED_BYTES = 32 * 1024 * 1024;

/** After this many failures a message is not tried again, and is processed only by a replay. */
const MAX_FAILURES = 12;
/** After this many attempts without a result, of which each blocked or ended the process, a message is not tried again. */
const MAX_UNFINISHED = 3;
const INITIAL_RETRY_MS = 2_000;
const MAX_RETRY_MS = 600_000;

export function createProcessor(app: GatewayApp, db: Database): Processor {
  const { log, metrics } = app;
  const passages = createPassages(app, db);
  const dates = createReportDates(app, db);
  const take = createTakeMessage(app, db, { passages, dates });
  const leases = createLeases(app, db);
  const slots = pLimit(MAX_AT_ONCE);
  const shares = createSequences(MAX_AT_ONCE_OF_ONE);
  /** Messages of a connection are read in the order of their arrival. */
  const inLane = createSequences(1);
  const working = new Set<Promise<void>>();
  /** Messages whose turn came when the service was stopping. */
  const notBegun: ClaimedMessage[] = [];
  let waitingChars = 0;
  const waitingOf = new Map<string, { messages: number; chars: number }>();
  let isEnding = false;

  const results = new Groups<ResultWithPassages, void>({
    write: async (items) => {
      await passages.record(items);
      return items.map(() => undefined);
    },
    mayBeOne: isBadRow,
  });

  const failed = (message: ClaimedMessage, err: unknown): MessageResult => {
    const failures = message.failures + 1;
    const isLast = failures >= MAX_FAILURES;
    log.warn({ err, messageId: message.id, failures }, 'a message of a device could not be processed');
    const eventIds: string[] = [];
    return {
      id: message.id,
      claim: message.claim,
      status: 'FAILED',
      reason: isLast
        ? 'The service failed to process it'
        : 'The service failed to process it and tries again',
      eventIds,
      retryMs: isLast ? null : Math.min(MAX_RETRY_MS, INITIAL_RETRY_MS * 2 ** (failures - 1)),
    };
  };

  const givenUp = ({ id, claim }: ClaimedMessage): MessageResult => {
    log.error({ messageId: id }, 'a message of a device blocked or ended the process several times');
    const reason = `The service began to process it ${MAX_UNFINISHED} times and was blocked or ended each time`;
    return { id, claim, status: 'FAILED', reason, eventIds: [], retryMs: null };
  };

  const perform = async (message: ClaimedMessage): Promise<void> => {
    const held: PassageKey[] = [];
    const attempt = async (): Promise<MessageResult> => {
      const finish = await inLane(message.connectionId, () => take(message, held));
      return { id: message.id, claim: message.claim, ...(await finish()), retryMs: null };
    };
    const result =
      message.unfinished >= MAX_UNFINISHED
        ? givenUp(message)
        : await attempt().catch((error: unknown) => failed(message, error));
    leases.release(message);
    // An extension that came after the result would postpone the next attempt.
    await leases.settled();
    await results.add({ ...result, passages: held });
    const format = (await app.connections.byId(message.connectionId))?.format ?? 'deleted';
    metrics.deviceMessages.inc({ format, outcome: result.status });
  };

  const track = (message: ClaimedMessage): Promise<void> => {
    leases.keep(message);
    const unlessEnding = async (): Promise<void> => {
      if (isEnding) notBegun.push(message);
      else await perform(message);
    };
    // Only a message whose turn has come in its connection takes one of the slots.
    const work: Promise<void> = shares(message.connectionId, () => slots(unlessEnding))
      // The message is processed again when its lease has ended.
      .catch((err: unknown) =>
        log.warn({ err, messageId: message.id }, 'the result of a message was not recorded'),
      )
      .finally(() => {
        leases.release(message);
        working.delete(work);
      });
    working.add(work);
    return work;
  };

  const charsOf = ({ parts }: ClaimedMessage): number =>
    parts.reduce((sum, { text, base64 }) => sum + (text?.length ?? 0) + (base64?.length ?? 0), 0);

  return {
    hasRoom(connectionId) {
      const own = waitingOf.get(connectionId);
      if (own && (own.messages >= MAX_WAITING_OF_ONE || own.chars >= MAX_CHARS_OF_ONE)) return false;
      return !isEnding && working.size < MAX_WAITING && waitingChars < MAX_CHARS;
    },

    accept(message) {
      if (isEnding) return;
      const { connectionId } = message;
      const own = waitingOf.get(connectionId) ?? { messages: 0, chars: 0 };
      waitingOf.set(connectionId, own);
      const chars = charsOf(message);
      own.messages++;
      own.chars += chars;
      waitingChars += chars;
      void track(message).finally(() => {
        waitingChars -= chars;
        own.chars -= chars;
        if (--own.messages === 0) waitingOf.delete(connectionId);
      });
    },

    async sweep(isOver) {
      while (!isOver()) {
        const claimed = await claimMessages(db, {
          most: CLAIMED_AT_ONCE,
          mostBytes: CLAIMED_BYTES,
          leaseMs: app.timings.messageLeaseMs,
        });
        if (claimed.length === 0) return;
        await Promise.all(claimed.map(track));
      }
    },

    async sweepPassages(isOver) {
      while (!isOver() && (await passages.sweep(CLAIMED_AT_ONCE)) === CLAIMED_AT_ONCE);
    },

    async [Symbol.asyncDispose]() {
      isEnding = true;
      await Promise.all(working);
      leases[Symbol.dispose]();
      if (notBegun.length > 0) {
        await handBack(db, notBegun).catch((err: unknown) =>
          log.warn({ err, messages: notBegun.length }, 'messages were not handed back'),
        );
      }
      await results[Symbol.asyncDispose]();
      await dates[Symbol.asyncDispose]();
    },
  };
}

/** Extends the leases of the messages that wait or are processed in this process, before they end. */
export interface Leases extends Disposable {
  /** Extends the lease of a message from now on. It must just have been leased. */
  keep(message: ClaimedMessage): void;
  /** Stops extending the lease of a message. An extension may still be in progress. */
  release(message: ClaimedMessage): void;
  /** Resolves when no extension is in progress. */
  settled(): Promise<void>;
}

export function createLeases({ log, timings }: GatewayApp, db: Database): Leases {
  const { messageLeaseMs } = timings;
  /** When each lease was set or last extended, in milliseconds of the monotonic clock. */
  const leasedAt = new Map<ClaimedMessage, number>();
  let extending: Promise<void> = Promise.resolve();
  const extension = setInterval(() => {
    const now = performance.now();
    const due = [...leasedAt].flatMap(([message, at]) => (now - at < messageLeaseMs / 3 ? [] : [message]));
    if (due.length === 0) return;
    for (const message of due) leasedAt.set(message, now);
    extending = extending
      .then(() => extendLeases(db, due, messageLeaseMs))
      .catch((err: unknown) =>
        log.warn({ err, messages: due.length }, 'the leases of messages could not be extended'),
      );
  }, messageLeaseMs / 3);

  return {
    keep: (message) => void leasedAt.set(message, performance.now()),
    release: (message) => void leasedAt.delete(message),
    settled: () => extending,
    [Symbol.dispose]: () => clearInterval(extension),
  };
}

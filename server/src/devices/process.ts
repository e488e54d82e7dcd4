import pLimit from 'p-limit';
import { isBadRow } from '../platform/database/failure.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import { Converter } from './convert.ts';
import { ReportDates } from './date-reports.ts';
import { Leases } from './leases.ts';
import {
  type ClaimedMessage,
  claimMessages,
  handBack,
  hasDueMessages,
  type MessageResult,
  type NewMessage,
} from './messages-store.ts';
import { Passages, type ResultWithPassages } from './passages.ts';
import { hasDuePassages, type PassageKey } from './passages-store.ts';
import { Sequences } from './sequences.ts';

/** Number of messages processed at once. Their events are committed in common groups. */
const MAX_AT_ONCE = 256;

/** Maximum number of messages that wait in memory, and of their characters. */
const MAX_WAITING = 2_000;
const MAX_CHARS = 64_000_000;

/** The share of these limits that one connection may use, so that one that sends too much does not delay the others. */
const MAX_AT_ONCE_OF_ONE = 32;
const MAX_WAITING_OF_ONE = 250;
const MAX_CHARS_OF_ONE = 8_000_000;

/**
 * Maximum number of characters of a message that is read before it is stored. If reading one blocked or ended the process,
 * it would do so again whenever its device repeats it; small messages of known formats take microseconds.
 */
const MAX_CHARS_WITH_EVENT = 16_000;

const CLAIMED_AT_ONCE = 100;
const CLAIMED_BYTES = 32 * 1024 * 1024;

/** How long results are gathered, in milliseconds. Their senders have been answered long before. */
const GATHER_RESULTS_MS = 50;

/** After this many failures a message is not tried again, and is processed only by a replay. */
const MAX_FAILURES = 12;
/** After this many attempts without a result, of which each blocked or ended the process, a message is not tried again. */
const MAX_UNFINISHED = 3;
const INITIAL_RETRY_MS = 2_000;
const MAX_RETRY_MS = 600_000;

/** Converts stored messages to events. Disposing finishes those in progress, and hands back the others. */
export class Processor implements AsyncDisposable {
  readonly #app: GatewayApp;
  readonly #passages: Passages;
  readonly #dates: ReportDates;
  readonly #converter: Converter;
  readonly #leases: Leases;
  readonly #results: Groups<ResultWithPassages, void>;
  readonly #slots = pLimit(MAX_AT_ONCE);
  readonly #shares = new Sequences(MAX_AT_ONCE_OF_ONE);
  /** Messages of a connection are read in the order of their arrival. */
  readonly #inOrder = new Sequences(1);
  readonly #working = new Set<Promise<void>>();
  /** Messages whose turn came when the service was stopping. */
  readonly #notBegun: ClaimedMessage[] = [];
  readonly #waitingOf = new Map<string, { messages: number; chars: number }>();
  #waitingChars = 0;
  #isEnding = false;

  constructor(app: GatewayApp) {
    this.#app = app;
    this.#passages = new Passages(app);
    this.#dates = new ReportDates(app);
    this.#converter = new Converter(app, this.#passages, this.#dates);
    this.#leases = new Leases(app);
    this.#results = new Groups<ResultWithPassages, void>({
      write: async (items) => {
        await this.#passages.record(items);
        return items.map(() => undefined);
      },
      mayBeOne: isBadRow,
      gatherMs: GATHER_RESULTS_MS,
    });
  }

  /** Whether it can take another message of the connection now; those that it does not take are left to the sweep. */
  hasRoom(connectionId: string): boolean {
    const own = this.#waitingOf.get(connectionId);
    if (own && (own.messages >= MAX_WAITING_OF_ONE || own.chars >= MAX_CHARS_OF_ONE)) return false;
    return !this.#isEnding && this.#working.size < MAX_WAITING && this.#waitingChars < MAX_CHARS;
  }

  /**
   * Stores a small message that has just arrived together with its event, if nothing of its connection waits that should
   * be read before it.
   * @returns whether it did so; otherwise nothing was stored
   */
  async storeWithEvent(message: ClaimedMessage, row: NewMessage): Promise<boolean> {
    const isNext =
      !this.#isEnding &&
      this.#app.eventWriter.takesCompanions &&
      !this.#waitingOf.has(message.connectionId) &&
      charsOf(message) <= MAX_CHARS_WITH_EVENT;
    // What cannot be done now is found again, and reported, once the message is stored.
    if (!isNext || !(await this.#converter.storeWithEvent(message, row).catch(() => false))) return false;
    this.#app.messageSignals.emit('changed', message.connectionId);
    return true;
  }

  /** Processes a message that this process has just stored. */
  accept(message: ClaimedMessage): void {
    if (this.#isEnding) return;
    const { connectionId } = message;
    const own = this.#waitingOf.get(connectionId) ?? { messages: 0, chars: 0 };
    this.#waitingOf.set(connectionId, own);
    const chars = charsOf(message);
    own.messages++;
    own.chars += chars;
    this.#waitingChars += chars;
    void this.#track(message).finally(() => {
      this.#waitingChars -= chars;
      own.chars -= chars;
      if (--own.messages === 0) this.#waitingOf.delete(connectionId);
    });
  }

  /**
   * Processes messages that are due, such as those whose lease has ended.
   * @returns whether there are messages that are due, or will be
   */
  async sweep(isOver: () => boolean): Promise<boolean> {
    for (let hasFound = false; !isOver(); hasFound = true) {
      const claimed = await claimMessages(this.#app.gateways, {
        most: CLAIMED_AT_ONCE,
        mostBytes: CLAIMED_BYTES,
        leaseMs: this.#app.timings.messageLeaseMs,
      });
      if (claimed.length === 0) return hasFound || (await hasDueMessages(this.#app.gateways));
      await Promise.all(claimed.map((message) => this.#track(message)));
    }
    return true;
  }

  /** Stores the observations of vehicles that are due. @returns whether there are any that are due, or will be */
  async sweepPassages(isOver: () => boolean): Promise<boolean> {
    let stored = 0;
    do stored = await this.#passages.sweep(CLAIMED_AT_ONCE);
    while (!isOver() && stored === CLAIMED_AT_ONCE);
    return stored > 0 || (await hasDuePassages(this.#app.gateways));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#working);
    this.#leases[Symbol.dispose]();
    if (this.#notBegun.length > 0) {
      await handBack(this.#app.gateways, this.#notBegun).catch((err: unknown) =>
        this.#app.log.warn({ err, messages: this.#notBegun.length }, 'messages were not handed back'),
      );
    }
    await this.#results[Symbol.asyncDispose]();
    await this.#dates[Symbol.asyncDispose]();
  }

  #track(message: ClaimedMessage): Promise<void> {
    this.#leases.keep(message);
    const unlessEnding = async (): Promise<ResultWithPassages | null> => {
      if (!this.#isEnding) return this.#perform(message);
      this.#notBegun.push(message);
      return null;
    };
    // Only a message whose turn has come in its connection takes one of the slots.
    const work: Promise<void> = this.#shares
      .run(message.connectionId, () => this.#slots(unlessEnding))
      .then((result) => (result === null ? undefined : this.#record(message, result)))
      // The message is processed again when its lease has ended.
      .catch((err: unknown) =>
        this.#app.log.warn({ err, messageId: message.id }, 'the result of a message was not recorded'),
      )
      .finally(() => {
        this.#leases.release(message);
        this.#working.delete(work);
      });
    this.#working.add(work);
    return work;
  }

  async #perform(message: ClaimedMessage): Promise<ResultWithPassages> {
    const passages: PassageKey[] = [];
    const result =
      message.unfinished >= MAX_UNFINISHED
        ? this.#givenUp(message)
        : await this.#attempt(message, passages).catch((error: unknown) => this.#failed(message, error));
    return { ...result, passages };
  }

  async #record(message: ClaimedMessage, result: ResultWithPassages): Promise<void> {
    this.#leases.release(message);
    // An extension that came after the result would postpone the next attempt.
    await this.#leases.settled();
    await this.#results.add(result);
    const format = (await this.#app.connections.byId(message.connectionId))?.format ?? 'deleted';
    this.#app.metrics.deviceMessages.inc({ format, outcome: result.status });
  }

  async #attempt(message: ClaimedMessage, held: PassageKey[]): Promise<MessageResult> {
    const { id, claim, connectionId } = message;
    const finish = await this.#inOrder.run(connectionId, () => this.#converter.convert(message, held));
    return { id, claim, ...(await finish()), retryMs: null };
  }

  #failed(message: ClaimedMessage, err: unknown): MessageResult {
    const { id, claim } = message;
    const failures = message.failures + 1;
    const isLast = failures >= MAX_FAILURES;
    this.#app.log.warn({ err, messageId: id, failures }, 'a message of a device could not be processed');
    const reason = `The service failed to process it${isLast ? '' : ' and tries again'}`;
    const retryMs = isLast ? null : Math.min(MAX_RETRY_MS, INITIAL_RETRY_MS * 2 ** (failures - 1));
    return { id, claim, status: 'FAILED', reason, eventIds: [], retryMs };
  }

  #givenUp({ id, claim }: ClaimedMessage): MessageResult {
    this.#app.log.error(
      { messageId: id },
      'a message of a device blocked or ended the process several times',
    );
    const reason = `The service began to process it ${MAX_UNFINISHED} times and was blocked or ended each time`;
    return { id, claim, status: 'FAILED', reason, eventIds: [], retryMs: null };
  }
}

function charsOf({ parts }: ClaimedMessage): number {
  return parts.reduce((sum, { text, base64 }) => sum + (text?.length ?? 0) + (base64?.length ?? 0), 0);
}

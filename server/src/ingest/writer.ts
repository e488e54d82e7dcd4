import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { EventRow, StoredRow } from '../events/event-row.ts';
import type { Partitions } from '../events/partitions.ts';
import { KeptClient } from '../platform/database/client.ts';
import {
  databaseAway,
  isBadRow,
  isMissingPartition,
  isOutage,
  isTransient,
} from '../platform/database/failure.ts';
import { AppError, unavailable } from '../platform/error.ts';
import { GroupLoop, writeOrHalve } from '../platform/groups.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Timings } from '../platform/timings.ts';
import type { Companion } from './insert-statements-store.ts';
import { type EventsToInsert, findContentHashes, type Inserted, insertEvents } from './insert-store.ts';
import { EventQueue, type Waiting, type WriteOutcome } from './queue.ts';

/** After the database became unavailable, events are refused at once for this long before one group tries again. */
const AWAY_MS = 500;
const ATTEMPTS = 3;

/**
 * After an event turned out to be stored already, this many groups with idempotency keys use the statement that
 * allows for it. Devices repeat events all at once after an outage, and a refused statement costs a round trip.
 */
const WARY_GROUPS = 50;

/** A commit that takes longer than this, in milliseconds, is likely to take much longer. */
const SLOW_MS = 250;

export interface EventWriterParts {
  /** A connection for the writer only. */
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly timings: Pick<Timings, 'eventTurnMs' | 'commitMs'>;
  /** Whether an event must be followed up once it is stored. */
  readonly hasEffects: (row: EventRow) => boolean;
  /** Called after each commit of new events. */
  readonly stored: () => void;
  /** Accepts the events of a committed group that must be followed up; resolves when that is done or is postponed. */
  readonly followUp: (rows: readonly StoredRow[]) => Promise<void>;
}

/**
 * Commits events in groups: events that arrive during a commit form the next group. There is no timer, so an idle
 * service commits its first event at once, and a busy one needs one fsync for each group.
 */
export class EventWriter implements AsyncDisposable {
  readonly #client: KeptClient;
  readonly #partitions: Partitions;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #hasEffects: (row: EventRow) => boolean;
  readonly #stored: () => void;
  readonly #followUp: (rows: readonly StoredRow[]) => Promise<void>;
  readonly #turnMs: number;
  readonly #queue = new EventQueue();
  readonly #loop = new GroupLoop(
    () => this.#queue.length > 0,
    () => this.#commitNext(),
  );
  /** While the database is unavailable: when to try again, by the monotonic clock. */
  #awayUntil: number | null = null;
  /** When the commit in progress started, by the monotonic clock; null if there is none. */
  #startedAt: number | null = null;
  /** The number of further groups that are expected to contain stored events. */
  #wary = 0;

  constructor(parts: EventWriterParts) {
    this.#client = new KeptClient(parts.pool, parts.timings.commitMs);
    this.#turnMs = parts.timings.eventTurnMs;
    this.#partitions = parts.partitions;
    this.#metrics = parts.metrics;
    this.#log = parts.log;
    this.#hasEffects = parts.hasEffects;
    this.#stored = parts.stored;
    this.#followUp = parts.followUp;
  }

  /**
   * Stores an event and resolves after its commit.
   * @param until when its commit must have started, by the monotonic clock in milliseconds
   * @param companion what is stored with it, or not at all
   * @throws AppError `unavailable` when the queue is full or the database is unavailable, and the event may be sent
   * again; `badRequest` when the database refuses it
   */
  write(
    row: EventRow,
    until = Number.POSITIVE_INFINITY,
    companion: Companion | null = null,
  ): Promise<WriteOutcome> {
    if (this.#isAway()) return Promise.reject(databaseAway());
    if (this.#partitions.has(row.time)) return this.#enqueue(row, until, companion);
    if (companion !== null) return Promise.resolve('apart');
    // Done before queueing, so that other events do not wait for a partition they do not use.
    return this.#ensurePartition(row.time).then(() => this.#enqueue(row, until, null));
  }

  /**
   * Whether an event is likely to be stored with its companion at once: not while stored events are sent again, or while a
   * commit takes long.
   */
  get takesCompanions(): boolean {
    return this.#wary === 0 && performance.now() - (this.#startedAt ?? performance.now()) < SLOW_MS;
  }

  /** The number of events that wait for a commit that has not started. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Waits until every accepted event is committed or refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    this.#client.release();
  }

  /**
   * While the database is unavailable, one group at a time tries it again; other events are refused without waiting.
   */
  #isAway(): boolean {
    return this.#awayUntil !== null && (this.#loop.isRunning || performance.now() < this.#awayUntil);
  }

  #enqueue(row: EventRow, latest: number, companion: Companion | null): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const until = Math.min(latest, performance.now() + this.#turnMs);
      this.#queue.add({ row, companion, until, resolve, reject });
      this.#loop.wake();
    });
  }

  async #ensurePartition(time: number): Promise<void> {
    try {
      await this.#partitions.ensure(time);
    } catch (error) {
      if (!isOutage(error)) throw error;
      this.#log.error({ err: error }, 'a partition of events could not be created');
      throw unavailable('Events of that month cannot be stored yet: send the event again in a moment', error);
    }
  }

  async #commitNext(): Promise<void> {
    const { events, repeats } = this.#queue.take();
    this.#startedAt = performance.now();
    this.#metrics.queuedEvents.set(this.#queue.length);
    // Events that were stored before, which are settled afterwards.
    const existing = [...repeats];
    if (events.length > 0) {
      await writeOrHalve(events, {
        write: async (group) => void existing.push(...(await this.#commit(group))),
        mayBeOne: isBadRow,
        failed: (group, error) =>
          isBadRow(error) ? this.#refuse(group, error) : this.#sendBack(group, error),
      });
    }
    for (const { companion, resolve } of existing) if (companion) resolve('apart');
    const alone = existing.filter(({ companion }) => companion === null);
    if (alone.length > 0) await this.#compare(alone);
    this.#startedAt = null;
  }

  /**
   * Commits the group and settles its events.
   * @returns the events that were not stored, because they or others are stored already; they are not settled yet
   */
  async #commit(group: readonly Waiting[]): Promise<Waiting[]> {
    const rows = group.map(({ row }) => row);
    const followed = rows.filter(this.#hasEffects);
    const carrying = group.flatMap(({ row, companion }) => (companion ? [[row, companion] as const] : []));
    const { known, apart, at } = await this.#insert({ rows, followed, companions: new Map(carrying) });
    this.#awayUntil = null;
    const isStored = ({ row }: Waiting): boolean => !known.has(row.id) && !apart.has(row);
    const stored = group.filter(isStored);
    if (stored.length > 0) this.#stored();
    this.#metrics.groupSize.observe(group.length);
    this.#acknowledge(stored, new Set(followed), at);
    this.#metrics.events.inc({ outcome: 'stored' }, stored.length);
    return stored.length === group.length ? [] : group.filter((each) => !isStored(each));
  }

  /** A device that reports an event with effects is answered once they are applied. Other events are not delayed. */
  #acknowledge(stored: readonly Waiting[], followed: ReadonlySet<EventRow>, at: Date | null): void {
    for (const { row, resolve } of stored) if (at === null || !followed.has(row)) resolve('stored');
    const later = at === null ? [] : stored.filter(({ row }) => followed.has(row));
    if (at === null || later.length === 0) return;
    const rows = later.map(({ row }) => ({ ...row, createdAt: at, processed: false, archived: false }));
    void this.#followUp(rows).then(() => {
      for (const { resolve } of later) resolve('stored');
    });
  }

  async #insert(group: EventsToInsert): Promise<Inserted> {
    const { rows } = group;
    for (let attempt = 1; ; attempt++) {
      try {
        const isWary = this.#wary > 0 && rows.some(({ contentHash }) => contentHash !== null);
        const inserted = await insertEvents(this.#client, group, isWary);
        if (inserted.known.size > 0 || (inserted.apart.size > 0 && !isWary)) this.#wary = WARY_GROUPS;
        else if (isWary) this.#wary--;
        return inserted;
      } catch (error) {
        const missing = isMissingPartition(error);
        if (attempt === ATTEMPTS || !(missing || isTransient(error))) throw error;
        if (!missing) continue;
        // The partition was dropped by somebody else, or a check failed although no partition is missing.
        this.#partitions.forget();
        for (const { time } of rows) if (!this.#partitions.has(time)) await this.#partitions.ensure(time);
      }
    }
  }

  /** Settles events that are stored already: as duplicates, or as conflicts if their content differs. */
  async #compare(repeated: readonly Waiting[]): Promise<void> {
    try {
      const hashes = await findContentHashes(
        this.#client,
        repeated.map(({ row }) => row.id),
      );
      for (const { row, resolve, reject } of repeated) {
        const stored = hashes.get(row.id);
        if (stored === undefined) {
          reject(unavailable('The event was not stored: send it again in a moment'));
          continue;
        }
        const outcome = stored === row.contentHash ? 'duplicate' : 'conflict';
        this.#metrics.events.inc({ outcome });
        resolve(outcome);
      }
    } catch (error) {
      this.#sendBack(repeated, error);
    }
  }

  /** The database refuses an event that passed validation. Sending it again would not help. */
  #refuse(group: readonly Waiting[], error: unknown): void {
    this.#metrics.events.inc({ outcome: 'refused' }, group.length);
    for (const { row, reject } of group) {
      this.#log.error(
        { err: error, eventId: row.id },
        'the database refused an event that passed validation',
      );
      reject(
        new AppError('badRequest', 'The event contains a value that cannot be stored', { cause: error }),
      );
    }
  }

  /**
   * Refuses the group and, if the database is unavailable, every waiting event, which would only wait for the same
   * result.
   */
  #sendBack(group: readonly Waiting[], error: unknown): void {
    const outage = isOutage(error);
    const affected = outage ? [...group, ...this.#queue.clear()] : group;
    if (outage) {
      this.#awayUntil = performance.now() + AWAY_MS;
      this.#metrics.queuedEvents.set(0);
    }
    this.#log.error({ err: error, events: affected.length }, 'events could not be stored and were refused');
    this.#metrics.events.inc({ outcome: 'refused' }, affected.length);
    for (const { reject } of affected) reject(outage ? databaseAway(error) : error);
  }
}

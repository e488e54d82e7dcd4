import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { EventRow, StoredRow } from '../events/event-row.ts';
import type { Partitions } from '../events/partitions.ts';
import { isBadRow, isMissingPartition, isTransient } from '../platform/database/failure.ts';
import { type KeptClient, keepClient } from '../platform/database/kept-client.ts';
import { databaseAway, isOutage } from '../platform/database/outage.ts';
import { AppError, unavailable } from '../platform/error.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Timings } from '../platform/timings.ts';
import { findContentHashes, type Inserted, insertEvents } from './insert-store.ts';
import { createEventQueue, type Waiting, type WriteOutcome } from './queue.ts';

/** After the database went away, events are refused at once for this long before one group tries it again. */
const AWAY_MS = 500;
const ATTEMPTS = 3;

/**
 * After an event was met that is stored already, this many groups with idempotency keys are stored by the statement that
 * allows for it. Devices repeat themselves after an outage, all at once, and a refused statement costs a round trip.
 */
const WARY_GROUPS = 50;

export interface EventWriterParts {
  /** A connection for the writer alone. */
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly timings: Pick<Timings, 'eventTurnMs' | 'commitMs'>;
  /** Whether an event has to be followed up once it is stored. */
  readonly hasEffects: (row: EventRow) => boolean;
  /** Takes on the events of a committed group that have to be followed up; resolves when that is done, or has to wait. */
  readonly followUp: (rows: readonly StoredRow[]) => Promise<void>;
}

/**
 * Commits events in groups: whatever arrives while a commit is under way forms the next group. There is no timer,
 * so the first event of an idle service commits at once, and a busy one pays for one fsync per group.
 */
export class EventWriter implements AsyncDisposable {
  readonly #client: KeptClient;
  readonly #partitions: Partitions;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #hasEffects: (row: EventRow) => boolean;
  readonly #followUp: (rows: readonly StoredRow[]) => Promise<void>;
  readonly #turnMs: number;
  readonly #queue = createEventQueue();
  #running: Promise<void> | null = null;
  /** While the database is away: when to try it again, by the monotonic clock. */
  #awayUntil: number | null = null;
  /** How many more groups are expected to hold events that are stored already. */
  #wary = 0;

  constructor(parts: EventWriterParts) {
    this.#client = keepClient(parts.pool, parts.timings.commitMs);
    this.#turnMs = parts.timings.eventTurnMs;
    this.#partitions = parts.partitions;
    this.#metrics = parts.metrics;
    this.#log = parts.log;
    this.#hasEffects = parts.hasEffects;
    this.#followUp = parts.followUp;
  }

  /**
   * Stores an event and resolves after its commit.
   * @throws AppError `unavailable` when the queue is full or the database is away, and the event may be sent again;
   * `badRequest` when the database will not have it
   * @param until when its commit must have begun, by the monotonic clock in milliseconds: later nobody hears of it
   */
  write(row: EventRow, until = Number.POSITIVE_INFINITY): Promise<WriteOutcome> {
    if (this.#isAway()) return Promise.reject(databaseAway());
    if (this.#partitions.has(row.time)) return this.#enqueue(row, until);
    // Before it queues, so that others need not wait for a partition they do not use.
    return this.#ensurePartition(row.time).then(() => this.#enqueue(row, until));
  }

  /** How many events wait for a commit that has not begun. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Waits until everything that was accepted is committed or sent back. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
    this.#client.release();
  }

  /** While the database is away one group at a time tries it again; nobody else waits for how that ends. */
  #isAway(): boolean {
    return this.#awayUntil !== null && (this.#running !== null || performance.now() < this.#awayUntil);
  }

  #enqueue(row: EventRow, latest: number): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const until = Math.min(latest, performance.now() + this.#turnMs);
      this.#queue.add({ row, until, resolve, reject });
      this.#running ??= this.#commitGroups();
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

  async #commitGroups(): Promise<void> {
    // Requests that came in the same turn of the loop join the first group.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      const { events, repeats } = this.#queue.take();
      this.#metrics.queuedEvents.set(this.#queue.length);
      const met = events.length > 0 ? await this.#commit(events) : [];
      if (met.length + repeats.length > 0) await this.#compare([...met, ...repeats]);
    }
    this.#running = null;
  }

  /**
   * Commits the group and tells everybody in it. When the database refuses the group for one bad event, the halves
   * are tried, so that this one fails alone.
   * @returns those whose event was stored before, and who were not told yet
   */
  async #commit(group: readonly Waiting[]): Promise<Waiting[]> {
    try {
      const rows = group.map(({ row }) => row);
      const followed = rows.filter(this.#hasEffects);
      const { known, at } = await this.#insert(rows, followed);
      this.#awayUntil = null;
      this.#metrics.groupSize.observe(group.length);
      const met = group.filter(({ row }) => known.has(row.id));
      this.#acknowledge(
        group.filter(({ row }) => !known.has(row.id)),
        new Set(followed),
        at,
      );
      this.#metrics.events.inc({ outcome: 'stored' }, group.length - met.length);
      return met;
    } catch (error) {
      if (!isBadRow(error)) this.#sendBack(group, error);
      else if (group.length === 1) this.#refuse(group, error);
      else {
        const middle = group.length >> 1;
        const first = await this.#commit(group.slice(0, middle));
        return [...first, ...(await this.#commit(group.slice(middle)))];
      }
      return [];
    }
  }

  /** Whoever reported an incident finds it opened once they are answered; nobody else waits for that. */
  #acknowledge(stored: readonly Waiting[], followed: ReadonlySet<EventRow>, at: Date | null): void {
    for (const { row, resolve } of stored) if (at === null || !followed.has(row)) resolve('stored');
    const later = at === null ? [] : stored.filter(({ row }) => followed.has(row));
    if (at === null || later.length === 0) return;
    const rows = later.map(({ row }) => ({ ...row, createdAt: at, processed: false, archived: false }));
    void this.#followUp(rows).then(() => {
      for (const { resolve } of later) resolve('stored');
    });
  }

  async #insert(rows: readonly EventRow[], followed: readonly EventRow[]): Promise<Inserted> {
    for (let attempt = 1; ; attempt++) {
      try {
        const isWary = this.#wary > 0 && rows.some(({ contentHash }) => contentHash !== null);
        const inserted = await insertEvents(this.#client, rows, followed, isWary);
        if (inserted.known.size > 0) this.#wary = WARY_GROUPS;
        else if (isWary) this.#wary--;
        return inserted;
      } catch (error) {
        const missing = isMissingPartition(error);
        if (attempt === ATTEMPTS || !(missing || isTransient(error))) throw error;
        if (!missing) continue;
        // Somebody dropped it behind our back; or a check failed, and a look shows that none is missing.
        this.#partitions.forget();
        for (const { time } of rows) if (!this.#partitions.has(time)) await this.#partitions.ensure(time);
      }
    }
  }

  /** Tells those whose event exists already whether it is the same one. */
  async #compare(repeated: readonly Waiting[]): Promise<void> {
    try {
      const hashes = await findContentHashes(
        this.#client,
        repeated.map(({ row }) => row.id),
      );
      this.#metrics.events.inc({ outcome: 'duplicate' }, repeated.length);
      for (const { row, resolve, reject } of repeated) {
        const stored = hashes.get(row.id);
        if (stored === undefined) reject(unavailable('The event was not stored: send it again in a moment'));
        else resolve(stored === row.contentHash ? 'duplicate' : 'conflict');
      }
    } catch (error) {
      this.#sendBack(repeated, error);
    }
  }

  /** The database will not have this event, though it passed validation: sending it again is of no use. */
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

  /** Sends the group back and, when the database is away, everybody who waits: they would only wait for the same. */
  #sendBack(group: readonly Waiting[], error: unknown): void {
    const outage = isOutage(error);
    const affected = outage ? [...group, ...this.#queue.clear()] : group;
    if (outage) this.#awayUntil = performance.now() + AWAY_MS;
    this.#log.error({ err: error, events: affected.length }, 'events could not be stored and were refused');
    this.#metrics.events.inc({ outcome: 'refused' }, affected.length);
    for (const { reject } of affected) reject(outage ? databaseAway(error) : error);
  }
}

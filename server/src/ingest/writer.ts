import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { isBadRow, isDatabaseAway, isMissingPartition, isTransient } from '../database/failure.ts';
import { unavailable } from '../error.ts';
import type { Partitions } from '../events/partitions.ts';
import type { Metrics } from '../metrics.ts';
import type { EventRow } from './enrich.ts';
import { findContentHashes, insertEvents } from './insert-events.ts';

/** What became of an event: it is durable (`stored`), was so already (`duplicate`), or its key is taken by other content. */
export type WriteOutcome = 'stored' | 'duplicate' | 'conflict';

interface Waiting {
  readonly row: EventRow;
  readonly since: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_GROUP_EVENTS = 1_000;
const MAX_GROUP_CHARS = 8_000_000;
const MAX_QUEUED_EVENTS = 20_000;
const MAX_QUEUED_CHARS = 128_000_000;
/** An event that waited this long for its turn is sent back; with the commit's own limit this stays under 30 s. */
const MAX_WAIT_MS = 10_000;
/** After the database went away, events are refused at once for this long before the next one tries it again. */
const AWAY_MS = 500;
const ATTEMPTS = 3;

/**
 * Commits events in groups: whatever arrives while a commit is under way forms the next group. There is no timer,
 * so the first event of an idle service commits at once, and a busy one pays for one fsync per group.
 */
export class EventWriter implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #partitions: Partitions;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  #queue: Waiting[] = [];
  #queuedChars = 0;
  #running: Promise<void> | null = null;
  #awayUntil = 0;

  constructor(parts: { pool: Pool; partitions: Partitions; metrics: Metrics; log: Logger }) {
    this.#pool = parts.pool;
    this.#partitions = parts.partitions;
    this.#metrics = parts.metrics;
    this.#log = parts.log;
  }

  /**
   * Stores an event and resolves after its commit.
   * @throws AppError `unavailable` when the queue is full or the database is away; the event may be sent again
   */
  write(row: EventRow): Promise<WriteOutcome> {
    const now = Date.now();
    if (now < this.#awayUntil) throw unavailable('The database is away: send the event again in a moment');
    if (
      this.#queue.length >= MAX_QUEUED_EVENTS ||
      (this.#queue.length > 0 && this.#queuedChars + row.json.length > MAX_QUEUED_CHARS)
    ) {
      throw unavailable('More events are arriving than can be stored: send the event again in a moment');
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ row, since: now, resolve, reject });
      this.#queuedChars += row.json.length;
      this.#metrics.queuedEvents.set(this.#queue.length);
      this.#running ??= this.#commitGroups();
    });
  }

  /** Waits until everything that was accepted is committed or sent back. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
  }

  async #commitGroups(): Promise<void> {
    // Requests that came in the same turn of the loop join the first group.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      if (group.length === 0) continue;
      this.#metrics.groupSize.observe(group.length);
      try {
        await this.#commit(group);
      } catch (error) {
        this.#sendBack(group, error);
      }
    }
    this.#running = null;
  }

  #takeGroup(): Waiting[] {
    const oldest = Date.now() - MAX_WAIT_MS;
    const ids = new Set<string>();
    const group: Waiting[] = [];
    let chars = 0;
    let taken = 0;
    for (const waiting of this.#queue) {
      const { row, since, reject } = waiting;
      // Of two attempts at one event the second waits for the outcome of the first.
      if (
        group.length === MAX_GROUP_EVENTS ||
        (group.length > 0 && chars + row.json.length > MAX_GROUP_CHARS)
      )
        break;
      if (ids.has(row.id)) break;
      taken++;
      this.#queuedChars -= row.json.length;
      if (since < oldest) {
        reject(unavailable('The event waited too long for its commit: send it again in a moment'));
        continue;
      }
      ids.add(row.id);
      chars += row.json.length;
      group.push(waiting);
    }
    this.#queue = this.#queue.slice(taken);
    this.#metrics.queuedEvents.set(this.#queue.length);
    return group;
  }

  /** Commits the group; when the database refuses it for one bad event, the halves are tried, so that this one fails alone. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    let created: ReadonlySet<string>;
    try {
      created = await this.#insert(group);
    } catch (error) {
      if (!isBadRow(error)) throw error;
      if (group.length === 1) {
        this.#log.error(
          { err: error, eventId: group[0]?.row.id },
          'the database refused an event that passed validation',
        );
        this.#sendBack(group, error);
        return;
      }
      const middle = group.length >> 1;
      await this.#commit(group.slice(0, middle));
      await this.#commit(group.slice(middle));
      return;
    }
    await this.#acknowledge(group, created);
  }

  async #insert(group: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const rows = group.map(({ row }) => row);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#partitions.ensureFor(rows);
        return await insertEvents(this.#pool, rows);
      } catch (error) {
        const missing = isMissingPartition(error);
        if (attempt === ATTEMPTS || !(missing || isTransient(error))) throw error;
        if (missing) this.#partitions.forget();
      }
    }
  }

  async #acknowledge(group: readonly Waiting[], created: ReadonlySet<string>): Promise<void> {
    const repeated: Waiting[] = [];
    for (const waiting of group) {
      if (waiting.row.contentHash === null || created.has(waiting.row.id)) waiting.resolve('stored');
      else repeated.push(waiting);
    }
    this.#metrics.events.inc({ outcome: 'stored' }, group.length - repeated.length);
    if (repeated.length === 0) return;
    const hashes = await findContentHashes(
      this.#pool,
      repeated.map(({ row }) => row.id),
    );
    this.#metrics.events.inc({ outcome: 'duplicate' }, repeated.length);
    for (const { row, resolve, reject } of repeated) {
      if (!hashes.has(row.id)) reject(unavailable('The event was deleted while it was sent again'));
      else resolve(hashes.get(row.id) === row.contentHash ? 'duplicate' : 'conflict');
    }
  }

  #sendBack(group: readonly Waiting[], error: unknown): void {
    this.#metrics.events.inc({ outcome: 'refused' }, group.length);
    const away = isDatabaseAway(error) || isTransient(error);
    if (away) {
      this.#awayUntil = Date.now() + AWAY_MS;
      this.#log.error({ err: error, events: group.length }, 'the database is away: events are sent back');
    }
    const told = away ? unavailable('The database is away: send the event again in a moment', error) : error;
    for (const { reject } of group) reject(told);
  }
}

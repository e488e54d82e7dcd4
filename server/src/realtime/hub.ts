import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Topic } from '@gantry/contract/realtime';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { unavailable } from '../platform/error.ts';
import { type FeedMoment, type FeedPage, readChanges, readFeedMoment } from './changes-store.ts';
import { type FeedItem, type FindEvents, itemsAfter, type Portion, portionsOf } from './items.ts';
import { type Cursor, compare, type Position } from './position.ts';

/** A page of the feed that is shared by all subscribers behind it. */
export interface SharedPage extends Omit<FeedPage, 'changes'> {
  readonly from: Position;
  readonly portions: readonly Portion[];
}

/** How long a page is kept, in milliseconds: streams that reconnect together request it at about the same time. */
const KEPT_MS = 2_000;

/** Maximum number of pages to keep. The hub adds up to fifty a second. */
const KEPT_PAGES = 200;

/** Maximum number of events, about 8 MB, in all kept pages and in a single one. */
const KEPT_EVENTS = 5_000;

interface Waiting {
  readonly from: Position;
  readonly resolve: (page: SharedPage) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads pages of the feed for several subscribers at once. */
export class SharedPages {
  readonly #pool: Pool;
  readonly #findEvents: FindEvents;
  #kept: SharedPage[] = [];
  #waiting: Waiting[] = [];
  #isReading = false;
  /** When a page was last requested, by the monotonic clock. */
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, findEvents: FindEvents) {
    this.#pool = pool;
    this.#findEvents = findEvents;
  }

  /**
   * A page with the changes after the position. Callers that wait at nearby positions get the same page, and one page
   * is read at a time, from the position of the caller that has waited longest.
   */
  read(from: Position): Promise<SharedPage> {
    this.#askedAt = performance.now();
    const page = this.#kept.findLast((each) => covers(each, from));
    if (page) return Promise.resolve(page);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ from, resolve, reject });
      if (!this.#isReading) void this.#readOn();
    });
  }

  /** Keeps a new page from the position for sharing, if any subscriber was behind recently. */
  share(from: Position, { changes, ...rest }: FeedPage): SharedPage {
    const all = portionsOf(this.#findEvents, changes);
    const portions = someOf(all);
    const last = portions.at(-1);
    const isCut = last !== undefined && portions.length < all.length;
    const page: SharedPage = {
      ...rest,
      ...(isCut && { next: last.end.position, isFull: true, at: last.end.at }),
      from: { ...from, index: 0 },
      portions,
    };
    if (performance.now() - this.#askedAt < KEPT_MS) this.#keep(page);
    return page;
  }

  #keep(page: SharedPage): void {
    this.#kept.push(page);
    setTimeout(() => {
      this.#kept = this.#kept.filter((each) => each !== page);
    }, KEPT_MS).unref();
    let events = this.#kept.reduce((sum, { portions }) => sum + sizeOf(portions), 0);
    while (this.#kept.length > KEPT_PAGES || (events > KEPT_EVENTS && this.#kept.length > 1)) {
      events -= sizeOf(this.#kept.shift()?.portions ?? []);
    }
  }

  async #readOn(): Promise<void> {
    this.#isReading = true;
    for (let oldest = this.#waiting[0]; oldest; oldest = this.#waiting[0]) await this.#readNext(oldest);
    this.#isReading = false;
  }

  async #readNext({ from }: Waiting): Promise<void> {
    try {
      const page = this.share(from, await readChanges(this.#pool, from));
      for (const { resolve } of this.#served(page, from)) resolve(page);
    } catch (error) {
      for (const { reject } of this.#served(null, from)) reject(error);
    }
  }

  /** Removes and returns those that wait at the position, or at one that the page covers. */
  #served(page: SharedPage | null, from: Position): readonly Waiting[] {
    const isServed = (each: Waiting): boolean =>
      compare(each.from, from) === 0 || (page !== null && covers(page, each.from));
    const served = this.#waiting.filter(isServed);
    this.#waiting = this.#waiting.filter((each) => !isServed(each));
    return served;
  }
}

// Changes before the end of a page are final, so the page serves every position within it. It does not serve its end,
// where subscribers need the changes after it.
function covers(page: SharedPage, position: Position): boolean {
  return compare(page.from, position) <= 0 && compare(position, page.next) < 0;
}

function sizeOf(portions: readonly Portion[]): number {
  return portions.reduce((sum, { size }) => sum + size, 0);
}

/** The first portions, as many as stay within the limit of events, but at least one. */
function someOf(portions: readonly Portion[]): readonly Portion[] {
  let events = 0;
  const beyond = portions.findIndex(({ size }, index) => {
    events += size;
    return index > 0 && events > KEPT_EVENTS;
  });
  return beyond === -1 ? portions : portions.slice(0, beyond);
}

/** A receiver of changes. */
interface Subscriber {
  /** The topics that it follows, as returned by `selectTopics`. */
  readonly topics: readonly Topic[];
  /** The position up to which it has received the feed. */
  readonly from: Cursor;
  readonly send: (item: FeedItem) => void;
  /** Ends the stream. */
  readonly end: (reason: Error) => void;
}

/** The error that ends a stream when the service is stopping. Clients then connect again. */
export function drained(): Error {
  return unavailable('The service is stopping: connect again');
}

interface HubOptions {
  readonly pool: Pool;
  readonly findEvents: FindEvents;
  readonly log: Logger;
  /** How often the feed is read without being woken, in milliseconds. */
  readonly readFeedMs: number;
}

/** Pause between two reads of the feed, so that a busy service does not read it after every commit. */
const PAUSE_MS = 20;

/** A position does not count as recent when it has not been updated for the interval of this many reads of the feed. */
const FRESH_READS = 3;

/**
 * Reads the feed of changes once for all subscribers of this process, while there are any. It is woken by NOTIFY, and
 * reads again soon if there are committed changes behind an unfinished transaction.
 */
export class Hub implements AsyncDisposable {
  readonly #options: HubOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #ending = new AbortController();
  #reached: Cursor | null = null;
  /** The end of the feed when it was last read, and when that was by the monotonic clock. */
  #recent: { readonly cursor: Cursor; readonly readAt: number } | null = null;
  /** While a page is being sent: the selections of topics of the subscribers that were there when it was read. */
  #sending: ReadonlySet<readonly Topic[]> | null = null;
  readonly #pages: SharedPages;
  #reading: Promise<FeedMoment> | null = null;
  #running: Promise<void> | null = null;
  #waker: AbortController | null = null;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#pages = new SharedPages(options.pool, options.findEvents);
    // Every stream listens to it.
    setMaxListeners(0, this.#ending.signal);
  }

  /** Aborted when the service is stopping. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * The position up to which subscribers have been sent the feed; null while there are none. Its time is 0 until the
   * feed has been read for them.
   */
  get reached(): Cursor | null {
    return this.#reached;
  }

  /** Called when something may have been added to the feed. */
  readonly wake = (): void => this.#waker?.abort();

  /** The moment at which a new subscriber begins. Subscribers that begin together share one statement. */
  now(): Promise<FeedMoment> {
    this.#reading ??= readFeedMoment(this.#options.pool).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /**
   * A recent end of the feed, for comparison with the position of a resuming subscriber. Usually needs no statement.
   */
  async recent(): Promise<Cursor> {
    const { readFeedMs } = this.#options;
    if (this.#recent && performance.now() - this.#recent.readAt < FRESH_READS * readFeedMs)
      return this.#recent.cursor;
    return (await this.now()).cursor;
  }

  /** The changes after a position, for a subscriber that is behind. Several subscribers share the same page. */
  readPast(from: Position): Promise<SharedPage> {
    return this.#pages.read(from);
  }

  /**
   * Sends the subscriber all changes from its cursor on.
   * @returns a function that ends that; null when the hub is already beyond the cursor or is sending a page: then catch
   * up and try again
   * @throws AppError `unavailable` when the service is stopping
   */
  join(subscriber: Subscriber): (() => void) | null {
    if (this.#ending.signal.aborted) throw drained();
    if (this.#sending && !this.#sending.has(subscriber.topics)) return null;
    if (this.#reached && compare(subscriber.from.position, this.#reached.position) < 0) return null;
    // The time of the cursor is valid for this subscriber only: a new subscriber is not sent changes that were committed
    // before it began.
    this.#reached ??= { position: subscriber.from.position, at: 0 };
    this.#subscribers.add(subscriber);
    this.#running ??= this.#run();
    return () => this.#subscribers.delete(subscriber);
  }

  /** Ends all streams. Their clients reconnect to another process or to the restarted service. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    for (const { end } of this.#subscribers) end(drained());
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#subscribers.size > 0 && !this.#ending.signal.aborted) {
      // Commits from here on shorten the pause of this round.
      this.#waker = new AbortController();
      await this.#pause(await this.#readNext(), this.#waker.signal);
    }
    this.#waker = null;
    this.#reached = null;
    this.#recent = null;
    this.#running = null;
  }

  /** Sends new changes. @returns how long no more are expected, in milliseconds */
  async #readNext(): Promise<number> {
    const { pool, log, readFeedMs } = this.#options;
    if (!this.#reached) return 0;
    const from = this.#reached.position;
    try {
      const page = this.#pages.share(from, await readChanges(pool, from));
      this.#sending = new Set([...this.#subscribers].map(({ topics }) => topics));
      for (const portion of page.portions) await this.#send(portion, this.#sending, from);
      this.#advance({ position: page.next, at: page.at });
      this.#recent = { cursor: { position: page.next, at: page.now }, readAt: performance.now() };
      return page.isFull ? 0 : page.isHeldUp ? PAUSE_MS : readFeedMs;
    } catch (err) {
      log.warn({ err }, 'the feed of changes cannot be read now; subscribers are notified later');
      return readFeedMs;
    } finally {
      this.#sending = null;
    }
  }

  async #send(portion: Portion, selections: ReadonlySet<readonly Topic[]>, from: Position): Promise<void> {
    const items = new Map<readonly Topic[], readonly FeedItem[]>();
    for (const topics of selections) items.set(topics, itemsAfter(await portion.items(topics), from));
    for (const subscriber of this.#subscribers) {
      for (const item of itemsAfter(items.get(subscriber.topics) ?? [], subscriber.from.position))
        subscriber.send(item);
    }
    // If the rest of the page fails, these are not sent again.
    this.#advance(portion.end);
  }

  /**
   * Moves to a position. The time never decreases: every change committed before the earlier value has been sent, and
   * that remains true.
   */
  #advance({ position, at }: Cursor): void {
    this.#reached = { position, at: Math.max(at, this.#reached?.at ?? 0) };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms === 0) return;
    await sleep(PAUSE_MS);
    if (ms > PAUSE_MS) await ignoreErrno(sleep(ms - PAUSE_MS, undefined, { signal }), 'ABORT_ERR');
  }
}

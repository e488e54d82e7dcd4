import { HOUR_MS } from '@gantry/contract/durations';
import type { StreamNote, Topic } from '@gantry/contract/realtime';
import type { SessionContext } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import { invalidToken } from '../accounts/tokens.ts';
import type { Core } from '../platform/context.ts';
import { type AppError, invalidInput } from '../platform/error.ts';
import { type FeedMoment, KEPT_HOURS, readFeedMoment } from './changes-store.ts';
import { type FeedItem, itemsAfter, selectTopics, type TopicPayloads } from './items.ts';
import { type Cursor, compare, readCursor, writeCursor } from './position.ts';
import type { RealtimeServices } from './start.ts';

/** An item, or the number of items that were dropped since the last one because they were not read in time. */
type Delivery =
  | { readonly kind: 'item'; readonly item: FeedItem }
  | { readonly kind: 'missed'; readonly count: number; readonly cursor: Cursor };

/**
 * The items that wait for one subscriber: in order, and bounded by a number of items. If it is full, it drops all items
 * until it has been emptied, so that there is a single gap.
 */
export class Inbox {
  readonly #capacity: number;
  #waiting: FeedItem[] = [];
  #dropped = 0;
  #lastDropped: Cursor | null = null;
  #ended: { readonly reason: Error | null } | null = null;
  #wake: (() => void) | null = null;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  offer(item: FeedItem): void {
    if (this.#ended) return;
    if (this.#lastDropped || this.#waiting.length >= this.#capacity) {
      this.#dropped++;
      this.#lastDropped = item.cursor;
    } else {
      this.#waiting.push(item);
    }
    this.#wake?.();
  }

  /** Ends the inbox and discards its items; with a reason, `take` and `isOpen` throw it from then on. */
  end(reason: Error | null): void {
    this.#ended ??= { reason };
    this.#waiting = [];
    this.#wake?.();
  }

  /**
   * The next delivery; null when there was none in time, or when the inbox was ended.
   * @param ms how long to wait, in milliseconds
   */
  async take(ms: number): Promise<Delivery | null> {
    if (!this.#ended && this.#waiting.length === 0 && !this.#lastDropped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    return this.isOpen() ? this.#next() : null;
  }

  /** Whether it has not been ended. @throws the reason for which it was ended */
  isOpen(): boolean {
    if (this.#ended?.reason) throw this.#ended.reason;
    return this.#ended === null;
  }

  #next(): Delivery | null {
    const item = this.#waiting.shift();
    if (item) return { kind: 'item', item };
    if (!this.#lastDropped) return null;
    const missed = { kind: 'missed', count: this.#dropped, cursor: this.#lastDropped } as const;
    this.#dropped = 0;
    this.#lastDropped = null;
    return missed;
  }
}

/** Maximum number of items that wait for one subscriber that does not read them. */
const INBOX_CAPACITY = 1_000;

/**
 * Maximum delay of a timer, in milliseconds: Node fires a timer with a longer delay at once. No stream lasts that long,
 * and `sessionMonitor` also ends streams of sessions and API tokens that have expired.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The context of a subscription. */
export type FollowContext = SessionContext<Core & AuthServices & RealtimeServices>;

/** A message of a stream: a payload or a note, with the id for resuming. */
export type StreamMessage<Name extends Topic> =
  | { readonly id: string; readonly topic: Name; readonly payload: TopicPayloads[Name] }
  | { readonly id: string; readonly note: StreamNote };

/** The parameters of a subscription. */
interface SubscriptionRequest<Name extends Topic> {
  readonly topics: readonly Name[];
  readonly matches: (payload: TopicPayloads[Name], topic: Name) => boolean;
  /** The id of a message of any stream, whatever its topics: it is a position in the one feed. */
  readonly lastEventId: string | undefined;
}

type Note = { readonly id: string; readonly note: StreamNote };

/** The note for each cursor, shared by all streams that are up to date. */
const upToDateAt = new WeakMap<Cursor, Note>();

/**
 * Streams changes from now on, or from the last message on, in commit order and without gaps: first from the database,
 * then as they come. It ends when the signal is aborted.
 * @throws AppError `tooManyRequests` when too many streams are open; `badRequest` for an invalid lastEventId;
 * `unavailable` when the service is stopping; as `SessionMonitor.monitor` says when the token is no longer valid or its
 * permissions have changed
 */
export async function* follow<Name extends Topic>(
  ctx: FollowContext,
  { topics: wantedTopics, matches, lastEventId }: SubscriptionRequest<Name>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<Name>> {
  const { realtime, timings } = ctx.app;
  const topics = selectTopics(wantedTopics);
  // Nothing counts as past for a subscriber that resumes.
  let isPast: FeedMoment['isPast'] = () => false;
  const wanted = (item: FeedItem): item is FeedItem<Name> =>
    !isPast(item.cursor.position.xid) && matches((item as FeedItem<Name>).payload, item.topic as Name);
  const release = ctx.app.streams.admit(ctx.actor.id);
  const inbox = new Inbox(INBOX_CAPACITY);
  const left = () => inbox.end(null);
  signal?.addEventListener('abort', left, { once: true });
  const stopMonitoring = monitorToken(ctx, (error) => inbox.end(error));
  let quit: (() => void) | null = null;
  try {
    let from = lastEventId === undefined ? null : await resumeFrom(ctx.app, lastEventId);
    let isBehind = from !== null;
    if (!from) {
      const now = await realtime.now();
      from = now.cursor;
      isPast = now.isPast;
      if (lastEventId !== undefined) yield missed(from, null);
    }
    let sentAt = performance.now();
    for (;;) {
      if (!inbox.isOpen()) return;
      const cursor: Cursor = from;
      const send = (item: FeedItem) => wanted(item) && inbox.offer(item);
      const end = (reason: Error) => inbox.end(reason);
      quit = isBehind ? null : realtime.join({ topics, from: cursor, send, end });
      if (quit) break;
      const page = await realtime.readPast(cursor.position);
      for (const portion of page.portions) {
        if (compare(portion.end.position, cursor.position) <= 0) continue;
        for (const item of itemsAfter(await portion.items(topics), cursor.position)) {
          if (!inbox.isOpen()) return;
          if (!wanted(item)) continue;
          yield messageOf(item);
          sentAt = performance.now();
        }
      }
      from = { position: page.next, at: page.at };
      isBehind = page.isFull;
      // There may be many pages without a wanted item, and the client may have to resume from here.
      if (performance.now() - sentAt < timings.streamNoteMs) continue;
      yield upToDate(from);
      sentAt = performance.now();
    }
    yield upToDate(from);
    while (inbox.isOpen()) {
      const delivery = await inbox.take(timings.streamNoteMs);
      if (delivery?.kind === 'item') {
        yield messageOf(delivery.item as FeedItem<Name>);
      } else if (delivery) {
        yield missed(delivery.cursor, delivery.count);
      } else if (inbox.isOpen() && realtime.reached) {
        const { reached } = realtime;
        yield upToDate(reached.at < from.at ? { ...reached, at: from.at } : reached);
      }
    }
  } finally {
    quit?.();
    stopMonitoring();
    release();
    signal?.removeEventListener('abort', left);
  }
}

function messageOf<Name extends Topic>({ topic, payload, cursor }: FeedItem<Name>): StreamMessage<Name> {
  return { id: writeCursor(cursor), topic, payload };
}

function upToDate(cursor: Cursor): Note {
  let message = upToDateAt.get(cursor);
  if (!message) {
    message = { id: writeCursor(cursor), note: { type: 'upToDate', at: new Date(cursor.at) } };
    upToDateAt.set(cursor, message);
  }
  return message;
}

function missed(cursor: Cursor, count: number | null) {
  return {
    id: writeCursor(cursor),
    note: { type: 'missed', count } as const,
  };
}

/** Ends a stream as soon as the token is no longer valid. @returns a function that stops monitoring */
export function monitorToken(
  ctx: SessionContext<Core & AuthServices>,
  endWith: (error: AppError) => void,
): () => void {
  const stopMonitoring = ctx.app.sessionMonitor.monitor(ctx.actor, endWith);
  const untilExpiry = ctx.actor.token.expiresAt.getTime() - ctx.app.clock.now();
  const expiry = setTimeout(() => endWith(invalidToken()), Math.min(Math.max(0, untilExpiry), MAX_TIMER_MS));
  return () => {
    stopMonitoring();
    clearTimeout(expiry);
  };
}

/**
 * The position of the last message; null when the changes after it are no longer stored, or never were on this
 * server.
 */
async function resumeFrom(
  { pool, realtime }: Pick<FollowContext['app'], 'pool' | 'realtime'>,
  lastEventId: string,
): Promise<Cursor | null> {
  const cursor = readCursor(lastEventId);
  if (!cursor)
    throw invalidInput('lastEventId', 'This is not the id of a message: omit it to start a new stream');
  const recent = await realtime.recent();
  if (cursor.at <= recent.at - KEPT_HOURS * HOUR_MS) return null;
  // Another process, or this one for another subscriber, may have read further than the hub.
  const isKnown = cursor.position.xid <= recent.position.xid;
  return isKnown || cursor.position.xid <= (await readFeedMoment(pool)).end ? cursor : null;
}

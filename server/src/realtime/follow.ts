import type { StreamNote, Topic } from '@gantry/contract/realtime';
import type { Pool } from 'pg';
import type { SessionContext } from '../auth/session.ts';
import type { AuthServices } from '../auth/start.ts';
import type { Core } from '../platform/context.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { type Committed, KEPT_HOURS, readHorizon } from './changes-store.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { type FeedItem, itemsAfter, type TopicPayloads } from './items.ts';
import { compare, type Mark, readMark, writeMark } from './position.ts';
import { selectTopics } from './selection.ts';
import type { RealtimeServices } from './start.ts';

/** Nothing is past for a subscriber that resumes. */
const NOTHING: Committed = () => false;

/** Things that wait for one subscriber that does not take them. */
const INBOX_CAPACITY = 1_000;

/** After this long without anything to tell, a subscriber is told that there is nothing. */
const IDLE_MS = 10_000;

/** What a subscription gets. */
export type FollowContext = SessionContext<Core & AuthServices & RealtimeServices>;

/** What a stream tells: a thing or a note, and the id to go on from. */
export type StreamMessage<Name extends Topic> =
  | { readonly id: string; readonly topic: Name; readonly thing: TopicPayloads[Name] }
  | { readonly id: string; readonly note: StreamNote };

/** What somebody wants to be told. */
export interface SubscriptionRequest<Name extends Topic> {
  readonly topics: readonly Name[];
  readonly matches: (thing: TopicPayloads[Name]) => boolean;
  /** The id of a message of any stream, whatever its topics: it is a position in the one feed. */
  readonly lastEventId: string | undefined;
}

type Note = { readonly id: string; readonly note: StreamNote };

/** What was told of each mark, which is one and the same for all streams that are up to date. */
const upToDateAt = new WeakMap<Mark, Note>();

/**
 * Tells what happens from now on, or from the last message on, in the order in which it was committed and without gaps:
 * first from the database, then as it comes. It ends when the signal is aborted.
 * @throws AppError `unauthorized` when the token is not good any more; `unavailable` when the service drains;
 * `badRequest` for a lastEventId that is none
 */
export async function* follow<Name extends Topic>(
  ctx: FollowContext,
  { topics: wantedTopics, matches, lastEventId }: SubscriptionRequest<Name>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<Name>> {
  const { pool, realtime } = ctx.app;
  const topics = selectTopics(wantedTopics);
  let isPast: Committed = NOTHING;
  const wanted = (item: FeedItem): item is FeedItem<Name> =>
    !isPast(item.mark.position.xid) && matches((item as FeedItem<Name>).thing);
  const release = ctx.app.streams.admit(ctx.actor.id);
  const inbox = createInbox(INBOX_CAPACITY);
  const left = () => inbox.end(null);
  signal?.addEventListener('abort', left, { once: true });
  const stopWatching = watchToken(ctx, inbox);
  let quit: (() => void) | null = null;
  try {
    const now = await realtime.start();
    let from = lastEventId === undefined ? null : await resumeFrom(pool, lastEventId, now);
    if (!from) {
      // The position is held back by the oldest unfinished transaction, of whatever database of the server.
      isPast = await realtime.past();
      from = now;
      if (lastEventId !== undefined) yield missed(now, null);
    }
    for (let isBehind = from !== now; ; ) {
      const mark: Mark = from;
      const send = (item: FeedItem) => wanted(item) && inbox.offer(item);
      quit = isBehind ? null : realtime.join({ topics, from: mark, send, end: inbox.end });
      if (quit) break;
      const page = await realtime.readPast(mark.position);
      for (const portion of page.portions) {
        if (compare(portion.end.position, mark.position) <= 0) continue;
        for (const item of itemsAfter(await portion.items(topics), mark.position)) {
          if (!inbox.isOpen()) return;
          if (wanted(item)) yield thingMessage(item);
        }
      }
      from = { position: page.next, at: page.at };
      isBehind = page.isFull;
    }
    yield upToDate(from);
    while (inbox.isOpen()) {
      const delivery = await inbox.take(IDLE_MS);
      if (delivery?.kind === 'item') {
        yield thingMessage(delivery.item as FeedItem<Name>);
      } else if (delivery) {
        yield missed(delivery.mark, delivery.count);
      } else if (inbox.isOpen() && realtime.told) {
        yield upToDate(realtime.told);
      }
    }
  } finally {
    quit?.();
    stopWatching();
    release();
    signal?.removeEventListener('abort', left);
  }
}

function thingMessage<Name extends Topic>({ topic, thing, mark }: FeedItem<Name>): StreamMessage<Name> {
  return { id: writeMark(mark), topic, thing };
}

function upToDate(mark: Mark): Note {
  let told = upToDateAt.get(mark);
  if (!told) {
    told = { id: writeMark(mark), note: { type: 'upToDate', at: new Date(mark.at) } };
    upToDateAt.set(mark, told);
  }
  return told;
}

function missed(mark: Mark, count: number | null) {
  return {
    id: writeMark(mark),
    note: { type: 'missed', count } as const,
  };
}

function expired(): AppError {
  return new AppError('unauthorized', 'Invalid or expired token');
}

/** Ends the inbox as soon as the token is not good any more. @returns stops looking */
function watchToken(ctx: FollowContext, inbox: Inbox): () => void {
  const end = () => inbox.end(expired());
  const stopWatching = ctx.app.sessionWatch.watch(ctx.actor.token, end);
  const untilExpiry = ctx.actor.token.expiresAt.getTime() - ctx.app.clock.now();
  const expiry = setTimeout(end, Math.max(0, untilExpiry));
  return () => {
    stopWatching();
    clearTimeout(expiry);
  };
}

/** Where the last message left off; null when what followed it is not kept any more, or was never here. */
async function resumeFrom(pool: Pool, lastEventId: string, now: Mark): Promise<Mark | null> {
  const mark = readMark(lastEventId);
  if (!mark)
    throw invalidInput('lastEventId', 'This is not the id of a message: omit it to start a new stream');
  if (mark.at <= now.at - KEPT_HOURS * 3_600_000) return null;
  // Another process, or this one for another subscriber, may have read further than the hub.
  const isKnown = mark.position.xid <= now.position.xid;
  return isKnown || mark.position.xid <= (await readHorizon(pool)).position.xid ? mark : null;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceMessage } from '@gantry/contract/connections';
import { isUuid } from '@gantry/contract/id';
import type { StreamNote } from '@gantry/contract/realtime';
import type { SessionContext } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import type { Core } from '../platform/context.ts';
import { type AppError, invalidInput, notFound } from '../platform/error.ts';
import { monitorToken } from '../realtime/follow.ts';
import { drained } from '../realtime/hub.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { ConnectionServices } from './context.ts';
import { endOfMessages, listChangedMessages, type StreamPosition } from './messages-view-store.ts';
import { getConnection } from './store.ts';

type FollowContext = SessionContext<Core & AuthServices & RealtimeServices & ConnectionServices>;

/** A message that arrived or whose status changed, or a note; with the id for resuming. */
type Entry = { readonly id: string } & (
  | { readonly topic: 'message'; readonly payload: DeviceMessage }
  | { readonly note: StreamNote }
);

/** Maximum number of changes that one query reads. */
const PAGE = 100;

/**
 * How often to look for changes without a notification, in milliseconds: a change may have been held back by an earlier
 * transaction (see `listChangedMessages`).
 */
const LOOK_MS = 1_000;

/** After this long without a message, a note is sent, in milliseconds. */
const IDLE_MS = 10_000;

/**
 * Streams the messages of a connection: each when it arrives, and again when its status changes. A subscriber that
 * resumes receives the messages that changed meanwhile in their present state, as far as they are still kept.
 * @throws AppError `notFound`, also once the connection is deleted; `unauthorized` when the token is no longer valid;
 * `unavailable` when the service is stopping; `badRequest` for an invalid lastEventId; `tooManyRequests` when too many
 * streams are open
 */
export async function* followMessages(
  ctx: FollowContext,
  { connectionId, lastEventId }: { readonly connectionId: string; readonly lastEventId: string | undefined },
  signal: AbortSignal | undefined,
): AsyncGenerator<Entry> {
  const { app, actor } = ctx;
  const { id } = await getConnection(app.db, connectionId);
  let from = lastEventId === undefined ? await endOfMessages(app.db) : readPosition(lastEventId);
  const release = app.streams.admit(actor.id);
  let failure: AppError | null = null;
  const ended = new AbortController();
  const stopMonitoring = monitorToken(ctx, (error) => {
    failure = error;
    ended.abort();
  });
  const over = AbortSignal.any([ended.signal, app.realtime.ending, ...(signal ? [signal] : [])]);
  let isAnnounced = false;
  let wake = (): void => undefined;
  const changed = (about: string | null): void => {
    if (about !== null && about !== id) return;
    isAnnounced = true;
    wake();
  };
  app.messageSignals.on('changed', changed);
  try {
    let sentAt = Number.NEGATIVE_INFINITY;
    while (!over.aborted) {
      isAnnounced = false;
      const page = await listChangedMessages(app.db, id, from, PAGE);
      for (const { position, message } of page) {
        if (over.aborted) break;
        from = position;
        yield { id: writePosition(from), topic: 'message', payload: message };
        sentAt = performance.now();
      }
      if (page.length === PAGE || isAnnounced) continue;
      if (!(await app.connections.byId(id))) throw notFound('Connection');
      if (performance.now() - sentAt >= IDLE_MS) {
        yield { id: writePosition(from), note: { type: 'upToDate', at: new Date(app.clock.now()) } };
        sentAt = performance.now();
      }
      const announced = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([announced, sleep(LOOK_MS, undefined, { signal: over }).catch(() => undefined)]);
    }
    if (failure) throw failure;
    if (app.realtime.ending.aborted) throw drained();
  } finally {
    app.messageSignals.off('changed', changed);
    stopMonitoring();
    release();
  }
}

function writePosition({ xid, id }: StreamPosition): string {
  return `${xid}.${id}`;
}

/** @throws AppError `badRequest` */
function readPosition(text: string): StreamPosition {
  const [xid = '', id = ''] = text.split('.');
  if (!/^\d{1,19}$/.test(xid) || !isUuid(id)) {
    throw invalidInput('lastEventId', 'This is not the id of a message: omit it to start a new stream');
  }
  return { xid, id };
}

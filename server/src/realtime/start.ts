import { channels } from '../platform/database/notify.ts';
import type { Foundation } from '../platform/start.ts';
import { createAnnouncer } from './announce.ts';
import { forgetForeignChanges } from './changes-store.ts';
import { Hub } from './hub.ts';
import type { FindEvents } from './items.ts';
import { startPruning } from './prune.ts';
import type { Outbox } from './publish.ts';
import { createStreams, type Streams } from './streams.ts';

/** The services of streams that the application context contains. */
export interface RealtimeServices {
  /** Must be closed before the server, because its streams would delay the server's end. */
  readonly realtime: Hub;
  readonly streams: Streams;
  /** Called after a commit that added to the feed of changes without notifying anybody. */
  readonly feedGrew: () => void;
  /** Receives what is published besides the streams. */
  readonly outbox: Outbox;
}

/** Maximum number of streams in one process; a user has one for each open screen. */
const MOST_STREAMS = { ofOneUser: 50, inAll: 2_000 };

export async function startRealtime(
  { core: { pool, log, timings }, pools, listener, resources }: Foundation,
  { findEvents, outbox }: { readonly findEvents: FindEvents; readonly outbox: Outbox },
): Promise<RealtimeServices> {
  const realtime = new Hub({ pool, findEvents, log, readFeedMs: timings.readFeedMs });
  listener.on(channels.changes, realtime.wake, realtime.wake);
  await forgetForeignChanges(pool);
  resources.use(startPruning({ pool, log }));
  const announcer = resources.use(createAnnouncer(pools.devices));
  const feedGrew = () => {
    realtime.wake();
    announcer.announce();
  };
  return { realtime, streams: createStreams(MOST_STREAMS), feedGrew, outbox };
}

import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { channels } from '../platform/database/notify.ts';
import { AppError } from '../platform/error.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { forgetForeignChanges, KEPT_HOURS, pruneChanges } from './changes-store.ts';
import { Hub } from './hub.ts';
import type { FindEvents } from './items.ts';
import { Announcer, type Outbox } from './publish.ts';

/** The services of streams that the application context contains. */
export interface RealtimeServices {
  /** Must be closed before the server, because its streams would delay the server's end. */
  readonly realtime: Hub;
  readonly streams: Streams;
  /** Called after a commit that added to the feed of changes without notifying anybody. */
  readonly feedGrew: () => void;
  /** Calls back after each growth of the feed of changes that this process hears of, by whichever process. */
  readonly whenFeedGrows: (callback: () => void) => void;
  /** Receives what is published besides the streams. */
  readonly outbox: Outbox;
}

/** Maximum number of streams in one process; a user has one for each open screen. */
const MAX_STREAMS = { ofOneUser: 50, inAll: 2_000 };

export async function startRealtime(
  { core: { pool, log, timings }, pools, listener, resources }: Foundation,
  { findEvents, outbox }: { readonly findEvents: FindEvents; readonly outbox: Outbox },
): Promise<RealtimeServices> {
  const realtime = new Hub({ pool, findEvents, log, readFeedMs: timings.readFeedMs });
  const callbacks: (() => void)[] = [realtime.wake];
  const grew = (): void => {
    for (const each of callbacks) each();
  };
  listener.on(channels.changes, grew, grew);
  await forgetForeignChanges(pool);
  resources.use(startPruning({ pool, log }));
  const announcer = resources.use(new Announcer(pools.devices));
  const feedGrew = () => {
    grew();
    announcer.announce();
  };
  return {
    realtime,
    streams: new Streams(MAX_STREAMS),
    feedGrew,
    whenFeedGrows: (callback) => void callbacks.push(callback),
    outbox,
  };
}

const PRUNE_EVERY_MS = 600_000;

/** Removes expired changes every ten minutes, until it is disposed of. */
function startPruning({ pool, log }: { pool: Pool; log: Logger }): AsyncDisposable {
  return startPeriodic(
    {
      everyMs: PRUNE_EVERY_MS,
      log,
      failure: 'old changes could not be removed now; the next run will try again',
    },
    async (isOver) => {
      await forgetForeignChanges(pool);
      // An hour longer than documented, for clients that reconnect meanwhile.
      while (!isOver() && (await pruneChanges(pool, KEPT_HOURS + 1)) > 0);
    },
  );
}

/** Limits the number of open streams. */
export class Streams {
  readonly #max: { readonly ofOneUser: number; readonly inAll: number };
  readonly #open = new Map<string, number>();
  #all = 0;

  constructor(max: { readonly ofOneUser: number; readonly inAll: number }) {
    this.#max = max;
  }

  /**
   * Counts a new stream of the user.
   * @returns a function to be called once when the stream ends
   * @throws AppError `tooManyRequests` when the limit of the user or of the process is reached
   */
  admit(userId: string): () => void {
    const own = this.#open.get(userId) ?? 0;
    if (own >= this.#max.ofOneUser || this.#all >= this.#max.inAll) {
      throw new AppError('tooManyRequests', 'Too many streams are open: close some that are not needed', {
        retryAfterSeconds: 10,
      });
    }
    this.#open.set(userId, own + 1);
    this.#all++;
    return () => this.#leave(userId);
  }

  #leave(userId: string): void {
    const left = (this.#open.get(userId) ?? 1) - 1;
    if (left > 0) this.#open.set(userId, left);
    else this.#open.delete(userId);
    this.#all--;
  }
}

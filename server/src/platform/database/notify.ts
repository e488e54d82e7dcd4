import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { Logger } from 'pino';
import { TIMINGS, type Timings } from '../timings.ts';
import type { Executor } from './transaction.ts';

/** What processes tell one another, and what the message says. */
export const channels = {
  /** A sensor changed or went (its id), or everything known of sensors did (`*`): forget what ingestion cached. */
  sensors: 'gantry_sensors',
  /** The time zone settings changed. */
  settings: 'gantry_settings',
  /** Something was added to the table of changes. */
  changes: 'gantry_changes',
  /** The watchlist changed: read it anew. */
  watchlist: 'gantry_watchlist',
  /** The webhooks changed: read them anew. */
  webhooks: 'gantry_webhooks',
  /** A webhook (its id) has deliveries that are due. */
  deliveries: 'gantry_deliveries',
  /** A report waits to be made. */
  reports: 'gantry_reports',
} as const;
export type Channel = (typeof channels)[keyof typeof channels];

/** Tells every process, this one included, when the transaction commits. */
export async function notify(db: Executor, channel: Channel, message: string): Promise<void> {
  await db.execute(sql`SELECT pg_notify(${channel}, ${message})`);
}

type Handler = (payload: string) => void;

/** One connection per process that hears what other processes announce with NOTIFY. */
export interface Listener extends AsyncDisposable {
  /** Calls `onMessage` for each message of the channel, and `onGap` whenever messages may have been missed. */
  on(channel: Channel, onMessage: Handler, onGap: () => void): void;
}

const RECONNECT_MS = 500;

/** Longest wait for the orderly end of the connection. */
const END_LIMIT_MS = 1_000;

interface Connection {
  readonly client: pg.Client;
  /** Ends it at once. The orderly end waits for the other side, which a lost connection does not have. */
  readonly destroy: () => void;
}

/**
 * Connects and keeps connected. A connection that does not answer for about ten seconds is replaced. While it is away
 * messages are lost, and every `onGap` is called once it is back.
 */
export async function listen(
  connectionString: string,
  log: Logger,
  { probeListenerMs, listenerAnswerMs }: Pick<Timings, 'probeListenerMs' | 'listenerAnswerMs'> = TIMINGS,
): Promise<Listener> {
  const handlers = new Map<string, { onMessage: Handler; onGap: () => void }>();
  const ending = new AbortController();
  let current: Connection | null = null;
  // One statement after the other, as a connection wants it.
  let asked: Promise<unknown> = Promise.resolve();

  const probeUntilItEnds = (probed: Connection): void => {
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      probed.client
        .query('SELECT 1')
        .catch((err: unknown) => {
          if (current !== probed) return;
          log.warn({ err }, 'the listener connection does not answer: it is replaced');
          probed.destroy();
        })
        .finally(() => {
          isAsking = false;
        });
    }, probeListenerMs);
    timer.unref();
    probed.client.once('end', () => clearInterval(timer));
  };

  const connect = async (): Promise<void> => {
    const connection = createConnection(connectionString, listenerAnswerMs);
    const { client: next, destroy } = connection;
    next.on('notification', ({ channel, payload }) => handlers.get(channel)?.onMessage(payload ?? ''));
    next.on('error', (error) => log.warn({ err: error }, 'listener connection failed'));
    next.on('end', () => {
      if (current !== connection) return;
      current = null;
      gap();
      void reconnect();
    });
    try {
      await next.connect();
      for (const channel of handlers.keys()) await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      destroy();
      throw error;
    }
    // Disposed of meanwhile: nobody else would end this connection.
    if (ending.signal.aborted) return endConnection(connection);
    current = connection;
    probeUntilItEnds(connection);
    gap();
  };

  const gap = (): void => {
    for (const { onGap } of handlers.values()) onGap();
  };

  const reconnect = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await sleep(RECONNECT_MS, undefined, { signal: ending.signal });
        await connect();
        return;
      } catch (error) {
        if (!ending.signal.aborted) log.warn({ err: error }, 'listener cannot reconnect yet');
      }
    }
  };

  await connect();
  return {
    on(channel, onMessage, onGap) {
      handlers.set(channel, { onMessage, onGap });
      asked = asked
        .then(() => current?.client.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
        // What was announced until now went unheard, so it begins with a gap.
        .then(onGap)
        .catch((err: unknown) => log.warn({ err, channel }, 'cannot listen'));
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      const last = current;
      current = null;
      if (last) await endConnection(last);
    },
  };
}

function createConnection(connectionString: string, answerMs: number): Connection {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString,
    stream: () => socket,
    keepAlive: true,
    application_name: 'gantry listener',
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  return { client, destroy: () => socket.destroy() };
}

async function endConnection({ client, destroy }: Connection): Promise<void> {
  const timer = setTimeout(destroy, END_LIMIT_MS);
  await client.end();
  clearTimeout(timer);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { Logger } from 'pino';
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
} as const;
export type Channel = (typeof channels)[keyof typeof channels];

/** Tells every process, this one included, when the transaction commits. */
export const announce = async (db: Executor, channel: Channel, message: string): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${channel}, ${message})`);
};

type Handler = (payload: string) => void;

/** One connection per process that hears what other processes announce with NOTIFY. */
export interface Listener extends AsyncDisposable {
  /** Calls `onMessage` for each message of the channel, and `onGap` whenever messages may have been missed. */
  on(channel: Channel, onMessage: Handler, onGap: () => void): void;
}

const RECONNECT_MS = 500;

/** Connects and keeps connected; while the connection is away messages are lost, and every `onGap` is called once it is back. */
export const listen = async (connectionString: string, log: Logger): Promise<Listener> => {
  const handlers = new Map<string, { onMessage: Handler; onGap: () => void }>();
  const ending = new AbortController();
  let client: pg.Client | null = null;
  // One statement after the other, as a connection wants it.
  let asked: Promise<unknown> = Promise.resolve();

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ connectionString, keepAlive: true, application_name: 'gantry listener' });
    next.on('notification', ({ channel, payload }) => handlers.get(channel)?.onMessage(payload ?? ''));
    next.on('error', (error) => log.warn({ err: error }, 'listener connection failed'));
    next.on('end', () => {
      if (client !== next) return;
      client = null;
      gap();
      void reconnect();
    });
    await next.connect();
    for (const channel of handlers.keys()) await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    // Disposed of meanwhile: nobody else would end this connection.
    if (ending.signal.aborted) return next.end();
    client = next;
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
        .then(() => client?.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
        // What was announced until now went unheard, so it begins with a gap.
        .then(onGap)
        .catch((err: unknown) => log.warn({ err, channel }, 'cannot listen'));
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      const last = client;
      client = null;
      await last?.end();
    },
  };
};

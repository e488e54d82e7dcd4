import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { Logger } from 'pino';
import { TIMINGS, type Timings } from '../timings.ts';
import { Client, clientSettings } from './address.ts';
import { UNLIMITED_IDLENESS } from './pool.ts';
import type { Executor } from './transaction.ts';

/** The channels of messages between processes, with their contents. */
export const channels = {
  /**
   * A sensor was changed or deleted (its id), or all sensors may have changed (`*`): discard what ingestion has
   * cached.
   */
  sensors: 'gantry_sensors',
  /** The time zone settings changed. */
  settings: 'gantry_settings',
  /** A row was added to the table of changes. */
  changes: 'gantry_changes',
  /** The watchlist changed: read it again. */
  watchlist: 'gantry_watchlist',
  /** Hotlists or their entries changed: read what is new. */
  hotlists: 'gantry_hotlists',
  /** An import or a look-back of a hotlist is due. */
  hotlistJobs: 'gantry_hotlist_jobs',
  /** Rules of alarms, silences or groups changed: there may be something to evaluate. */
  alarms: 'gantry_alarms',
  /** Planned works were approved or changed: there may be something to do soon. */
  works: 'gantry_works',
  /** An event was confirmed, or arrived, for which a rule wants a case. */
  cases: 'gantry_cases',
  /** An evidence package is due. */
  packages: 'gantry_packages',
  /** The rules of cases changed: read them again. */
  caseRules: 'gantry_case_rules',
  /** The webhooks changed: read them again. */
  webhooks: 'gantry_webhooks',
  /** A webhook (its id) has deliveries that are due. */
  deliveries: 'gantry_deliveries',
  /** A channel (its id) has notices that are due. */
  notices: 'gantry_notices',
  /** The connections of devices changed: read them again. */
  connections: 'gantry_connections',
  /** A connection (its id) has messages to process, or a message of it changed. */
  messages: 'gantry_messages',
  /** A report was requested. */
  reports: 'gantry_reports',
  /** A report is to be sent: by e-mail or into a folder, as the message says. */
  reportDispatches: 'gantry_report_dispatches',
} as const;
export type Channel = (typeof channels)[keyof typeof channels];

/** Sends a message to all processes, including this one, when the transaction commits. */
export async function notify(db: Executor, channel: Channel, message: string): Promise<void> {
  await db.execute(sql`SELECT pg_notify(${channel}, ${message})`);
}

type Handler = (payload: string) => void;

/** One connection per process that receives the NOTIFY messages of other processes. */
export interface Listener extends AsyncDisposable {
  /** Calls `onMessage` for each message of the channel, and `onGap` when messages may have been missed. */
  on(channel: Channel, onMessage: Handler, onGap: () => void): void;
}

const RECONNECT_MS = 500;

/** Maximum wait for the connection to be closed in an orderly way. */
const END_LIMIT_MS = 1_000;

interface Connection {
  readonly client: pg.Client;
  /** Closes it at once. An orderly close waits for the other side, which is gone if the connection is lost. */
  readonly destroy: () => void;
}

/**
 * Connects and stays connected. A connection that does not answer for about ten seconds is replaced. Messages sent
 * meanwhile are lost, and every `onGap` is called once it is back.
 */
export async function listen(
  connectionString: string,
  log: Logger,
  { probeListenerMs, listenerAnswerMs }: Pick<Timings, 'probeListenerMs' | 'listenerAnswerMs'> = TIMINGS,
): Promise<Listener> {
  const handlers = new Map<string, { onMessage: Handler; onGap: () => void }>();
  const ending = new AbortController();
  let current: Connection | null = null;
  // Statements run one after another, as the connection requires.
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
    // Disposed of meanwhile, so nothing else would close this connection.
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
        // Earlier messages were missed, so it begins with a gap.
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
  const client = new Client(
    clientSettings(connectionString, {
      stream: () => socket,
      keepAlive: true,
      application_name: 'gantry listener',
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
      options: UNLIMITED_IDLENESS,
    }),
  );
  return { client, destroy: () => socket.destroy() };
}

async function endConnection({ client, destroy }: Connection): Promise<void> {
  const timer = setTimeout(destroy, END_LIMIT_MS);
  await client.end();
  clearTimeout(timer);
}

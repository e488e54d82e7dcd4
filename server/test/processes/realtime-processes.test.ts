import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually, untilBegun } from '../harness.ts';
import { openStream, type Stream } from '../sse.ts';
import { lengthOf } from '../test-length.ts';
import { type ServiceProcess, spawnService, untilItServes } from './service-process.ts';

// Two services in processes of their own, on one database: one ingests events, and subscribers use the other, whose
// connections are cut repeatedly.

const LOAD_SECONDS = lengthOf({ gate: 2.5, full: 12 });
/** More than this number of events are sent, even if that takes a slow machine longer than LOAD_SECONDS. */
const MIN_EVENTS = 1_000;
const SUBSCRIBERS = 4;
/** How often the connection of each subscriber is cut under load, at least. */
const MIN_CUTS = 2;

const scratch = mkdtempSync(join(tmpdir(), 'gantry-realtime-'));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
const settings = () => ({ DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') });
let sending: ServiceProcess;
let telling: ServiceProcess;
let token = '';

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 4, () => undefined);
  sending = await untilItServes(spawnService(scratch, settings()));
  telling = await untilItServes(spawnService(scratch, settings()));
  token = await sending.tokenFor('ADMIN');
});

afterAll(async () => {
  await Promise.all([sending.stop(), telling.stop()]);
  await pool.end();
  await database.drop();
  await rm(scratch, { recursive: true, force: true });
});

const registerSensor = async (): Promise<string> =>
  (await sending.ok('sensors.create', { name: 'Mast 7', deviceId: randomUUID(), type: 'RADAR' }, { token }))
    .apiKey;

/** Sends events one by one and in batches, from several clients, and keeps the ids of acknowledged ones. */
const sendFor = async (apiKeys: readonly string[], seconds: number): Promise<ReadonlySet<string>> => {
  const acknowledged = new Set<string>();
  const until = Date.now() + seconds * 1000;
  const sendOn = async (apiKey: string): Promise<void> => {
    for (let n = 0; Date.now() < until || acknowledged.size <= MIN_EVENTS; n++) {
      if (n % 3 === 0) {
        const events = Array.from({ length: 30 }, () => ({ eventType: 'VEHICLE_DETECTION' }));
        const { results } = await sending.ok('events.ingestBatch', { apiKey, events });
        for (const { eventId } of results) acknowledged.add(eventId);
      } else {
        acknowledged.add(
          (await sending.ok('events.ingest', { apiKey, eventType: 'SPEED_DETECTION' })).eventId,
        );
      }
      await sleep(2);
    }
  };
  await Promise.all(apiKeys.map(sendOn));
  return acknowledged;
};

/** Transactions that begin early and commit late, so that commits become visible out of order. */
const dawdleFor = async (seconds: number): Promise<void> => {
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_current_xact_id()');
    await sleep(40 + Math.random() * 150);
    await client.query(Math.random() < 0.5 ? 'COMMIT' : 'ROLLBACK');
    client.release();
  }
};

/** A client that reconnects with the id of the last message, as EventSource does, and keeps what it received. */
class Follower {
  readonly received: string[] = [];
  readonly missed: (number | null)[] = [];
  cuts = 0;
  #stream: Stream | null = null;
  #lastEventId: string | undefined;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor() {
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return (this.#stream?.messages.length ?? 0) > 0;
  }

  cut(): void {
    this.cuts++;
    this.#stream?.close();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stream?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const options = { token, ...(this.#lastEventId !== undefined && { lastEventId: this.#lastEventId }) };
      const stream = await openStream(telling.url, 'events.onIngested', options).catch(() => null);
      this.#stream = stream;
      // The follower was stopped while the stream was being opened.
      if (this.#stopped) stream?.close();
      await stream?.ended;
      for (const { id, data } of stream?.messages ?? []) {
        this.#lastEventId = id;
        if (data.type === 'event') this.received.push(data.event.id);
        if (data.type === 'missed') this.missed.push(data.count);
      }
      await sleep(30);
    }
  }

  /** The received ids, including those on the open connection. */
  get all(): string[] {
    const open =
      this.#stream?.messages.flatMap(({ data }) => (data.type === 'event' ? [data.event.id] : [])) ?? [];
    return [...this.received, ...open];
  }
}

const firsts = (ids: readonly string[]): string[] => [...new Set(ids)];

describe('subscribers of one process, while events are ingested through another', () => {
  it('receive every committed event, in commit order, though connections are cut', async () => {
    const apiKeys = await Promise.all(Array.from({ length: 6 }, registerSensor));
    const followers = Array.from({ length: SUBSCRIBERS }, () => new Follower());
    await eventually(
      async () => followers.every(({ isConnected }) => isConnected),
      (are) => are,
    );

    const cutOften = async (): Promise<void> => {
      const until = Date.now() + LOAD_SECONDS * 1000;
      for (let n = 0; Date.now() < until || n < MIN_CUTS * SUBSCRIBERS; n++) {
        await sleep(100 + Math.random() * 350);
        followers[n % SUBSCRIBERS]?.cut();
        if (Math.random() < 0.4) {
          await pool.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'gantry listener'`,
          );
        }
      }
    };
    const [acknowledged] = await Promise.all([
      sendFor(apiKeys, LOAD_SECONDS),
      dawdleFor(LOAD_SECONDS),
      cutOften(),
    ]);
    expect(acknowledged.size).toBeGreaterThan(MIN_EVENTS);

    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM (SELECT xid, seq, unnest(event_ids) AS id FROM changes WHERE topic = 'events') AS committed
       ORDER BY xid, seq`,
    );
    expect(new Set(rows.map(({ id }) => id))).toEqual(acknowledged);
    for (const follower of followers) {
      follower.cut();
      await eventually(
        async () => firsts(follower.all).length,
        (length) => length >= acknowledged.size,
        30_000,
      );
      await follower.stop();
      expect(follower.cuts).toBeGreaterThan(MIN_CUTS);
      expect(follower.missed).toEqual([]);
      expect(new Set(follower.received)).toEqual(acknowledged);
    }
    // The order of commits is the same for all subscribers. Within one commit, it is the order of the group.
    const [first, ...others] = followers.map(({ received }) => firsts(received));
    for (const other of others) expect(other).toEqual(first);
  });

  it('continue after that process was killed and another took its place', async () => {
    const apiKey = await registerSensor();
    const stream = await openStream(telling.url, 'events.onIngested', { token });
    await untilBegun(stream);
    telling.process.kill('SIGKILL');
    await stream.ended;
    const ids = [];
    for (let n = 0; n < 20; n++) {
      ids.push((await sending.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).eventId);
    }
    telling = await untilItServes(spawnService(scratch, settings()));
    const lastEventId = stream.messages.at(-1)?.id ?? '';
    const resumed = await openStream(telling.url, 'events.onIngested', { token, lastEventId });
    const received = () =>
      resumed.messages.flatMap(({ data }) => (data.type === 'event' ? [data.event.id] : []));
    await eventually(
      async () => received().length,
      (length) => length >= ids.length,
    );
    resumed.close();
    expect(received()).toEqual(ids);
  });
});

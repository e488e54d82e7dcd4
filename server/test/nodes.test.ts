import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventRow, StoredRow } from '../src/events/event-row.ts';
import { createPartitions } from '../src/events/partitions.ts';
import { FollowUp } from '../src/ingest/follow-up.ts';
import { EventWriter } from '../src/ingest/writer.ts';
import {
  isBadRow,
  isDatabaseAway,
  isMissingPartition,
  isUniqueViolation,
  sqlState,
} from '../src/platform/database/failure.ts';
import { repeatRead } from '../src/platform/database/nodes.ts';
import { createPool } from '../src/platform/database/pool.ts';
import { startGantryOn } from './citus/gantry-on-cluster.ts';
import { PretendedCluster } from './citus-stand-in.ts';
import { eventually, type Gantry, startGantry, untilBegun } from './harness.ts';
import { openStream } from './sse.ts';

// What a cluster does differently, as far as it can be shown on one server. The rest is in `npm run test:citus`.

/** An error as the coordinator reports it when a node refuses a COPY: without the code of the node's error. */
const copyError = (message: string, routine = 'ReportCopyError', code = 'XX000'): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code, routine });

describe('an error that a node reports about rows', () => {
  it.each([
    ['duplicate key value violates unique constraint "events_2026_11_pkey_102043"', '23505'],
    ['no partition of relation "events_102008" found for row', '23514'],
    ['new row for relation "events_2026_11_102043" violates check constraint "no_poison"', '23514'],
    ['new row for relation "events_2026_11_102043" violates partition constraint', '23514'],
    [
      'null value in column "event_type" of relation "events_2026_11_102043" violates not-null constraint',
      '23514',
    ],
  ])('has the state of its message: %s', (message, state) => {
    const error = copyError(message);
    expect(sqlState(error)).toBe(state);
    expect(sqlState(new Error('Failed query', { cause: error }))).toBe(state);
    expect([isUniqueViolation(error), isMissingPartition(error)]).toEqual([
      state === '23505',
      state === '23514',
    ]);
    expect(isBadRow(error)).toBe(true);
  });

  it.each([
    ['could not extend file "base/16384/16411": No space left on device'],
    ['canceling statement due to statement timeout'],
    ['terminating connection due to administrator command'],
    ['a device wrote: duplicate key value violates unique constraint "events_pkey"'],
  ])('has no state for any other message, and does not count as an error of the row: %s', (message) => {
    expect(sqlState(copyError(message))).toBe('XX000');
    expect(isBadRow(copyError(message))).toBe(false);
  });

  it('is recognized from that routine only, and only without a code of its own', () => {
    const message = 'duplicate key value violates unique constraint "events_pkey"';
    expect(sqlState(copyError(message, 'elog_finish'))).toBe('XX000');
    const lost = copyError('failed to complete COPY on worker-1:5432', 'ReportCopyError', '58030');
    expect(sqlState(lost)).toBe('58030');
    expect(isDatabaseAway(lost)).toBe(true);
  });
});

/** A pool whose connections report errors about events as a coordinator does. */
const losingCodes = (url: string): pg.Pool => {
  const pool = createPool(url, 1, () => undefined);
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const known = new WeakSet<pg.PoolClient>();
  const connectLosing = async (): Promise<pg.PoolClient> => {
    const client = await connect();
    if (known.has(client)) return client;
    known.add(client);
    const query = client.query.bind(client) as (config: pg.QueryConfig) => Promise<pg.QueryResult>;
    const queryLosing = (config: pg.QueryConfig): Promise<pg.QueryResult> =>
      query(config).catch((error: unknown) => {
        const isOfEvents = error instanceof pg.DatabaseError && /"events(_\d|")/.test(error.message);
        throw isOfEvents ? copyError(error.message) : error;
      });
    return Object.assign(client, { query: queryLosing });
  };
  return Object.assign(pool, { connect: connectLosing });
};

describe('on a cluster, which loses the codes of errors', () => {
  let gantry: Gantry;
  let pool: pg.Pool;
  let writer: EventWriter;
  beforeAll(async () => {
    gantry = await startGantry();
    const { metrics, timings, clock } = gantry.app.context;
    const url = gantry.pool.options.connectionString ?? '';
    pool = losingCodes(url);
    writer = new EventWriter({
      pool,
      partitions: createPartitions(gantry.pool, clock.now),
      metrics,
      timings,
      log: pino({ level: 'silent' }),
      hasEffects: () => false,
      stored: () => undefined,
      followUp: async () => undefined,
    });
  });
  afterAll(async () => {
    await writer[Symbol.asyncDispose]();
    await pool.end();
    await gantry.stop();
  });

  const eventWith = (fields: Partial<EventRow> = {}): EventRow => {
    const time = Date.now();
    const id = `${time.toString(16).padStart(12, '0')}7${randomUUID().replaceAll('-', '').slice(13)}`;
    return {
      id: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      time,
      eventType: 'VEHICLE_DETECTION',
      violationType: null,
      vehicleType: null,
      severity: null,
      sensorId: randomUUID(),
      sensorName: 'Mast 7',
      locationId: null,
      locationName: null,
      plate: null,
      plateKey: null,
      vehicleSpeed: null,
      description: null,
      locationJson: null,
      metadataJson: null,
      imagesJson: null,
      tagsJson: null,
      passage: null,
      contentHash: null,
      ...fields,
    };
  };

  it('a repeated event is answered as one, and others of its group are stored', async () => {
    const repeated = eventWith({ contentHash: randomUUID() });
    expect(await writer.write(repeated)).toBe('stored');
    const others = Array.from({ length: 20 }, () => eventWith());
    const conflicting = { ...repeated, contentHash: randomUUID() };
    expect(await Promise.all([repeated, conflicting, ...others].map((row) => writer.write(row)))).toEqual([
      'duplicate',
      'conflict',
      ...others.map(() => 'stored'),
    ]);
  });

  it('only the invalid event is refused, and the database does not count as unavailable', async () => {
    await gantry.pool.query(`ALTER TABLE events ADD CONSTRAINT no_poison CHECK (vehicle_type <> 'POISON')`);
    const rows = [eventWith(), eventWith({ vehicleType: 'POISON' }), eventWith()];
    const results = await Promise.allSettled(rows.map((row) => writer.write(row)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { kind: 'badRequest' } });
    expect(await writer.write(eventWith())).toBe('stored');
    await gantry.pool.query('ALTER TABLE events DROP CONSTRAINT no_poison');
  });

  it('a dropped partition is created again', async () => {
    const { rows } = await gantry.pool.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`,
    );
    for (const { name } of rows) await gantry.pool.query(`DROP TABLE ${name}`);
    expect(await writer.write(eventWith())).toBe('stored');
  });
});

describe('rows that were announced but are not visible on a node yet', () => {
  /**
   * A cluster that answers each query of the unfinished commits with the next list, and each read with the next rows.
   */
  const clusterWith = (unfinished: string[][], reads: string[][]) => {
    const asked = { commits: 0, reads: 0 };
    const read = async () => reads[Math.min(asked.reads++, reads.length - 1)] ?? [];
    const list = async () => new Set(unfinished[Math.min(asked.commits++, unfinished.length - 1)] ?? []);
    return { asked, find: () => repeatRead(read, (found) => found.length === 2, list) };
  };

  it('are read again until they are there', async () => {
    const { find, asked } = clusterWith([['c1', 'c2']], [['a'], ['a'], ['a', 'b'], []]);
    expect(await find()).toEqual(['a', 'b']);
    expect(asked.reads).toBe(3);
  });

  it('are read once more after the unfinished commits have finished, regardless of later ones', async () => {
    const { find, asked } = clusterWith([['c1'], ['c1', 'c2'], ['c2', 'c3'], ['c3']], [['a']]);
    expect(await find()).toEqual(['a']);
    expect(asked).toEqual({ commits: 3, reads: 3 });
  });

  it('are read once more, and no longer awaited, when no commit is unfinished: they were deleted', async () => {
    const { find, asked } = clusterWith([[]], [['a']]);
    expect(await find()).toEqual(['a']);
    expect(asked).toEqual({ commits: 1, reads: 1 });
  });

  it('are not considered deleted while a node does not answer', async () => {
    const failing = repeatRead(
      async () => [],
      () => false,
      () => Promise.reject(new Error('a node is away')),
    );
    await expect(failing).rejects.toThrow('a node is away');
  });
});

describe('a follow-up whose event is not visible on a node yet', () => {
  it('is done once it is, and not abandoned', async () => {
    await using gantry = await startGantry({ overrides: { timings: { sweepFollowUpsMs: 600_000 } } });
    const id = await gantry.ingest(await gantry.registerSensor());
    // The commit on the node has not finished: the event exists, but is not visible.
    const node = new pg.Client({ connectionString: gantry.pool.options.connectionString });
    await node.connect();
    const later = id.replace(/.{4}$/, 'ffff');
    await gantry.pool.query(`CREATE TABLE copied AS SELECT * FROM events WHERE id = $1`, [id]);
    await node.query('BEGIN');
    await node.query(
      `INSERT INTO events (id, event_type, sensor_id, sensor_name)
       SELECT $1, event_type, sensor_id, sensor_name FROM copied`,
      [later],
    );
    await gantry.pool.query(
      `INSERT INTO events_to_follow_up (event_id, retry_at) VALUES ($1, now() - interval '1 minute')`,
      [later],
    );
    const unfinished = async (): Promise<ReadonlySet<string>> => {
      if (commits++ === 0) return new Set(['c1']);
      await node.query('COMMIT');
      return new Set();
    };
    let commits = 0;
    const done: string[] = [];
    const followUp = new FollowUp({
      db: gantry.app.context.db,
      nodes: {
        readCommitted: async (read, isComplete) => {
          const first = await read();
          return isComplete(first) ? first : repeatRead(read, isComplete, unfinished);
        },
      },
      log: pino({ level: 'silent' }),
      timings: { sweepFollowUpsMs: 50, countLateMs: 600_000 },
      applyEffects: async (_tx, rows: readonly StoredRow[]) => {
        done.push(...rows.map((row) => row.id));
      },
    });
    await eventually(
      () => gantry.count('events_to_follow_up'),
      (left) => left === 0,
    );
    await followUp[Symbol.asyncDispose]();
    await node.end();
    expect(done).toEqual([later]);
  });
});

describe('a service on a cluster', () => {
  it('is neither ready nor healthy while a node does not answer, and counts the bytes of all nodes', async () => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query(`INSERT INTO pg_dist_partition VALUES ('events', 'h', 's')`);
    await using gantry = await startGantryOn(cluster.url);
    const token = await gantry.tokenFor('ADMIN');
    const ready = { status: 'ready', database: 'connected' };
    expect(await gantry.fetch('/ready')).toMatchObject({ status: 200, body: ready });
    expect((await gantry.ok('storage.getStats', undefined, { token })).databaseBytes).toBe(3_000);

    await cluster.client.query(`UPDATE pg_dist_node SET nodename = 'silent' WHERE nodeid = 2`);
    const { status, body } = await gantry.fetch('/ready');
    expect([status, body]).toEqual([
      503,
      {
        status: 'unavailable',
        database: 'disconnected',
        reason: 'Nodes of the database do not answer: silent:5432',
      },
    ]);
    const health = await gantry.ok('system.health');
    expect(health).toMatchObject({ status: 'unhealthy', database: 'disconnected' });
    expect(Object.keys(health).sort()).toEqual(['database', 'status', 'timestamp', 'version']);
    expect(await gantry.call('storage.getStats', undefined, { token })).toMatchObject({ status: 503 });

    await cluster.client.query(`UPDATE pg_dist_node SET nodename = 'node 2'`);
    const again = await gantry.fetch('/ready');
    expect([again.status, again.body]).toEqual([200, ready]);
  });

  it('works as on one server where the extension is installed and nothing is distributed', async () => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query(`UPDATE pg_dist_node SET nodename = 'silent' WHERE nodeid = 2`);
    await using gantry = await startGantryOn(cluster.url);
    const token = await gantry.tokenFor('ADMIN');
    expect((await gantry.fetch('/ready')).status).toBe(200);
    const { databaseBytes, months } = await gantry.ok('storage.getStats', undefined, { token });
    expect(databaseBytes).toBeGreaterThan(1_000_000);
    for (const { bytes } of months) expect([typeof bytes, bytes === 4711]).toEqual(['number', false]);
  });

  it('finds deep pages of an hour by counts of short times', async () => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query(`INSERT INTO pg_dist_partition VALUES ('events', 'h', 's')`);
    await using gantry = await startGantryOn(cluster.url);
    const token = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const start = Date.now() - 86_400_000;
    const hour = start - (start % 3_600_000);
    for (let batch = 0; batch < 5; batch++) {
      // Half of the events are spread over three minutes, and the others have the same time.
      const events = Array.from({ length: 1_000 }, (_, n) => ({
        eventType: n % 3 === 0 ? 'SPEED_DETECTION' : 'VEHICLE_DETECTION',
        timestamp: new Date(hour + (n % 2 === 0 ? n * 180 : 100_000)).toISOString(),
      }));
      await gantry.ok('events.ingestBatch', { apiKey, events });
    }
    const { rows } = await gantry.pool.query<{ id: string; type: string }>(
      'SELECT id, event_type AS type FROM events ORDER BY id',
    );
    for (const eventType of [undefined, 'VEHICLE_DETECTION'])
      for (const sortOrder of ['asc', 'desc'])
        for (const skip of [1_200, 1_649, 1_700, 2_480, 3_000]) {
          const wanted = rows
            .filter(({ type }) => eventType === undefined || type === eventType)
            .map(({ id }) => id);
          if (sortOrder === 'desc') wanted.reverse();
          const input = { eventType, sortOrder, skip, take: 100 };
          const { events } = await gantry.ok('events.getAll', input, { token });
          expect({ ...input, ids: events.map(({ id }: { id: string }) => id) }).toEqual({
            ...input,
            ids: wanted.slice(skip, skip + 100),
          });
        }
  });

  it('sends no message about a deleted event to streams, and continues', async () => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query(`INSERT INTO pg_dist_partition VALUES ('events', 'h', 's')`);
    await using gantry = await startGantryOn(cluster.url);
    const token = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const before = await openStream(gantry.url, 'events.onIngested', { token });
    await untilBegun(before);
    before.close();
    const deleted = await gantry.ingest(apiKey);
    await gantry.ok('events.delete', { id: deleted }, { token });
    const kept = await gantry.ingest(apiKey);
    const lastEventId = before.messages[0]?.id ?? '';
    const stream = await openStream(gantry.url, 'events.onIngested', { token, lastEventId });
    const received = () => stream.messages.flatMap(({ data }) => (data.event ? [data.event.id] : []));
    await eventually(
      async () => received(),
      (ids) => ids.length > 0,
    );
    stream.close();
    expect(received()).toEqual([kept]);
  });
});

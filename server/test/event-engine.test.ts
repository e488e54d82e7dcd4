import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TIMINGS } from '../src/platform/timings.ts';
import { eventually, type Gantry, type HttpAnswer, sharedGantry, startGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

/**
 * The number of events that a service refused after it had offered them to the database. Events that it refuses without
 * a try are not counted.
 */
const triedInVain = async (of: Gantry): Promise<number> => {
  const { values } = await of.app.context.metrics.events.get();
  return values.find(({ labels }) => labels.outcome === 'refused')?.value ?? 0;
};

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

const EVENT = { eventType: 'VEHICLE_DETECTION' };
const send = (fields: object = {}, to = gantry) => to.call('events.ingest', { apiKey, ...EVENT, ...fields });
const sendBatch = (events: object[], to = gantry) => to.call('events.ingestBatch', { apiKey, events });
const times = <Value>(count: number, make: (n: number) => Value): Value[] =>
  Array.from({ length: count }, (_, n) => make(n));
const idOf = ({ body }: HttpAnswer): string => body.result.data.json.eventId;

const UNAVAILABLE = {
  error: {
    json: {
      message: expect.stringMatching(/send (the event|it|them) again|try again/),
      code: -32603,
      data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
    },
  },
};
const expectUnavailable = ({ status, headers, body }: HttpAnswer): void => {
  expect([status, body]).toEqual([503, UNAVAILABLE]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
};

const countStored = async (description: string): Promise<number> => {
  const { rows } = await gantry.pool.query('SELECT count(*) AS n FROM events WHERE description = $1', [
    description,
  ]);
  return rows[0].n;
};
/**
 * The combinations of hour and kind in the last five months whose total differs from the stored events. Older
 * partitions are dropped below.
 */
const wrongTotals = async (): Promise<unknown[]> => {
  const { rows } = await gantry.pool.query(`
    WITH counted AS (
      SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, '') AS violation_type,
        coalesce(vehicle_type, '') AS vehicle_type, coalesce(severity, 0) AS severity, processed, archived, count(*) AS n
      FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
    ), totals AS (
      SELECT hour, event_type, violation_type, vehicle_type, severity, processed, archived, sum(n) AS n
      FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
    )
    SELECT * FROM counted FULL JOIN totals
      USING (hour, event_type, violation_type, vehicle_type, severity, processed, archived)
    WHERE counted.n IS DISTINCT FROM totals.n AND hour > now() - interval '5 months'`);
  return rows;
};

/**
 * Runs `work` while the table is locked, so that no commit succeeds. A single partition, because the roll-up of counts
 * uses both of a table, and a lock of the whole would wait for it in a circle.
 */
const whileLocked = async (table: string, work: () => Promise<void>, of = gantry): Promise<void> => {
  // Not a connection of the service, which the server closes after 20 seconds without a statement in a transaction.
  const client = new pg.Client({ connectionString: of.pool.options.connectionString });
  await client.connect();
  try {
    await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await work();
  } finally {
    await client.end();
  }
};

/** The number of groups of events whose commit waits for the lock. Rolling up may wait for it too, but is not counted. */
const waitingCommits = async (): Promise<number | null> => {
  const { rowCount } = await gantry.pool.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO events %'`,
  );
  return rowCount;
};

describe('events that arrive together', () => {
  it('are committed together: those that arrive during a commit form the next group', async () => {
    const description = randomUUID();
    const answers: Promise<HttpAnswer>[] = [];
    await whileLocked('event_totals_unfolded', async () => {
      answers.push(send({ description }));
      await eventually(waitingCommits, (waiting) => waiting === 1);
      answers.push(...times(99, () => send({ description })));
      await eventually(
        async () => gantry.app.context.eventWriter.waiting,
        (waiting) => waiting === 99,
      );
    });
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    const { rows } = await gantry.pool.query(
      'SELECT count(*) AS n FROM events WHERE description = $1 GROUP BY xmin::text ORDER BY n',
      [description],
    );
    expect(rows).toEqual([{ n: 1 }, { n: 99 }]);
  });
});

describe('an event that the database refuses', () => {
  beforeAll(() =>
    gantry.pool.query(`ALTER TABLE events ADD CONSTRAINT no_poison CHECK (vehicle_type <> 'POISON')`),
  );
  afterAll(() => gantry.pool.query('ALTER TABLE events DROP CONSTRAINT no_poison'));

  it('fails alone, with the message that it cannot be stored', async () => {
    const description = randomUUID();
    const poisoned = new Set([0, 13, 14, 99, 199]);
    const answers = await Promise.all(
      times(200, (n) => send({ description, vehicleType: poisoned.has(n) ? 'POISON' : 'CAR' })),
    );
    const refused = answers.flatMap(({ status }, n) => (status === 200 ? [] : [n]));
    expect(refused).toEqual([...poisoned]);
    expect(answers[13]?.body).toEqual({
      error: {
        json: {
          message: 'The event contains a value that cannot be stored',
          code: -32600,
          data: { code: 'BAD_REQUEST', httpStatus: 400 },
        },
      },
    });
    expect(await countStored(description)).toBe(195);
    expect(await wrongTotals()).toEqual([]);
  });

  it('fails alone in a batch, even when others there have keys', async () => {
    const description = randomUUID();
    const event = (n: number) => ({
      ...EVENT,
      description,
      timestamp: '2026-01-31T08:00:00Z',
      idempotencyKey: `${description} ${n}`,
      vehicleType: n === 5 ? 'POISON' : 'CAR',
    });
    const sent = [...times(20, event), event(3)];
    for (const duplicate of [false, true]) {
      const { body } = await sendBatch(sent);
      const { success, results } = body.result.data.json;
      expect(success).toBe(false);
      expect(results[5]).toEqual({ error: { code: 'BAD_REQUEST', message: expect.any(String) } });
      expect(results[4]).toEqual({ eventId: expect.any(String), duplicate });
      expect(results[20]).toEqual({ eventId: results[3].eventId, duplicate: true });
    }
    expect(await countStored(description)).toBe(19);
    expect(await wrongTotals()).toEqual([]);
  });
});

describe('more events than can be stored', () => {
  it('are refused at once, and accepted ones are stored', async () => {
    const description = randomUUID();
    const batch = times(1000, () => ({ ...EVENT, description }));
    let taken: Promise<HttpAnswer>[] = [];
    await whileLocked('event_totals_unfolded', async () => {
      taken = [sendBatch(batch)];
      await eventually(waitingCommits, (waiting) => waiting === 1);
      taken.push(...times(20, () => sendBatch(batch)));
      await eventually(
        async () => gantry.app.context.eventWriter.waiting,
        (waiting) => waiting === 20_000,
      );
      // Nothing can be committed, and yet these requests are answered.
      expectUnavailable(await send({ description }));
      expectUnavailable(await sendBatch(batch));
    });
    for (const { status, body } of await Promise.all(taken)) {
      expect([status, body.result.data.json.success]).toEqual([200, true]);
    }
    expect(await countStored(description)).toBe(21_000);
    expect((await send()).status).toBe(200);
    expect(await wrongTotals()).toEqual([]);
  });
});

describe('while the database is unavailable', () => {
  const admin = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: inject('databaseServer') });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  const name = (): string => new URL(gantry.app.context.config.DATABASE_URL ?? '').pathname.slice(1);
  const disconnect = () =>
    admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name()}'`);
  const recovered = () =>
    eventually(
      () => send(),
      ({ status }) => status === 200,
      5_000,
    );

  it('events are refused at once, none is acknowledged, and storing continues once it is back', async () => {
    const description = randomUUID();
    await admin(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS false`);
    try {
      await disconnect();
      expectUnavailable(await send({ description }));
      const before = await triedInVain(gantry);
      for (let n = 0; n < 300; n++) expectUnavailable(await send({ description }));
      // Only one event every half second is offered to the database.
      expect((await triedInVain(gantry)) - before).toBeLessThan(100);
      expectUnavailable(await sendBatch(times(1000, () => ({ ...EVENT, description }))));
    } finally {
      await admin(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS true`);
    }
    await recovered();
    expect(await countStored(description)).toBe(0);
  });

  it('every acknowledged event is stored, and every other one may be sent again', async () => {
    const description = randomUUID();
    const acknowledged = new Set<string>();
    let refused = 0;
    let stop = false;
    const device = async () => {
      while (!stop) {
        const answer = await send({ description });
        if (answer.status === 200) acknowledged.add(idOf(answer));
        else {
          expectUnavailable(answer);
          refused++;
        }
      }
    };
    const devices = times(20, device);
    for (let n = 0; n < 5 || (refused === 0 && n < 50); n++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await disconnect();
    }
    await recovered();
    stop = true;
    await Promise.all(devices);
    const { rows } = await gantry.pool.query<{ id: string }>('SELECT id FROM events WHERE description = $1', [
      description,
    ]);
    const stored = new Set(rows.map(({ id }) => id));
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(50);
    expect(refused).toBeGreaterThan(0);
    expect(await wrongTotals()).toEqual([]);
  });

  it('no event waits indefinitely without an error: the first are refused in time, further ones at once', async () => {
    // Together they stay below the 30 s that a call may take.
    expect(TIMINGS.commitMs + TIMINGS.eventTurnMs).toBeLessThan(25_000);
    await using own = await startGantry({ overrides: { timings: { commitMs: 1_000, eventTurnMs: 1_000 } } });
    const key = await own.registerSensor();
    const sendOwn = () => send({ apiKey: key }, own);
    expect((await sendOwn()).status).toBe(200);
    const work = async () => {
      const first = sendOwn();
      await eventually(
        async () => own.count(`pg_locks WHERE NOT granted AND relation = 'event_totals'::regclass`),
        (waiting) => waiting > 0,
      );
      const queued = times(50, sendOwn);
      expectUnavailable(await first);
      for (const answer of await Promise.all(queued)) expectUnavailable(answer);
      const before = await triedInVain(own);
      for (let n = 0; n < 50; n++) expectUnavailable(await sendOwn());
      // Only one event every half second is offered to the database, and it waits for a second.
      expect((await triedInVain(own)) - before).toBeLessThan(10);
    };
    await whileLocked('event_totals', work, own);
    await eventually(sendOwn, ({ status }) => status === 200);
  });
});

describe('the partitions of events', () => {
  const partitionOf = async (id: string): Promise<string> =>
    (await gantry.pool.query('SELECT tableoid::regclass::text AS name FROM events WHERE id = $1', [id]))
      .rows[0].name;
  const sendAt = async (timestamp: string, to = gantry): Promise<string> => {
    const answer = await send({ timestamp }, to);
    expect(answer).toMatchObject({ status: 200 });
    return idOf(answer);
  };

  const startOfMonth = (offset: number): number => {
    const now = new Date();
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset);
  };
  const iso = (time: number): string => new Date(time).toISOString();
  const nameOf = (time: number): string => `events_${iso(time).slice(0, 7).replace('-', '_')}`;

  it('begin and end to the millisecond', async () => {
    const [last, current] = [startOfMonth(-1), startOfMonth(0)];
    expect(await partitionOf(await sendAt(iso(last)))).toBe(nameOf(last));
    expect(await partitionOf(await sendAt(iso(current - 1)))).toBe(nameOf(last));
    expect(await partitionOf(await sendAt(iso(current)))).toBe(nameOf(current));
  });

  it('of this month and the next exist before anything is sent', async () => {
    const fresh = await startGantry();
    try {
      const { rows } =
        await fresh.pool.query(`SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'events'::regclass
        AND inhrelid::regclass::text IN (to_char(now() AT TIME ZONE 'UTC', '"events_"YYYY_MM'),
          to_char((now() AT TIME ZONE 'UTC') + interval '1 month', '"events_"YYYY_MM'))`);
      expect(rows[0].n).toBe(2);
    } finally {
      await fresh.stop();
    }
  });

  it('are created again when one was dropped', async () => {
    const month = startOfMonth(-7);
    await sendAt(iso(month));
    await gantry.pool.query(`DROP TABLE ${nameOf(month)}`);
    const answers = await Promise.all(times(20, (n) => send({ timestamp: iso(month + n * 86_400_000) })));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  it('are created again beside one that was detached and kept', async () => {
    const month = startOfMonth(-8);
    const kept = await sendAt(iso(month));
    await gantry.pool.query(`ALTER TABLE events DETACH PARTITION ${nameOf(month)}`);
    const id = await sendAt(iso(month));
    expect(await partitionOf(id)).toMatch(new RegExp(`^${nameOf(month)}_\\d+$`));
    const { rows } = await gantry.pool.query(`SELECT id FROM ${nameOf(month)}`);
    expect(rows).toEqual([{ id: kept }]);
    await sendAt(iso(month + 1));
  });

  it('do not delay events of other months while they are created', async () => {
    const client = await gantry.pool.connect();
    try {
      // Creating a partition waits for this lock; inserting does not.
      await client.query('BEGIN; LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE');
      const old = send({ timestamp: '2014-05-05T00:00:00Z' });
      expect((await send()).status).toBe(200);
      await client.query('ROLLBACK');
      expect((await old).status).toBe(200);
    } finally {
      client.release();
    }
  });
});

describe('two services on one database', () => {
  let other: Gantry;
  beforeAll(async () => {
    other = await startGantry({ config: { DATABASE_URL: gantry.app.context.config.DATABASE_URL ?? '' } });
  });
  afterAll(() => other.stop());

  it('create one partition when both need it at once', async () => {
    const COUNT = `SELECT count(*)::int AS n FROM pg_inherits WHERE inhparent = 'events'::regclass`;
    const before = (await gantry.pool.query(COUNT)).rows[0].n;
    const now = new Date();
    const timestamps = times(6, (n) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 20 + n, 15)).toISOString(),
    );
    const answers = await Promise.all(
      timestamps.flatMap((timestamp) => [gantry, other].map((service) => send({ timestamp }, service))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect((await gantry.pool.query(COUNT)).rows[0].n).toBe(before + 6);
  });

  it('store an event once that is sent to both, in any order', async () => {
    const description = randomUUID();
    const events = times(400, (n) => ({
      ...EVENT,
      description,
      timestamp: '2026-01-31T08:00:00Z',
      idempotencyKey: `${description} ${n}`,
    }));
    const [one, two] = await Promise.all([
      sendBatch(events, gantry),
      sendBatch([...events].reverse(), other),
    ]);
    const [here, there] = [one, two].map(({ body }) => body.result.data.json.results);
    expect(there.toReversed().map(({ eventId }: { eventId: string }) => eventId)).toEqual(
      here.map(({ eventId }: { eventId: string }) => eventId),
    );
    const firsts = [...here, ...there].filter(({ duplicate }) => duplicate === false);
    expect(firsts).toHaveLength(400);
    expect(await countStored(description)).toBe(400);
  });

  it('ingest, mark and delete at once for seconds without a deadlock, and the counts stay correct', async () => {
    const kinds = ['SPEEDING', 'RED_LIGHT', 'WRONG_WAY', null];
    const types = ['TRAFFIC_VIOLATION', 'INCIDENT', 'SPEED_DETECTION'];
    const days = ['2026-01-30T12:00:00Z', '2026-01-31T12:00:00Z', '2026-02-01T12:00:00Z'];
    const statuses = new Set<number>();
    const until = Date.now() + lengthOf({ gate: 1_500, full: 3_000 });
    const device = async (service: Gantry, n: number) => {
      for (let round = n; Date.now() < until; round++) {
        const events = times(20, (i) => ({
          eventType: types[(round + i) % 3],
          violationType: kinds[(round * i) % 4],
          timestamp: days[(round + 2 * i) % 3],
        }));
        const { status, body } = await sendBatch(events, service);
        statuses.add(status);
        const [first, second, third] = body.result.data.json.results;
        const verbs = [
          ['events.markAsProcessed', first],
          ['events.markAsArchived', second],
          ['events.delete', third],
        ] as const;
        for (const [verb, { eventId: id }] of verbs)
          statuses.add((await gantry.call(verb, { id }, { token })).status);
      }
    };
    await Promise.all(times(8, (n) => device(n % 2 === 0 ? gantry : other, n)));
    expect(statuses).toEqual(new Set([200]));
    expect(await wrongTotals()).toEqual([]);
    const { rows } = await gantry.pool.query(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
});

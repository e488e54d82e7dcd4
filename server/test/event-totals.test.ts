import { randomUUID } from 'node:crypto';
import { eventType, severity } from '@gantry/contract/events';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { divideByEvents } from '../src/events/counts/totals.ts';
import { listEvents } from '../src/events/list/run.ts';
import { createDatabase, createPool } from '../src/platform/database/pool.ts';
import { ENDLESS } from '../src/platform/time.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

/**
 * Numbers of events for one call of `haveALife`: all of them, those that are marked, archived or deleted, and those that
 * are reviewed.
 */
const ENOUGH = {
  events: lengthOf({ gate: 120, full: 200 }),
  changed: lengthOf({ gate: 45, full: 90 }),
  reviewed: lengthOf({ gate: 8, full: 20 }),
};

const KEYS = 'event_type, violation_type, vehicle_type, severity, processed, archived';

const gantry = await sharedGantry({ overrides: { timings: { rollUpCountsMs: 200 } } });
const token = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

const rowsOf = async (query: string): Promise<unknown[]> => (await gantry.pool.query(query)).rows;
const untilRolledUp = () =>
  eventually(
    () => rowsOf('SELECT FROM event_totals_unfolded UNION ALL SELECT FROM event_arrivals_unfolded'),
    (rows) => rows.length === 0,
  );

const anEvent = fc.record({
  eventType: fc.constantFrom(...eventType.options),
  violationType: fc.option(fc.constantFrom('SPEEDING', 'RED_LIGHT')),
  vehicleType: fc.option(fc.constantFrom('CAR', 'TRUCK')),
  severity: fc.option(fc.constantFrom(...severity.options)),
  timestamp: fc
    .integer({ min: Date.UTC(2025, 11, 30), max: Date.UTC(2026, 0, 3) })
    .map((time) => new Date(time).toISOString()),
});

/** Reviews an event twice, and undoes the second review. */
const reviewTwice = async (id: string): Promise<void> => {
  const input = { id, decision: 'REJECTED', reason: 'A shadow' };
  await gantry.ok('events.review', input, { token });
  const { id: again } = await gantry.ok('events.review', { id, decision: 'CONFIRMED' }, { token });
  await gantry.ok('events.undoReview', { id: again }, { token });
};

/** Sends events, and marks, archives, reviews and deletes some of them. */
const haveALife = async (seed: number): Promise<void> => {
  const events = fc.sample(anEvent, { numRuns: ENOUGH.events, seed });
  const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
  expect(results.filter((result: { eventId?: string }) => result.eventId === undefined)).toEqual([]);
  const verbs = ['events.markAsProcessed', 'events.markAsArchived', 'events.delete'];
  await Promise.all(
    results
      .slice(0, ENOUGH.changed)
      .map(({ eventId: id }: { eventId: string }, n: number) =>
        gantry.ok(verbs[n % 3] ?? '', { id }, { token }),
      ),
  );
  await Promise.all(
    results
      .slice(ENOUGH.changed, ENOUGH.changed + ENOUGH.reviewed)
      .map(({ eventId }: { eventId: string }) => reviewTwice(eventId)),
  );
};

const expectTotalsToBeRight = async (): Promise<void> => {
  const counted = `SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, '') AS violation_type,
    coalesce(vehicle_type, '') AS vehicle_type, coalesce(severity, 0) AS severity, processed, archived, count(*) AS n
    FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7`;
  const hours = `SELECT hour, ${KEYS}, n FROM event_totals WHERE n <> 0`;
  expect(await rowsOf(`(${hours}) EXCEPT (${counted})`)).toEqual([]);
  expect(await rowsOf(`(${counted}) EXCEPT (${hours})`)).toEqual([]);

  const summed = `SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date AS start, ${KEYS}, sum(n)::bigint AS n
    FROM (${counted}) AS counted CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`;
  const periods = `SELECT period, start, ${KEYS}, n FROM event_period_totals WHERE n <> 0`;
  expect(await rowsOf(`(${summed}) EXCEPT (${periods})`)).toEqual([]);
  expect(await rowsOf(`(${periods}) EXCEPT (${summed})`)).toEqual([]);

  const arrived = `SELECT date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS n FROM events GROUP BY 1`;
  expect(await rowsOf(`(${arrived}) EXCEPT (SELECT hour, n FROM event_arrivals)`)).toEqual([]);
};

describe('the totals of events', () => {
  it('are rolled up within seconds into one row for each hour and key, and add up to days, months and years', async () => {
    await haveALife(1);
    await untilRolledUp();
    await expectTotalsToBeRight();
    await haveALife(2);
    await untilRolledUp();
    await expectTotalsToBeRight();
  });

  it('distinguish types whatever their text is', async () => {
    const types = [
      {},
      { violationType: 'null' },
      { vehicleType: 'null' },
      { violationType: 'A\nB', vehicleType: 'C' },
      { violationType: 'A', vehicleType: 'B\nC' },
    ];
    const events = types.map((each) => ({ eventType: 'TRAFFIC_VIOLATION', ...each }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
    await untilRolledUp();
    await expectTotalsToBeRight();
    const { total } = await gantry.ok('events.getAll', { violationType: 'null' }, { token });
    expect(total).toBe(1);
  });

  it('are the same before, during and after the roll-up', async () => {
    const until = Date.now() + lengthOf({ gate: 1_000, full: 3_000 });
    const total = async () => (await gantry.ok('events.getStats', {}, { token })).total;
    let expected = await total();
    while (Date.now() < until) {
      const { results } = await gantry.ok('events.ingestBatch', {
        apiKey,
        events: fc.sample(anEvent, 20),
      });
      expected += results.length;
      const askers = Array.from({ length: 5 }, total);
      expect(await Promise.all(askers)).toEqual(Array(5).fill(expected));
    }
  });

  it('are rolled up by one process at a time, and by another when that one has ended', async () => {
    const url = gantry.app.context.config.DATABASE_URL ?? '';
    const other = await startGantry({ config: { DATABASE_URL: url } });
    try {
      await Promise.all([haveALife(3), haveALife(4), haveALife(5)]);
      await untilRolledUp();
      await expectTotalsToBeRight();
    } finally {
      await other.stop();
    }
    await haveALife(6);
    await untilRolledUp();
    await expectTotalsToBeRight();
  });

  it('are still rolled up after a failed round', async () => {
    const description = randomUUID();
    await gantry.pool.query('ALTER TABLE event_period_totals ADD CONSTRAINT broken CHECK (n < 0) NOT VALID');
    await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT', description });
    const warned = vi.spyOn(gantry.app.context.log, 'warn');
    await eventually(
      async () =>
        warned.mock.calls.some(([, said]) => said?.startsWith('the counts could not be rolled up now')),
      (hasFailed) => hasFailed,
    );
    warned.mockRestore();
    expect(await rowsOf('SELECT FROM event_totals_unfolded')).toHaveLength(1);
    expect((await gantry.ok('events.getStats', {}, { token })).total).toBe(
      (await rowsOf('SELECT FROM events')).length,
    );
    await gantry.pool.query('ALTER TABLE event_period_totals DROP CONSTRAINT broken');
    await untilRolledUp();
    await expectTotalsToBeRight();
  });
});

describe('the events of a day', () => {
  it('are listed whatever the time zone of the database is', async () => {
    // In UTC, the days on which clocks change in Berlin are as long as others.
    const times = ['2025-03-30T22:30:00.000Z', '2025-03-30T23:30:00.000Z', '2025-10-26T23:30:00.000Z'];
    const vehicleType = 'TRAM';
    const events = times.map((timestamp) => ({ eventType: 'VEHICLE_DETECTION', vehicleType, timestamp }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
    await untilRolledUp();
    await gantry.pool.query(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'Europe/Berlin');
    END $$`);
    const pool = createPool(gantry.app.context.config.DATABASE_URL ?? '', 1, () => undefined);
    const input = { vehicleType, processed: false, sortBy: 'timestamp', sortOrder: 'asc', skip: 0, take: 9 };
    const found = await listEvents(
      createDatabase(pool),
      input as Parameters<typeof listEvents>[1],
      ENDLESS,
      'UTC',
      false,
    ).finally(() => pool.end());
    expect(found.items.map(({ timestamp }) => timestamp.toISOString())).toEqual(times);
  });
});

describe('an interval divided by its events', () => {
  it('is cut at hours so that no part has too many, unless an hour has', async () => {
    const at = (time: string) => Date.parse(`2025-06-01T${time}:00Z`);
    const times = ['10:15', '10:59', '11:00', '11:30', '11:59', '12:10', ...Array(5).fill('13:30'), '15:00'];
    const events = times.map((time) => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(at(time)).toISOString(),
    }));
    await gantry.ok('events.ingestBatch', { apiKey, events });
    const divide = (from: string, until: string) =>
      divideByEvents(gantry.app.context.db, { from: at(from), until: at(until) }, 4);
    // The parts contain 2 events, 3 and 1 in two hours, 5, and 1.
    expect(await divide('10:10', '16:00')).toEqual([
      { from: at('10:10'), until: at('11:00') },
      { from: at('11:00'), until: at('13:00') },
      { from: at('13:00'), until: at('15:00') },
      { from: at('15:00'), until: at('16:00') },
    ]);
    expect(await divide('16:00', '20:30')).toEqual([{ from: at('16:00'), until: at('20:30') }]);
  });
});

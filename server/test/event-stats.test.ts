import { randomUUID } from 'node:crypto';
import { eventType } from '@gantry/contract/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { lengthOf } from './test-length.ts';

interface Stats {
  total: number;
  byType: { eventType: string; count: number }[];
  processed: number;
  unprocessed: number;
  archived: number;
  byViolationType: { violationType: string; count: number }[];
}

const START = Date.parse('2026-03-01T00:00:00Z');
const END = Date.parse('2026-03-12T00:00:00Z');
const HOUR = 3_600_000;

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

const stats = (range?: object): Promise<Stats> => gantry.ok('events.getStats', range, { token });
const setTimezone = async (timezone: string) =>
  gantry.ok(
    'system.timezone.updateTimezoneSettings',
    { timezone },
    { token: await gantry.tokenFor('ADMIN') },
  );

const countsOf = (values: readonly (string | null)[]) => {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
};

/** Counts the events themselves in this process. */
const recount = async (from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): Promise<Stats> => {
  const { rows } = await gantry.pool.query<{
    time: number;
    event_type: string;
    violation_type: string | null;
    processed: boolean;
    archived: boolean;
  }>(
    `SELECT (extract(epoch FROM event_time(id)) * 1000)::bigint AS time, event_type, violation_type, processed, archived
     FROM events`,
  );
  const within = rows.filter(({ time }) => time >= from && time <= to);
  return {
    total: within.length,
    byType: countsOf(within.map((row) => row.event_type)).map(([type, count]) => ({
      eventType: type,
      count,
    })),
    processed: within.filter(({ processed }) => processed).length,
    unprocessed: within.filter(({ processed }) => !processed).length,
    archived: within.filter(({ archived }) => archived).length,
    byViolationType: countsOf(asMostSpell(within.map((row) => row.violation_type))).map(
      ([violationType, count]) => ({
        violationType,
        count,
      }),
    ),
  };
};

/** Replaces each name by its most frequent spelling. */
function asMostSpell(names: readonly (string | null)[]): (string | null)[] {
  const spelled = new Map<string, string>();
  for (const [name] of countsOf(names).reverse()) spelled.set(name.toLowerCase(), name);
  return names.map((name) => name && (spelled.get(name.toLowerCase()) ?? name));
}

const EMPTY = { total: 0, byType: [], processed: 0, unprocessed: 0, archived: 0, byViolationType: [] };

describe('events.getStats', () => {
  it('returns zeros without events', async () => {
    expect(await stats()).toEqual(EMPTY);
    expect(await stats({})).toEqual(EMPTY);
    expect(await stats({ startDate: '2026-01-01', endDate: '2026-01-31' })).toEqual(EMPTY);
  });

  it('is correct after concurrent actions of users and devices', async () => {
    const sensors = await Promise.all(
      [1, 2, 3].map((n) =>
        gantry.ok('sensors.create', { name: `Mast ${n}`, deviceId: randomUUID(), type: 'CAMERA' }, { token }),
      ),
    );
    const anEvent = fc.record({
      eventType: fc.constantFrom(...eventType.options),
      violationType: fc.option(fc.constantFrom('SPEEDING', 'RED_LIGHT', 'speeding', 'WRONG_WAY')),
      vehicleType: fc.option(fc.constantFrom('CAR', 'TRUCK')),
      timestamp: fc.integer({ min: START, max: END - 1 }).map((time) => new Date(time).toISOString()),
    });
    const verbs = ['events.markAsProcessed', 'events.markAsArchived', 'events.delete'];
    const aStory = fc.record({
      event: anEvent,
      sensor: fc.constantFrom(...sensors),
      actions: fc.array(fc.constantFrom(...verbs), { maxLength: 3 }),
    });
    const stories = fc.sample(aStory, { numRuns: 400, seed: 4 });
    const live = async ({ event, sensor, actions }: (typeof stories)[number]) => {
      const { eventId: id } = await gantry.ok('events.ingest', { apiKey: sensor.apiKey, ...event });
      await Promise.all(actions.map((verb) => gantry.call(verb, { id }, { token })));
    };
    for (let n = 0; n < stories.length; n += 40) await Promise.all(stories.slice(n, n + 40).map(live));

    const counted = await stats();
    expect(counted).toEqual(await recount());
    expect(counted.total).toBeGreaterThan(200);
    expect(counted.archived).toBeGreaterThan(20);
    expect(counted.byType).toHaveLength(6);
    expect(counted.byViolationType).toHaveLength(3);
    const { rows } = await gantry.pool.query(`
      SELECT hour FROM event_totals
      GROUP BY hour, event_type, violation_type, vehicle_type, severity, processed, archived HAVING sum(n) < 0`);
    expect(rows).toEqual([]);
  });

  it('counts any range as a recount does, with whole days and with partial hours', async () => {
    const times: number[] = (await gantry.ok('events.getAll', { take: 100 }, { token })).events.map(
      ({ timestamp }: { timestamp: string }) => Date.parse(timestamp),
    );
    const aMoment = fc.oneof(
      fc.constantFrom(...times),
      fc.integer({ min: START - 24 * HOUR, max: END + 24 * HOUR }),
      fc.integer({ min: 0, max: 11 * 24 }).map((hours) => START + hours * HOUR),
      fc.integer({ min: 0, max: 11 }).map((days) => START + days * 24 * HOUR - 1),
    );
    await fc.assert(
      fc.asyncProperty(fc.option(aMoment), fc.option(aMoment), async (from, to) => {
        const range = {
          ...(from !== null && { startDate: new Date(from).toISOString() }),
          ...(to !== null && { endDate: new Date(to).toISOString() }),
        };
        if (from !== null && to !== null && to < from) {
          expect((await gantry.call('events.getStats', range, { token })).status).toBe(400);
          return;
        }
        expect(await stats(range)).toEqual(await recount(from ?? undefined, to ?? undefined));
      }),
      { numRuns: lengthOf({ gate: 40, full: 100 }) },
    );
  });

  it('counts days in the time zone of the service', async () => {
    try {
      await setTimezone('America/New_York');
      const day = { startDate: '2026-03-08', endDate: '2026-03-08' };
      const local = await recount(Date.parse('2026-03-08T05:00:00Z'), Date.parse('2026-03-09T04:00:00Z') - 1);
      expect(await stats(day)).toEqual(local);
      await setTimezone('Pacific/Kiritimati');
      const farEast = await recount(
        Date.parse('2026-03-07T10:00:00Z'),
        Date.parse('2026-03-08T10:00:00Z') - 1,
      );
      expect(await stats(day)).toEqual(farEast);
      expect(farEast).not.toEqual(local);
    } finally {
      await setTimezone('UTC');
    }
  });

  it('agrees with the list on every filter that the totals contain', async () => {
    const { byType, processed, archived, total } = await stats();
    const listed = async (filters: object) =>
      (await gantry.ok('events.getAll', { take: 1, ...filters }, { token })).total;
    for (const { eventType: type, count } of byType) expect(await listed({ eventType: type })).toBe(count);
    expect(await listed({ processed: true })).toBe(processed);
    expect(await listed({ archived: true })).toBe(archived);
    expect(await listed({})).toBe(total);
  });

  it('orders types and violation types by their counts, the most frequent first', async () => {
    const { byType, byViolationType } = await stats();
    for (const counts of [byType, byViolationType].map((list) => list.map(({ count }) => count))) {
      expect(counts).toEqual([...counts].sort((a, b) => b - a));
    }
  });

  it('refuses a range that ends before it starts', async () => {
    const range = { startDate: '2026-03-09', endDate: '2026-03-03' };
    expect((await gantry.call('events.getStats', range, { token })).status).toBe(400);
  });

  it('accepts all of time', async () => {
    expect(await stats({ startDate: '0001-01-01', endDate: '9999-12-31' })).toEqual(await recount());
    expect(await stats({ startDate: '9999-12-31T23:59:59Z' })).toEqual(EMPTY);
    expect(await stats({ endDate: '1970-01-01' })).toEqual(EMPTY);
  });

  it.each([{ startDate: 'x' }, { endDate: 7 }, { startDate: null }, { endDate: '2026-13-01' }])(
    'refuses %j',
    async (range) => {
      const { status, body } = await gantry.call('events.getStats', range, { token });
      expect(status).toBe(400);
      expect(body.error.json.data.issues[0].path).toBe(Object.keys(range)[0]);
    },
  );
});

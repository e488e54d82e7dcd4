import { describe, expect, it } from 'vitest';
import { removeEvent, removeEvents } from '../src/events/remove-store.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const gantry = await sharedGantry();

const EVENTS = [
  { eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING', vehicleSpeed: 71, vehicleType: 'CAR' },
  { eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING', vehicleSpeed: 71, vehicleType: 'CAR' },
  { eventType: 'VEHICLE_DETECTION', vehicleSpeed: 48 },
  { eventType: 'INCIDENT', severity: 'CRITICAL' },
].map((event, n) => ({ ...event, timestamp: `2026-0${1 + (n % 2)}-10T10:0${n}:00Z` }));

/** All counts of events, without those that are zero. */
const readCounts = async () => {
  await rollUpAllTraffic(gantry, 50);
  const read = async (statement: string) => (await gantry.pool.query(statement)).rows;
  return {
    totals: await read(
      'SELECT hour, event_type, sum(n)::int AS n FROM event_totals GROUP BY 1, 2 HAVING sum(n) <> 0',
    ),
    arrivals: await read('SELECT hour, sum(n)::int AS n FROM event_arrivals GROUP BY 1 HAVING sum(n) <> 0'),
    traffic: await read(
      `SELECT sum(events)::int AS events, sum((SELECT sum(value) FROM unnest(sums) AS value))::int AS sums FROM traffic_bins`,
    ),
  };
};

describe('removed events', () => {
  it.each(['one by one', 'all at once'])('are counted nowhere when they are removed %s', async (way) => {
    const apiKey = await gantry.registerSensor();
    const { db } = gantry.app.context;
    const before = await readCounts();
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events: EVENTS });
    const ids: string[] = results.map(({ eventId }: { eventId: string }) => eventId);
    const filled = await readCounts();
    expect(filled.totals.length).toBeGreaterThan(before.totals.length);
    if (way === 'one by one') for (const id of ids) expect(await removeEvent(db, id)).toBe(true);
    else {
      const removed = await removeEvents(db, ids, true);
      expect(removed.sort((a, b) => (a.month + a.eventType < b.month + b.eventType ? -1 : 1))).toEqual([
        { eventType: 'TRAFFIC_VIOLATION', month: '2026-01', rows: 1 },
        { eventType: 'VEHICLE_DETECTION', month: '2026-01', rows: 1 },
        { eventType: 'INCIDENT', month: '2026-02', rows: 1 },
        { eventType: 'TRAFFIC_VIOLATION', month: '2026-02', rows: 1 },
      ]);
    }
    const after = await readCounts();
    expect([after.totals, after.arrivals]).toEqual([before.totals, before.arrivals]);
    expect(after.traffic.map(({ n, events }) => [n ?? 0, events ?? 0])).toEqual([[0, 0]]);
    expect(await removeEvent(db, ids[0] ?? '')).toBe(false);
  });

  it('still count as traffic when retention removes them', async () => {
    const apiKey = await gantry.registerSensor();
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events: EVENTS });
    const filled = await readCounts();
    const ids = results.map(({ eventId }: { eventId: string }) => eventId);
    await removeEvents(gantry.app.context.db, ids, false);
    const after = await readCounts();
    expect(after.traffic).toEqual(filled.traffic);
    expect(after.totals).toEqual([]);
  });

  it('do not exist for an invalid id', async () => {
    expect(await removeEvent(gantry.app.context.db, 'no id')).toBe(false);
    expect(await removeEvents(gantry.app.context.db, [], true)).toEqual([]);
  });
});

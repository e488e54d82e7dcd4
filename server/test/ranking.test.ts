import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { getTopLocations } from '../src/traffic/ranking.ts';
import { sharedGantry } from './harness.ts';
import { notedDatabase } from './noted-statements.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { seeded } from './simulated-month.ts';

// The ranking of locations, which must say of each what its own figures say, whatever is rejected there.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });

const random = seeded(74);
const between = (from: number, until: number): number => from + random() * (until - from);
const iso = (time: number): string => new Date(time).toISOString();

/** Clocks in New York are set forward on the second day. */
const FROM = Date.parse('2026-03-07T05:00:00Z');
const UNTIL = FROM + 3 * DAY_MS;
const RANGE = { startDate: '2026-03-07', endDate: '2026-03-09T19:07:29' };
const LONGER_UNTIL = '2026-03-09T15:00:00Z';

interface Place {
  readonly locationId: string;
  readonly id: string;
  readonly apiKey: string;
}

const addPlace = async (n: number, type = 'RADAR'): Promise<Place> => {
  const { id: locationId } = await ask('locations.create', { name: `Road ${n}`, speedLimit: 50 });
  const sensor = await ask('sensors.create', { name: 'Mast', deviceId: randomUUID(), type, locationId });
  return { locationId, ...sensor };
};

const pass = ({ apiKey }: Place, count: number, until = UNTIL) =>
  gantry.ok('events.ingestBatch', {
    apiKey,
    events: Array.from({ length: count }, () => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: iso(between(FROM, until)),
      ...(random() < 0.9 && { vehicleSpeed: Math.round(between(20, 90)) }),
      ...(random() < 0.1 && { vehicleType: 'bicycle' }),
    })),
  });

const count = ({ apiKey }: Place) => {
  const starts = Array.from({ length: (3 * DAY_MS) / (15 * MINUTE_MS) }, (_, n) => FROM + n * 15 * MINUTE_MS);
  const periods = starts.map((start) => ({
    start: iso(start),
    seconds: 900,
    volume: 10 + Math.floor(random() * 30),
    speed: { mean: 48, bins: [{ from: 30, to: 70, count: 8 }] },
  }));
  return gantry.ok('counts.ingest', { apiKey, periods });
};

const flag = ({ id }: Place, from: number, until: number) =>
  gantry.pool.query(
    `INSERT INTO traffic_flags (sensor_id, found_at, rule, lane, since, until, value, threshold)
     VALUES ($1, date_trunc('day', $2::timestamptz), 'R4', '', $2, $3, 1, 1)`,
    [id, iso(from), iso(until)],
  );

const decide = (place: object, decision: 'ACCEPT' | 'REJECT') => {
  const from = between(FROM, UNTIL - 6 * HOUR_MS);
  const range = { startDate: iso(from), endDate: iso(from + between(HOUR_MS / 4, 6 * HOUR_MS)) };
  return ask('traffic.reviewData', { ...place, ...range, decision, reason: 'a test' });
};

let places: Place[];
beforeAll(async () => {
  await ask('system.timezone.updateTimezoneSettings', { timezone: 'America/New_York' });
  await gantry.pool.query('UPDATE traffic_kept SET longer_until = $1', [LONGER_UNTIL]);
  places = [];
  for (let n = 0; n < 14; n++) places.push(await addPlace(n));
  for (const [n, place] of places.entries()) await (n % 3 === 0 ? count(place) : pass(place, 300 + 10 * n));
  await rollUpAllTraffic(gantry, 100);
  // Not rolled up.
  for (const place of places.filter((_, n) => n % 3 !== 0)) await pass(place, 30);
  for (const [n, place] of places.entries()) {
    if (n < 2) continue;
    for (let flags = 0; flags < n % 4; flags++) {
      const from = between(FROM, UNTIL - DAY_MS);
      await flag(place, from, from + between(HOUR_MS, DAY_MS));
    }
    if (n % 4 === 1) await decide({ locationId: place.locationId }, 'REJECT');
    if (n % 5 === 2) await decide({ sensorId: place.id }, n % 2 === 0 ? 'ACCEPT' : 'REJECT');
    if (n % 5 === 3)
      await gantry.pool.query(
        `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
         VALUES ($1, 'ONLINE', 'MAINTENANCE', $2, 'MANUAL'), ($1, 'MAINTENANCE', 'ONLINE', $3, 'MANUAL')`,
        [place.id, iso(FROM + 30 * HOUR_MS), iso(FROM + 41 * HOUR_MS)],
      );
    if (n % 4 === 2) {
      const validFrom = iso(between(FROM + DAY_MS, UNTIL - DAY_MS));
      await ask('locations.update', { id: place.locationId, speedLimit: 60, validFrom });
    }
  }
  // A whole location, and more times than segments are cut at.
  const [, , , , rejected, patchy] = places as Place[];
  if (!rejected || !patchy) return;
  await ask('traffic.reviewData', {
    locationId: rejected.locationId,
    ...RANGE,
    decision: 'REJECT',
    reason: 'roadworks',
  });
  for (let n = 0; n < 60; n++)
    await flag(patchy, FROM + n * HOUR_MS + 7 * MINUTE_MS, FROM + n * HOUR_MS + 20 * MINUTE_MS);
  await gantry.pool.query('DELETE FROM traffic_unjudged');
}, 120_000);

/** What the own figures of the locations say. */
const own = async () => {
  const found = new Map<string, object>();
  for (const { locationId } of places) {
    const { volume, measured, meanSpeed, shareOverLimit } = await ask('traffic.getSpeedDistribution', {
      locationId,
      ...RANGE,
    });
    found.set(locationId, { volume, measured, meanSpeed, shareOverLimit });
  }
  return found;
};

const ranked = async (by: string, limit = 100) =>
  (await ask('traffic.getTopLocations', { ...RANGE, by, limit, minimumVolume: 1 })).locations as {
    locationId: string;
    volume: number;
    measured: number;
    meanSpeed: number | null;
    shareOverLimit: number | null;
  }[];

describe('the ranking of locations', () => {
  it.each(['volume', 'meanSpeed', 'shareOverLimit'])('by %s says what their own figures say', async (by) => {
    const figures = await own();
    const listed = await ranked(by);
    expect(listed).toHaveLength(places.length - 1);
    for (const { locationId, volume, measured, meanSpeed, shareOverLimit } of listed)
      expect({ volume, measured, meanSpeed, shareOverLimit }).toEqual(figures.get(locationId));
    const values = listed.map((each) => Number(each[by as 'volume'] ?? -1));
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(await ranked(by, 3)).toEqual(listed.slice(0, 3));
  });

  it('says the same when everything is rolled up', async () => {
    const before = await ranked('shareOverLimit');
    await rollUpAllTraffic(gantry, 100);
    await gantry.pool.query('DELETE FROM traffic_unjudged');
    expect(await ranked('shareOverLimit')).toEqual(before);
  });

  it('asks no more often, the more locations have rejected data', async () => {
    let sent = 0;
    const app = { ...gantry.app.context, db: notedDatabase(gantry.pool, () => sent++) };
    const statements = async (): Promise<number> => {
      sent = 0;
      await getTopLocations(app, { ...RANGE, by: 'shareOverLimit', limit: 100, minimumVolume: 1 });
      return sent;
    };
    const before = await statements();
    for (const place of places) await flag(place, FROM + HOUR_MS, FROM + 2 * HOUR_MS);
    expect(await statements()).toBe(before);
  });
});

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { switchableFeatures } from '@gantry/contract/system';
import { beforeAll, describe, expect, it } from 'vitest';
import { rebuildDerived, runChecks } from '../src/operations/consistency/checks.ts';
import { rollUpQuarter } from '../src/traffic/roll-up-store.ts';
import { sharedGantry } from './harness.ts';
import { seeded } from './simulated-month.ts';
import { lengthOf } from './test-length.ts';

// The stored share of a slot that counts of intervals cover, which must be what follows from the sums beside it, in every figure.

const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });

const random = seeded(89);
const pick = <Value>(values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

/** Days around both changes of clocks in New York, at 02:00 local time. */
const FIRST_DAYS = ['2025-11-01', '2026-03-07'];
const startsOf = (day: string): number => Date.parse(`${day}T04:00:00Z`);
const DAYS = lengthOf({ gate: 2, full: 8 });

interface Channel {
  readonly direction?: string;
  readonly lane?: number;
  readonly seconds: number;
}

const CHANNELS: readonly Channel[] = [
  { direction: 'NB', lane: 1, seconds: 900 },
  { direction: 'NB', lane: 2, seconds: 300 },
  { direction: 'SB', seconds: 3_600 },
  { lane: 3, seconds: 1_800 },
];

/** What a detector says about an interval: a count, zero, a part of it, or a gap. */
const contentOf = ({ seconds }: Channel): object => {
  const volume = Math.floor(random() * 40);
  return pick<() => object>([
    () => ({ volume }),
    () => ({ volume, speed: { mean: 45, bins: [{ from: 30, to: 60, count: Math.floor(volume / 2) }] } }),
    () => ({ byClass: { scheme: 'BASIC', counts: { CAR: volume, TRUCK: 2, BICYCLE: 1 } } }),
    () => ({ volume: 0 }),
    () => ({ volume, samples: Math.floor(random() * 30), expectedSamples: Math.ceil(seconds / 30) + 30 }),
    () => ({ volume, status: 'PARTIAL', samples: 7, expectedSamples: 11 }),
    () => ({ volume: null }),
    () => ({ volume: null, status: 'FAULT' }),
  ])();
};

interface Sensor {
  readonly id: string;
  readonly apiKey: string;
}

const addLocation = async (name: string): Promise<string> =>
  (await ask('locations.create', { name, speedLimit: 50 })).id;
const addSensor = (locationId: string): Promise<Sensor> =>
  ask('sensors.create', { name: 'Loop', deviceId: randomUUID(), type: 'RADAR', locationId });

/** Sends intervals of all channels; some are missing. */
const send = async ({ apiKey }: Sensor, channels: readonly Channel[], share = 0.95): Promise<void> => {
  const periods = FIRST_DAYS.flatMap((day) =>
    channels.flatMap((channel) => {
      const [from, length] = [startsOf(day), channel.seconds * 1_000];
      return Array.from({ length: (DAYS * DAY_MS) / length }, (_, n) => ({
        ...channel,
        start: new Date(from + n * length).toISOString(),
        ...contentOf(channel),
      })).filter(() => random() < share);
    }),
  );
  for (let n = 0; n < periods.length; n += 1_000)
    await gantry.ok('counts.ingest', { apiKey, periods: periods.slice(n, n + 1_000) });
};

let places: Readonly<Record<string, object>>;
beforeAll(async () => {
  await ask('system.timezone.updateTimezoneSettings', { timezone: 'America/New_York' });
  await gantry.pool.query(`UPDATE traffic_kept SET longer_until = '2026-03-08T09:00:00Z'`);
  const [here, there] = [await addLocation('Here'), await addLocation('There')];
  const [still, moved, assigned] = [await addSensor(here), await addSensor(here), await addSensor(there)];
  await send(still, CHANNELS);
  await send(assigned, CHANNELS.slice(0, 2));
  await send(moved, CHANNELS.slice(0, 2), 0.5);
  // In the middle of an hour, so that its slots are at two locations.
  const [, second = ''] = FIRST_DAYS;
  const validFrom = new Date(startsOf(second) + DAY_MS + HOUR_MS / 3).toISOString();
  await ask('sensors.update', { id: moved.id, locationId: there, validFrom });
  await send(moved, CHANNELS.slice(1, 3), 0.9);
  const { id: pointId } = await ask('points.create', { locationId: there, name: 'NB', direction: 'NB' });
  await ask('assignments.create', {
    sensorId: assigned.id,
    pointId,
    channel: { lane: 1 },
    role: 'COUNT',
    validFrom: new Date(startsOf(second) + DAY_MS / 2).toISOString(),
  });
  // Corrections of what was sent.
  await send(still, CHANNELS.slice(0, 1), 0.3);
  const range = { startDate: `${second}T10:10:00`, endDate: `${second}T13:19:59` };
  await ask('traffic.reviewData', { locationId: here, ...range, decision: 'REJECT', reason: 'roadworks' });
  while (await rollUpQuarter(gantry.app.context.db, Date.parse('2026-03-08T16:00:00Z')));
  places = {
    here: { locationId: here },
    there: { locationId: there },
    still: { sensorId: still.id },
    moved: { sensorId: moved.id },
    point: { pointId },
  };
}, 120_000);

/** Figures that depend on what is covered. */
const figures = async (): Promise<Record<string, unknown>> => {
  const answers: Record<string, unknown> = {};
  const add = async (verb: string, input: object) => {
    answers[`${verb} ${JSON.stringify(input)}`] = await ask(`traffic.${verb}`, input);
  };
  for (const place of Object.values(places)) {
    for (const day of FIRST_DAYS) {
      const last = new Date(startsOf(day) + (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
      const range = { ...place, startDate: day, endDate: last };
      await add('getCounts', { ...range, interval: '15min', by: ['direction', 'lane'] });
      await add('getFlow', { ...range, interval: day === FIRST_DAYS[0] ? '5min' : 'day' });
      await add('getDailyVolumes', range);
    }
    await add('getAadt', { ...place, year: 2026 });
  }
  return answers;
};

const sharesOf = async (): Promise<unknown[]> =>
  (
    await gantry.pool.query(
      `SELECT minutes, sensor_id, location_id, slot, counted_share FROM traffic_bins WHERE source = 4 ORDER BY 1, 2, 3, 4`,
    )
  ).rows;

describe('the stored shares', () => {
  it('are those of the intervals that were sent', async () => {
    // Channels by slot, from the intervals themselves. The longest one of a slot says how much of it is expected.
    const { rows } = await gantry.pool.query(`
      WITH channels AS (
        SELECT minutes, sensor_id, location_id, date_bin(make_interval(mins => minutes), start, '2000-01-01Z') AS slot,
          sum(seconds)::float8 AS expected, sum(CASE
            WHEN content ->> 'status' = 'FAULT' OR content -> 'volume' = 'null' THEN 0
            ELSE seconds * coalesce((content ->> 'samples')::float8 / (content ->> 'expectedSamples')::float8, 1) END) AS covered
        FROM traffic_periods CROSS JOIN (VALUES (15), (60), (1440)) AS level (minutes)
        WHERE seconds <= minutes * 60 GROUP BY 1, 2, 3, 4, direction, lane, movement
      ), due AS (
        SELECT minutes, sensor_id, location_id, slot, sum(covered) / sum(expected) * least(1, max(expected) / (minutes * 60)) AS share
        FROM channels GROUP BY 1, 2, 3, 4
      )
      SELECT count(*)::int AS slots, count(*) FILTER (WHERE due.share BETWEEN 0.01 AND 0.99)::int AS parts,
        count(*) FILTER (WHERE abs(due.share - counted_share) < 1e-5)::int AS equal
      FROM due JOIN traffic_bins AS bins USING (minutes, sensor_id, slot)
      WHERE bins.location_id = due.location_id AND source = 4
        AND slot + make_interval(mins => minutes) <= (SELECT longer_until FROM traffic_kept)`);
    const [{ slots, parts, equal }] = rows;
    expect(parts).toBeGreaterThan(100);
    expect(equal).toBe(slots);
  });

  it('give the same figures as the sums, and are stored again by a rebuild', async () => {
    const [stored, shares] = [await figures(), await sharesOf()];
    const differing = async (): Promise<string[]> => {
      const found = await figures();
      return Object.keys(stored).filter((name) => !isDeepStrictEqual(found[name], stored[name]));
    };
    await gantry.pool.query('UPDATE traffic_bins SET counted_share = NULL');
    expect(await differing()).toEqual([]);
    // Some of the rows only, as while they are stored again.
    await gantry.pool.query(
      `UPDATE traffic_bins SET counted_share = 0.123 WHERE source = 4 AND slot >= '2026-01-01Z'`,
    );
    const options = {
      connectionString: gantry.app.context.config.DATABASE_URL ?? '',
      features: switchableFeatures,
    };
    const wrong = async () => {
      const results = await runChecks({ ...options, limit: 10, onResult: () => undefined });
      return results.filter(({ differences }) => differences.length > 0).map(({ name }) => name);
    };
    expect(await wrong()).toEqual(['traffic by longer slots']);
    await rebuildDerived('traffic', options);
    expect(await wrong()).toEqual([]);
    expect(await sharesOf()).toEqual(shares);
    expect(await differing()).toEqual([]);
  }, 900_000);
});

import type { GantryClient } from '@gantry/client';
import { MINUTE_MS } from '@gantry/contract/durations';
import { createRandom, mix } from '@gantry/simulator/src/random.ts';
import { trafficLevel } from '@gantry/simulator/src/traffic.ts';
import { query } from '../database.ts';
import { registerSensors } from '../sensors.ts';
import type { HistoryOptions } from './history.ts';

const QUARTER_MS = 15 * MINUTE_MS;
const PERIODS_AT_ONCE = 1_000;
const DIRECTIONS = ['NB', 'SB'] as const;

/** The classes of speeds that the detector reports, in km/h, with the share of the vehicles in each. */
const SPEEDS = [0.01, 0.04, 0.1, 0.25, 0.33, 0.17, 0.07, 0.02, 0.01].map((share, n) => ({
  from: 10 * n + 10,
  to: 10 * n + 20,
  share,
}));
const TRUCKS = 0.08;
const BUSES = 0.02;

/** Vehicles in a quarter of an hour at the usual level of traffic. */
const USUAL = 120;

/**
 * Reports the quarter hours of a whole history as a detector that counts two directions, classes of vehicles and of speeds.
 * It is the only sensor of its location.
 */
export async function fillDetector(
  client: GantryClient,
  { from, until, seed }: HistoryOptions,
): Promise<void> {
  const [detector] = await registerSensors(client, 1, 'detector');
  if (detector === undefined) return;
  const random = createRandom(mix(seed, 5));
  const periodAt = (start: number, direction: (typeof DIRECTIONS)[number]) => {
    const volume = Math.round(USUAL * trafficLevel(start) * (0.8 + 0.4 * random.next()));
    const [truck, bus] = [Math.floor(volume * TRUCKS), Math.floor(volume * BUSES)];
    const bins = SPEEDS.map(({ share, ...bin }) => ({ ...bin, count: Math.floor(volume * share) }));
    const measured = bins.reduce((sum, { count }) => sum + count, 0);
    return {
      start: new Date(start).toISOString(),
      seconds: QUARTER_MS / 1_000,
      direction,
      byClass: { scheme: 'BASIC' as const, counts: { CAR: volume - truck - bus, TRUCK: truck, BUS: bus } },
      ...(measured > 0 && { speed: { mean: 52, measured, bins } }),
    };
  };
  const starts = Array.from({ length: (until - from) / QUARTER_MS }, (_, n) => from + n * QUARTER_MS);
  const periods = starts.flatMap((start) => DIRECTIONS.map((direction) => periodAt(start, direction)));
  for (let n = 0; n < periods.length; n += PERIODS_AT_ONCE)
    await client.api.counts.ingest.mutate({
      apiKey: detector.apiKey,
      periods: periods.slice(n, n + PERIODS_AT_ONCE),
    });
}

const LOCATIONS = 1_000;

/** The local year before the end of a history, which is over. */
export function lastYear({ until }: Pick<HistoryOptions, 'until'>): number {
  return new Date(until).getUTCFullYear() - 1;
}

/**
 * Adds 1,000 locations with a stored year each, as the service stores them: their hours would be nine million rows. In one
 * statement, so that the service finds none of it missing.
 */
export async function fillNetwork(
  databaseUrl: string,
  options: Pick<HistoryOptions, 'until'>,
): Promise<void> {
  const year = lastYear(options);
  await query(
    databaseUrl,
    `DO $$
     DECLARE zone text := (SELECT timezone FROM settings);
     BEGIN
       CREATE TEMPORARY TABLE network ON COMMIT DROP AS
         SELECT gen_random_uuid() AS location_id, gen_random_uuid() AS sensor_id, n FROM generate_series(1, ${LOCATIONS}) AS n;
       INSERT INTO locations (id, name) SELECT location_id, 'Network ' || n FROM network;
       INSERT INTO traffic_places (location_id, sensor_id, first_slot, last_slot, detections)
         SELECT location_id, sensor_id, '${year}-01-01Z', '${year}-12-31 23:55Z', true FROM network;
       DELETE FROM traffic_year_changes;
       INSERT INTO traffic_years (place_id, year, place_kind, timezone, rules, since, until, concerns, means, day_sums, days,
         hour_sums, hours, top_starts, top_volumes, valid_ms)
       SELECT location_id, ${year}, 'location', zone, 1, make_date(${year}, 1, 1)::timestamp AT TIME ZONE zone,
         make_date(${year + 1}, 1, 1)::timestamp AT TIME ZONE zone, ARRAY[location_id, sensor_id],
         ARRAY(SELECT 4000 + n + sin(month) * 100 FROM generate_series(1, 12) AS month),
         ARRAY(SELECT 16000 + n * 4 + day FROM generate_series(1, 84) AS day), array_fill(4::smallint, ARRAY[84]),
         ARRAY(SELECT 600 + n + hour % 24 * 20 FROM generate_series(1, 2016) AS hour), array_fill(4::smallint, ARRAY[2016]),
         ARRAY(SELECT '${year}-03-03Z'::timestamptz + hour * interval '1 hour' FROM generate_series(1, 100) AS hour),
         ARRAY(SELECT 700 - hour FROM generate_series(1, 100) AS hour), 31536000000
       FROM network;
     END $$`,
  );
}

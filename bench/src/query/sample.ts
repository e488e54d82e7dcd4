import { DAY_MS } from '@gantry/contract/durations';
import { createRandom, mix, type Random } from '@gantry/simulator/src/random.ts';
import pg from 'pg';
import { BenchmarkFailed } from '../failure.ts';
import { firstIdAt, type HistoryOptions } from './history.ts';

/** The source of arguments: events spread evenly over the history. Times are in Unix milliseconds. */
export interface Sample {
  readonly from: number;
  readonly until: number;
  readonly ids: readonly string[];
  readonly sensorIds: readonly string[];
  /** A location with a stored year. */
  readonly networkId: string;
  /** The sensor that counted quarter hours for the whole history. */
  readonly detectorId: string;
  readonly locations: readonly string[];
  readonly plates: readonly string[];
  readonly vehicleTypes: readonly string[];
  readonly violationTypes: readonly string[];
  /** Unprocessed events, each of which is used once. */
  readonly unprocessed: string[];
}

const SIZE = 200;

interface Row {
  id: string;
  sensor_id: string;
  location_name: string;
  plate: string;
  vehicle_type: string;
  violation_type: string;
}

/** Reads a sample from a database. @param unprocessed the required number of unprocessed events @throws BenchmarkFailed if there are fewer */
export async function drawSample(
  databaseUrl: string,
  { from, until, seed }: HistoryOptions,
  unprocessed: number,
): Promise<Sample> {
  const random: Random = createRandom(mix(seed, 3));
  const times = Array.from({ length: SIZE }, () =>
    Math.floor(from + random.next() * (until - from - DAY_MS)),
  );
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const after = async (condition: string): Promise<Row[]> => {
      const { rows } = await client.query<Row>(
        `SELECT event.* FROM unnest($1::uuid[]) AS moment (first) CROSS JOIN LATERAL (
           SELECT id, sensor_id, location_name, plate, vehicle_type, violation_type FROM events
           WHERE id >= first AND ${condition} ORDER BY id LIMIT 1
         ) AS event`,
        [times.map(firstIdAt)],
      );
      return rows;
    };
    const any = await after('vehicle_type IS NOT NULL');
    const { rows: open } = await client.query<{ id: string }>(
      'SELECT id FROM events WHERE NOT processed ORDER BY md5(id::text) LIMIT $1',
      [unprocessed],
    );
    if (open.length < unprocessed)
      throw new BenchmarkFailed(
        `A history has ${open.length} events that are not processed, and the queries that mark them need ${unprocessed}: choose a longer one, or fewer --asks.`,
      );
    const { rows: detectors } = await client.query<{ sensor_id: string }>(
      'SELECT sensor_id FROM traffic_places WHERE periods LIMIT 1',
    );
    const { rows: network } = await client.query<{ id: string }>(
      "SELECT id FROM locations WHERE name = 'Network 1'",
    );
    return {
      from,
      until,
      ids: any.map(({ id }) => id),
      networkId: network[0]?.id ?? '',
      detectorId: detectors[0]?.sensor_id ?? '',
      sensorIds: any.map((row) => row.sensor_id),
      locations: any.map((row) => row.location_name),
      vehicleTypes: any.map((row) => row.vehicle_type),
      plates: (await after('plate IS NOT NULL')).map(({ plate }) => plate),
      violationTypes: (await after('violation_type IS NOT NULL')).map((row) => row.violation_type),
      unprocessed: open.map(({ id }) => id),
    };
  } finally {
    await client.end();
  }
}

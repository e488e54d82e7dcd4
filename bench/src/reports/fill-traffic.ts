import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';

const AT_ONCE = 1_000;
const ROLL_UP_DEADLINE_MS = 600_000;

/**
 * Counts all existing events as traffic, as ingestion does, and waits until the running service has rolled up the
 * counts.
 * @throws BenchmarkFailed after ten minutes
 */
export async function fillTraffic(databaseUrl: string): Promise<void> {
  await query(
    databaseUrl,
    `INSERT INTO traffic_unfolded
       (event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds, sign, first_id, last_id)
     SELECT array_agg(id), array_agg(event_type), array_agg(sensor_id), array_agg(location_id),
       array_agg(vehicle_type), array_agg(vehicle_speed), 1, (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id DESC))[1]
     FROM (SELECT *, row_number() OVER (ORDER BY id) / ${AT_ONCE} AS part FROM events) AS parts GROUP BY part`,
  );
  const deadline = performance.now() + ROLL_UP_DEADLINE_MS;
  while ((await query(databaseUrl, 'SELECT FROM traffic_unfolded LIMIT 1')).length > 0) {
    if (performance.now() > deadline) throw new BenchmarkFailed('The service does not roll up its traffic');
    await sleep(200);
  }
}

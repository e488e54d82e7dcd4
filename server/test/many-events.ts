import type pg from 'pg';
import { createPartitions } from '../src/events/partitions.ts';
import { createPool } from '../src/platform/database/pool.ts';

const FIRST = Date.UTC(2026, 6, 1);
const DAYS = 60;

/**
 * Inserts events of two months into a migrated database, with the columns that cameras fill, and without adding to the
 * counts.
 */
export const provideEvents = async (url: string, events: number): Promise<void> => {
  const pool: pg.Pool = createPool(url, 1, () => undefined, { statementTimeoutMs: 600_000 });
  try {
    const partitions = createPartitions(pool, () => FIRST);
    for (let day = 0; day < DAYS; day += 20) await partitions.ensure(FIRST + day * 86_400_000);
    await partitions.ensure(FIRST + (DAYS - 1) * 86_400_000);
    await pool.query(
      `INSERT INTO events (id, event_type, vehicle_type, sensor_id, sensor_name, location_name, plate, plate_key,
        vehicle_speed, metadata, created_at)
      SELECT (lpad(to_hex($2::bigint + n * ($3::bigint / $1)), 12, '0') || '7' || substr(md5(n::text), 1, 3) || 'a'
        || substr(md5(n::text), 4, 15))::uuid,
        'VEHICLE_DETECTION', 'CAR', '0190c0de-0000-7000-a000-000000000001'::uuid, 'Mast 7', 'Crossing ' || n % 60,
        'B-' || n % 9000, 'B' || n % 9000, 30 + n % 40, jsonb_build_object('lane', n % 3, 'confidence', 0.93),
        to_timestamp(($2::bigint + n * ($3::bigint / $1)) / 1000.0)
      FROM generate_series(0, $1::bigint - 1) AS n`,
      [events, FIRST, DAYS * 86_400_000],
    );
  } finally {
    await pool.end();
  }
};

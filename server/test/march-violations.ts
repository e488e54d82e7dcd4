import type pg from 'pg';
import { createPartitions } from '../src/events/partitions.ts';

// Violations of a month without any other events, and a report of them.

export const RANGE = { startDate: '2026-03-01', endDate: '2026-03-31' };
export const VIOLATIONS = { kind: 'VIOLATIONS', format: 'CSV', ...RANGE };

/** Inserts violations directly, without their counts: one per second from 2 March 2026, 00:00 UTC, on. */
export const storeViolations = async (pool: pg.Pool, until: number, from = 1): Promise<void> => {
  await createPartitions(pool, Date.now).ensure(Date.UTC(2026, 2, 5));
  await pool.query(
    `INSERT INTO events (id, event_type, violation_type, plate, plate_key, vehicle_speed, location_name)
     SELECT (lpad(to_hex($1::bigint + n * 1000), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid,
       'TRAFFIC_VIOLATION', 'SPEEDING', 'W ' || n, 'W' || n, 60 + n % 50, 'Ring ' || n % 9
     FROM generate_series($2::int, $3::int) AS n`,
    [Date.UTC(2026, 2, 2), from, until],
  );
};

import type { Page } from '@gantry/contract/page';
import type { Outage } from '@gantry/contract/quality';
import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { crossing } from './periods-store.ts';
import { HAS_VEHICLES } from './quality/no-hits-store.ts';

/** A sensor that does not work, since a time in Unix milliseconds. */
export interface StoppedSensor {
  readonly sensorId: string;
  readonly kind: Outage['kind'];
  readonly from: number;
}

interface StoppedRow extends Record<string, unknown> {
  sensor_id: string;
  kind: 'NO_DATA' | 'NO_HITS';
  at: number;
  total: number;
}

/**
 * One page of the sensors that once counted and do not work now, the longest first: they sent nothing since a time and are
 * not ONLINE, or had no vehicle since another one.
 * @param limits Unix milliseconds
 */
export async function listStoppedSensors(
  db: Executor,
  limits: { readonly silent: number; readonly empty: number },
  { skip, take }: { skip: number; take: number },
): Promise<Page<StoppedSensor>> {
  const lastOf = (minutes: number) => sql`(
    SELECT greatest(coalesce(last_at, slot + make_interval(mins => minutes)), last_at) AS at FROM traffic_bins
    WHERE minutes = ${sql.raw(String(minutes))} AND sensor_id = counting.sensor_id AND (vehicles > 0 OR first_at IS NOT NULL)
    ORDER BY slot DESC LIMIT 1)`;
  const lastCrossing = sql`(
    SELECT start + make_interval(secs => seconds) AS at FROM traffic_periods
    WHERE periods AND sensor_id = counting.sensor_id AND ${crossing(60)} AND ${HAS_VEHICLES}
    ORDER BY start DESC LIMIT 1)`;
  // Plan: for each sensor, the last row of each length in the unique index of traffic_bins, and traffic_periods_across_hours backwards.
  const { rows } = await db.execute<StoppedRow>(sql`
    WITH counting AS MATERIALIZED (
      SELECT sensor_id, bool_or(periods) AS periods, max(last_slot) + interval '5 minutes' AS reported
      FROM traffic_places WHERE detections OR plates OR periods GROUP BY 1
    ), known AS MATERIALIZED (
      SELECT id AS sensor_id, reported, periods, status,
        (SELECT max(at) FROM (${lastOf(5)} UNION ALL ${lastOf(15)} UNION ALL ${lastOf(60)} UNION ALL ${lastCrossing}) AS hit) AS hit
      FROM counting JOIN sensors ON sensors.id = counting.sensor_id
    ), stopped AS (
      SELECT sensor_id, CASE WHEN periods THEN reported ELSE coalesce(hit, reported) END AS since, 'NO_DATA' AS kind FROM known
      WHERE reported < ${moment(limits.silent)} AND (periods OR status <> 'ONLINE')
      UNION ALL
      SELECT sensor_id, hit, 'NO_HITS' FROM known
      WHERE hit < ${moment(limits.empty)} AND NOT (reported < ${moment(limits.silent)} AND (periods OR status <> 'ONLINE'))
    )
    SELECT sensor_id, kind, (extract(epoch FROM since) * 1000)::float8 AS at, (SELECT count(*)::int FROM stopped) AS total
    FROM stopped ORDER BY since, sensor_id LIMIT ${take} OFFSET ${skip}`);
  return {
    items: rows.map(({ sensor_id: sensorId, kind, at: from }) => ({ sensorId, kind, from })),
    total: rows[0]?.total ?? 0,
  };
}

/** Where a sensor stands. */
export interface SensorNames {
  readonly sensorName: string;
  readonly locationId: string | null;
  readonly locationName: string | null;
}

/** The names of sensors that still exist, and of their locations. */
export async function findNames(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SensorNames>> {
  const { rows } = await db.execute<SensorNames & { id: string } & Record<string, unknown>>(sql`
    SELECT sensors.id, sensors.name AS "sensorName", locations.id AS "locationId", locations.name AS "locationName"
    FROM sensors LEFT JOIN locations ON locations.id = location_id
    WHERE sensors.id = ANY (${sql.param([...new Set(ids)])}::uuid[])`);
  return new Map(rows.map(({ id, ...names }) => [id, names]));
}

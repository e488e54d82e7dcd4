import { type SQL, sql } from 'drizzle-orm';

/**
 * When a sensor was heard of first, as an expression: by a heartbeat, or by the first vehicle that it told of; null: never.
 * Until then it may not be mounted yet, and is not silent.
 * @param sensorId the column that names the sensor
 */
export function firstContact(sensorId: SQL): SQL {
  return sql`least(
  (SELECT min(at) FROM sensor_status_history
    WHERE sensor_status_history.sensor_id = ${sensorId} AND to_status IN ('ONLINE', 'ERROR')),
  (SELECT min(first_slot) FROM traffic_places WHERE traffic_places.sensor_id = ${sensorId}))`;
}

import { isUuid } from '@gantry/contract/id';
import type { SensorKeyInfo } from '@gantry/contract/sensors';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { found, notFound } from '../platform/error.ts';

/** A condition: the key is the one of the sensor, or the previous one within the time of overlap. */
export function acceptsKey(apiKey: string): SQL {
  return sql`(sensors.api_key = ${apiKey} OR ${acceptsPreviousKey(apiKey)})`;
}

/** A condition: the key is the previous one, within the time of overlap. */
export function acceptsPreviousKey(apiKey: string): SQL {
  return sql`(sensors.previous_key = ${apiKey} AND sensors.previous_key_until > statement_timestamp())`;
}

/**
 * Sets the key of a sensor. The previous one remains valid for some minutes; older ones become invalid.
 * @throws AppError `notFound`
 */
export async function replaceKey(
  tx: Executor,
  id: string,
  { apiKey, overlapMinutes }: { apiKey: string; overlapMinutes: number },
): Promise<void> {
  if (!isUuid(id)) throw notFound('Sensor');
  const hasOverlap = sql`${overlapMinutes}::integer > 0`;
  const { rowCount } = await tx.execute(sql`
    UPDATE sensors SET api_key = ${apiKey}, key_rotated_at = statement_timestamp(), key_used_at = NULL,
      previous_key = CASE WHEN ${hasOverlap} THEN api_key END,
      previous_key_until =
        CASE WHEN ${hasOverlap} THEN statement_timestamp() + make_interval(mins => ${overlapMinutes}::integer) END,
      previous_key_used_at = CASE WHEN ${hasOverlap} THEN key_used_at END,
      updated_at = now()
    WHERE id = ${id}::uuid`);
  if (rowCount !== 1) throw notFound('Sensor');
}

interface KeyRow extends Record<string, unknown> {
  used_at: string | null;
  rotated_at: string | null;
  previous_until: string | null;
  previous_used_at: string | null;
}

/** When a sensor's keys were used and replaced, without the keys themselves. @throws AppError `notFound` */
export async function getKeyInfo(db: Executor, id: string): Promise<SensorKeyInfo> {
  const overlap = sql`previous_key_until > statement_timestamp()`;
  const { rows } = isUuid(id)
    ? await db.execute<KeyRow>(sql`
        SELECT key_used_at AS used_at, key_rotated_at AS rotated_at,
          CASE WHEN ${overlap} THEN previous_key_until END AS previous_until,
          CASE WHEN ${overlap} THEN previous_key_used_at END AS previous_used_at
        FROM sensors WHERE id = ${id}::uuid`)
    : { rows: [] };
  const row = found(rows, 'Sensor');
  const moment = (at: string | null): Date | null => (at === null ? null : new Date(at));
  return {
    lastUsedAt: moment(row.used_at),
    rotatedAt: moment(row.rotated_at),
    previousValidUntil: moment(row.previous_until),
    previousLastUsedAt: moment(row.previous_used_at),
  };
}

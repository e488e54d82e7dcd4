import type { Page } from '@gantry/contract/page';
import {
  nextStatus,
  type SensorSignal,
  type SensorStatus,
  type StatusChange,
} from '@gantry/contract/sensors';
import { count, desc, eq } from 'drizzle-orm';
import type { Pool } from 'pg';
import { locks } from '../database/locks.ts';
import { sensorStatusHistory as history, users } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';

/** A change of status by a person. */
export interface ChangeByHand {
  readonly sensorId: string;
  readonly from: SensorStatus | null;
  readonly to: SensorStatus;
  readonly reason: string;
  readonly userId: string;
}

/** Writes down a change of status, in the transaction that makes it. */
export const recordStatusChange = async (db: Executor, change: ChangeByHand): Promise<void> => {
  const { sensorId, from: fromStatus, to: toStatus, reason, userId: changedBy } = change;
  await db.insert(history).values({ sensorId, fromStatus, toStatus, reason, changedBy });
};

/** How a sensor's status came about, newest first. Of a user who is gone nothing is told. */
export const listStatusChanges = async (
  db: Executor,
  sensorId: string,
  { skip, take }: { skip: number; take: number },
): Promise<Page<StatusChange>> => {
  const ofSensor = eq(history.sensorId, sensorId);
  const rows = await db
    .select({
      from: history.fromStatus,
      to: history.toStatus,
      at: history.at,
      reason: history.reason,
      user: { id: users.id, firstName: users.firstName, lastName: users.lastName },
    })
    .from(history)
    .leftJoin(users, eq(users.id, history.changedBy))
    .where(ofSensor)
    .orderBy(desc(history.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(history).where(ofSensor);
  const items = rows.map(({ user, ...change }) => ({
    ...change,
    changedBy: user && { id: user.id, name: `${user.firstName} ${user.lastName}` },
  }));
  return { items, total: counted?.total ?? 0 };
};

/** What a sensor says of itself; `null` leaves what is known. */
export interface SelfReport {
  readonly sensorId: string;
  /** The key it spoke with: a heartbeat that was under way when the key died counts no more. */
  readonly apiKey: string;
  readonly signal: Exclude<SensorSignal, 'silence'>;
  readonly reason: string;
  readonly firmware: string | null;
  readonly ipAddress: string | null;
  readonly macAddress: string | null;
}

// The row is locked before its status is read, so that of several changes at once each builds on the one before.
const HEARTBEAT = {
  name: 'heartbeat',
  text: `
    WITH before AS (
      SELECT id, status, $3::jsonb ->> status AS next_status, coalesce($5, firmware) AS firmware,
        coalesce($6, ip_address) AS ip_address, coalesce($7, mac_address) AS mac_address
      FROM sensors WHERE id = $1 AND api_key = $2
      FOR NO KEY UPDATE
    ), after AS (
      UPDATE sensors SET
        status = before.next_status,
        status_since = CASE WHEN before.status = before.next_status THEN sensors.status_since ELSE now() END,
        last_heartbeat = now(),
        last_communication = now(),
        firmware = before.firmware,
        ip_address = before.ip_address,
        mac_address = before.mac_address,
        updated_at = CASE
          WHEN (sensors.status, sensors.firmware, sensors.ip_address, sensors.mac_address)
            IS NOT DISTINCT FROM (before.next_status, before.firmware, before.ip_address, before.mac_address)
          THEN sensors.updated_at ELSE now() END
      FROM before WHERE sensors.id = before.id
      RETURNING sensors.id, before.status AS old_status, sensors.status
    ), recorded AS (
      INSERT INTO sensor_status_history (sensor_id, from_status, to_status, reason)
      SELECT id, old_status, status, $4::text FROM after WHERE old_status <> status
    )
    SELECT status, now()::timestamptz(3) AS server_time FROM after`,
};

/** Takes in a heartbeat; null when no sensor has the id and the key (any more). */
export const recordHeartbeat = async (
  pool: Pool,
  report: SelfReport,
): Promise<{ status: SensorStatus; serverTime: Date } | null> => {
  const { rows } = await pool.query<{ status: SensorStatus; server_time: Date }>({
    ...HEARTBEAT,
    values: [
      report.sensorId,
      report.apiKey,
      JSON.stringify(nextStatus[report.signal]),
      report.reason,
      report.firmware,
      report.ipAddress,
      report.macAddress,
    ],
  });
  const [row] = rows;
  return row ? { status: row.status, serverTime: row.server_time } : null;
};

// Of many processes the one that gets the lock does the work. A sensor that is being changed right now is not silent,
// or its turn comes with the next round.
const SILENCE = `
  WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($1) AS mine
  ), silent AS (
    SELECT sensors.id, sensors.status FROM sensors, turn
    WHERE turn.mine AND sensors.status = 'ONLINE'
      AND greatest(sensors.last_heartbeat, sensors.status_since) < now() - make_interval(secs => $2)
    ORDER BY sensors.id FOR NO KEY UPDATE OF sensors SKIP LOCKED
  ), after AS (
    UPDATE sensors SET status = $3::jsonb ->> silent.status, status_since = now(), updated_at = now()
    FROM silent WHERE sensors.id = silent.id
    RETURNING sensors.id, silent.status AS old_status, sensors.status
  ), recorded AS (
    INSERT INTO sensor_status_history (sensor_id, from_status, to_status, reason)
    SELECT id, old_status, status, $4::text FROM after
  )
  SELECT count(*) AS silenced FROM after`;

/**
 * Gives every sensor that is ONLINE and was not heard of for the time-out the status that follows from silence.
 * @returns how many changed
 */
export const silenceSensors = async (pool: Pool, timeoutSeconds: number): Promise<number> => {
  const { rows } = await pool.query<{ silenced: number }>(SILENCE, [
    locks.sweep,
    timeoutSeconds,
    JSON.stringify(nextStatus.silence),
    `no heartbeat for ${timeoutSeconds} ${timeoutSeconds === 1 ? 'second' : 'seconds'}`,
  ]);
  return rows[0]?.silenced ?? 0;
};

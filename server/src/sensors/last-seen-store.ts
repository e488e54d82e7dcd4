import type { EventType } from '@gantry/contract/events';
import { nextStatus } from '@gantry/contract/sensors';
import type { Pool } from 'pg';

/** An accepted event: when it arrived, in Unix milliseconds. */
export interface LastEvent {
  readonly at: number;
  readonly type: EventType;
}

/** Times of the times last seen, by the ids of the sensors. */
export interface Contacts {
  readonly byKey: ReadonlyMap<string, Date>;
  readonly byPreviousKey: ReadonlyMap<string, Date>;
  readonly byConnection: ReadonlyMap<string, Date>;
  /** Their last accepted events. */
  readonly events: ReadonlyMap<string, LastEvent>;
}

// Rows are locked in the order of their ids, as in every change of several sensors.
const TOUCH = `
  WITH contact AS (
    SELECT id, at, event_at, event_type
    FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $5::text[]) AS contact (id, at, event_at, event_type)
  ), locked AS (
    SELECT sensors.id, contact.at, contact.event_at, contact.event_type FROM sensors JOIN contact USING (id)
    ORDER BY sensors.id FOR NO KEY UPDATE OF sensors
  ), touched AS (
    UPDATE sensors SET last_communication = greatest(sensors.last_communication, locked.at),
      last_event_at = greatest(sensors.last_event_at, locked.event_at),
      last_event_type = CASE WHEN locked.event_at >= coalesce(sensors.last_event_at, '-infinity') THEN locked.event_type
        ELSE sensors.last_event_type END, `;

/**
 * The time after which an event is a liveness signal of a sensor. The first event may follow the registration at once, and
 * the clocks of the service and the database may differ by some milliseconds.
 */
export const ALIVE_AFTER =
  "CASE WHEN sensors.status_since = sensors.created_at THEN sensors.created_at - interval '1 second' ELSE sensors.status_since END";

// Returns the sensors whose status the event would change. An event from before the last change of status changes
// nothing, nor does one that is older than the time-out.
const OF_LOCKED = `
    FROM locked WHERE sensors.id = locked.id
    RETURNING sensors.id, sensors.status, ${ALIVE_AFTER} AS alive_after, sensors.requires_heartbeats, locked.event_at
  )
  SELECT id FROM touched
  WHERE event_at > alive_after AND event_at > now() - make_interval(secs => $4::integer)
    AND NOT requires_heartbeats AND status <> '${JSON.stringify(nextStatus.event)}'::jsonb ->> status`;

// For a second after a rotation, a process may consider the previous key to be the current one.
const TOUCH_BY_KEY = `${TOUCH} key_used_at = CASE
    WHEN locked.at < sensors.key_rotated_at + interval '2 seconds' THEN sensors.key_used_at
    ELSE greatest(sensors.key_used_at, locked.at) END ${OF_LOCKED}`;
const TOUCH_BY_PREVIOUS_KEY = `${TOUCH} previous_key_used_at = greatest(sensors.previous_key_used_at, locked.at)
  ${OF_LOCKED}`;
const TOUCH_ONLY = `${TOUCH} updated_at = sensors.updated_at ${OF_LOCKED}`;

/**
 * Moves the times of the time last seen and the last event of many sensors forward, never back. Deleted sensors are
 * skipped.
 * @returns the ids of sensors whose status must change because of an event
 */
export async function touchSensors(
  pool: Pool,
  { byKey, byPreviousKey, byConnection, events }: Contacts,
  timeoutSeconds: number,
): Promise<string[]> {
  const awakened: string[] = [];
  const touch = async (statement: string, contacts: ReadonlyMap<string, Date>): Promise<void> => {
    if (contacts.size === 0) return;
    const ids = [...contacts.keys()];
    const latest = ids.map((id) => events.get(id));
    const { rows } = await pool.query<{ id: string }>(statement, [
      ids,
      [...contacts.values()],
      latest.map((event) => (event ? new Date(event.at) : null)),
      timeoutSeconds,
      latest.map((event) => event?.type ?? null),
    ]);
    awakened.push(...rows.map(({ id }) => id));
  };
  // An event may have been accepted in the interval after the one in which it arrived.
  const elsewhere = [...events].filter(
    ([id]) => !byKey.has(id) && !byPreviousKey.has(id) && !byConnection.has(id),
  );
  await touch(TOUCH_BY_KEY, byKey);
  await touch(TOUCH_BY_PREVIOUS_KEY, byPreviousKey);
  const others = elsewhere.map(([id, { at }]): [string, Date] => [id, new Date(at)]);
  await touch(TOUCH_ONLY, new Map([...byConnection, ...others]));
  return awakened;
}

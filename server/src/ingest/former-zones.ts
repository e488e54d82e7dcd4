import type { ReportedEvent } from '@gantry/contract/events';
import type { Pool } from 'pg';
import { keyedEventId } from '../events/id.ts';
import { Groups } from '../platform/groups.ts';
import { isLocalTime, resolveTime } from '../platform/time.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import { findContentHashes } from './insert-store.ts';

/** Finds which of some ids belong to events that are stored or were deleted by a user. */
export type KnownEvents = Groups<readonly string[], { has(id: string): boolean }>;

/** The events of a batch are looked up together: one by one, they would occupy the connections for seconds. */
export function createKnownEvents(pool: Pool): KnownEvents {
  return new Groups<readonly string[], { has(id: string): boolean }>({
    write: async (lists) => {
      const known = await findContentHashes(pool, lists.flat());
      return lists.map(() => known);
    },
    mayBeOne: () => false,
  });
}

/**
 * The event with the time of its first attempt, if that was made under another time zone. The id of an event with a
 * key depends on its time, and a time without an offset now means another moment.
 * @param zones the current time zone, followed by the previous ones
 */
export async function asFirstReported(
  known: KnownEvents,
  sensor: KnownSensor,
  event: ReportedEvent,
  zones: readonly string[],
): Promise<ReportedEvent> {
  const { timestamp, idempotencyKey } = event;
  if (idempotencyKey === undefined || timestamp === undefined || !isLocalTime(timestamp)) return event;
  const attempts = zones.map((zone) => {
    const time = resolveTime(timestamp, zone);
    return { time, id: keyedEventId(time, sensor.id, idempotencyKey) };
  });
  const found = await known.add(attempts.map(({ id }) => id));
  const first = attempts.find(({ id }) => found.has(id));
  return first ? { ...event, timestamp: new Date(first.time).toISOString() } : event;
}

import type { ReportedEvent } from '@gantry/contract/events';
import { keyedEventId } from '../events/id.ts';
import type { Core } from '../platform/context.ts';
import { isLocalTime, resolveTime } from '../platform/time.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import { findContentHashes } from './insert-store.ts';

/**
 * The event with the time of its first attempt, if that came while another time zone was set: the id of an event with a key
 * follows from its time, and a time without an offset means another moment since.
 * @param zones the time zone in force, and then those that were before
 */
export async function asFirstSaid(
  { devices }: Pick<Core, 'devices'>,
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
  const known = await findContentHashes(
    devices.$client,
    attempts.map(({ id }) => id),
  );
  const first = attempts.find(({ id }) => known.has(id));
  return first ? { ...event, timestamp: new Date(first.time).toISOString() } : event;
}

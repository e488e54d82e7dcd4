import type { ReportedEvent } from '@gantry/contract/events';
import { keyedEventId } from '../events/id.ts';
import type { Core } from '../platform/context.ts';
import { isLocalTime, resolveTime } from '../platform/time.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import { findContentHashes } from './insert-store.ts';

/**
 * The event with the time of its first attempt, if that was made under another time zone. The id of an event with a
 * key depends on its time, and a time without an offset now means another moment.
 * @param zones the current time zone, followed by the previous ones
 */
export async function asFirstReported(
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

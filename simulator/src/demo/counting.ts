import type { GantryClient } from '@gantry/client';
import { MAX_PERIODS } from '@gantry/contract/counts';
import { periodsOf, QUARTER_MS } from '../counter.ts';
import { speak } from '../delivery.ts';
import type { Device } from '../device.ts';
import type { TimeRange } from '../history.ts';
import { roadOf } from '../places.ts';
import { pause } from '../retry.ts';
import type { VirtualSensor } from '../sensor.ts';

/** How long after a quarter hour the counter reports it, in milliseconds. */
const DELAY_MS = 2_000;

/**
 * Sends the quarter hours of a time that are over. Repeating it sends the same counts, which the service stores only once.
 * @returns the end of the last one, in Unix milliseconds
 */
export async function sendCounts(device: Device, { from, to }: TimeRange): Promise<number> {
  let start = Math.floor(from / QUARTER_MS) * QUARTER_MS;
  while (start + QUARTER_MS <= to && !device.signal.aborted) {
    const periods: ReturnType<typeof periodsOf> = [];
    let next = start;
    for (; next + QUARTER_MS <= to && periods.length + 4 <= MAX_PERIODS; next += QUARTER_MS)
      periods.push(...periodsOf(device.sensor, next));
    const { api, apiKey } = device;
    if ((await speak(device, () => api.counts.ingest.mutate({ apiKey, periods }))) === null) break;
    start = next;
  }
  return start;
}

/** Reports each quarter hour when it is over, from `from` on (Unix milliseconds), until the device is stopped. */
export async function keepCounting(device: Device, from: number): Promise<void> {
  for (let start = from; !device.signal.aborted; ) {
    start = await sendCounts(device, { from: start, to: Date.now() });
    await pause(start + QUARTER_MS + DELAY_MS - Date.now(), device.signal);
  }
}

/** The measuring points of the counter: a carriageway of two lanes in each direction, and what counts there. */
export async function ensurePoints(
  api: GantryClient['api'],
  { deviceId, place }: VirtualSensor,
): Promise<void> {
  const { sensors } = await api.sensors.getAll.query({ search: deviceId, take: 1 });
  const [sensor] = sensors;
  if (!sensor?.locationId) return;
  const { locationId } = sensor;
  const { points } = await api.points.list.query({ locationId });
  for (const [direction, bearing] of [
    ['NB', 330],
    ['SB', 150],
  ] as const) {
    if (points.some((point) => point.direction === direction)) continue;
    const name = `${roadOf(place)} ${direction}`;
    const point = {
      locationId,
      name,
      direction,
      bearing,
      lanes: 2,
      roadClass: 'primary',
      setting: 'URBAN',
    } as const;
    const { id } = await api.points.create.mutate(point);
    await api.assignments.create.mutate({ sensorId: sensor.id, pointId: id, channel: { direction } });
  }
}

import { MINUTE_MS } from '@gantry/contract/durations';
import { MAX_INGEST_BATCH } from '@gantry/contract/events';
import { sendBatch } from './delivery.ts';
import type { Device } from './device.ts';
import { eventsOfMinute, type Pace, type TimedEvent } from './stream.ts';

/** A period in Unix milliseconds: `from` is inclusive, `to` exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Number of devices that send concurrently. */
const AT_ONCE = 4;

/** Number of simulated minutes after which the event loop gets a turn, so that timers and signals are handled. */
const MINUTES_AT_ONCE = 1440;

/**
 * Sends the events of the devices for a period in the past. Repeating it sends the same events with the same keys,
 * which the service stores only once.
 */
export async function sendHistory(
  devices: readonly Device[],
  during: TimeRange,
  pace: Pace,
  onProgress: (share: number) => void,
): Promise<void> {
  const minutes = (devices.length * (during.to - during.from)) / MINUTE_MS;
  let done = 0;
  const queue = [...devices];
  const work = async (): Promise<void> => {
    for (let device = queue.shift(); device; device = queue.shift()) {
      await sendHistoryOf(device, during, pace, (more) => {
        done += more;
        onProgress(Math.min(1, done / minutes));
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function sendHistoryOf(
  device: Device,
  { from, to }: TimeRange,
  pace: Pace,
  onProgress: (minutes: number) => void,
): Promise<void> {
  let batch: TimedEvent[] = [];
  const last = Math.ceil(to / MINUTE_MS);
  for (let minute = Math.floor(from / MINUTE_MS); minute < last && !device.signal.aborted; minute++) {
    for (const event of eventsOfMinute(device.sensor, minute, pace)) {
      if (event.at >= from && event.at < to) batch.push(event);
      if (batch.length === MAX_INGEST_BATCH) {
        await sendBatch(device, batch);
        batch = [];
      }
    }
    onProgress(1);
    if (minute % MINUTES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (!device.signal.aborted) await sendBatch(device, batch);
}

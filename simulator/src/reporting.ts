import { MAX_INGEST_BATCH } from '@gantry/contract/events';
import { sendBatch, sendEach, speak } from './delivery.ts';
import type { Device } from './device.ts';
import { identityOf, issuesAt } from './health.ts';
import { pause } from './retry.ts';
import { createStream, type Pace, type TimedEvent } from './stream.ts';

/** If more events than this are due, they are a backlog, which is sent as a batch. */
const FEW = 4;

/**
 * Sends the device's events as they happen, from `from` (Unix milliseconds) on. When it is stopped, it tries once
 * more to send what is due.
 * @returns the number of events that could not be sent
 */
export async function reportEvents(device: Device, from: number, pace: Pace): Promise<number> {
  const { signal, sensor, tally } = device;
  const stream = createStream(sensor, from, pace);
  let left: readonly TimedEvent[] = [];
  while (!signal.aborted) {
    const due = stream.take(Date.now(), MAX_INGEST_BATCH);
    if (due.length > FEW) left = await sendBatch(device, due);
    else if (due.length > 0) left = await sendEach(device, due);
    else await pause(stream.nextAt(Date.now()) - Date.now() + 1, signal);
  }
  if (tally.dismissed.has(sensor.deviceId)) return left.length;
  const now = Date.now();
  const last = [...left, ...stream.take(now, MAX_INGEST_BATCH - left.length)];
  let unsent = (await sendBatch(device, last)).length;
  for (let more = MAX_INGEST_BATCH; more === MAX_INGEST_BATCH; unsent += more) {
    more = stream.take(now, MAX_INGEST_BATCH).length;
  }
  return unsent;
}

/** Seconds between heartbeats until the service has requested another interval. */
const INITIAL_INTERVAL_SECONDS = 30;

/** Sends heartbeats at the interval requested by the service, or up to 10 % earlier, the first after `delay` milliseconds. */
export async function keepBeating(device: Device, delay: number): Promise<void> {
  const { api, apiKey, sensor, signal, random, tally } = device;
  const identity = identityOf(sensor);
  let intervalSeconds = INITIAL_INTERVAL_SECONDS;
  await pause(delay, signal);
  while (!signal.aborted) {
    const issues = issuesAt(sensor, Date.now());
    const outcome = await speak(device, () => api.sensors.heartbeat.mutate({ apiKey, ...identity, issues }));
    if (outcome === null) return;
    if ('answer' in outcome) {
      tally.heartbeats++;
      tally.status.set(sensor.deviceId, outcome.answer.status);
      intervalSeconds = outcome.answer.intervalSeconds;
    }
    await pause(intervalSeconds * 1000 * (0.9 + 0.1 * random.next()), signal);
  }
}

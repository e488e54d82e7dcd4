import type { Device } from '../device.ts';
import { pause, waitBefore } from '../retry.ts';
import { createStream, type Pace } from '../stream.ts';
import type { DeviceRequest, Maker } from './maker.ts';
import { makeOf, sightingOf } from './sighting.ts';

/** A device that sends messages as the devices of a maker do. */
export interface ActingDevice {
  readonly device: Device;
  readonly maker: Maker;
  /** The address of its connection. */
  readonly address: string;
}

const TIMEOUT_MS = 30_000;
const HEARTBEAT_MS = 30_000;
const MAX_AT_ONCE = 100;

/** Maximum number of vehicles whose messages are sent concurrently, because a busy camera does not wait for an answer. */
const MAX_VEHICLES = 20;

/**
 * Sends the messages about the vehicles of the device from `from` (Unix milliseconds) on, and its heartbeats, until it is
 * stopped. A message that is not accepted is lost unless devices of the maker send it again.
 */
export async function actAs(acting: ActingDevice, from: number, pace: Pace): Promise<void> {
  await Promise.all([reportVehicles(acting, from, pace), keepBeating(acting)]);
}

async function reportVehicles(acting: ActingDevice, from: number, pace: Pace): Promise<void> {
  const { device, maker } = acting;
  const { signal, sensor, tally, random } = device;
  const stream = createStream(sensor, from, pace);
  const underWay = new Set<Promise<void>>();
  while (!signal.aborted) {
    const due = stream.take(Date.now(), MAX_AT_ONCE);
    for (const event of due) {
      const sighting = sightingOf(sensor, event);
      if (!sighting) continue;
      const work = sendAll(acting, maker.messagesOf(sighting, random))
        .then((isAccepted) => {
          if (isAccepted) tally.sent++;
        })
        .finally(() => underWay.delete(work));
      underWay.add(work);
      if (underWay.size >= MAX_VEHICLES) await Promise.race(underWay);
    }
    if (due.length === 0) await pause(stream.nextAt(Date.now()) - Date.now() + 1, signal);
  }
  await Promise.all(underWay);
}

/** Sends the messages about one vehicle. @returns whether the last of them was accepted */
async function sendAll(acting: ActingDevice, requests: readonly DeviceRequest[]): Promise<boolean> {
  const { device, maker } = acting;
  let isAccepted = false;
  for (const request of requests) {
    if (request.afterMs > 0) await pause(request.afterMs, device.signal);
    isAccepted = await send(acting, request);
    if (isAccepted && device.random.chance(maker.doubled)) {
      device.tally.duplicates++;
      await send(acting, request);
    }
  }
  return isAccepted;
}

/** Sends a message, and repeats it as devices of the maker do until it is accepted. @returns whether it was accepted */
async function send({ device, maker, address }: ActingDevice, request: DeviceRequest): Promise<boolean> {
  const { tally, signal, random, sensor } = device;
  for (let attempt = 0; ; attempt++) {
    const status = await post(address, request);
    if (status >= 200 && status < 300) {
      tally.waiting.delete(sensor.deviceId);
      tally.status.set(sensor.deviceId, 'ONLINE');
      return true;
    }
    tally.lastRefusal = `${sensor.deviceId}: ${status === 0 ? 'no answer' : `answered ${status}`}`;
    if (status === 401 || status === 404) {
      tally.dismissed.add(sensor.deviceId);
      device.dismiss();
    }
    if (attempt >= maker.repeats || signal.aborted) {
      tally.refused++;
      return false;
    }
    tally.retries++;
    tally.waiting.add(sensor.deviceId);
    await pause(waitBefore(attempt, random), signal);
  }
}

/** Sends a request. @returns the HTTP status of the answer; 0 without one */
async function post(address: string, { path, contentType, body }: DeviceRequest): Promise<number> {
  try {
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

async function keepBeating(acting: ActingDevice): Promise<void> {
  const { device, maker } = acting;
  if (!maker.heartbeatOf) return;
  const { sensor, signal, tally, random } = device;
  while (!signal.aborted) {
    const beat = maker.heartbeatOf({ at: Date.now(), device: makeOf(sensor) });
    if (await send(acting, beat)) tally.heartbeats++;
    await pause(HEARTBEAT_MS * (0.9 + 0.1 * random.next()), signal);
  }
}

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGantryClient, type GantryClient, GantryError } from '@gantry/client';
import { mayDo } from '@gantry/contract/permissions';
import { createDevice, type Device, type RegisteredSensor } from './device.ts';
import { keepBeating, reportEvents } from './reporting.ts';
import { bar, count, type Screen, trafficNow } from './screen.ts';
import type { Pace } from './stream.ts';
import { createTally, type Tally } from './tally.ts';

/** A reason why the simulation cannot start or continue. The message says what to do. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

/**
 * Logs in a user who may manage sensors.
 * @throws SimulationError when the service is unreachable, the login fails, or the user may not manage sensors;
 * GantryError `SERVICE_UNAVAILABLE` when it cannot answer at the moment
 */
export async function logIn(url: string, email: string, password: string): Promise<GantryClient> {
  const client = createGantryClient(url);
  try {
    const { role } = await client.login(email, password);
    if (mayDo(role, 'manageSensors')) return client;
    throw new SimulationError(`${email} is ${role} and may not manage sensors: log in as ADMIN or OPERATOR`);
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'SERVICE_UNAVAILABLE') throw error;
    if (error.code === 'UNAUTHORIZED') {
      throw new SimulationError(
        `Cannot log in as ${email}: ${error.message}. Check the e-mail address and the password`,
      );
    }
    const hint =
      error.code === 'UNREACHABLE' ? '. Is the service running there? Start it, or give another address' : '';
    throw new SimulationError(`${error.message}${hint}`);
  }
}

/** The devices of a simulation with their results. */
export interface Crew {
  readonly devices: readonly Device[];
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** Creates a device for each sensor. Devices use only their keys, so their client is not logged in. */
export function assemble(url: string, sensors: readonly RegisteredSensor[], signal: AbortSignal): Crew {
  setMaxListeners(0, signal);
  const tally = createTally();
  const { api } = createGantryClient(url);
  const devices = sensors.map((sensor) => createDevice(sensor, api, tally, signal));
  return { devices, tally, signal };
}

/** Time for calls in progress to end after the fleet is stopped, in milliseconds. */
const GRACE_MS = 3_000;
const FIRST_HEARTBEATS_MS = 1_000;

/**
 * Lets all devices send heartbeats and events from `from` (Unix milliseconds) until the signal is aborted.
 * @returns the number of events that were due and could not be sent
 * @throws SimulationError when the service refuses the keys of all devices
 */
export async function runCrew({ devices, tally, signal }: Crew, from: number, pace: Pace): Promise<number> {
  let unsent = 0;
  const stopped = Promise.all(
    devices.map(async (device, index) => {
      const delay = (index / devices.length) * FIRST_HEARTBEATS_MS;
      const [left] = await Promise.all([reportEvents(device, from, pace), keepBeating(device, delay)]);
      unsent += left;
    }),
  );
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([stopped, aborted.then(() => sleep(GRACE_MS, undefined, { ref: false }))]);
  if (tally.dismissed.size < devices.length || signal.aborted) return unsent;
  throw new SimulationError(
    `The service refuses every sensor (${tally.lastRefusal}). Start again to register them`,
  );
}

const REDRAW_MS = 500;
const RATE_WINDOW_MS = 5_000;

/** Shows the state of the devices until it is stopped. */
export function watch({ devices, tally }: Crew, screen: Screen, pace: Pace): { stop(): void } {
  const samples = [{ at: Date.now(), sent: tally.sent }];
  const draw = (): void => {
    const at = Date.now();
    samples.push({ at, sent: tally.sent });
    while (samples.length > 2 && at - (samples[0]?.at ?? at) > RATE_WINDOW_MS) samples.shift();
    const [first = { at, sent: tally.sent }] = samples;
    const perSecond = (tally.sent - first.sent) / Math.max(0.001, (at - first.at) / 1000);
    const online = [...tally.status.values()].filter((status) => status === 'ONLINE').length;
    const parts = [
      `${online}/${devices.length} online`,
      `${perSecond.toFixed(1)} events/s`,
      `${count(tally.sent)} sent`,
      `${count(tally.refused)} refused`,
      `${count(tally.retries)} retries`,
    ];
    if (tally.waiting.size > 0) parts.push(`${tally.waiting.size} trying again`);
    else if (!pace.steady) parts.push(trafficNow(at));
    screen.show(parts.join(', '));
  };
  const timer = setInterval(draw, REDRAW_MS);
  return {
    stop() {
      clearInterval(timer);
      screen.end();
    },
  };
}

/** The progress line of a history that is being sent. */
export function historyLine(share: number, { sent, refused }: Tally): string {
  return `History ${bar(share)} · ${count(sent)} events${refused > 0 ? ` · ${count(refused)} refused` : ''}`;
}

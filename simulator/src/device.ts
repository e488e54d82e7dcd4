import { setMaxListeners } from 'node:events';
import type { GantryClient } from '@gantry/client';
import { createRandom, mix, type Random } from './random.ts';
import type { VirtualSensor } from './sensor.ts';
import type { Tally } from './tally.ts';

/** A virtual sensor that the service knows: it has a key, and speaks with nothing else. */
export interface Device {
  readonly sensor: VirtualSensor;
  readonly apiKey: string;
  readonly api: GantryClient['api'];
  readonly tally: Tally;
  /** Ends everything the device does. */
  readonly signal: AbortSignal;
  /** Dice for waiting times, which change nothing of what it reports. */
  readonly random: Random;
  /** Ends this device alone. */
  dismiss(): void;
}

/** A sensor with the key that the service gave it. */
export interface RegisteredSensor {
  readonly sensor: VirtualSensor;
  readonly apiKey: string;
}

export function createDevice(
  { sensor, apiKey }: RegisteredSensor,
  api: GantryClient['api'],
  tally: Tally,
  signal: AbortSignal,
): Device {
  const own = new AbortController();
  const either = AbortSignal.any([signal, own.signal]);
  setMaxListeners(0, either);
  const random = createRandom(mix(sensor.seed, Date.now()));
  return { sensor, apiKey, api, tally, signal: either, random, dismiss: () => own.abort() };
}

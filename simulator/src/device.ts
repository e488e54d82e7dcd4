import { setMaxListeners } from 'node:events';
import type { GantryClient } from '@gantry/client';
import { createRandom, mix, type Random } from './random.ts';
import type { VirtualSensor } from './sensor.ts';
import type { Tally } from './tally.ts';

/** A virtual sensor registered with the service. It uses only its key. */
export interface Device {
  readonly sensor: VirtualSensor;
  readonly apiKey: string;
  readonly api: GantryClient['api'];
  readonly tally: Tally;
  /** Aborted when the device must stop. */
  readonly signal: AbortSignal;
  /** Random numbers for delays, which do not affect what it reports. */
  readonly random: Random;
  /** Stops only this device. */
  dismiss(): void;
}

/** A sensor with the key from the service. */
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

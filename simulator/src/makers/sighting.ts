import { createHash } from 'node:crypto';
import { identityOf } from '../health.ts';
import { limitKmh } from '../places.ts';
import { createRandom, mix, seedOf } from '../random.ts';
import type { VirtualSensor } from '../sensor.ts';
import type { TimedEvent } from '../stream.ts';

/** A vehicle as seen by a camera, from which the messages of all makers are made. */
export interface Sighting {
  /** Unix milliseconds */
  readonly at: number;
  /** A number and a UUID that identify the vehicle. They are the same in every run with the same seed. */
  readonly number: number;
  readonly uuid: string;
  readonly plate: string | null;
  /** From 0 to 1. */
  readonly confidence: number;
  /** km/h; null when this camera measures no speed */
  readonly speed: number | null;
  /** km/h */
  readonly limit: number;
  readonly vehicleType: string;
  readonly lane: number;
  readonly isApproaching: boolean;
  readonly image: Buffer | null;
  readonly device: {
    readonly id: string;
    readonly name: string;
    readonly serial: string;
    readonly mac: string;
    readonly address: string;
    readonly latitude: number;
    readonly longitude: number;
  };
}

/** The vehicle of an event; null for an incident, which these cameras do not report. */
export function sightingOf(sensor: VirtualSensor, { at, input }: TimedEvent): Sighting | null {
  if (input.eventType === 'INCIDENT') return null;
  const digest = createHash('sha256')
    .update(input.idempotencyKey ?? `${sensor.deviceId} ${at}`)
    .digest('hex');
  const random = createRandom(mix(sensor.seed, Number.parseInt(digest.slice(0, 8), 16)));
  const [image] = input.images ?? [];
  return {
    at,
    number: Number.parseInt(digest.slice(0, 8), 16),
    uuid: [8, 4, 4, 4, 12].map((length, n) => digest.slice(n * 12, n * 12 + length)).join('-'),
    plate: input.licensePlateNumber ?? null,
    confidence: Math.round(820 + 179 * Math.sqrt(random.next())) / 1000,
    speed: input.vehicleSpeed ?? null,
    limit: Math.round(limitKmh(sensor.place)),
    vehicleType: input.vehicleType ?? 'car',
    lane: random.whole(1, 3),
    isApproaching: random.chance(0.5),
    image: image === undefined ? null : Buffer.from(image.slice(image.indexOf(',') + 1), 'base64'),
    device: makeOf(sensor),
  };
}

/** The fields with which a sensor identifies itself in messages. */
export function makeOf(sensor: VirtualSensor): Sighting['device'] {
  const { ipAddress, macAddress } = identityOf(sensor);
  return {
    id: sensor.deviceId,
    name: sensor.name,
    serial: String(seedOf(sensor.deviceId)).slice(0, 9),
    mac: macAddress,
    address: ipAddress,
    latitude: sensor.place.latitude,
    longitude: sensor.place.longitude,
  };
}

import type { SensorType } from '@gantry/contract/sensors';
import { type Place, places } from './places.ts';
import { mix, seedOf } from './random.ts';

/** A virtual sensor, whether or not it is registered. */
export interface VirtualSensor {
  readonly deviceId: string;
  readonly name: string;
  readonly type: SensorType;
  readonly place: Place;
  /** The average number of events per minute over a week. */
  readonly eventsPerMin: number;
  /** The seed of the random numbers that determine all its events and issues. */
  readonly seed: number;
}

const KINDS = {
  CAMERA: { label: 'camera', eventsPerMin: 20 },
  ANPR: { label: 'plates', eventsPerMin: 25 },
  SPEED_DETECTOR: { label: 'speed', eventsPerMin: 15 },
  RADAR: { label: 'radar', eventsPerMin: 30 },
  EDGE_CONTROLLER: { label: 'edge', eventsPerMin: 20 },
} as const satisfies Record<SensorType, { label: string; eventsPerMin: number }>;

/** The order of types, repeated: the first five sensors have all five types. */
const ORDER = [
  'CAMERA',
  'ANPR',
  'SPEED_DETECTOR',
  'RADAR',
  'EDGE_CONTROLLER',
  'CAMERA',
  'ANPR',
  'SPEED_DETECTOR',
  'CAMERA',
] as const satisfies readonly SensorType[];

/** The prefix of the device ids of all sensors of a seed. */
export function devicePrefix(seed: number): string {
  return `sim-${seed}-`;
}

/** The sensor with an index, from 0; always the same for the same seed. */
export function virtualSensor(seed: number, index: number): VirtualSensor {
  const type = ORDER[index % ORDER.length] ?? 'CAMERA';
  const place = places[index % places.length] ?? places[0];
  const round = Math.floor(index / places.length);
  const deviceId = `${devicePrefix(seed)}${String(index + 1).padStart(3, '0')}`;
  return {
    deviceId,
    name: `${place.name} ${KINDS[type].label}${round === 0 ? '' : ` ${round + 1}`}`,
    type,
    place,
    eventsPerMin: KINDS[type].eventsPerMin,
    seed: mix(seed, seedOf(deviceId)),
  };
}

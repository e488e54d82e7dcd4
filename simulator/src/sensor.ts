import type { SensorType } from '@gantry/contract/sensors';
import { type Place, places } from './places.ts';
import { mix, seedOf } from './random.ts';

/** What a virtual sensor is, whether or not the service knows it. */
export interface VirtualSensor {
  readonly deviceId: string;
  readonly name: string;
  readonly type: SensorType;
  readonly place: Place;
  /** How many events it reports in a minute, in the mean over a week. */
  readonly eventsPerMin: number;
  /** All it ever does follows from this. */
  readonly seed: number;
}

const KINDS = {
  CAMERA: { label: 'camera', eventsPerMin: 20 },
  ANPR: { label: 'plates', eventsPerMin: 25 },
  SPEED_DETECTOR: { label: 'speed', eventsPerMin: 15 },
  RADAR: { label: 'radar', eventsPerMin: 30 },
  EDGE_CONTROLLER: { label: 'edge', eventsPerMin: 20 },
} as const satisfies Record<SensorType, { label: string; eventsPerMin: number }>;

/** The types in the order in which sensors are put up, again and again: all five among the first five. */
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

/** What the device ids of all sensors of a seed begin with. */
export function devicePrefix(seed: number): string {
  return `sim-${seed}-`;
}

/** The sensor of an index, from 0 on: always the same one for the same seed. */
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

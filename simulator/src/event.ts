import type { GantryClient } from '@gantry/client';
import type { Severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import type { SensorType } from '@gantry/contract/sensors';
import { directionsOf, isFreeway, limitKmh, mphOf, type Place } from './places.ts';
import type { Random } from './random.ts';
import { isSpeeding, measuredSpeed } from './speed.ts';
import { congestion } from './traffic.ts';
import { classOf, passingVehicle } from './vehicle.ts';

/** An event as input of `events.ingest`, without the key. */
export type EventInput = Omit<Parameters<GantryClient['api']['events']['ingest']['mutate']>[0], 'apiKey'>;

/** The events that a sensor of each type can report, with their frequency per thousand. */
const NOTICES = {
  CAMERA: {
    vehicle: 788,
    redLight: 50,
    lane: 30,
    parking: 25,
    noSeatbelt: 55,
    phone: 42,
    wrongWay: 4,
    incident: 6,
  },
  ANPR: { plate: 972, parking: 20, wrongWay: 3, incident: 5 },
  SPEED_DETECTOR: { photographedSpeed: 998, wrongWay: 2 },
  RADAR: { speed: 990, vehicle: 6, wrongWay: 4 },
  EDGE_CONTROLLER: {
    vehicle: 590,
    photographedSpeed: 330,
    redLight: 35,
    lane: 25,
    wrongWay: 5,
    incident: 15,
  },
} as const satisfies Record<SensorType, Readonly<Partial<Record<keyof typeof reports, number>>>>;

/** An incident as described by its event. */
interface Incident {
  /** Becomes part of `metadata`, from which the service derives the type and title of the incident. */
  readonly incidentType: IncidentType;
  readonly description: string;
  readonly severity: Severity;
}

const INCIDENTS = [
  { incidentType: 'OBSTRUCTION', description: 'Stopped vehicle in the right lane', severity: 'MEDIUM' },
  { incidentType: 'COLLISION', description: 'Collision, two vehicles', severity: 'HIGH' },
  { incidentType: 'OBSTRUCTION', description: 'Debris on the carriageway', severity: 'LOW' },
  { incidentType: 'BREAKDOWN', description: 'Disabled vehicle on the shoulder', severity: 'LOW' },
  { incidentType: 'OTHER', description: 'Pedestrian on the carriageway', severity: 'HIGH' },
  { incidentType: 'OTHER', description: 'Vehicle on fire', severity: 'CRITICAL' },
] as const satisfies readonly Incident[];

interface Scene {
  readonly place: Place;
  readonly fullness: number;
  readonly random: Random;
}

const reports = {
  vehicle: ({ random, fullness, place }: Scene): EventInput => {
    const { type } = passingVehicle(random, fullness);
    return {
      eventType: 'VEHICLE_DETECTION',
      vehicleType: type,
      vehicleClass: classOf(type),
      ...lane(random, place),
    };
  },
  plate: (scene: Scene): EventInput => ({ eventType: 'PLATE_RECOGNITION', ...sighted(scene) }),
  speed: (scene: Scene) => speed(scene, false),
  photographedSpeed: (scene: Scene) => speed(scene, true),
  redLight: (scene: Scene): EventInput => ({
    ...violation(scene, 'RED_LIGHT', 'Failure to stop at a steady red signal'),
    vehicleSpeed: Math.max(10, Math.round(scene.random.normal(limitKmh(scene.place) * 0.7, 6))),
  }),
  lane: (scene: Scene) => violation(scene, 'LANE_VIOLATION', 'Crossing a solid line'),
  parking: (scene: Scene) => violation(scene, 'ILLEGAL_PARKING', 'Standing in a no-stopping zone'),
  wrongWay: (scene: Scene): EventInput => ({
    ...violation(scene, 'WRONG_WAY', 'Driving against the direction of traffic'),
    tags: ['urgent'],
  }),
  phone: (scene: Scene) => violation(scene, 'PHONE_USE', 'Driver holding a telephone'),
  noSeatbelt: (scene: Scene): EventInput => ({
    ...violation(scene, 'NO_SEATBELT', 'Driver not restrained by seat belt'),
    eventType: 'SEATBELT_VIOLATION',
  }),
  incident: ({ random, place }: Scene): EventInput => {
    const { incidentType, ...what } = random.pick(INCIDENTS);
    return {
      eventType: 'INCIDENT',
      ...what,
      location: { latitude: place.latitude, longitude: place.longitude },
      ...lane(random, place),
      metadata: { incidentType },
    };
  },
};

/**
 * The event that a sensor of the type at the place reports at a time (Unix milliseconds), determined by `random`
 * only.
 */
export function reportFrom(type: SensorType, place: Place, at: number, random: Random): EventInput {
  const notice = random.weighted(NOTICES[type]);
  const impossible = isFreeway(place) && (notice === 'redLight' || notice === 'parking');
  return reports[impossible ? 'vehicle' : notice]({ place, fullness: congestion(at), random });
}

function lane(random: Random, place: Place) {
  return { lane: random.whole(1, 2), direction: random.pick(directionsOf(place)) };
}

function seen({ random, fullness, place }: Scene) {
  const { plate, region, type } = passingVehicle(random, fullness);
  const where = lane(random, place);
  const confidence = Math.round(820 + 179 * Math.sqrt(random.next())) / 1000;
  const read = {
    licensePlateNumber: plate,
    plateRegion: region,
    plateConfidence: Math.round(confidence * 100),
  };
  return { read, vehicle: { vehicleType: type, vehicleClass: classOf(type), ...where }, confidence };
}

function violation(scene: Scene, violationType: string, description: string): EventInput {
  return {
    eventType: 'TRAFFIC_VIOLATION',
    violationType,
    description,
    ...sighted(scene),
  };
}

/** A vehicle with its plate. */
function sighted(scene: Scene) {
  const { read, vehicle, confidence } = seen(scene);
  return { ...read, ...vehicle, metadata: { confidence } };
}

function speed(scene: Scene, photographed: boolean): EventInput {
  const { random, place, fullness } = scene;
  const { read, vehicle } = seen(scene);
  const vehicleSpeed = measuredSpeed(random, place, fullness);
  const measured = {
    ...vehicle,
    vehicleSpeed,
    metadata: { limit: Math.round(limitKmh(place)) },
  };
  if (!isSpeeding(vehicleSpeed, place)) return { eventType: 'SPEED_DETECTION', ...measured };
  return {
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'SPEEDING',
    description: `Exceeding maximum speed: ${vehicleSpeed} km/h (${mphOf(vehicleSpeed)} mph) where ${Math.round(limitKmh(place))} km/h (${place.limitMph} mph) is posted`,
    ...measured,
    ...(photographed && read),
  };
}

import type { EventType, Severity } from '@gantry/contract/events';
import { addressOf, limitKmh, mphOf, places } from '@gantry/simulator/src/places.ts';
import { createRandom, mix, type Random } from '@gantry/simulator/src/random.ts';
import { vehicleOf } from '@gantry/simulator/src/vehicle.ts';
import { makeJpeg, numberJpeg } from '../gateways/jpeg.ts';

/** A request body, and the number of events in it. */
export interface Body {
  readonly text: string;
  readonly events: number;
}

/** The event types with their frequencies and violation types. Every event has one, so that all indexed columns are filled. */
const KINDS: readonly [Kind, ...Kind[]] = [
  { type: 'VEHICLE_DETECTION', share: 40, about: ['BUS_LANE', 'CLOSED_LANE', 'NO_TRUCKS'] },
  { type: 'SPEED_DETECTION', share: 22, about: ['SPEEDING'] },
  { type: 'PLATE_RECOGNITION', share: 20, about: ['EXPIRED_REGISTRATION', 'TOLL_EVASION', 'STOLEN_VEHICLE'] },
  { type: 'TRAFFIC_VIOLATION', share: 13, about: ['SPEEDING', 'RED_LIGHT', 'LANE_VIOLATION', 'PHONE_USE'] },
  { type: 'SEATBELT_VIOLATION', share: 4, about: ['NO_SEATBELT'] },
  { type: 'INCIDENT', share: 1, about: ['WRONG_WAY', 'OBSTRUCTION'] },
];
interface Kind {
  readonly type: EventType;
  /** Per cent. */
  readonly share: number;
  readonly about: readonly [string, ...string[]];
}

const SEVERITIES = { LOW: 40, MEDIUM: 40, HIGH: 17, CRITICAL: 3 } as const satisfies Record<Severity, number>;
const DIRECTIONS = ['N', 'E', 'S', 'W'] as const;
const TAGS = ['school-zone', 'night', 'rain', 'construction', 'rush-hour'] as const;

/** Number of vehicles of the county, some of which pass far more often than others. */
const VEHICLES = 200_000;

/** Makes bodies of `events.ingest`, all different. The same seed gives the same bodies. */
export function makeBodies(apiKeys: readonly string[], count: number, seed: number): Body[] {
  const random = createRandom(mix(seed, 1));
  return Array.from({ length: count }, (_, index) => ({
    text: JSON.stringify({ json: { apiKey: apiKeys[index % apiKeys.length], ...makeEvent(random) } }),
    events: 1,
  }));
}

/** Which requests have a new image, which is sent as base64. */
export interface WithImages {
  /** The size of an image in bytes. */
  readonly bytes: number;
  /** One request in so many has an image. */
  readonly oneIn: number;
}

/** Returns a function for the text of the nth request to `events.ingest`, from 0: the bodies in turn, some with an image. */
export function textsOf(bodies: readonly Body[], images: WithImages | null): (n: number) => string {
  const image = images === null ? null : makeJpeg(images.bytes);
  return (n) => {
    const text = bodies[n % bodies.length]?.text ?? '';
    if (image === null || n % (images?.oneIn ?? 1) !== 0) return text;
    numberJpeg(image, n);
    return `${text.slice(0, text.lastIndexOf('}}'))},"images":["${image.toString('base64')}"]}}`;
  };
}

/** Makes bodies of `events.ingestBatch` with `size` events each, like those of a device that was offline. */
export function makeBatchBodies(
  apiKeys: readonly string[],
  { count, size }: { count: number; size: number },
  seed: number,
): Body[] {
  const random = createRandom(mix(seed, 2));
  return Array.from({ length: count }, (_, index) => {
    const events = Array.from({ length: size }, () => makeEvent(random));
    return {
      text: JSON.stringify({ json: { apiKey: apiKeys[index % apiKeys.length], events } }),
      events: size,
    };
  });
}

function pickKind(random: Random): Kind {
  let left = random.next() * 100;
  for (const kind of KINDS) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  return KINDS[0];
}

function makeEvent(random: Random) {
  const place = random.pick(places);
  const kind = pickKind(random);
  const vehicle = vehicleOf(Math.floor(VEHICLES * random.next() ** 2));
  const vehicleSpeed = Math.max(5, Math.round(random.normal(limitKmh(place), 14)));
  const lane = random.whole(1, 3);
  const direction = random.pick(DIRECTIONS);
  return {
    eventType: kind.type,
    violationType: random.pick(kind.about),
    licensePlateNumber: vehicle.plate,
    vehicleType: vehicle.type,
    vehicleSpeed,
    severity: random.weighted(SEVERITIES),
    description: `${mphOf(vehicleSpeed)} mph in a posted ${place.limitMph} mph zone, lane ${lane} ${direction}`,
    location: {
      latitude: Number((place.latitude + random.normal(0, 0.0005)).toFixed(5)),
      longitude: Number((place.longitude + random.normal(0, 0.0005)).toFixed(5)),
      address: addressOf(place),
    },
    metadata: { lane, direction, confidence: Math.round(820 + 179 * Math.sqrt(random.next())) / 1000 },
    tags: [random.pick(TAGS), vehicle.type.toLowerCase()],
  };
}

import type { ObservedEvent } from './format.ts';
import { namesOf, textOf } from './json-values.ts';
import { kindOf, numberOf } from './observed.ts';

/** What a format found out about one vehicle. */
export interface SeenVehicle {
  readonly plate: string | null;
  /** km/h */
  readonly speed?: number | null;
  readonly vehicleType?: unknown;
  readonly location?: ObservedEvent['location'];
  readonly images?: readonly string[];
  /** Texts; others, empty ones and repetitions are left out. */
  readonly tags: readonly unknown[];
  /** Keys without values are left out. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The event of one vehicle. Its type follows from what is known: the plate, otherwise the speed. */
export function vehicleEvent(seen: SeenVehicle): ObservedEvent {
  const { plate, speed = null, location = null, images = [] } = seen;
  return {
    ...kindOf({ plate, speed }),
    licensePlateNumber: plate,
    vehicleSpeed: speed,
    vehicleType: knownText(seen.vehicleType),
    location,
    images: [...new Set(images)],
    tags: namesOf(...seen.tags),
    metadata: withValues(seen.metadata),
  };
}

/** The text; null for an empty one and for `unknown`. */
export function knownText(value: unknown): string | null {
  const text = textOf(value);
  return text === null || /^(?:unknown|undefined|none|null|n\/a|-+)$/i.test(text) ? null : text;
}

/** The place; null without both numbers, and for 0, 0, which devices send when no place is set. */
export function locationOf(latitude: unknown, longitude: unknown): ObservedEvent['location'] {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  if (north === null || east === null || (north === 0 && east === 0)) return null;
  return Math.abs(north) <= 90 && Math.abs(east) <= 180 ? { latitude: north, longitude: east } : null;
}

/** The addresses among the values: of images of the message, and of images elsewhere (http, https). */
export function imageAddresses(...values: readonly unknown[]): string[] {
  return values.flatMap((value) =>
    typeof value === 'string' && /^(?:\/images\/|https?:\/\/)\S+$/.test(value) ? [value] : [],
  );
}

function withValues(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).filter(
      ([, value]) =>
        value !== null &&
        value !== undefined &&
        value !== '' &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
}

import { knownText } from './fields.ts';
import type { ObservedEvent } from './format.ts';
import { namesOf } from './json-values.ts';
import { type Confidence, kindOf, numberOf, type Observed, plateOf } from './observed.ts';
import { remembered } from './remembered.ts';

/** What a message contains about one vehicle. */
export interface SeenVehicle extends Omit<Observed, 'plate'> {
  /** As the device wrote it; every spelling of "no plate" is ignored. */
  readonly plate?: unknown;
  /** How reliably the plate was read; ignored without a plate. */
  readonly confidence?: Confidence | null;
  /** Every spelling of "unknown" is ignored. */
  readonly vehicleType?: unknown;
  readonly description?: string | null;
  readonly severity?: ObservedEvent['severity'];
  readonly location?: ObservedEvent['location'];
  /** Addresses, the best first. */
  readonly images?: readonly string[];
  /** Names of the maker, the camera and the list; those that are null are left out. */
  readonly tags: readonly unknown[];
  /** Keys whose values are null or empty are left out. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The event of a vehicle; its type follows from what was seen. */
export function vehicleEvent(seen: SeenVehicle): ObservedEvent {
  const plate = plateOf(seen.plate);
  const { speedLimit } = seen;
  return {
    ...kindOf({ ...seen, plate }),
    description: seen.description ?? null,
    licensePlateNumber: plate,
    vehicleType: knownText(seen.vehicleType),
    vehicleSpeed: seen.speed ?? null,
    severity: seen.severity ?? null,
    location: seen.location ?? null,
    images: [...new Set(seen.images ?? [])],
    tags: namesOf(...seen.tags),
    metadata: withValues({ ...(plate === null ? null : seen.confidence), ...seen.metadata, speedLimit }),
  };
}

/** The entries whose values are not null or empty. */
export function withValues(entries: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => !isEmpty(value)));
}

/** A position in decimal degrees; null for one that is not set (0, 0) or out of range. */
export function positionOf(latitude: unknown, longitude: unknown): ObservedEvent['location'] {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  if (north === null || east === null || (north === 0 && east === 0)) return null;
  return Math.abs(north) > 90 || Math.abs(east) > 180 ? null : { latitude: north, longitude: east };
}

/** The addresses among the values: of images of the message, and of images elsewhere (http, https). */
export function imageAddresses(...values: readonly unknown[]): string[] {
  return values.flatMap((value) =>
    typeof value === 'string' && /^(?:\/images\/|https?:\/\/)\S+$/.test(value) ? [value] : [],
  );
}

/** `allow` or `block` for the names that makers give to such lists of plates; null for any other. */
export function listTag(name: string | null): string | null {
  if (name === null) return null;
  if (/white|allow|red.?list|temporary/i.test(name)) return 'allow';
  return /black|block|deny|stolen|wanted/i.test(name) ? 'block' : null;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value === undefined || value === null || value === '';
  }
  return Array.isArray(value) ? value.length === 0 : !hasMembers(value);
}

const hasMembers = remembered((value: object) => Object.keys(value).length > 0);

import { always, type History, heldAt } from '../platform/history.ts';

/** A place at which a sensor stands, and the speed limit (km/h) there; null: none. */
export interface Standing {
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly speedLimit: number | null;
}

/** What is known of locations now, and of their limits in the past where they changed; by id. */
export interface KnownLocations {
  readonly present: ReadonlyMap<string, { readonly name: string; readonly speedLimit: number | null }>;
  readonly limits: ReadonlyMap<string, History<number | null>>;
}

/** Where a sensor stood one time after another, with the limit that held there: it changes when the sensor moves, or a limit. */
export function standingsOf(places: History<string | null>, locations: KnownLocations): History<Standing> {
  return places.flatMap(({ since, value: locationId }, n) => {
    const until = places[n + 1]?.since ?? Number.POSITIVE_INFINITY;
    const limits = limitsOf(locations, locationId);
    const locationName = locationId === null ? null : (locations.present.get(locationId)?.name ?? null);
    const changes = limits.map((limit) => limit.since).filter((at) => at > since && at < until);
    return [since, ...changes].map((at) => ({
      since: at,
      value: { locationId, locationName, speedLimit: heldAt(limits, at) ?? null },
    }));
  });
}

/** The limits of a location in the past. */
function limitsOf({ present, limits }: KnownLocations, locationId: string | null): History<number | null> {
  if (locationId === null) return always(null);
  return limits.get(locationId) ?? always(present.get(locationId)?.speedLimit ?? null);
}

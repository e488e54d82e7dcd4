import { always, type History, heldAt } from '../platform/history.ts';

/** The location of a sensor and its speed limit (km/h); null for none. */
export interface Standing {
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly speedLimit: number | null;
}

/** The present state of locations and the history of limits that changed, by id. */
export interface KnownLocations {
  readonly present: ReadonlyMap<string, { readonly name: string; readonly speedLimit: number | null }>;
  readonly limits: ReadonlyMap<string, History<number | null>>;
}

/**
 * The locations of a sensor over time with their limits: it changes when the sensor is moved, or a limit is changed.
 */
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

/** The history of a location's limits. */
function limitsOf({ present, limits }: KnownLocations, locationId: string | null): History<number | null> {
  if (locationId === null) return always(null);
  return limits.get(locationId) ?? always(present.get(locationId)?.speedLimit ?? null);
}

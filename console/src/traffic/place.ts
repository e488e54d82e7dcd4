/** Where traffic is looked at: everything at a location, or everything that a sensor saw. */
export type Place = { readonly locationId: string } | { readonly sensorId: string };

/** The place that an address names; a location has precedence. */
export function placeOf(locationId: string | undefined, sensorId: string | undefined): Place | null {
  if (locationId !== undefined) return { locationId };
  return sensorId === undefined ? null : { sensorId };
}

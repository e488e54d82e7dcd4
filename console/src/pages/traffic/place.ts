/** The place whose traffic is shown: a location with all of its sensors, or a single sensor. */
export type Place = { readonly locationId: string } | { readonly sensorId: string };

/** The place that the query parameters select. A location takes precedence over a sensor. */
export function placeOf(locationId: string | undefined, sensorId: string | undefined): Place | null {
  if (locationId !== undefined) return { locationId };
  return sensorId === undefined ? null : { sensorId };
}

/** The place as given by an event and by its sensor. */
interface PlacedEvent {
  readonly location: { readonly address?: string | null | undefined } | null;
}
interface PlacedSensor {
  /** The name of the location to which the sensor is assigned. */
  readonly locationName: string | null;
  /** The address of the sensor's own coordinates. */
  readonly address: string | null;
}

/** The sources of the name of an event's place. The first one that has a value counts. */
export const locationNameSources: readonly {
  readonly says: string;
  readonly of: (event: PlacedEvent, sensor: PlacedSensor) => string | null | undefined;
}[] = [
  { says: '`location.address` of the event', of: ({ location }) => location?.address },
  { says: "the name of the sensor's Location", of: (_, { locationName }) => locationName },
  { says: '`coordinates.address` of the sensor', of: (_, { address }) => address },
];

/** The name of an event's place, fixed at ingestion; null when no source has one. */
export function locationNameOf(event: PlacedEvent, sensor: PlacedSensor): string | null {
  for (const { of } of locationNameSources) {
    const name = of(event, sensor);
    if (name !== null && name !== undefined) return name;
  }
  return null;
}

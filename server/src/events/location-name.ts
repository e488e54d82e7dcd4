/** What an event and its sensor say of the place. */
interface PlacedEvent {
  readonly location: { readonly address?: string | null | undefined } | null;
}
interface PlacedSensor {
  /** The name of the Location it is assigned to. */
  readonly locationName: string | null;
  /** The address of its own coordinates. */
  readonly address: string | null;
}

/** Where the name of an event's place comes from: the first of these that is there. */
export const locationNameSources: readonly {
  readonly says: string;
  readonly of: (event: PlacedEvent, sensor: PlacedSensor) => string | null | undefined;
}[] = [
  { says: '`location.address` of the event', of: ({ location }) => location?.address },
  { says: "the name of the sensor's Location", of: (_, { locationName }) => locationName },
  { says: '`coordinates.address` of the sensor', of: (_, { address }) => address },
];

/** The name of the place of an event, fixed when it is ingested; null when nobody says it. */
export function locationNameOf(event: PlacedEvent, sensor: PlacedSensor): string | null {
  for (const { of } of locationNameSources) {
    const name = of(event, sensor);
    if (name !== null && name !== undefined) return name;
  }
  return null;
}

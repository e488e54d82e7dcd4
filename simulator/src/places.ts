/** A point of the road network of Montgomery County, Maryland. */
export interface Place {
  /** In the style of control rooms: main road @ cross street. */
  readonly name: string;
  readonly community: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Posted limit in miles per hour. */
  readonly limitMph: number;
}

/** The time zone of all places, which determines rush hours. */
export const TIME_ZONE = 'America/New_York';

/** Real locations. The speed limits are those of the road, approximate where the limit changes nearby. */
export const places: readonly [Place, ...Place[]] = [
  place('Georgia Ave @ Urbana Dr', 'Silver Spring', 39.06157, -77.05303, 30),
  place('Rockville Pike @ Cedar Ln', 'Bethesda', 39.00614, -77.0978, 40),
  place('I-270 @ Montgomery Village Ave', 'Gaithersburg', 39.14894, -77.21702, 55),
  place('Colesville Rd @ Dale Dr', 'Silver Spring', 39.00517, -77.02323, 35),
  place('Frederick Rd @ Ridge Rd', 'Germantown', 39.20456, -77.24583, 45),
  place('University Blvd @ Veirs Mill Rd', 'Wheaton', 39.04001, -77.05507, 35),
  place('Wisconsin Ave @ East-West Hwy', 'Bethesda', 38.98458, -77.09482, 30),
  place('Columbia Pike @ Fairland Rd', 'Fairland', 39.07333, -76.95575, 50),
  place('Connecticut Ave @ Georgia Ave', 'Aspen Hill', 39.08349, -77.07806, 40),
  place('Clopper Rd @ Great Seneca Hwy', 'Germantown', 39.15878, -77.2756, 45),
  place('I-270 @ Montrose Rd', 'Rockville', 39.05627, -77.15511, 55),
  place('Frederick Rd @ Shady Grove Rd', 'Gaithersburg', 39.12254, -77.17872, 40),
  place('New Hampshire Ave @ Piney Branch Rd', 'Langley Park', 39.0015, -76.98191, 35),
  place('River Rd @ Bradley Blvd', 'Potomac', 39.00187, -77.18082, 40),
  place('Colesville Rd @ University Blvd', 'Four Corners', 39.01948, -77.01352, 35),
  place('Rockville Pike @ Twinbrook Pkwy', 'Rockville', 39.05854, -77.12138, 40),
  place('Connecticut Ave @ East-West Hwy', 'Chevy Chase', 38.98764, -77.07774, 35),
  place('MD 200 @ Redland Rd', 'Derwood', 39.13483, -77.14553, 60),
  place('Norbeck Rd @ Muncaster Mill Rd', 'Norbeck', 39.10902, -77.08035, 40),
  place('Georgia Ave @ Sligo Ave', 'Silver Spring', 38.9902, -77.0268, 30),
  place('I-270 @ Shady Grove Rd', 'Rockville', 39.11021, -77.18838, 55),
  place('Clopper Rd @ Quince Orchard Rd', 'Gaithersburg', 39.14238, -77.22141, 40),
  place('Columbia Pike @ Randolph Rd', 'White Oak', 39.06251, -76.96277, 45),
  place('Arlington Rd @ Bradley Blvd', 'Bethesda', 38.97775, -77.09902, 25),
  place('Frederick Rd @ Germantown Rd', 'Germantown', 39.19205, -77.24327, 40),
  place('New Hampshire Ave @ Ashton Rd', 'Ashton', 39.14924, -77.01252, 30),
  place('I-495 @ New Hampshire Ave', 'Hillandale', 39.01941, -76.97631, 55),
  place('Rockville Pike @ Tuckerman Ln', 'North Bethesda', 39.03145, -77.10597, 40),
  place('Bradley Blvd @ Connecticut Ave', 'Chevy Chase', 38.97668, -77.07703, 30),
  place('Colesville Rd @ Franklin Ave', 'Silver Spring', 39.0086, -77.01859, 35),
  place('Clopper Rd @ Germantown Rd', 'Germantown', 39.163, -77.283, 40),
  place('I-270 @ Old Hundred Rd', 'Hyattstown', 39.2773, -77.3236, 65),
];

const KM_PER_MILE = 1.609344;

/** The posted limit in km/h, which the service uses: exactly, so that it is also a round number of miles per hour. */
export function limitKmh({ limitMph }: Place): number {
  return Math.round(limitMph * KM_PER_MILE * 1e6) / 1e6;
}

/** A speed in whole miles per hour, as on road signs. */
export function mphOf(kmh: number): number {
  return Math.round(kmh / KM_PER_MILE);
}

/** Whether the road has neither traffic lights nor parked cars. */
export function isFreeway({ limitMph }: Place): boolean {
  return limitMph >= 55;
}

/** The roads that lead east and west; all others lead north and south. */
const EAST_WEST = /^(University|River|Clopper|MD 200|Norbeck|Bradley|I-495)/;

/** The two directions of travel of the main road. */
export function directionsOf({ name }: Place) {
  return EAST_WEST.test(name) ? (['EB', 'WB'] as const) : (['NB', 'SB'] as const);
}

/** The main road of a place. */
export function roadOf({ name }: Place): string {
  return name.split(' @ ')[0] ?? name;
}

/** The postal address. */
export function addressOf({ name, community }: Place): string {
  return `${name.replace(' @ ', ' at ')}, ${community}, MD`;
}

function place(
  name: string,
  community: string,
  latitude: number,
  longitude: number,
  limitMph: number,
): Place {
  return { name, community, latitude, longitude, limitMph };
}

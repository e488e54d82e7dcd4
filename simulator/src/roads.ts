// The roads of the places: a sketch of the network of Montgomery County, drawn by hand through the places and simplified. It is no survey.

/** A position: latitude and longitude in degrees, as people name them. */
type Position = readonly [latitude: number, longitude: number];

/** A road, from south or west to north or east, through the positions that are given. */
interface Road {
  readonly name: string;
  /** The class, as OpenStreetMap names it. */
  readonly highway: 'motorway' | 'trunk' | 'primary' | 'secondary' | 'tertiary' | 'residential';
  readonly ref?: string;
  readonly through: readonly Position[];
}

/** Reads positions such as `39.01,-77.02 39.03,-77.01`. */
const through = (text: string): readonly Position[] =>
  text.split(' ').map((pair) => {
    const [latitude = 0, longitude = 0] = pair.split(',').map(Number);
    return [latitude, longitude];
  });

const road = (highway: Road['highway'], name: string, positions: string, ref?: string): Road => ({
  name,
  highway,
  through: through(positions),
  ...(ref !== undefined && { ref }),
});

export const roads: readonly Road[] = [
  road(
    'motorway',
    'I-495',
    '38.9687,-77.1797 38.9775,-77.1640 39.0010,-77.1530 39.0105,-77.1250 39.0145,-77.1035 39.0083,-77.0775 39.0145,-77.0420 39.0155,-77.0155 39.0178,-76.9920 39.01941,-76.97631 39.0215,-76.9450',
    'I-495',
  ),
  road(
    'motorway',
    'I-270',
    '39.0145,-77.1035 39.0225,-77.1180 39.0400,-77.1470 39.05627,-77.15511 39.0830,-77.1690 39.11021,-77.18838 39.1290,-77.2050 39.14894,-77.21702 39.1830,-77.2490 39.2320,-77.2880 39.2773,-77.3236 39.3100,-77.3480',
    'I-270',
  ),
  road('motorway', 'I-270 Spur', '39.0010,-77.1530 39.0220,-77.1500 39.0400,-77.1470', 'I-270'),
  road(
    'motorway',
    'MD 200',
    '39.1255,-77.2015 39.1225,-77.1760 39.13483,-77.14553 39.1180,-77.1000 39.0960,-77.0500 39.0890,-77.0000 39.0770,-76.9520 39.0640,-76.9050',
    'MD 200',
  ),
  road(
    'primary',
    'Wisconsin Ave',
    '38.9606,-77.0858 38.9720,-77.0895 38.98458,-77.09482 38.9960,-77.0965',
    'MD 355',
  ),
  road(
    'primary',
    'Rockville Pike',
    '38.9960,-77.0965 39.00614,-77.0978 39.0145,-77.1035 39.03145,-77.10597 39.0470,-77.1130 39.05854,-77.12138 39.0835,-77.1485',
    'MD 355',
  ),
  road(
    'primary',
    'Frederick Rd',
    '39.0835,-77.1485 39.1050,-77.1590 39.12254,-77.17872 39.1435,-77.2010 39.1650,-77.2220 39.19205,-77.24327 39.20456,-77.24583 39.2320,-77.2700 39.2850,-77.3130',
    'MD 355',
  ),
  road(
    'primary',
    'Georgia Ave',
    '38.9840,-77.0265 38.9902,-77.0268 39.0145,-77.0420 39.0392,-77.0510 39.06157,-77.05303 39.0740,-77.0650 39.08349,-77.07806 39.1090,-77.0765 39.1532,-77.0669',
    'MD 97',
  ),
  road(
    'primary',
    'Connecticut Ave',
    '38.9680,-77.0770 38.97668,-77.07703 38.98764,-77.07774 39.0083,-77.0775 39.0290,-77.0755 39.0590,-77.0745 39.08349,-77.07806',
    'MD 185',
  ),
  road(
    'primary',
    'Colesville Rd',
    '38.9935,-77.0290 39.00517,-77.02323 39.0086,-77.01859 39.0155,-77.0155 39.01948,-77.01352 39.0385,-76.9955',
    'US 29',
  ),
  road(
    'trunk',
    'Columbia Pike',
    '39.0385,-76.9955 39.0480,-76.9800 39.06251,-76.96277 39.07333,-76.95575 39.1010,-76.9320',
    'US 29',
  ),
  road(
    'primary',
    'New Hampshire Ave',
    '38.9700,-76.9950 38.9860,-76.9890 39.0015,-76.98191 39.01941,-76.97631 39.0400,-76.9870 39.0690,-77.0000 39.1150,-77.0080 39.14924,-77.01252',
    'MD 650',
  ),
  road(
    'primary',
    'River Rd',
    '38.9530,-77.0940 38.9640,-77.1130 38.9775,-77.1400 38.9860,-77.1640 39.00187,-77.18082 39.0180,-77.2080 39.0500,-77.2600',
    'MD 190',
  ),
  road(
    'primary',
    'Veirs Mill Rd',
    '39.0392,-77.0510 39.04001,-77.05507 39.0590,-77.0890 39.0750,-77.1280 39.0835,-77.1485',
    'MD 586',
  ),
  road(
    'primary',
    'Great Seneca Hwy',
    '39.1010,-77.2010 39.1180,-77.2250 39.13637,-77.24342 39.1500,-77.2600 39.15878,-77.2756 39.1730,-77.2720',
    'MD 119',
  ),
  road(
    'secondary',
    'University Blvd',
    '39.0300,-77.0755 39.04001,-77.05507 39.0330,-77.0350 39.01948,-77.01352 39.0050,-76.9960 38.9920,-76.9870',
    'MD 193',
  ),
  road(
    'secondary',
    'East-West Hwy',
    '38.98458,-77.09482 38.98764,-77.07774 38.9960,-77.0540 38.9935,-77.0290',
  ),
  road('secondary', 'Piney Branch Rd', '38.9800,-77.0140 38.9930,-76.9990 39.0015,-76.98191'),
  road(
    'secondary',
    'Bradley Blvd',
    '38.97668,-77.07703 38.97775,-77.09902 38.9870,-77.1300 39.00187,-77.18082',
    'MD 191',
  ),
  road(
    'secondary',
    'Clopper Rd',
    '39.1420,-77.2050 39.14238,-77.22141 39.15878,-77.2756 39.1630,-77.2830 39.1755,-77.3170',
    'MD 117',
  ),
  road(
    'secondary',
    'Quince Orchard Rd',
    '39.1120,-77.2560 39.1300,-77.2340 39.14238,-77.22141 39.14894,-77.21702',
    'MD 124',
  ),
  road('secondary', 'Montgomery Village Ave', '39.14894,-77.21702 39.1620,-77.2080 39.1800,-77.1960'),
  road(
    'secondary',
    'Shady Grove Rd',
    '39.0920,-77.2010 39.11021,-77.18838 39.12254,-77.17872 39.1390,-77.1580',
  ),
  road(
    'secondary',
    'Norbeck Rd',
    '39.0835,-77.1485 39.0960,-77.1180 39.10902,-77.08035 39.1120,-77.0450 39.1150,-77.0080',
    'MD 28',
  ),
  road(
    'secondary',
    'Muncaster Mill Rd',
    '39.10902,-77.08035 39.1270,-77.1080 39.1390,-77.1580 39.1620,-77.2080',
    'MD 115',
  ),
  road(
    'secondary',
    'Randolph Rd',
    '39.0470,-77.1130 39.0590,-77.0745 39.06157,-77.05303 39.0680,-77.0200 39.0690,-77.0000 39.06251,-76.96277',
  ),
  road('secondary', 'Montrose Rd', '39.0480,-77.1840 39.05627,-77.15511 39.0540,-77.1320 39.0470,-77.1130'),
  road(
    'secondary',
    'Ridge Rd',
    '39.1830,-77.2490 39.20456,-77.24583 39.2350,-77.2260 39.2900,-77.2080',
    'MD 27',
  ),
  road(
    'secondary',
    'Germantown Rd',
    '39.1300,-77.3050 39.1630,-77.2830 39.1780,-77.2640 39.19205,-77.24327',
    'MD 118',
  ),
  road('tertiary', 'Old Hundred Rd', '39.2440,-77.3700 39.2773,-77.3236 39.2850,-77.3130', 'MD 109'),
  road('tertiary', 'Fairland Rd', '39.0690,-77.0000 39.0740,-76.9750 39.07333,-76.95575 39.0770,-76.9250'),
  road(
    'tertiary',
    'Ashton Rd',
    '39.1532,-77.0669 39.1500,-77.0400 39.14924,-77.01252 39.1480,-76.9800',
    'MD 108',
  ),
  road('tertiary', 'Tuckerman Ln', '39.0330,-77.1850 39.0365,-77.1470 39.0330,-77.1240 39.03145,-77.10597'),
  road('tertiary', 'Cedar Ln', '38.9990,-77.1180 39.00614,-77.0978 39.0170,-77.0860'),
  road('tertiary', 'Arlington Rd', '38.97775,-77.09902 38.9835,-77.0992 38.9900,-77.1010'),
  road('tertiary', 'Twinbrook Pkwy', '39.05854,-77.12138 39.0665,-77.1120 39.0750,-77.1080'),
  road('tertiary', 'Redland Rd', '39.12254,-77.1600 39.13483,-77.14553 39.1480,-77.1360'),
  road('tertiary', 'Longdraft Rd', '39.1260,-77.2500 39.13637,-77.24342 39.1480,-77.2350'),
  road('tertiary', 'Dale Dr', '39.0145,-77.0420 39.0110,-77.0330 39.00517,-77.02323 38.9985,-77.0080'),
  road('tertiary', 'Sligo Ave', '38.9902,-77.0268 38.9908,-77.0180 38.9930,-76.9990'),
  road('tertiary', 'Franklin Ave', '39.0086,-77.01859 39.0065,-77.0080 39.0050,-76.9960'),
  road('residential', 'Urbana Dr', '39.06157,-77.05303 39.0640,-77.0470 39.0668,-77.0440'),
];

/** Positions between two that are given, so that roads have curves in place of corners. */
const STEPS = 8;

/** The line of a road: a curve of Catmull and Rom through its positions. */
function curveOf(positions: readonly Position[]): Position[] {
  const at = (index: number): Position =>
    positions[Math.max(0, Math.min(positions.length - 1, index))] ?? [0, 0];
  const curve: Position[] = [];
  for (let index = 0; index + 1 < positions.length; index++) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    for (let step = 0; step < STEPS; step++) {
      const t = step / STEPS;
      const part = (axis: 0 | 1): number =>
        0.5 *
        (2 * from[axis] +
          (to[axis] - before[axis]) * t +
          (2 * before[axis] - 5 * from[axis] + 4 * to[axis] - after[axis]) * t ** 2 +
          (3 * from[axis] - before[axis] - 3 * to[axis] + after[axis]) * t ** 3);
      curve.push([part(0), part(1)]);
    }
  }
  curve.push(at(positions.length - 1));
  return curve;
}

const round = (degrees: number): number => Math.round(degrees * 1e5) / 1e5;

/** All roads as GeoJSON, as a city would provide its own. */
export function roadsAsGeoJson(): string {
  const features = roads.map(({ name, highway, ref, through: positions }) => ({
    type: 'Feature',
    properties: { name, highway, ...(ref !== undefined && { ref }) },
    geometry: {
      type: 'LineString',
      coordinates: curveOf(positions).map(([latitude, longitude]) => [round(longitude), round(latitude)]),
    },
  }));
  return JSON.stringify({ type: 'FeatureCollection', features });
}

const KM_PER_DEGREE = 111.195;

/** Where a position lies along a road, in km from its southern or western end; null if it does not lead through it. */
export function kilometreOf(name: string, latitude: number, longitude: number): number | null {
  const found = roads.find((each) => each.name === name);
  if (!found) return null;
  let sum = 0;
  let before: Position | null = null;
  for (const position of curveOf(found.through)) {
    if (before) {
      const east = (position[1] - before[1]) * Math.cos((latitude * Math.PI) / 180);
      sum += Math.hypot(position[0] - before[0], east) * KM_PER_DEGREE;
    }
    if (Math.abs(position[0] - latitude) < 1e-6 && Math.abs(position[1] - longitude) < 1e-6)
      return Math.round(sum * 10) / 10;
    before = position;
  }
  return null;
}

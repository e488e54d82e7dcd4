import { type RoadClass, roadClasses } from '@gantry/contract/map-values';

/** The properties of a feature, as any format has them. */
export type Properties = Readonly<Record<string, unknown>>;

/** Names of properties, compared without regard to case; the first that has a value counts. */
const NAME_FIELDS = [
  'name',
  'fullname',
  'road_name',
  'roadname',
  'street_name',
  'streetname',
  'st_name',
  'street',
  'label',
  'ref',
];
const CLASS_FIELDS = [
  'highway',
  'fclass',
  'mtfcc',
  'road_class',
  'roadclass',
  'class',
  'frc',
  'functional_class',
  'func_class',
  'kind',
  'type',
  'featurecla',
];

/** Keys of OpenStreetMap for lines that are no roads, if the feature has no `highway`. */
const OTHER_KINDS = [
  'railway',
  'waterway',
  'boundary',
  'building',
  'power',
  'aeroway',
  'barrier',
  'route',
  'pipeline',
];

/**
 * Classes of OpenStreetMap (`highway`, also `fclass` of Geofabrik), of the TIGER files of the US Census Bureau (MTFCC), of Natural
 * Earth (`type`), and functional road classes from 0 to 7 as in GDF (ISO 14825).
 */
const CLASSES: Readonly<Record<string, RoadClass>> = {
  motorway: 'MOTORWAY',
  motorway_link: 'MOTORWAY',
  freeway: 'MOTORWAY',
  interstate: 'MOTORWAY',
  s1100: 'MOTORWAY',
  'major highway': 'MOTORWAY',
  trunk: 'TRUNK',
  trunk_link: 'TRUNK',
  expressway: 'TRUNK',
  beltway: 'TRUNK',
  primary: 'PRIMARY',
  primary_link: 'PRIMARY',
  s1200: 'PRIMARY',
  s1630: 'SECONDARY',
  arterial: 'PRIMARY',
  'principal arterial': 'PRIMARY',
  'major arterial': 'PRIMARY',
  'secondary highway': 'PRIMARY',
  secondary: 'SECONDARY',
  secondary_link: 'SECONDARY',
  'minor arterial': 'SECONDARY',
  tertiary: 'TERTIARY',
  tertiary_link: 'TERTIARY',
  collector: 'TERTIARY',
  'major collector': 'TERTIARY',
  'minor collector': 'TERTIARY',
  road: 'MINOR',
  s1400: 'MINOR',
  local: 'MINOR',
  residential: 'MINOR',
  unclassified: 'MINOR',
  living_street: 'MINOR',
  street: 'MINOR',
  busway: 'MINOR',
  service: 'SERVICE',
  track: 'SERVICE',
  s1500: 'SERVICE',
  s1640: 'SERVICE',
  s1730: 'SERVICE',
  s1740: 'SERVICE',
  s1780: 'SERVICE',
  alley: 'SERVICE',
  private: 'SERVICE',
  path: 'PATH',
  footway: 'PATH',
  cycleway: 'PATH',
  pedestrian: 'PATH',
  steps: 'PATH',
  bridleway: 'PATH',
  s1710: 'PATH',
  s1720: 'PATH',
  s1820: 'PATH',
};
const FUNCTIONAL: readonly RoadClass[] = [
  'MOTORWAY',
  'TRUNK',
  'PRIMARY',
  'SECONDARY',
  'TERTIARY',
  'MINOR',
  'MINOR',
  'SERVICE',
];
const FUNCTIONAL_FIELDS = new Set(['frc', 'functional_class', 'func_class']);

/** Maximum length of a name on the map, in characters. */
const MAX_NAME = 100;

const classRank: ReadonlyMap<RoadClass, number> = new Map(roadClasses.map((name, rank) => [name, rank]));

/** The rank of a class: 0 is the most important. */
export function rankOf(roadClass: RoadClass): number {
  return classRank.get(roadClass) ?? roadClasses.length;
}

/** What a road is called and of which class it is. */
export interface RoadFacts {
  readonly name: string | null;
  readonly nameField: string | null;
  readonly roadClass: RoadClass;
  /** null if no known property says the class, which is then MINOR. */
  readonly classField: string | null;
}

/** The name and class of a feature; null if its properties say that it is no road. */
export function roadFactsOf(properties: Properties | null): RoadFacts | null {
  const byName = new Map(
    Object.entries(properties ?? {}).map(([key, value]) => [key.toLowerCase(), { key, text: textOf(value) }]),
  );
  const named = NAME_FIELDS.map((field) => byName.get(field)).find((found) => found && found.text !== '');
  const name = named
    ? { name: named.text.slice(0, MAX_NAME).toWellFormed(), nameField: named.key }
    : NAMELESS;
  for (const field of CLASS_FIELDS) {
    const found = byName.get(field);
    if (!found || found.text === '') continue;
    const value = found.text.toLowerCase();
    const roadClass =
      CLASSES[value] ?? (FUNCTIONAL_FIELDS.has(field) ? FUNCTIONAL[Number(value)] : undefined);
    if (roadClass) return { ...name, roadClass, classField: found.key };
  }
  const isOther = OTHER_KINDS.some((kind) => (byName.get(kind)?.text ?? '') !== '');
  return isOther && !byName.get('highway')?.text ? null : { ...name, roadClass: 'MINOR', classField: null };
}

const NAMELESS = { name: null, nameField: null };

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
}

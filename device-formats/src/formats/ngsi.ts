import { arrayOf, objectOf, textOf } from '../json-values.ts';

/** An entity of NGSI-v2 or NGSI-LD in any representation, with plain values. */
export interface Entity {
  readonly id: string | null;
  /** The name without its namespace. */
  readonly type: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** UN/CEFACT codes of units, by attribute. */
  readonly units: Readonly<Record<string, string>>;
  /** The first `observedAt` or `TimeInstant` of an attribute. */
  readonly observedAt: unknown;
  readonly raw: unknown;
}

/** The entities of a notification, an array, or a bare entity. */
export function entitiesOf(body: unknown): Entity[] {
  if (Array.isArray(body)) return body.flatMap(entitiesOf);
  const { data, type, '@type': expanded } = objectOf(body);
  if (Array.isArray(data)) return data.flatMap(entitiesOf);
  // GeoJSON features of NGSI-LD hold the attributes in `properties`.
  if (type === 'FeatureCollection') return arrayOf(objectOf(body).features).flatMap(entitiesOf);
  if (type === 'Feature') return featureOf(objectOf(body));
  return type === undefined && expanded === undefined ? [] : [entityOf(objectOf(body))];
}

function featureOf({ id, properties, geometry }: Readonly<Record<string, unknown>>): Entity[] {
  return [entityOf({ location: geometry, ...objectOf(properties), id })];
}

function entityOf(raw: Readonly<Record<string, unknown>>): Entity {
  const values: Record<string, unknown> = Object.create(null);
  const units: Record<string, string> = Object.create(null);
  let observedAt: unknown;
  for (const [name, attribute] of Object.entries(raw)) {
    const short = localName(name);
    if (['id', '@id', 'type', '@type', '@context'].includes(name)) continue;
    // An attribute may have several values, which differ by datasetId. The first one is used.
    const given = Array.isArray(attribute) && isAttribute(attribute[0]) ? attribute[0] : attribute;
    values[short] = plain(given);
    const { unitCode, metadata, observedAt: at } = objectOf(given);
    const unit = textOf(unitCode) ?? textOf(plain(objectOf(metadata).unitCode));
    if (unit !== null) units[short] = unit;
    observedAt ??= at ?? plain(objectOf(metadata).TimeInstant ?? objectOf(metadata).observedAt);
  }
  const type = raw.type ?? raw['@type'];
  return {
    id: textOf(raw.id ?? raw['@id']),
    type: localName(textOf(Array.isArray(type) ? type[0] : type) ?? ''),
    values,
    units,
    observedAt,
    raw,
  };
}

function isAttribute(value: unknown): boolean {
  return ['value', 'object', 'languageMap', '@value'].some((key) => Object.hasOwn(objectOf(value), key));
}

function plain(attribute: unknown): unknown {
  const given = objectOf(attribute);
  for (const key of ['value', 'object', '@value', 'languageMap', 'json', 'vocab']) {
    if (Object.hasOwn(given, key)) return plain(given[key]);
  }
  return attribute;
}

function localName(name: string): string {
  if (!/^https?:/.test(name)) return name;
  const local = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('#')) + 1);
  return local === '' ? name : local;
}

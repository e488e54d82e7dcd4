import { RoadsRefused } from './road-file.ts';

/**
 * Systems of longitude and latitude in degrees, by their EPSG code. Those besides WGS 84 differ from it by less than two metres, which
 * no map of roads shows.
 */
const DEGREES: Readonly<Record<string, string>> = {
  4326: 'WGS 84',
  4979: 'WGS 84',
  4258: 'ETRS89',
  4269: 'NAD83',
  4283: 'GDA94',
  7844: 'GDA2020',
  4612: 'JGD2000',
  6668: 'JGD2011',
};
const WGS_84 = 'WGS 84';

/** Names of the same systems in well-known text, such as in a .prj file, as far as their letters and digits go. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:GCS)?WGS(?:19)?84/, WGS_84],
  [/^(?:GCS)?ETRS(?:19)?89/, 'ETRS89'],
  [/^(?:GCSNORTHAMERICAN|NAD|NORTHAMERICANDATUM)(?:19)?83/, 'NAD83'],
  [/^(?:GCS)?GDA(?:19)?94/, 'GDA94'],
  [/^(?:GCS)?GDA2020/, 'GDA2020'],
  [/^(?:GCS)?JGD20(?:00|11)/, 'JGD2011'],
];

/** The projection for the report. */
const taken = (name: string): string =>
  name === WGS_84 ? name : `${name}, taken as WGS 84 (less than 2 m apart)`;

/** The error for a file in another projection. @param name as the file calls it */
function refused(name: string): RoadsRefused {
  return new RoadsRefused(
    `The file is in the projection ${name.slice(0, 100)}: roads must be in WGS 84 (EPSG:4326), longitude and latitude in degrees. Convert it, for example with: ogr2ogr -t_srs EPSG:4326 roads.geojson <file>`,
  );
}

/** The name of an EPSG code, for the report. @param name how the file calls it @throws RoadsRefused for other systems */
export function projectionOfCode(code: number | string, name = `EPSG:${code}`): string {
  const known = DEGREES[String(code)];
  if (known === undefined) throw refused(name);
  return taken(known);
}

/** The projection of the member `crs` of GeoJSON (GeoJSON 2008). @throws RoadsRefused for others than WGS 84 */
export function projectionOfCrs(crs: unknown): string {
  if (crs === undefined || crs === null) return WGS_84;
  const { properties } = crs as { properties?: { name?: unknown; code?: unknown } };
  const given = properties?.name ?? properties?.code ?? crs;
  const name = typeof given === 'string' ? given : JSON.stringify(given);
  if (/CRS:?84H?$/i.test(name)) return WGS_84;
  const code = /(?:EPSG|^)[:/\d.]*?(\d{4,6})$/i.exec(name)?.[1];
  return projectionOfCode(code ?? '', name);
}

/** The projection of well-known text, as in a .prj file. @throws RoadsRefused for others than those in degrees */
export function projectionOfText(text: string): string {
  const [, kind = '', name = ''] = /^\s*([A-Z_]+)\s*\[\s*"([^"]{0,200})"/i.exec(text) ?? [];
  if (!/^GEOG|^GEODCRS$/i.test(kind)) throw refused(name || text.slice(0, 60));
  const letters = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  const known = NAMES.find(([pattern]) => pattern.test(letters));
  if (!known) throw refused(name);
  return taken(known[1]);
}

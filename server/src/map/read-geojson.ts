import { projectionOfCrs } from './projection.ts';
import { type FeatureReceiver, type ReadFile, RoadsRefused } from './road-file.ts';
import { JsonSplitter } from './split-json.ts';

/** The members of a GeoJSON object that matter here. */
interface Member {
  readonly type?: unknown;
  readonly geometry?: unknown;
  readonly properties?: unknown;
  readonly crs?: unknown;
  readonly coordinates?: unknown;
  readonly geometries?: unknown;
}

/**
 * Reads GeoJSON: a FeatureCollection, or features one after another (newline-delimited GeoJSON, RFC 8142). The file is never in memory
 * as a whole.
 * @throws RoadsRefused when it is not GeoJSON, or in another projection
 */
export async function readGeoJson(
  chunks: AsyncIterable<Buffer>,
  receive: FeatureReceiver,
): Promise<ReadFile> {
  let projection = projectionOfCrs(null);
  let hasRead = false;
  const splitter = new JsonSplitter({
    feature(text, line) {
      const member = parsed(text, line);
      requireFeature(member, line);
      receive({ geometry: member.geometry, properties: member.properties });
    },
    top(text, line) {
      hasRead = true;
      const member = parsed(text, line);
      projection = projectionOfCrs(member.crs);
      if (member.type === 'FeatureCollection') return;
      if (member.type === 'Feature') receive({ geometry: member.geometry, properties: member.properties });
      else if (member.coordinates !== undefined || member.geometries !== undefined)
        receive({ geometry: member, properties: null });
      else requireFeature(member, line);
    },
  });
  for await (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  if (!hasRead) throw new RoadsRefused('The file is empty: GeoJSON with the lines of roads is needed');
  return { format: 'GEOJSON', projection };
}

function parsed(text: string, line: number): Member {
  try {
    return JSON.parse(text) as Member;
  } catch (error) {
    throw new RoadsRefused(
      `Line ${line}: what begins here is not JSON (${(error as Error).message.slice(0, 120)})`,
    );
  }
}

function requireFeature({ type, ...others }: Member, line: number): void {
  if (type === 'Feature') return;
  const isEsri = 'attributes' in others || 'paths' in others || 'spatialReference' in others;
  const found = isEsri ? 'JSON of Esri' : `the type ${JSON.stringify(type ?? null).slice(0, 60)}`;
  throw new RoadsRefused(
    `Line ${line}: ${found}, where a Feature of GeoJSON is needed. Export as GeoJSON, or convert with: ogr2ogr roads.geojson <file>`,
  );
}

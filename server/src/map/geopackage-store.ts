import { readFile, stat } from 'node:fs/promises';
import { projectionOfCode } from './projection.ts';
import { geometryOf } from './read-wkb.ts';
import { type FeatureReceiver, type OnProgress, type ReadFile, RoadsRefused } from './road-file.ts';

/** A GeoPackage is read in memory as a whole, so it may not be larger. */
const MAX_BYTES = 250_000_000;

/** Memory of SQLite besides the file, in bytes: a view may compute values of a gigabyte. */
const HEAP_BYTES = 268_435_456;

interface Layer {
  readonly table: string;
  readonly column: string;
  readonly code: number;
  readonly system: string;
}

/**
 * Reads all layers of a GeoPackage (OGC 12-128) that may have lines. SQLite runs in WebAssembly, without a program of its own.
 * @throws RoadsRefused when it is none, is too large, or is in another projection
 */
export async function readGeoPackage(
  path: string,
  receive: FeatureReceiver,
  onProgress: OnProgress,
): Promise<ReadFile> {
  if ((await stat(path)).size > MAX_BYTES)
    throw new RoadsRefused(
      `The GeoPackage has more than ${MAX_BYTES / 1e6} MB: convert the layer with the roads, which may then be larger, with: ogr2ogr -t_srs EPSG:4326 roads.geojson <file>`,
    );
  const { default: initSqlJs } = await import('sql.js');
  const sqlite = await initSqlJs();
  const database = new sqlite.Database(await readFile(path));
  try {
    database.run(`PRAGMA hard_heap_limit = ${HEAP_BYTES}`);
    const layers = layersOf(database);
    const projections = new Set(layers.map(({ code, system }) => projectionOfCode(code, system)));
    const total = layers.reduce(
      (sum, { table }) => sum + Number(firstOf(database, `SELECT count(*) FROM ${quoted(table)}`)),
      0,
    );
    let done = 0;
    for (const { table, column } of layers) {
      const statement = database.prepare(`SELECT * FROM ${quoted(table)}`);
      try {
        while (statement.step()) {
          const { [column]: blob, ...properties } = statement.getAsObject();
          receive({ geometry: blob instanceof Uint8Array ? geometryOf(blob) : null, properties });
          onProgress(++done / Math.max(total, 1));
        }
      } finally {
        statement.free();
      }
    }
    return { format: 'GEOPACKAGE', projection: [...projections].join(', ') };
  } catch (error) {
    if (error instanceof RoadsRefused) throw error;
    throw new RoadsRefused(
      `The GeoPackage cannot be read (${(error as Error).message.slice(0, 200)}): export it again`,
    );
  } finally {
    database.close();
  }
}

type Database = InstanceType<Awaited<ReturnType<typeof import('sql.js')['default']>>['Database']>;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const firstOf = (database: Database, query: string): unknown => database.exec(query)[0]?.values[0]?.[0];

/** @throws RoadsRefused when there is no layer that may have lines */
function layersOf(database: Database): readonly Layer[] {
  const [found] = database.exec(
    `SELECT g.table_name, g.column_name, g.geometry_type_name, g.srs_id, s.srs_name, s.organization, s.organization_coordsys_id
     FROM gpkg_geometry_columns g JOIN gpkg_contents c ON c.table_name = g.table_name AND c.data_type = 'features'
     LEFT JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id`,
  );
  const rows = (found?.values ?? []).map(([table, column, kind, id, name, organization, code]) => ({
    table: String(table),
    column: String(column),
    kind: String(kind).toUpperCase(),
    code: String(organization).toUpperCase() === 'EPSG' ? Number(code) : Number(id),
    system: `${name ?? 'unknown'} (${organization ?? 'no organisation'}:${code ?? id})`,
  }));
  const layers = rows.filter(({ kind }) => !/POINT|POLYGON|SURFACE/.test(kind));
  if (layers.length > 0) return layers;
  const others = rows.map(({ table, kind }) => `${table} (${kind})`).join(', ');
  throw new RoadsRefused(`The GeoPackage has no layer of lines: ${others || 'it has no layers of features'}`);
}

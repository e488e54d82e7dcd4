import { zipSync } from 'fflate';

// Files with roads in the formats that are read, for tests.

/** A road of a file: its name, class, and longitude and latitude of its points. */
export interface TestRoad {
  readonly name: string;
  readonly highway: string;
  readonly points: readonly (readonly [number, number])[];
}

export const ROADS: readonly TestRoad[] = [
  {
    name: 'Hauptstraße',
    highway: 'primary',
    points: [
      [16.37, 48.2],
      [16.38, 48.21],
      [16.4, 48.215],
    ],
  },
  {
    name: 'Atatürk Caddesi',
    highway: 'residential',
    points: [
      [16.372, 48.201],
      [16.373, 48.204],
    ],
  },
];

export const featureOf = ({ name, highway, points }: TestRoad) => ({
  type: 'Feature',
  properties: { name, highway },
  geometry: { type: 'LineString', coordinates: points },
});

export const geoJsonOf = (features: readonly object[], more: object = {}): string =>
  JSON.stringify({ type: 'FeatureCollection', ...more, features });

const WGS_84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["Degree",0.0174532925199433]]';

/** The parts of a shapefile (ESRI Shapefile Technical Description, 1998). */
export const shapefileOf = (roads: readonly TestRoad[], prj: string | null = WGS_84) => {
  const records = roads.map(({ points }, index) => {
    const content = Buffer.alloc(48 + 16 * points.length);
    content.writeInt32LE(3, 0);
    content.writeInt32LE(1, 36);
    content.writeInt32LE(points.length, 40);
    for (const [at, [x, y]] of points.entries()) {
      content.writeDoubleLE(x, 48 + 16 * at);
      content.writeDoubleLE(y, 56 + 16 * at);
    }
    const header = Buffer.alloc(8);
    header.writeInt32BE(index + 1, 0);
    header.writeInt32BE(content.length / 2, 4);
    return Buffer.concat([header, content]);
  });
  const header = Buffer.alloc(100);
  header.writeInt32BE(9994, 0);
  header.writeInt32BE((100 + records.reduce((sum, { length }) => sum + length, 0)) / 2, 24);
  header.writeInt32LE(1000, 28);
  header.writeInt32LE(3, 32);

  const [nameBytes, classBytes] = [40, 20];
  const field = (name: string, length: number) => {
    const described = Buffer.alloc(32);
    described.write(name, 'latin1');
    described.write('C', 11, 'latin1');
    described[16] = length;
    return described;
  };
  const rows = roads.map(({ name, highway }) => {
    const row = Buffer.alloc(1 + nameBytes + classBytes, ' ');
    row.write(name, 1, 'utf8');
    row.write(highway, 1 + nameBytes, 'utf8');
    return row;
  });
  const table = Buffer.alloc(32);
  table[0] = 3;
  table.writeUInt32LE(roads.length, 4);
  table.writeUInt16LE(32 + 64 + 1, 8);
  table.writeUInt16LE(1 + nameBytes + classBytes, 10);
  const dbf = Buffer.concat([
    table,
    field('NAME', nameBytes),
    field('highway', classBytes),
    Buffer.from([0x0d]),
    ...rows,
    Buffer.from([0x1a]),
  ]);
  return {
    'roads.shp': Buffer.concat([header, ...records]),
    'roads.dbf': dbf,
    ...(prj !== null && { 'roads.prj': Buffer.from(prj) }),
    'roads.cpg': Buffer.from('UTF-8'),
  };
};

export const zipOf = (files: Readonly<Record<string, Uint8Array>>): Buffer => Buffer.from(zipSync(files));

/** A GeoPackage with one layer. @param system the EPSG code of its projection */
export const geoPackageOf = async (roads: readonly TestRoad[], system = 4326): Promise<Buffer> => {
  const { default: initSqlJs } = await import('sql.js');
  const sqlite = await initSqlJs();
  const database = new sqlite.Database();
  database.run(`
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT, identifier TEXT, srs_id INTEGER);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z INTEGER, m INTEGER);
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
    INSERT INTO gpkg_spatial_ref_sys VALUES ('MGI / Austria GK East', 31256, 'EPSG', 31256, ''), ('WGS 84 geodetic', 4326, 'EPSG', 4326, '');
    INSERT INTO gpkg_contents VALUES ('roads', 'features', 'roads', ${system});
    INSERT INTO gpkg_geometry_columns VALUES ('roads', 'geom', 'LINESTRING', ${system}, 0, 0);
    CREATE TABLE roads (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT, highway TEXT);
  `);
  for (const { name, highway, points } of roads) {
    const blob = Buffer.alloc(8 + 9 + 16 * points.length);
    blob.write('GP', 'latin1');
    blob[3] = 1;
    blob.writeInt32LE(system, 4);
    blob[8] = 1;
    blob.writeUInt32LE(2, 9);
    blob.writeUInt32LE(points.length, 13);
    for (const [at, [x, y]] of points.entries()) {
      blob.writeDoubleLE(x, 17 + 16 * at);
      blob.writeDoubleLE(y, 25 + 16 * at);
    }
    database.run('INSERT INTO roads (geom, name, highway) VALUES (?, ?, ?)', [blob, name, highway]);
  }
  const file = Buffer.from(database.export());
  database.close();
  return file;
};

/** A GeoPackage whose layer is a view without an end. */
export const endlessGeoPackage = async (): Promise<Buffer> => {
  const { default: initSqlJs } = await import('sql.js');
  const sqlite = await initSqlJs();
  const database = new sqlite.Database(await geoPackageOf([]));
  database.run(`
    DROP TABLE roads;
    CREATE VIEW roads AS WITH RECURSIVE all_numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM all_numbers)
      SELECT n AS fid, NULL AS geom FROM all_numbers;
  `);
  const file = Buffer.from(database.export());
  database.close();
  return file;
};

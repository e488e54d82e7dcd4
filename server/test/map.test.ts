import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MapState, type RoadsReport, roadsReport } from '@gantry/contract/map';
import { VectorTile } from '@mapbox/vector-tile';
import * as fc from 'fast-check';
import { PbfReader } from 'pbf';
import { PMTiles, type Source } from 'pmtiles';
import { afterAll, describe, expect, it } from 'vitest';
import { joinLines } from '../src/map/join-lines.ts';
import { makeRoads } from '../src/map/make-roads.ts';
import { makeRoadsInProcess } from '../src/map/process.ts';
import { projectionOfCrs, projectionOfText } from '../src/map/projection.ts';
import { roadFactsOf } from '../src/map/road-class.ts';
import { Roads } from '../src/map/road-file.ts';
import { JsonSplitter } from '../src/map/split-json.ts';
import { eventually, sharedGantry } from './harness.ts';
import {
  endlessGeoPackage,
  featureOf,
  geoJsonOf,
  geoPackageOf,
  ROADS,
  shapefileOf,
  zipOf,
} from './road-files.ts';

/** The parts of a shapefile, one of which is changed. */
const changedShapefile = (name: 'roads.shp' | 'roads.dbf', change: (part: Buffer) => Buffer): Buffer => {
  const parts = shapefileOf(ROADS);
  return zipOf({ ...parts, [name]: change(Buffer.from(parts[name])) });
};

const scratch = await mkdtemp(join(tmpdir(), 'gantry-map-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

let files = 0;
/** Makes tiles of the content of a file. @returns the report, and what is left in the folder */
const make = async (content: Buffer | string, name = 'roads.geojson') => {
  const folder = await mkdtemp(join(scratch, 'made-'));
  const path = join(folder, name);
  await writeFile(path, content);
  const target = join(folder, `${++files}.pmtiles`);
  const origin = { id: 'x', fileName: name, attribution: '© Somebody', at: new Date(0).toISOString() };
  const shares: number[] = [];
  const report = await makeRoads(path, target, origin, (share) => shares.push(share));
  return { report, target, folder, shares };
};
const refusalOf = async (content: Buffer | string, name?: string): Promise<string> => {
  const failure = await make(content, name).then(
    () => null,
    (error: Error) => error,
  );
  expect(failure?.name).toBe('RoadsRefused');
  return failure?.message ?? '';
};

const archiveOf = (path: string): PMTiles => {
  const source: Source = {
    getKey: () => path,
    async getBytes(at, length) {
      await using file = await open(path);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      return { data: new Uint8Array(buffer.subarray(0, bytesRead)).buffer };
    },
  };
  return new PMTiles(source);
};

/** What a tile shows: kind and name of each road. */
const roadsIn = async (path: string, z: number, x: number, y: number): Promise<string[]> => {
  const found = await archiveOf(path).getZxy(z, x, y);
  if (!found) return [];
  const layer = new VectorTile(new PbfReader(new Uint8Array(found.data))).layers.roads;
  return Array.from({ length: layer?.length ?? 0 }, (_, at) => {
    const { kind, name } = layer?.feature(at).properties ?? {};
    return `${kind} ${name}`;
  }).sort();
};

/** The tile of a position. */
const tileAt = (longitude: number, latitude: number, z: number): [number, number, number] => {
  const radians = (latitude * Math.PI) / 180;
  const y = (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2;
  return [z, Math.floor((longitude / 360 + 0.5) * 2 ** z), Math.floor(y * 2 ** z)];
};

describe('tiles of roads', () => {
  const content = geoJsonOf(ROADS.map(featureOf));
  const wanted = ['minor Atatürk Caddesi', 'primary Hauptstraße'];

  it.each([
    ['GEOJSON', 'a FeatureCollection', async () => content, 'roads.geojson'],
    [
      'GEOJSON',
      'a feature on each line',
      async () => ROADS.map((road) => JSON.stringify(featureOf(road))).join('\n'),
      'roads.geojsonl',
    ],
    [
      'GEOJSON',
      'a text sequence',
      async () => ROADS.map((road) => `\u001e${JSON.stringify(featureOf(road))}\n`).join(''),
      'roads.json',
    ],
    [
      'GEOJSON',
      'an archive',
      async () => zipOf({ 'folder/roads.geojson': Buffer.from(content) }),
      'roads.zip',
    ],
    ['SHAPEFILE', 'an archive', async () => zipOf(shapefileOf(ROADS)), 'roads.zip'],
    ['GEOPACKAGE', 'a file', () => geoPackageOf(ROADS), 'roads.gpkg'],
    ['GEOPACKAGE', 'an archive', async () => zipOf({ 'roads.gpkg': await geoPackageOf(ROADS) }), 'roads.zip'],
  ] as const)('are made of %s as %s', async (format, _how, contentOf, name) => {
    const { report, target, folder, shares } = await make(await contentOf(), name);
    expect(roadsReport.parse(report)).toMatchObject({
      format,
      projection: 'WGS 84',
      features: 2,
      kept: 2,
      points: 5,
      named: 2,
      classField: 'highway',
      classes: [
        { roadClass: 'PRIMARY', count: 1 },
        { roadClass: 'MINOR', count: 1 },
      ],
      leftOut: [],
      bounds: { west: 16.37, south: 48.2, east: 16.4, north: 48.215 },
    });
    expect(await roadsIn(target, ...tileAt(16.3725, 48.2025, 14))).toEqual(wanted);
    // Far away, only important roads are drawn.
    expect(await roadsIn(target, ...tileAt(16.38, 48.21, 9))).toEqual(['primary Hauptstraße']);
    expect(await roadsIn(target, ...tileAt(16.38, 48.21, 6))).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual([`${files}.pmtiles`, name].sort());
    expect(shares.every((share, at) => share >= (shares[at - 1] ?? 0) && share <= 1)).toBe(true);
  });

  it('have a header and metadata that readers of the format understand', async () => {
    const { target, report } = await make(content);
    const archive = archiveOf(target);
    expect(await archive.getHeader()).toMatchObject({
      specVersion: 3,
      minZoom: 5,
      maxZoom: 14,
      minLon: 16.37,
      maxLat: 48.215,
      numTileEntries: report.tiles,
    });
    expect(await archive.getMetadata()).toMatchObject({
      attribution: '© Somebody',
      vector_layers: [{ id: 'roads' }],
    });
  });

  it('number many thousands, in directories with leaves', async () => {
    // A line through 7,000 tiles of the last level, and some roads far away.
    const long = {
      name: 'Long',
      highway: 'motorway',
      points: [
        [-80, 10],
        [70, 10.5],
      ] as const,
    };
    const { target, report } = await make(geoJsonOf([long, ...ROADS].map(featureOf)));
    expect(report.tiles).toBeGreaterThan(7_000);
    for (const longitude of [-79.9, -12.345, 0, 33.3, 69.9])
      expect(await roadsIn(target, ...tileAt(longitude, 10 + (longitude + 80) / 300, 14))).toEqual([
        'motorway Long',
      ]);
    expect(await roadsIn(target, ...tileAt(16.3725, 48.2025, 14))).toEqual(wanted);
    expect(await roadsIn(target, ...tileAt(16.3725, 48.2025, 5))).toEqual([]);
    expect(await roadsIn(target, ...tileAt(0, 10.26, 5))).toEqual(['motorway Long']);
  });

  it('leave out the least important roads where there are too many, and say so', async () => {
    const zigzag = (n: number, highway: string) => ({
      name: `${highway} ${n}`,
      highway,
      points: Array.from(
        { length: 500 },
        (_, at) => [16.37 + at * 0.00003, 48.2 + ((at * 7 + n) % 11) * 0.001] as const,
      ),
    });
    const many = [...Array.from({ length: 120 }, (_, n) => zigzag(n, 'residential')), zigzag(0, 'trunk')];
    const { target, report } = await make(geoJsonOf(many.map(featureOf)));
    expect(report.thinnedTiles).toBeGreaterThan(0);
    const shown = await roadsIn(target, ...tileAt(16.377, 48.204, 14));
    expect(shown).toContain('trunk trunk 0');
    expect(shown.length).toBeLessThan(100);
  });
});

describe('lines of one road', () => {
  const line = (name: string | null, ...points: number[]) => [name, ...points] as const;
  const join = (...lines: (readonly [string | null, ...number[]])[]): string[] => {
    const roads = new Roads();
    for (const [name, ...points] of lines) roads.addUnits(points, name, 'MINOR');
    const joined = joinLines(roads);
    return Array.from(
      { length: joined.lines },
      (_, at) => `${joined.name(at)} ${[...joined.line(at)].join(' ')}`,
    );
  };

  it('are joined where they meet, whatever their order and direction', () => {
    expect(join(line('A', 0, 0, 1, 1), line('A', 2, 2, 1, 1), line('A', 2, 2, 3, 3))).toEqual([
      'A 0 0 1 1 2 2 3 3',
    ]);
    expect(join(line('A', 2, 2, 3, 3), line('A', 0, 0, 1, 1), line('A', 1, 1, 2, 2))).toEqual([
      'A 0 0 1 1 2 2 3 3',
    ]);
    // Others, and those without a name, stay as they are.
    expect(
      join(line('A', 0, 0, 1, 1), line('B', 1, 1, 2, 2), line(null, 1, 1, 2, 2), line(null, 2, 2, 3, 3)),
    ).toHaveLength(4);
    // A branch, and a ring.
    expect(
      join(line('A', 0, 0, 1, 1), line('A', 1, 1, 2, 0), line('A', 2, 0, 0, 0), line('A', 1, 1, 5, 5)),
    ).toHaveLength(1);
  });

  it('keep every segment once', () => {
    const point = fc.nat({ max: 4 });
    const part = fc.array(fc.tuple(point, point), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const segments = (lines: readonly (readonly number[])[]): string[] =>
          lines
            .flatMap((points) =>
              Array.from({ length: points.length / 2 - 1 }, (_, at) =>
                [points.slice(2 * at, 2 * at + 2).join(), points.slice(2 * at + 2, 2 * at + 4).join()]
                  .sort()
                  .join(' '),
              ),
            )
            .sort();
        const lines = parts.map((positions) => positions.flat());
        const joined = join(...lines.map((points) => line('A', ...points)));
        const after = joined.map((text) => text.split(' ').slice(1).map(Number));
        expect(segments(after)).toEqual(segments(lines));
      }),
    );
  });
});

describe('the report of a file', () => {
  it('names what is left out, and why', async () => {
    const odd = (geometry: unknown, properties: object = {}) => ({ type: 'Feature', properties, geometry });
    const square = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ];
    const { report } = await make(
      geoJsonOf([
        featureOf(ROADS[0] as never),
        odd(null),
        odd({ type: 'Point', coordinates: [1, 2] }),
        odd({ type: 'Polygon', coordinates: [square] }),
        odd({
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [5, 5],
            ],
          ],
        }),
        odd({ type: 'MultiPolygon', coordinates: [[square], [[[0, 0]]]] }),
        odd({ type: 'LineString', coordinates: [[1, 2]] }),
        odd({
          type: 'LineString',
          coordinates: [
            [1, 2],
            [1, 'x'],
          ],
        }),
        odd({ type: 'LineString', coordinates: 'none' }),
        odd({ type: 'Nonsense' }),
        odd(
          {
            type: 'LineString',
            coordinates: [
              [1, 2],
              [3, 4],
            ],
          },
          { railway: 'rail' },
        ),
        ...Array.from({ length: 12 }, () => featureOf(ROADS[1] as never)),
        odd({
          type: 'LineString',
          coordinates: [
            [1, 2],
            [181, 4],
          ],
        }),
      ]),
    );
    expect(report).toMatchObject({
      features: 24,
      kept: 13,
      leftOut: [
        { reason: 'NO_GEOMETRY', count: 1, first: [2] },
        { reason: 'POINT', count: 1, first: [3] },
        { reason: 'AREA', count: 1, first: [4] },
        { reason: 'BROKEN_LINE', count: 4, first: [7, 8, 9, 10] },
        { reason: 'BROKEN_RING', count: 2, first: [5, 6] },
        { reason: 'OUTSIDE', count: 1, first: [24] },
        { reason: 'NOT_A_ROAD', count: 1, first: [11] },
      ],
    } satisfies Partial<RoadsReport>);
  });

  it('is a refusal that names the projection, for files in another one', async () => {
    const far = {
      ...featureOf(ROADS[0] as never),
      geometry: {
        type: 'LineString',
        coordinates: [
          [321909, 228333],
          [321106, 228863],
        ],
      },
    };
    expect(await refusalOf(geoJsonOf([far]))).toMatch(
      /^Feature 1 has the position 321909, 228333, which is no longitude/,
    );
    const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::31256' } };
    expect(await refusalOf(geoJsonOf(ROADS.map(featureOf), { crs }))).toContain('EPSG::31256');
    const prj = 'PROJCS["MGI_Austria_GK_East",GEOGCS["GCS_MGI"]]';
    expect(await refusalOf(zipOf(shapefileOf(ROADS, prj)), 'r.zip')).toContain('MGI_Austria_GK_East');
    expect(await refusalOf(zipOf(shapefileOf(ROADS, null)), 'r.zip')).toContain('no .prj');
    expect(await refusalOf(await geoPackageOf(ROADS, 31256), 'r.gpkg')).toContain(
      'MGI / Austria GK East (EPSG:31256)',
    );
  });

  it.each([
    ['nothing', '', /^The file is empty/],
    ['text', 'name,class\n1,2\n', /^Line 1: JSON with one object/],
    ['a list', '[1, 2]', /^Line 1: JSON with one object/],
    [
      'half a file',
      geoJsonOf(ROADS.map(featureOf)).slice(0, -40),
      /ends in the middle of a value that begins in line 1/,
    ],
    [
      'no JSON in a feature',
      '{"type":"FeatureCollection","features":[\n{"type":"Feature","x":}]}',
      /^Line 2: what begins here is not JSON/,
    ],
    ['no features', geoJsonOf([]), /^The file has no features/],
    [
      'no roads',
      geoJsonOf([{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } }]),
      /None of the 1 features is a road.*POINT: 1 \(feature 1\)/,
    ],
    ['TopoJSON', '{"type":"Topology","objects":{}}', /the type "Topology"/],
    ['JSON of Esri', '{"features":[{"attributes":{},"geometry":{"paths":[]}}]}', /JSON of Esri/],
    ['deep brackets', '['.repeat(3).padStart(4, '{"a":').concat('['.repeat(100)), /brackets|JSON/],
    [
      'a damaged archive',
      zipOf({ 'roads.geojson': Buffer.alloc(10_000, 'x') }).subarray(0, 60),
      /archive|empty|JSON/,
    ],
    ['an archive of something else', zipOf({ 'readme.txt': Buffer.from('x') }), /no file with roads/],
    [
      'an archive with half a shapefile',
      zipOf({ 'roads.shp': shapefileOf(ROADS)['roads.shp'] }),
      /\.shp, \.dbf and \.prj/,
    ],
    [
      'a damaged shapefile',
      zipOf({ ...shapefileOf(ROADS), 'roads.shp': Buffer.alloc(100, 1) }),
      /shapefile is damaged|None of/,
    ],
    [
      'a shapefile with a record of a wrong length',
      changedShapefile('roads.shp', (shp) => {
        // The second record, after the header and the first one with three points.
        shp.writeInt32BE(-1, 100 + 8 + 48 + 3 * 16 + 4);
        return shp;
      }),
      /damaged: 1 lines were found for 2 records/,
    ],
    [
      'a shapefile whose .dbf was cut',
      changedShapefile('roads.dbf', (dbf) => dbf.subarray(0, -30)),
      /the \.dbf is not complete/,
    ],
    [
      'objects in place of texts',
      geoJsonOf([], { crs: { properties: { name: { toString: null } } } }),
      /projection \{"toString":null\}/,
    ],
    [
      'an object in place of the type of a geometry',
      geoJsonOf([
        {
          type: 'Feature',
          geometry: { type: 'GeometryCollection', geometries: [{ type: { toString: null } }] },
        },
      ]),
      /NO_GEOMETRY: 1/,
    ],
    [
      'a damaged GeoPackage',
      Buffer.concat([Buffer.from('SQLite format 3\u0000'), Buffer.alloc(200, 7)]),
      /GeoPackage cannot be read/,
    ],
  ])('is a refusal that says what would be right, for %s', async (_what, content, message) => {
    expect(await refusalOf(content as Buffer)).toMatch(message);
  });
});

it('the process that reads a view without an end ends, and says why', async () => {
  const path = join(scratch, 'endless.gpkg');
  await writeFile(path, await endlessGeoPackage());
  const origin = { id: 'x', fileName: null, attribution: null, at: new Date(0).toISOString() };
  const options = { onProgress: () => undefined, signal: new AbortController().signal, cpuMs: 3_000 };
  await expect(
    makeRoadsInProcess({ path, target: join(scratch, 'endless.pmtiles'), origin }, options),
  ).rejects.toThrow(/took more than 0.05 minutes.*view/);
}, 60_000);

describe('the division of JSON', () => {
  it('gives the same features wherever the pieces end', () => {
    const text = `\ufeff{"a": {"features": [1]}, "features": [${ROADS.map((road) => JSON.stringify(featureOf({ ...road, name: '"]}{[\\' }))).join(' ,\n')} ], "crs": null}\n{"type":"Feature"}`;
    const bytes = Buffer.from(text);
    const divide = (cuts: readonly number[]): string[] => {
      const found: string[] = [];
      const note = (kind: string) => (value: string, line: number) => {
        found.push(`${kind} ${line} ${JSON.stringify(JSON.parse(value))}`);
      };
      const splitter = new JsonSplitter({ feature: note('feature'), top: note('top') });
      const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
      for (const [at, end] of [...ends, bytes.length].entries())
        splitter.push(bytes.subarray(ends[at - 1] ?? 0, end));
      splitter.end();
      return found;
    };
    const whole = divide([]);
    expect(whole.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual([
      'feature 1',
      'feature 2',
      'top 1',
      'top 3',
    ]);
    expect(whole[2]).toBe('top 1 {"a":{"features":[1]},"features":[],"crs":null}');
    fc.assert(fc.property(fc.array(fc.nat()), (cuts) => void expect(divide(cuts)).toEqual(whole)));
    expect(divide(Array.from(bytes.keys()))).toEqual(whole);
  });

  it('ends with a refusal and nothing else for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ' ', 'features', ':') }),
        (bytes, text) => {
          for (const content of [Buffer.from(bytes), Buffer.from(text)]) {
            try {
              const splitter = new JsonSplitter({ feature: () => undefined, top: () => undefined });
              splitter.push(content);
              splitter.end();
            } catch (error) {
              expect((error as Error).name).toBe('RoadsRefused');
            }
          }
        },
      ),
    );
  });
});

describe('facts about roads', () => {
  it.each([
    [{ highway: 'motorway_link', name: 'A2' }, 'MOTORWAY', 'A2'],
    [{ FULLNAME: 'Main St', MTFCC: 'S1400' }, 'MINOR', 'Main St'],
    [{ fclass: 'tertiary', name: '', ref: 'B 1' }, 'TERTIARY', 'B 1'],
    [{ FRC: 0 }, 'MOTORWAY', null],
    [{ featurecla: 'Road', type: 'Secondary Highway' }, 'PRIMARY', null],
    [{ class: 'unknown to us' }, 'MINOR', null],
    [{}, 'MINOR', null],
  ])('%j are found in the properties that usual sources have', (properties, roadClass, name) => {
    expect(roadFactsOf(properties)).toMatchObject({ roadClass, name });
  });

  it.each([
    [null, 'WGS 84'],
    [{ type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }, 'WGS 84'],
    [{ type: 'name', properties: { name: 'EPSG:4326' } }, 'WGS 84'],
    [
      { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4269' } },
      'NAD83, taken as WGS 84 (less than 2 m apart)',
    ],
    [{ type: 'EPSG', properties: { code: 4258 } }, 'ETRS89, taken as WGS 84 (less than 2 m apart)'],
  ])('projections of GeoJSON are recognized: %j', (crs, projection) => {
    expect(projectionOfCrs(crs)).toBe(projection);
  });

  it('projections in well-known text are recognized', () => {
    expect(projectionOfText('GEOGCS["WGS 84",DATUM["WGS_1984"]]')).toBe('WGS 84');
    expect(projectionOfText('GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983"]]')).toContain(
      'NAD83',
    );
    expect(() => projectionOfText('GEOGCS["GCS_European_1950"]')).toThrow(/GCS_European_1950/);
    expect(() => projectionOfText('PROJCS["WGS_1984_UTM_Zone_35N",GEOGCS["GCS_WGS_1984"]]')).toThrow(
      /UTM_Zone_35N/,
    );
  });
});

describe('the map of a service', () => {
  const send = (content: Buffer | string, as = token, query = 'name=roads.geojson&attribution=%C2%A9+City') =>
    gantry.fetch(`/map/file?${query}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${as}` },
      body: content,
    });
  const state = () => gantry.ok('map.get', undefined, { token }) as Promise<MapState>;
  const settled = () => eventually(state, ({ staged }) => staged?.state !== 'READING');
  const known = async () =>
    (await gantry.fetch('/console.json')).body as { roads: { version: string } | null };

  it('shows the roads of a file after it was read and applied, and again those of another', async () => {
    expect(await state()).toEqual({ current: null, staged: null, hasBaseMap: false });
    expect((await known()).roads).toBeNull();
    expect((await gantry.fetch('/map/roads.pmtiles')).status).toBe(404);

    const sent = await send(geoJsonOf(ROADS.map(featureOf)));
    expect([sent.status, sent.body]).toMatchObject([201, { state: 'READING', fileName: 'roads.geojson' }]);
    const { staged, current } = await settled();
    expect(staged).toMatchObject({ state: 'READY', progress: 1, problem: null, report: { kept: 2 } });
    // Nothing has changed yet.
    expect(current).toBeNull();
    expect((await known()).roads).toBeNull();

    const applied = (await gantry.ok('map.applyFile', { id: staged?.id }, { token })) as MapState;
    expect(applied).toMatchObject({
      staged: null,
      current: { fileName: 'roads.geojson', attribution: '© City', report: { kept: 2 } },
    });
    const { roads } = await known();
    expect(roads).toMatchObject({ attribution: '© City' });
    const answer = await fetch(`${gantry.url}/map/roads.pmtiles?v=${roads?.version}`, {
      headers: { range: 'bytes=0-6' },
    });
    expect([answer.status, await answer.text()]).toEqual([206, 'PMTiles']);
    // Everybody may read the file, so it does not say who sent it.
    expect(
      await archiveOf(`${gantry.app.context.config.DATA_DIR}/map/roads.pmtiles`).getMetadata(),
    ).not.toHaveProperty('gantry.by');

    await send(geoJsonOf([featureOf(ROADS[1] as never)]));
    const next = await settled();
    expect(next.current?.report.kept).toBe(2);
    await gantry.ok('map.applyFile', { id: next.staged?.id }, { token });
    expect((await state()).current?.report.kept).toBe(1);
    expect((await known()).roads?.version).not.toBe(roads?.version);
    await gantry.ok('map.remove', undefined, { token });
    expect((await state()).current).toBeNull();
    expect((await gantry.refusal('map.remove', undefined, { token })).status).toBe(404);
  });

  it('stays as it is when a file cannot be used', async () => {
    await send('{"type":"Topology"}');
    const { staged } = await settled();
    expect(staged).toMatchObject({
      state: 'REFUSED',
      report: null,
      problem: expect.stringContaining('"Topology"'),
    });
    expect((await gantry.refusal('map.applyFile', { id: staged?.id }, { token })).status).toBe(409);
    const after = await gantry.ok('map.discardFile', { id: staged?.id }, { token });
    expect(after).toEqual({ current: null, staged: null, hasBaseMap: false });
    expect((await gantry.refusal('map.discardFile', { id: staged?.id }, { token })).status).toBe(404);
  });

  it('refuses a second file while one is read, and stops reading what is discarded', async () => {
    const many = Array.from({ length: 30_000 }, (_, n) =>
      featureOf({
        name: `Road ${n}`,
        highway: 'residential',
        points: Array.from({ length: 20 }, (__, at) => [16 + n / 1e4 + at / 1e5, 48 + at / 1e3] as const),
      }),
    );
    const { status } = await send(geoJsonOf(many));
    expect(status).toBe(201);
    expect((await send(geoJsonOf(ROADS.map(featureOf)))).status).toBe(409);
    const { staged } = await state();
    await gantry.ok('map.discardFile', { id: staged?.id }, { token });
    expect((await state()).staged).toBeNull();
    expect((await send(geoJsonOf(ROADS.map(featureOf)))).status).toBe(201);
    await gantry.ok('map.discardFile', { id: (await settled()).staged?.id }, { token });
  });

  it('takes files only from administrators, and no empty ones', async () => {
    for (const role of ['OPERATOR', 'VIEWER'] as const)
      expect((await send('{}', await gantry.tokenFor(role))).status).toBe(403);
    expect((await send('{}', 'nobody')).status).toBe(401);
    expect((await send('')).status).toBe(400);
    expect((await send('{}', token, `attribution=${'x'.repeat(201)}`)).status).toBe(400);
    expect((await state()).staged).toBeNull();
  });
});

import type { Feature, FeatureCollection, MultiLineString, MultiPolygon, Polygon } from 'geojson';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import address from 'world-atlas/countries-50m.json?url';
import { splitLines, unrollRings } from './antimeridian.ts';

/** Land, borders and coasts of the world (Natural Earth, 1:50 million): the base map that needs no tiles. */
export interface Outlines {
  readonly land: FeatureCollection<Polygon | MultiPolygon>;
  readonly borders: Feature<MultiLineString>;
  readonly coasts: Feature<MultiLineString>;
}

let loading: Promise<Outlines> | null = null;

/** Loads the outlines once. @throws what `fetch` throws; the next call then tries again */
export function loadOutlines(): Promise<Outlines> {
  loading ??= read().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function read(): Promise<Outlines> {
  const response = await fetch(address);
  const world = (await response.json()) as Topology<{
    countries: GeometryCollection;
    land: GeometryCollection;
  }>;
  const { countries, land } = world.objects;
  const lines = ({ coordinates }: MultiLineString): Feature<MultiLineString> => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'MultiLineString', coordinates: splitLines(coordinates) },
  });
  const areas = feature(world, land) as FeatureCollection<Polygon | MultiPolygon>;
  return {
    land: { ...areas, features: areas.features.map(unrolled) },
    borders: lines(mesh(world, countries, (one, other) => one !== other)),
    coasts: lines(mesh(world, countries, (one, other) => one === other)),
  };
}

function unrolled(area: Feature<Polygon | MultiPolygon>): Feature<MultiPolygon> {
  const { type, coordinates } = area.geometry;
  const polygons = type === 'Polygon' ? [coordinates] : coordinates;
  return { ...area, geometry: { type: 'MultiPolygon', coordinates: polygons.map(unrollRings) } };
}

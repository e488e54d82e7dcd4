import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FeatureCollection, MultiPolygon, Polygon, Position } from 'geojson';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { describe, expect, it } from 'vitest';
import { splitLines, unrollRings } from '../src/shared/map/antimeridian.ts';

const file = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json');
const world = JSON.parse(readFileSync(file, 'utf8')) as Topology<{
  countries: GeometryCollection;
  land: GeometryCollection;
}>;

/** The points that are more than 180 degrees of longitude from the previous point of their line. */
const jumpsOf = (lines: readonly (readonly Position[])[]) =>
  lines.flatMap((line) =>
    line.filter((point, at) => at > 0 && Math.abs((point[0] ?? 0) - (line[at - 1]?.[0] ?? 0)) > 180),
  );

describe('the outlines of the map', () => {
  const coasts = mesh(world, world.objects.countries, (one, other) => one === other).coordinates;
  const land = (
    feature(world, world.objects.land) as FeatureCollection<Polygon | MultiPolygon>
  ).features.flatMap(({ geometry }) =>
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates,
  );

  it('have no line across the whole map', () => {
    expect(jumpsOf(coasts)).not.toEqual([]);
    expect(jumpsOf(splitLines(coasts))).toEqual([]);
  });

  it('have no line along the 180th meridian, where the data is cut', () => {
    const along = splitLines(coasts).filter((line) => line.every(([x = 0]) => Math.abs(x) === 180));
    expect(along).toEqual([]);
  });

  it('have land whose rings continue beyond 180 degrees, closed along the pole where they surround it', () => {
    const rings = land.flatMap(unrollRings);
    // The ring of Antarctica is closed along the pole.
    const beforePole = (ring: readonly Position[]) =>
      ring.slice(
        0,
        ring.findIndex(([, y]) => y === -90),
      );
    expect(jumpsOf(rings.map(beforePole))).toEqual([]);
    for (const ring of rings) expect(ring.at(-1)).toEqual(ring[0]);
  });

  it('split a line at the latitude at which it crosses', () => {
    const parts = splitLines([
      [
        [179, 10],
        [-179, 20],
      ],
    ]);
    expect(parts).toEqual([
      [
        [179, 10],
        [180, 15],
      ],
      [
        [-180, 15],
        [-179, 20],
      ],
    ]);
  });
});

import type { Position } from 'geojson';

/** Consecutive points whose longitudes differ by more than this, in degrees, are joined across the 180th meridian. */
const HALF_TURN = 180;
/** The approximate precision of the coordinates of the outlines, in degrees. */
const NEAR = 0.01;

const longitudeOf = (point: Position | undefined): number => point?.[0] ?? 0;
const latitudeOf = (point: Position | undefined): number => point?.[1] ?? 0;

/** Whether a segment lies on the edge at which the data was cut, and is not a coast. */
function isCut(one: Position, other: Position): boolean {
  return (isOnMeridian(one) && isOnMeridian(other)) || (isAtPole(one) && isAtPole(other));
}

function isOnMeridian(point: Position): boolean {
  return Math.abs(longitudeOf(point)) > HALF_TURN - NEAR;
}

function isAtPole(point: Position): boolean {
  return Math.abs(latitudeOf(point)) > 90 - NEAR;
}

/**
 * Splits lines at the 180th meridian, so that none is drawn across the whole map. Segments along that meridian and at
 * the poles are removed.
 */
export function splitLines(lines: readonly (readonly Position[])[]): Position[][] {
  return lines.flatMap((line) => {
    const parts: Position[][] = [[]];
    for (const [at, point] of line.entries()) {
      const before = line[at - 1];
      const jump = before ? longitudeOf(point) - longitudeOf(before) : 0;
      if (before && isCut(before, point)) parts.push([point]);
      else if (before && Math.abs(jump) > HALF_TURN) {
        const edge = Math.sign(longitudeOf(before)) * HALF_TURN;
        const latitude = latitudeAtEdge(before, point, edge);
        if (!isOnMeridian(before)) parts.at(-1)?.push([edge, latitude]);
        parts.push(isOnMeridian(point) ? [point] : [[-edge, latitude], point]);
      } else parts.at(-1)?.push(point);
    }
    return parts.filter((part) => part.length > 1);
  });
}

function latitudeAtEdge(from: Position, to: Position, edge: number): number {
  const rest = edge - longitudeOf(from);
  const whole = longitudeOf(to) + 2 * edge - longitudeOf(from);
  const share = whole === 0 ? 0 : rest / whole;
  return latitudeOf(from) + share * (latitudeOf(to) - latitudeOf(from));
}

/**
 * The rings of a polygon with longitudes that continue beyond ±180 degrees instead of wrapping around; the map draws
 * such polygons on both sides. A ring around a pole is closed along the pole; a ring that consists only of the pole is
 * removed.
 */
export function unrollRings(rings: readonly (readonly Position[])[]): Position[][] {
  return rings.filter((ring) => !ring.every(isAtPole)).map(unroll);
}

function unroll(ring: readonly Position[]): Position[] {
  let turns = 0;
  const unrolled = ring.map((point, at): Position => {
    const before = ring[at - 1];
    const jump = before ? longitudeOf(point) - longitudeOf(before) : 0;
    if (Math.abs(jump) > HALF_TURN) turns -= Math.sign(jump);
    return [longitudeOf(point) + turns * 360, latitudeOf(point)];
  });
  const [first, last] = [unrolled[0], unrolled.at(-1)];
  if (!first || !last || Math.abs(longitudeOf(last) - longitudeOf(first)) < HALF_TURN) return unrolled;
  const pole = Math.sign(latitudeOf(first)) * 90;
  return [...unrolled, [longitudeOf(last), pole], [longitudeOf(first), pole], first];
}

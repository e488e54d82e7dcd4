import type { ColorToken } from '../theme/token-color.ts';

/** From normal (0) to critical (4). */
export type Rank = 0 | 1 | 2 | 3 | 4;

/** The colour of each rank. */
export const rankColors = [
  'muted',
  'low',
  'medium',
  'high',
  'critical',
] as const satisfies readonly ColorToken[];

/** How a point is drawn. What is normal is grey and has no mark, so that what is not stands out. */
export interface PointLook {
  /** How far from normal it is, which is its colour. A group of points looks like the worst of them. */
  readonly rank: Rank;
  /** One character in the dot, so that a colour never stands alone; empty for what is normal. */
  readonly mark: string;
  /** In words, for lists and screen readers. */
  readonly text: string;
}

/** Something that is shown on the map at one place. */
export interface MapPoint {
  readonly id: string;
  readonly label: string;
  /** In degrees (WGS 84). */
  readonly latitude: number;
  readonly longitude: number;
  readonly look: PointLook;
}

/** Something that may have a place. */
export interface Placed {
  readonly id: string;
  readonly name: string;
  /** In degrees (WGS 84). */
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null;
}

/** The points of those whose place is known. */
export function pointsOf<One extends Placed>(
  all: readonly One[],
  lookOf: (one: One) => PointLook,
): readonly MapPoint[] {
  return all.flatMap((one) => {
    const { id, name, coordinates } = one;
    if (!coordinates) return [];
    const { latitude, longitude } = coordinates;
    return { id, label: name, latitude, longitude, look: lookOf(one) };
  });
}

/** What every form of the map is given. */
export interface MapProps {
  /** What the map shows, for screen readers. */
  readonly label: string;
  readonly points: readonly MapPoint[];
  readonly selectedId?: string | null | undefined;
  readonly onSelect: (id: string) => void;
  /** What is in view at first: all points, or the surroundings of the selected one. */
  readonly fit?: 'all' | 'selected';
}

/** Corners of what is in view: west, south, east, north, in degrees. */
export type Bounds = readonly [number, number, number, number];

/** The least that holds all of the points; null where there are none. */
export function boundsOf(points: readonly MapPoint[]): Bounds | null {
  if (points.length === 0) return null;
  let [west, south, east, north] = [180, 90, -180, -90];
  for (const { latitude, longitude } of points) {
    west = Math.min(west, longitude);
    south = Math.min(south, latitude);
    east = Math.max(east, longitude);
    north = Math.max(north, latitude);
  }
  return [west, south, east, north];
}

const byName = new Intl.Collator(undefined, { numeric: true });

/** The worst first, and by name where they are alike. */
export function worstFirst(one: MapPoint, other: MapPoint): number {
  return other.look.rank - one.look.rank || byName.compare(one.label, other.label);
}

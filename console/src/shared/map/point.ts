import type { Tone } from '../../ui/badge.tsx';
import type { ColorToken } from '../../ui/token-color.ts';

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

/** How a point is drawn. Normal points are grey and have no mark, so that others stand out. */
export interface PointLook {
  /** Determines the colour. A group of points is drawn with the highest rank of its points. */
  readonly rank: Rank;
  /** One character in the dot, so that the state does not rely on colour alone; empty for normal points. */
  readonly mark: string;
  /** The state as text, for lists and screen readers. */
  readonly text: string;
}

/** An item that is shown at one position on the map. */
export interface MapPoint {
  readonly id: string;
  readonly label: string;
  /** In degrees (WGS 84). */
  readonly latitude: number;
  readonly longitude: number;
  readonly look: PointLook;
}

/** Works on the road: a line, or a mark at one position. */
export interface MapWorks {
  readonly id: string;
  readonly label: string;
  /** The state and the hours, for lists and screen readers. */
  readonly text: string;
  readonly isInForce: boolean;
  /** What the mark means, for the legend. */
  readonly legend: string;
  /** The longitude and latitude of one position, or of those of a line. */
  readonly positions: readonly (readonly [number, number])[];
}

/** Where the mark of works stands: at the position, or halfway along the line. */
export function middleOf({ positions }: MapWorks): readonly [number, number] {
  const lengths = positions.slice(1).map(([east, north], n) => {
    const [fromEast, fromNorth] = positions[n] ?? [east, north];
    return Math.hypot((east - fromEast) * Math.cos((north * Math.PI) / 180), north - fromNorth);
  });
  let left = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (const [n, length] of lengths.entries()) {
    const [from, to] = [positions[n], positions[n + 1]];
    if (from && to && left <= length) {
      const share = length === 0 ? 0 : left / length;
      return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
    }
    left -= length;
  }
  return positions[0] ?? [0, 0];
}

/** An item that may have a position. */
export interface Placed {
  readonly id: string;
  readonly name: string;
  /** In degrees (WGS 84). */
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null;
}

/** The points of the items whose position is known. */
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

/** The props of every variant of the map. */
export interface MapProps {
  /** The name of the map for screen readers. */
  readonly label: string;
  readonly points: readonly MapPoint[];
  readonly works?: readonly MapWorks[];
  readonly selectedId?: string | null | undefined;
  readonly onSelect: (id: string) => void;
  /** The initial view: all points and works, the surroundings of the selected one, or the works. */
  readonly fit?: 'all' | 'selected' | 'works';
  /** What the colours and marks mean, if the texts of the points say more than that. */
  readonly legend?: Readonly<Record<Rank, string>>;
}

/** A bounding box: west, south, east, north, in degrees. */
export type Bounds = readonly [number, number, number, number];

/** The smallest bounding box of points and works; null if there are none. */
export function boundsOf(points: readonly MapPoint[], works: readonly MapWorks[] = []): Bounds | null {
  if (points.length === 0 && works.length === 0) return null;
  let [west, south, east, north] = [180, 90, -180, -90];
  const positions = [
    ...points.map(({ longitude, latitude }) => [longitude, latitude] as const),
    ...works.flatMap((each) => each.positions),
  ];
  for (const [longitude, latitude] of positions) {
    west = Math.min(west, longitude);
    south = Math.min(south, latitude);
    east = Math.max(east, longitude);
    north = Math.max(north, latitude);
  }
  return [west, south, east, north];
}

const byName = new Intl.Collator(undefined, { numeric: true });

/** Sorts the highest rank first, and points of equal rank by label. */
export function worstFirst(one: MapPoint, other: MapPoint): number {
  return other.look.rank - one.look.rank || byName.compare(one.label, other.label);
}

const ranks: Readonly<Record<Tone, Rank>> = { calm: 0, good: 0, low: 1, medium: 2, high: 3, critical: 4 };
/** Normal states have no mark, so that others stand out without relying on colour. */
export const marks: Readonly<Record<Rank, string>> = { 0: '', 1: '–', 2: '~', 3: '×', 4: '!' };

/** How a point of this tone is drawn on the map. */
export function lookOf(tone: Tone, text: string): PointLook {
  const rank = ranks[tone];
  return { rank, mark: marks[rank], text };
}

/** The look for the most severe of several tones. @param text describes all of them */
export function worstOf(tones: readonly Tone[], text: string): PointLook {
  return lookOf(
    tones.reduce((worst, tone) => (ranks[tone] > ranks[worst] ? tone : worst), 'calm'),
    text,
  );
}

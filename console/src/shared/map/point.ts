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
  readonly selectedId?: string | null | undefined;
  readonly onSelect: (id: string) => void;
  /** The initial view: all points, or the surroundings of the selected one. */
  readonly fit?: 'all' | 'selected';
  /** What the colours and marks mean, if the texts of the points say more than that. */
  readonly legend?: Readonly<Record<Rank, string>>;
}

/** A bounding box: west, south, east, north, in degrees. */
export type Bounds = readonly [number, number, number, number];

/** The smallest bounding box of the points; null if there are none. */
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

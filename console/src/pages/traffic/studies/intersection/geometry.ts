import { legs, type turns } from '@gantry/contract/values';

export type Leg = (typeof legs)[number];
export type Turn = (typeof turns)[number];

/** On which side of the road traffic drives. */
export type Side = 'left' | 'right';

/** How many eighths of a circle, clockwise, the leg through which vehicles leave is from the one they come from. */
const EIGHTHS: Readonly<Record<Turn, number>> = { L: 2, T: 4, R: 6, U: 0 };

/** The leg through which vehicles leave, as the service names it: turns are at right angles. */
export function exitOf(from: Leg, turn: Turn): Leg {
  return legs[(legs.indexOf(from) + EIGHTHS[turn]) % legs.length] ?? from;
}

/** The direction of travel of vehicles that come from a leg: from N is southbound. */
export function travelFrom(leg: Leg): string {
  return travelTo(legs[(legs.indexOf(leg) + EIGHTHS.T) % legs.length] ?? leg);
}

/** The direction of travel of vehicles that leave through a leg. */
export function travelTo(leg: Leg): string {
  return leg.length === 1 ? `${leg}B` : leg;
}

/** Degrees clockwise from north. */
export function angleOf(leg: Leg): number {
  return legs.indexOf(leg) * (360 / legs.length);
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * A point of the drawing, whose centre is that of the intersection. y grows downwards.
 * @param along how far it is from the centre along the axis of the leg
 * @param across how far it is from this axis, clockwise
 */
export function pointAt(leg: Leg, along: number, across: number): Point {
  const angle = (angleOf(leg) * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return { x: rounded(along * sin + across * cos), y: rounded(across * sin - along * cos) };
}

const rounded = (value: number): number => Math.round(value * 10) / 10 || 0;

/** The width of the space for the arrow and the volume of a movement. */
export const LANE = 66;
/** The length of a leg from the box in the middle to its end. */
export const LENGTH = 300;

export interface Layout {
  readonly legs: readonly Leg[];
  readonly side: Side;
  /** The turns in the order of their spaces, from the axis of the leg outwards. */
  readonly slots: readonly Turn[];
  /** Half of the width of a leg. */
  readonly half: number;
  /** How far the legs begin from the centre, so that none covers another. */
  readonly radius: number;
  readonly viewBox: string;
}

/** The layout of an intersection of some legs, with a space for U-turns if there are any. */
export function layoutOf(used: readonly Leg[], withUTurns: boolean, side: Side): Layout {
  const kept = legs.filter((leg) => used.includes(leg));
  const inner: readonly Turn[] = side === 'right' ? ['L', 'T', 'R'] : ['R', 'T', 'L'];
  const slots: readonly Turn[] = withUTurns ? ['U', ...inner] : inner;
  const half = slots.length * LANE;
  const gaps = kept.map((leg, at) => {
    const next = kept[(at + 1) % kept.length] ?? leg;
    return (angleOf(next) - angleOf(leg) + 360) % 360 || 360;
  });
  const narrowest = Math.min(90, ...gaps);
  const radius = half / Math.tan((narrowest * Math.PI) / 360);
  return { legs: kept, side, slots, half, radius, viewBox: viewBoxOf(kept, radius, half) };
}

const MARGIN = 20;

function viewBoxOf(used: readonly Leg[], radius: number, half: number): string {
  const corners = used.flatMap((leg) =>
    [-half, half].flatMap((across) => [
      pointAt(leg, radius + LENGTH, across),
      { x: -pointAt(leg, radius, across).x, y: -pointAt(leg, radius, across).y },
    ]),
  );
  const bounds = (values: readonly number[]) => [
    Math.floor(Math.min(...values, 0)) - MARGIN,
    Math.ceil(Math.max(...values, 0)) + MARGIN,
  ];
  const [left = 0, right = 0] = bounds(corners.map(({ x }) => x));
  const [top = 0, bottom = 0] = bounds(corners.map(({ y }) => y));
  return `${left} ${top} ${right - left} ${bottom - top}`;
}

/** Where vehicles of a turn stand before the intersection, from the axis of their leg. */
export function entryAcross({ side, slots }: Layout, turn: Turn): number {
  const across = (slots.indexOf(turn) + 0.5) * LANE;
  return side === 'right' ? -across : across;
}

/** The path of a movement through the box in the middle. */
export function pathOf(layout: Layout, from: Leg, turn: Turn): string {
  const { radius, side } = layout;
  const enter = entryAcross(layout, turn);
  const to = exitOf(from, turn);
  const point = (leg: Leg, along: number, across: number) => {
    const { x, y } = pointAt(leg, along, across);
    return `${x} ${y}`;
  };
  const [start, end] = [point(from, radius, enter), point(to, radius, -enter)];
  if (turn === 'T') return `M${start} L${end}`;
  if (turn === 'U')
    return `M${start} C${point(from, radius / 2, enter)} ${point(to, radius / 2, -enter)} ${end}`;
  // Where the lines of both lanes meet: before the centre if the turn is that around the near corner.
  const isNear = turn === (side === 'right' ? 'R' : 'L');
  return `M${start} Q${point(from, isNear ? Math.abs(enter) : -Math.abs(enter), enter)} ${end}`;
}

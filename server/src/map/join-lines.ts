import { Roads } from './road-file.ts';

/** A joined line has at most so many points, because every area through which it leads reads all of them. */
const MAX_POINTS = 1_000;

/**
 * Joins lines of one name and class that end at the same point. Files usually have a line from each crossing to the next, which is too
 * short for the name of the road.
 */
export function joinLines(roads: Roads): Roads {
  const joined = new Roads();
  for (const lines of linesByRoad(roads).values()) {
    const [first = 0] = lines;
    const [name, roadClass] = [roads.name(first), roads.roadClass(first)];
    const ends = endsOf(roads, lines);
    const left = new Set(lines);
    for (const line of lines) {
      if (!left.delete(line)) continue;
      let points: number[] = [...roads.line(line)];
      // Onwards from one end, and then from the other one.
      for (let turn = 0; turn < 2; turn++) {
        points = reversed(points);
        for (let next = nextAt(points, ends, left); next !== null; next = nextAt(points, ends, left)) {
          const more = [...roads.line(next)];
          if (points.length + more.length > 2 * MAX_POINTS) break;
          left.delete(next);
          const isForward = more[0] === points.at(-2) && more[1] === points.at(-1);
          points.push(...(isForward ? more : reversed(more)).slice(2));
        }
      }
      joined.addUnits(points, name, roadClass);
    }
  }
  return joined;
}

/** Lines with the same name and class; lines without a name alone. */
function linesByRoad(roads: Roads): Map<string | number, number[]> {
  const groups = new Map<string | number, number[]>();
  for (let line = 0; line < roads.lines; line++) {
    const name = roads.name(line);
    const key = name === null ? line : `${roads.roadClass(line)} ${name}`;
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  return groups;
}

/** The lines at each point at which one begins or ends. */
function endsOf(roads: Roads, lines: readonly number[]): Map<string, number[]> {
  const ends = new Map<string, number[]>();
  if (lines.length === 1) return ends;
  for (const line of lines) {
    const points = roads.line(line);
    for (const at of [0, points.length - 2]) {
      const key = `${points[at]} ${points[at + 1]}`;
      const found = ends.get(key);
      if (found) found.push(line);
      else ends.set(key, [line]);
    }
  }
  return ends;
}

/** A line that is left and begins or ends where these points end. */
function nextAt(
  points: readonly number[],
  ends: Map<string, number[]>,
  left: ReadonlySet<number>,
): number | null {
  const found = ends.get(`${points.at(-2)} ${points.at(-1)}`);
  // What is joined already is dropped, so that each line is looked at twice at most.
  while (found && found.length > 0 && !left.has(found.at(-1) ?? -1)) found.pop();
  return found?.at(-1) ?? null;
}

function reversed(points: readonly number[]): number[] {
  const turned: number[] = [];
  for (let at = points.length - 2; at >= 0; at -= 2) turned.push(points[at] ?? 0, points[at + 1] ?? 0);
  return turned;
}

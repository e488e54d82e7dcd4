import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Bin, Cell } from '../src/traffic/bin.ts';

// Bins of traffic for tests of figures.

export const QUARTER_MS = 15 * MINUTE_MS;

/** A bin of a quarter hour that is over and whole. */
export function binAt(start: number, volume: number | null, other: Partial<Bin> = {}): Bin {
  const known =
    volume === null ? ({ status: 'GAP', coverage: 0 } as const) : ({ status: 'VALID', coverage: 1 } as const);
  return { start, end: start + QUARTER_MS, ...known, volume, cells: [], ...other };
}

/** Successive quarter hours. */
export function quartersFrom(start: string, volumes: readonly (number | null)[]): Bin[] {
  return volumes.map((volume, n) => binAt(Date.parse(start) + n * QUARTER_MS, volume));
}

/** Successive hours. */
export function hoursFrom(start: number, volumes: readonly (number | null)[]): Bin[] {
  return volumes.map((volume, n) => {
    const from = start + n * HOUR_MS;
    return binAt(from, volume, { end: from + HOUR_MS });
  });
}

/** A bin with its parts, of which motor vehicles without a class are the volume. */
export function binOf(start: number, cells: readonly Cell[]): Bin {
  const volume = cells.reduce(
    (sum, cell) => sum + ((cell.class?.mode ?? 'MOTOR') === 'MOTOR' ? cell.volume : 0),
    0,
  );
  return binAt(start, volume, { cells });
}

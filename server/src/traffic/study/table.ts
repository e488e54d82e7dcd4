import { hash } from 'node:crypto';
import type { StudyTable, VerifiedStudy } from '@gantry/contract/studies';
import type { TimezoneSettings } from '@gantry/contract/system';
import { csvLines } from '../../platform/csv.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import { type Bin, type Cell, cellKey, LEGS, sumCells } from '../bin.ts';
import type { StudiedSpeeds } from '../speed-study.ts';

// The data of a study in the form in which they are hashed (decision 64). A change of it changes the hashes of all studies.

/** SHA-256 of the table as CSV, as 64 hexadecimal digits. */
export function hashOf({ columns, rows }: StudyTable): string {
  return hash('sha256', csvLines([columns, ...rows]), 'hex');
}

type Part = Omit<Cell, 'volume'>;

const IN_ORDER = new Intl.Collator('en', { numeric: true });
const TURNS = ['', 'L', 'T', 'R', 'U'];

/** By leg (clockwise from the north), turn, direction, lane and class; what is not known comes first. */
function compareParts(a: Part, b: Part): number {
  const places = [a, b].map(({ movement, direction, lane, class: vehicleClass }) => ({
    numbers: [
      movement ? LEGS.indexOf(movement.from) : -1,
      movement ? TURNS.indexOf(movement.turn ?? '') : -1,
    ],
    texts: [`${direction ?? ''}`, `${lane ?? ''}`, vehicleClass?.code ?? ''],
  }));
  const [one, other] = places;
  for (const [n, number] of (one?.numbers ?? []).entries())
    if (number !== other?.numbers[n]) return number - (other?.numbers[n] ?? 0);
  for (const [n, text] of (one?.texts ?? []).entries()) {
    const order = IN_ORDER.compare(text, other?.texts[n] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** The name of a part of a count, such as "N L CAR" (cars from the north that turn left) or "NB lane 1 TRUCK". */
function nameOf({ movement, direction, lane, class: vehicleClass }: Part): string {
  const { from, turn } = movement ?? {};
  const words = [
    from,
    turn,
    typeof direction === 'number' ? `${direction}°` : direction,
    typeof lane === 'number' ? `lane ${lane}` : lane,
    vehicleClass && (/^\d+$/.test(vehicleClass.code) ? `class ${vehicleClass.code}` : vehicleClass.code),
  ];
  return words.filter((word) => word !== undefined).join(' ') || 'other';
}

export const COUNT_COLUMNS = ['Start', 'End', 'Status', 'Coverage', 'Vehicles'];

/**
 * Counts by interval, with a column for each part. Nothing is known about empty cells, and 0 is a count.
 * @param bins in order
 */
export function tableOfBins(bins: readonly Bin[], settings: TimezoneSettings): StudyTable {
  const { iso } = createLocalTime(settings);
  const parts = sumCells(
    bins.flatMap(({ cells }) => cells),
    DIMENSIONS,
  )
    .filter(({ volume }) => volume > 0)
    .sort(compareParts);
  const keys = parts.map(cellKey);
  return {
    columns: [...COUNT_COLUMNS, ...parts.map(nameOf)],
    rows: bins.map(({ start, end, status, coverage, volume, cells }) => {
      const counts = new Map(sumCells(cells, DIMENSIONS).map((cell) => [cellKey(cell), cell.volume]));
      const known = volume === null ? null : 0;
      return [iso(start), iso(end), status, coverage, volume, ...keys.map((key) => counts.get(key) ?? known)];
    }),
  };
}

const DIMENSIONS = ['direction', 'lane', 'class', 'movement'] as const;

export const SPEED_COLUMNS = ['Part', 'Limit (km/h)', 'From (km/h)', 'To (km/h)', 'Vehicles', 'Sum (km/h)'];

/**
 * Speeds in ascending order, by the limit of their time: each that was measured with the number of vehicles, from and to
 * being equal, or the number above the first and up to the second. The sum of the latter is in a row of its own.
 */
export function tableOfSpeeds(parts: Readonly<Record<string, readonly StudiedSpeeds[]>>): StudyTable {
  const rows = Object.entries(parts).flatMap(([part, speeds]) =>
    speeds
      .toSorted((a, b) => (a.limit ?? 0) - (b.limit ?? 0))
      .flatMap((each) => rowsOf(each).map((row) => [part, each.limit, ...row])),
  );
  return { columns: SPEED_COLUMNS, rows };
}

type SpeedRow = [from: number | null, to: number | null, vehicles: number, sum: number | null];

function rowsOf(source: StudiedSpeeds): SpeedRow[] {
  if ('values' in source) {
    const counts = new Map<number, number>();
    for (const speed of source.values) counts.set(speed, (counts.get(speed) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => a - b).map(([speed, vehicles]) => [speed, speed, vehicles, null]);
  }
  const { histogram, measured, speedSum } = source.speeds;
  if (measured === 0) return [];
  const { bins, counts } = histogram;
  return [
    ...bins.map((bin, n): SpeedRow => [bin - 1, bin, counts[n] ?? 0, null]),
    [null, null, measured, speedSum / 1_000],
  ];
}

/** The cells in which two tables differ, by the columns that name a row. */
export function differencesOf(stored: StudyTable, current: StudyTable): VerifiedStudy['differences'] {
  const [before, after] = [rowsByName(stored), rowsByName(current)];
  const columns = [...new Set([...stored.columns, ...current.columns])];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((row) =>
    columns.flatMap((column) => {
      const [one, other] = [before, after].map((rows) => rows.get(row)?.[column] ?? null);
      return one === other ? [] : [{ row, column, stored: one ?? null, current: other ?? null }];
    }),
  );
}

type Named = Readonly<Record<string, string | number | null>>;

function rowsByName({ columns, rows }: StudyTable): Map<string, Named> {
  const naming = columns[0] === SPEED_COLUMNS[0] ? 4 : 1;
  const nameOfRow = (row: StudyTable['rows'][number]): string =>
    row
      .slice(0, naming)
      .map((cell) => cell ?? '–')
      .join(' ');
  return new Map(
    rows.map((row) => [
      nameOfRow(row),
      Object.fromEntries(columns.map((column, n) => [column, row[n] ?? null])),
    ]),
  );
}

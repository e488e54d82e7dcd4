import type { Direction, Lane, Movement, VehicleClass } from '@gantry/contract/movements';
import { basicClassOf, type ClassScheme, classOfScheme } from '@gantry/contract/vehicle-classes';
import { invalidInput } from '../../platform/error.ts';

// What the columns of a table of counts mean, by their names.

/** What a count is a part of. */
export interface Part {
  readonly direction?: Direction;
  readonly lane?: Lane;
  readonly movement?: Movement;
  readonly class?: VehicleClass;
}

/** What a cell says of the whole row. */
export type RowUse =
  | 'date'
  | 'time'
  | 'start'
  | 'end'
  | 'direction'
  | 'lane'
  | 'leg'
  | 'turn'
  | 'movement'
  | 'class';

/** A column, and how it is used. */
export type Column = { readonly at: number; readonly name: string } & (
  | { readonly is: RowUse | 'ignored' }
  | {
      readonly is: 'count' | 'sum' | 'speed' | 'occupancy';
      readonly part: Part;
      readonly unit: 'KMH' | 'MPH' | null;
    }
);
export type ValueColumn = Extract<Column, { readonly part: Part }>;

export function isValue(column: Column): column is ValueColumn {
  return 'part' in column;
}

const ROW_USES: readonly (readonly [RowUse, RegExp])[] = [
  ['start', /^(?:start|begin|bin start|beginn?|von|debut|inicio)(?: ?(?:date|time|datetime|zeit))*$/],
  ['start', /^(?:interval|period|bin) (?:start|begin)(?: time)?$/],
  ['end', /^(?:end|bin end|ende|bis|fin)(?: ?(?:date|time|datetime|zeit))*$/],
  ['end', /^(?:interval|period|bin) end(?: time)?$/],
  ['date', /^(?:count )?(?:date|day|datum|fecha|jour|tarih)$/],
  [
    'date',
    /^(?:date ?(?:and ?)?time|time ?stamp|datetime|zeitstempel|datum (?:und )?(?:uhr)?zeit|date (?:et )?heure)$/,
  ],
  ['time', /^(?:time|time of day|interval|uhrzeit|zeit|hora|heure|saat)$/],
  ['direction', /^(?:direction|dir|direction of travel|travel direction|richtung|fahrtrichtung|sens|yon)$/],
  ['lane', /^(?:lane|lane number|lane no|fahrstreifen|spur|voie|carril|serit)$/],
  ['leg', /^(?:leg|approach|arm|from leg)$/],
  ['turn', /^turn$/],
  ['movement', /^movement$/],
  ['class', /^(?:class|vehicle class|vehicle type|classification|klasse|fahrzeugklasse|classe|clase|sinif)$/],
];

const DIRECTIONS: Readonly<Record<string, Direction>> = {
  nb: 'NB',
  northbound: 'NB',
  eb: 'EB',
  eastbound: 'EB',
  sb: 'SB',
  southbound: 'SB',
  wb: 'WB',
  westbound: 'WB',
  ne: 'NE',
  northeastbound: 'NE',
  se: 'SE',
  southeastbound: 'SE',
  sw: 'SW',
  southwestbound: 'SW',
  nw: 'NW',
  northwestbound: 'NW',
  cw: 'CW',
  clockwise: 'CW',
  ccw: 'CCW',
  counterclockwise: 'CCW',
};
/** Letters and words of a column that says by its name that it has directions of travel. */
const TRAVEL: Readonly<Record<string, Direction>> = {
  ...DIRECTIONS,
  n: 'NB',
  north: 'NB',
  e: 'EB',
  east: 'EB',
  s: 'SB',
  south: 'SB',
  w: 'WB',
  west: 'WB',
  approaching: 'APPROACHING',
  receding: 'RECEDING',
};
type Leg = Movement['from'];
const LEGS: Readonly<Record<string, Leg>> = {
  n: 'N',
  north: 'N',
  ne: 'NE',
  northeast: 'NE',
  e: 'E',
  east: 'E',
  se: 'SE',
  southeast: 'SE',
  s: 'S',
  south: 'S',
  sw: 'SW',
  southwest: 'SW',
  w: 'W',
  west: 'W',
  nw: 'NW',
  northwest: 'NW',
};
type Turn = NonNullable<Movement['turn']>;
const TURNS: Readonly<Record<string, Turn>> = {
  l: 'L',
  lt: 'L',
  left: 'L',
  t: 'T',
  th: 'T',
  thru: 'T',
  through: 'T',
  straight: 'T',
  r: 'R',
  rt: 'R',
  right: 'R',
  u: 'U',
  ut: 'U',
  uturn: 'U',
};
/** The leg that vehicles of a direction of travel come from: those that travel north, from the south. */
const COMES_FROM: Partial<Record<string, Leg>> = {
  NB: 'S',
  NE: 'SW',
  EB: 'W',
  SE: 'NW',
  SB: 'N',
  SW: 'NE',
  WB: 'E',
  NW: 'SE',
};

const COUNT_WORDS = new Set(
  'volume volumes count counts total sum all vehicles vehicle veh vol anzahl menge kfz gesamt comptage intensidad adet no number of'.split(
    ' ',
  ),
);
const SPEED = /^(?:speed|geschwindigkeit|vitesse|velocidad|hiz|v)$/;
const BESIDE_SPEED = /^(?:mean|average|avg|km|h|kmh|kph|mph)$/;
const OCCUPANCY = /^(?:occupancy|occ|belegung|belegungsgrad)$/;
const CLASS_NUMBER = /^(?:class|cl|fhwa|c)(\d{1,2})$/;
const LANE_NUMBER = /^(?:lane|ln|spur|fs)(\d{1,2})$/;
const CLASS_WORDS: Readonly<Record<string, string>> = {
  peds: 'PEDESTRIAN',
  ped: 'PEDESTRIAN',
  other: 'OTHER',
  others: 'OTHER',
  unclassified: 'UNCLASSIFIED',
  heavy: 'TRUCK',
  trucks: 'TRUCK',
};

/** The words of a name, in lower case and without accents. A number after "class" and "lane" belongs to the word. */
function wordsOf(name: string): string[] {
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replaceAll(/\b(class|cl|fhwa|lane|ln|spur|fs) (\d{1,2})\b/g, '$1$2');
  return plain === '' ? [] : plain.split(' ');
}

/** A movement in one word, such as NBL. */
const MOVEMENT_WORD = /^(nb|eb|sb|wb|ne|se|sw|nw)(l|lt|t|th|thru|r|rt|u|ut)$/;

interface Reading {
  direction?: Direction;
  leg?: Leg;
  turn?: Turn;
  lane?: Lane;
  class?: VehicleClass;
  /** The other words. */
  readonly rest: string[];
}

function readWords(words: readonly string[]): Reading {
  const read: Reading = { rest: [] };
  for (const [n, word] of words.entries()) {
    const [, combined, turn = ''] = MOVEMENT_WORD.exec(word) ?? [];
    const classNumber = CLASS_NUMBER.exec(word)?.[1];
    const lane = LANE_NUMBER.exec(word)?.[1];
    if (combined !== undefined) Object.assign(read, { direction: DIRECTIONS[combined], turn: TURNS[turn] });
    else if (DIRECTIONS[word]) read.direction = DIRECTIONS[word];
    else if (n === 0 && LEGS[word]) read.leg = LEGS[word];
    else if (TURNS[word]) read.turn = TURNS[word];
    else if (lane !== undefined) read.lane = Number(lane);
    else if (classNumber !== undefined && classOfScheme('FHWA13', classNumber))
      read.class = { scheme: 'FHWA13', code: classNumber };
    else read.rest.push(word);
  }
  return read;
}

/** The leg that a name begins with: NE is one before a turn or a class, and a direction of travel otherwise. */
function legOf({ leg, turn, ...read }: Reading, words: readonly string[]): Leg | undefined {
  return leg ?? (turn || read.class ? LEGS[words[0] ?? ''] : undefined);
}

/** The class that words mean; undefined if they mean none. */
function classOfWords(words: readonly string[]): VehicleClass | undefined {
  const known = CLASS_WORDS[words.join(' ')] ?? basicClassOf(words.join(' '));
  return known === 'UNCLASSIFIED' && words.join(' ') !== 'unclassified'
    ? undefined
    : { scheme: 'BASIC', code: known };
}

function movementOf({ direction, turn, ...read }: Reading, leg: Leg | undefined): Movement | undefined {
  if (leg && (turn || read.class)) return turn ? { from: leg, turn } : { from: leg };
  const from = turn && direction !== undefined ? COMES_FROM[direction] : undefined;
  return from && turn ? { from, turn } : undefined;
}

/** What the name of a column means. */
function meaningOf(name: string, at: number): Column {
  const words = wordsOf(name);
  const use = ROW_USES.find(([, pattern]) => pattern.test(words.join(' ')))?.[0];
  if (use) return { at, name, is: use };
  const read = readWords(words);
  const rest = read.rest.filter((word) => !COUNT_WORDS.has(word));
  const isSpeed =
    rest.some((word) => SPEED.test(word)) &&
    rest.every((word) => SPEED.test(word) || BESIDE_SPEED.test(word));
  const isOccupancy = rest.some((word) => OCCUPANCY.test(word));
  if (!read.class && rest.length > 0 && !isSpeed && !isOccupancy) read.class = classOfWords(rest);
  const leg = legOf(read, words);
  const movement = movementOf(read, leg);
  const part: Part = {
    ...(read.direction !== undefined && !movement && { direction: read.direction }),
    ...(read.lane !== undefined && { lane: read.lane }),
    ...(movement && { movement }),
    ...(read.class && { class: read.class }),
  };
  const unit = words.includes('mph') ? 'MPH' : /\b(?:km ?h|kph)\b/.test(words.join(' ')) ? 'KMH' : null;
  const value = (is: ValueColumn['is']): Column => ({ at, name, is, part, unit });
  if (isOccupancy) return value('occupancy');
  if (isSpeed) return value('speed');
  if (rest.length > 0 && !read.class) return { at, name, is: 'ignored' };
  if ((leg || read.turn) && !movement)
    throw invalidInput(
      'text',
      `The column ${JSON.stringify(name)} may be a direction of travel or a leg: name it ${words[0]?.toUpperCase()}B for a direction, or with its turn, such as E_L`,
    );
  const isCount = Object.keys(part).length > 0 || words.some((word) => COUNT_WORDS.has(word));
  return isCount ? value('count') : { at, name, is: 'ignored' };
}

const KEYS = ['direction', 'lane', 'movement', 'class'] as const;

function keyOf(value: unknown): string {
  return JSON.stringify(value);
}

/** Whether one part contains the other, as NB contains lane 1 of NB. */
function contains(whole: Part, part: Part): boolean {
  const shared = KEYS.filter((key) => whole[key] !== undefined);
  const has = KEYS.filter((key) => part[key] !== undefined);
  return shared.length < has.length && shared.every((key) => keyOf(whole[key]) === keyOf(part[key]));
}

/** Whether two value columns are the sum of others. */
export function sumsUp(whole: ValueColumn, part: ValueColumn): boolean {
  return part.is === 'count' && contains(whole.part, part.part);
}

/**
 * The columns of a table by the cells of its first row; null if the row is no header, because it names no time or no counts.
 * A column that contains others, as a total does, is compared with their sum and not counted.
 * @throws AppError `badRequest` for two columns with the same meaning
 */
export function readHeader(cells: readonly string[]): Column[] | null {
  const columns = cells.map((name, at) => meaningOf(name, at));
  const has = (...uses: Column['is'][]): boolean => columns.some(({ is }) => uses.includes(is));
  if (!has('date', 'start', 'end') || !has('count')) return null;
  const counts = columns.filter(isValue).filter(({ is }) => is === 'count');
  const seen = new Map<string, string>();
  for (const column of columns) {
    if (column.is === 'ignored') continue;
    const key = keyOf([column.is, isValue(column) ? KEYS.map((each) => column.part[each]) : null]);
    const other = seen.get(key);
    if (other !== undefined)
      throw invalidInput(
        'text',
        `The columns ${JSON.stringify(other)} and ${JSON.stringify(column.name)} mean the same: rename one, or remove it`,
      );
    seen.set(key, column.name);
  }
  return columns.map((column) =>
    column.is === 'count' && counts.some((other) => contains(column.part, other.part))
      ? { ...column, is: 'sum' }
      : column,
  );
}

/** What the cells of a row say of all of its counts; a text says which cannot be read. */
export function rowPart(cellOf: (use: RowUse) => string | undefined, scheme: ClassScheme): Part | string {
  const [direction, lane, leg, turn, movement, vehicleClass] = (
    ['direction', 'lane', 'leg', 'turn', 'movement', 'class'] as const
  ).map((use) => cellOf(use) || undefined);
  const isDegrees = direction !== undefined && /^\d+(?:[.,]\d+)?$/.test(direction);
  const travel = isDegrees
    ? Number(direction.replace(',', '.'))
    : direction === undefined
      ? undefined
      : TRAVEL[wordsOf(direction).join('')];
  if (direction !== undefined && travel === undefined)
    return `direction: ${JSON.stringify(direction.slice(0, 50))} is no direction of travel: use NB, EB, SB, WB, NE, SE, SW, NW, or degrees`;
  const from = leg === undefined ? undefined : LEGS[wordsOf(leg)[0] ?? ''];
  const turned = turn === undefined ? undefined : TURNS[wordsOf(turn).join('')];
  if ((leg !== undefined && !from) || (turn !== undefined && !turned))
    return `movement: Use the leg that vehicles come from (N, NE, E, …) and a turn (L, T, R, U), not ${JSON.stringify([leg, turn].join(' ').slice(0, 50))}`;
  const words = wordsOf(movement ?? '');
  const named = movementOf(readWords(words), legOf(readWords(words), words));
  if (movement !== undefined && !named)
    return `movement: ${JSON.stringify(movement.slice(0, 50))} cannot be read: use E_L (from the leg E, left) or NBL (northbound, left)`;
  const meant = from ? { from, ...(turned && { turn: turned }) } : named;
  return {
    ...(travel !== undefined && { direction: travel }),
    ...(lane !== undefined && { lane: /^\d+$/.test(lane) ? Number(lane) : lane }),
    ...(meant && { movement: meant }),
    ...(vehicleClass !== undefined && { class: classNamed(vehicleClass, scheme) }),
  };
}

/** The class of a scheme by what a cell says. A code that the scheme has not is refused with the period. */
function classNamed(name: string, scheme: ClassScheme): VehicleClass {
  const code = name.trim().toUpperCase();
  if (classOfScheme(scheme, code)) return { scheme, code };
  if (scheme === 'FHWA13') return { scheme, code: /(?<!\d)\d{1,2}$/.exec(code)?.[0] ?? code };
  if (scheme === 'BASIC') return { scheme, code: CLASS_WORDS[wordsOf(name).join(' ')] ?? basicClassOf(name) };
  return { scheme, code };
}

import type { passageFieldNames } from '@gantry/contract/events';
import { type Direction, LANE_NAME_MAX, type Lane, MAX_LANE } from '@gantry/contract/movements';
import { basicClassOf } from '@gantry/contract/vehicle-classes';
import { knownText } from './fields.ts';
import type { ObservedEvent } from './format.ts';
import { measured } from './observed.ts';

/** The fields of an event that say how its vehicle passed. */
export type Passage = Pick<ObservedEvent, (typeof passageFieldNames)[number]>;

/** What a message contains about how a vehicle passed, as the device wrote it. */
export interface SeenPassage {
  /** A word, or degrees with their unit. A bare number is a code, or an angle in the image. */
  readonly direction?: unknown;
  readonly lane?: unknown;
  readonly vehicleType?: unknown;
  /** What the device calls the class of the vehicle, if that is another word than its type. */
  readonly vehicleClass?: unknown;
  /** m */
  readonly length?: unknown;
  /** s */
  readonly headway?: unknown;
  /** s */
  readonly gap?: unknown;
}

/** The fields of what could be understood. The rest remains in the metadata of the event. */
export function passageFieldsOf(seen: SeenPassage): Passage {
  const length = measured(seen.length);
  const understood = {
    direction: directionOf(seen.direction),
    lane: laneOf(seen.lane),
    vehicleClass: classOf(seen.vehicleType, seen.vehicleClass),
    vehicleLength: length !== null && length >= 0.1 && length <= MAX_LENGTH ? length : null,
    headway: measured(seen.headway),
    gap: measured(seen.gap),
  };
  return Object.fromEntries(Object.entries(understood).filter(([, value]) => value !== null));
}

/** The longest vehicle that the contract allows, in metres. */
const MAX_LENGTH = 100;

/** The points of the compass, as languages write them, without blanks, hyphens and underscores. */
const COMPASS: ReadonlyMap<string, Direction> = new Map(
  (
    [
      ['NB', 'n nb north nord norte noord kuzey 北 شمال'],
      ['NE', 'ne neb northeast nordost nordest noreste noordoost kuzeydoğu 东北'],
      ['EB', 'e eb east ost est este oost doğu dogu 东 شرق'],
      ['SE', 'se seb southeast südost suedost sudest sureste zuidoost güneydoğu 东南'],
      ['SB', 's sb south süd sued sud sur zuid güney guney 南 جنوب'],
      ['SW', 'sw swb southwest südwest suedwest sudouest suroeste zuidwest güneybatı 西南'],
      ['WB', 'w wb west ouest oeste batı bati 西 غرب'],
      ['NW', 'nw nwb northwest nordwest nordouest noroeste noordwest kuzeybatı 西北'],
    ] as const
  ).flatMap(([direction, names]) => names.split(' ').map((name): [string, Direction] => [name, direction])),
);

const APPROACHING =
  /^(?:approach(?:es|ing)?|(?:moving|getting|coming)?closer|(?:moving)?towards?(?:(?:the)?(?:camera|sensor|radar))?|oncoming|驶近|来向)$/;
const RECEDING =
  /^(?:reced(?:es?|ing)|leav(?:es?|ing)|(?:moving|going|go|driving)?away(?:from(?:the)?(?:camera|sensor|radar))?|(?:getting)?(?:further|farther)|depart(?:s|ing)?|驶离|去向)$/;
const CLOCKWISE = /^(counter|anti)?clockwise$/;

/** Texts that are longer do not name a direction, in characters. */
const DIRECTION_MAX = 60;

/**
 * The direction that a device names in any of the usual words: `northbound`, `NB`, `SouthToNorth`, `from S to N`,
 * `approaching`, `270°`. Null for other words ("forward", "in", "Obverse"), whose meaning depends on the maker or the
 * installation, and for bare numbers.
 */
export function directionOf(value: unknown): Direction | null {
  const text = typeof value === 'string' ? knownText(value) : null;
  if (text === null || text.length > DIRECTION_MAX) return null;
  const degrees = /^(\d{1,3}(?:[.,]\d{1,6})?)\s*(?:°|deg(?:rees?)?)$/i.exec(text)?.[1];
  if (degrees !== undefined) {
    const angle = Number(degrees.replace(',', '.'));
    return angle <= 360 ? angle % 360 : null;
  }
  const plain = text.toLowerCase().replaceAll(/[\s_.-]/g, '');
  const [, counter] = CLOCKWISE.exec(plain) ?? [];
  if (plain === 'cw' || plain === 'ccw') return plain === 'cw' ? 'CW' : 'CCW';
  if (CLOCKWISE.test(plain)) return counter ? 'CCW' : 'CW';
  if (APPROACHING.test(plain)) return 'APPROACHING';
  if (RECEDING.test(plain)) return 'RECEDING';
  return compassOf(plain);
}

function compassOf(plain: string): Direction | null {
  const [, from, to] = /^(?:from|由|自)?(.{1,12}?)(?:to|→|>|向|至)(.{1,12})$/.exec(plain) ?? [];
  if (from !== undefined && to !== undefined) return COMPASS.has(from) ? (COMPASS.get(to) ?? null) : null;
  return COMPASS.get(plain.replace(/(?:bound|wards?|erly|lich|heading|direction)$/, '')) ?? null;
}

/** The number of a lane, or its name; null for negative numbers, and where none is known. `lane1` is lane 1. */
export function laneOf(value: unknown): Lane | null {
  const text = knownText(value);
  if (text === null || /^-\d+$/.test(text)) return null;
  const number = Number(/^(?:lane)?[\s_]?0*(\d{1,2})$/i.exec(text)?.[1]);
  if (number >= 1 && number <= MAX_LANE) return number;
  return [...text].length <= LANE_NAME_MAX ? text : null;
}

/** The class of the scheme BASIC by the type, or else by another word for the class; null without a word. */
function classOf(type: unknown, word: unknown): Passage['vehicleClass'] | null {
  const words = [knownText(type), knownText(word)].filter((each) => each !== null);
  if (words.length === 0) return null;
  const code = words.map(basicClassOf).find((each) => each !== 'UNCLASSIFIED') ?? 'UNCLASSIFIED';
  return { scheme: 'BASIC', code };
}

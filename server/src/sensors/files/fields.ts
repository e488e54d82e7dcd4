import { caseFold } from '@gantry/contract/case-fold';
import type { Coordinates } from '@gantry/contract/coordinates';
import type { pointDirections } from '@gantry/contract/values';
import { invalidInput } from '../../platform/error.ts';
import type { TableRow } from '../../platform/sheet.ts';

/** The content of a cell as it is shown and compared. */
export type CellValue = string | number | boolean | readonly string[] | null;

/** The text of a cell that is read as this value; null for an empty one. */
export function textOf(value: CellValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value.join('; ') || null;
}

/** A column of a file of sensors or locations. */
export interface Field<Item> {
  /** The name in the header, which is that of the API. */
  readonly name: string;
  /** Other names, in lower case, without blanks and signs. */
  readonly aliases?: readonly string[];
  /** What a cell says; what cannot be read is refused with the other input. */
  readonly read: (cell: string) => CellValue;
  readonly of: (item: Item) => CellValue;
}

const text = (cell: string): CellValue => cell || null;
const upper = (cell: string): CellValue => cell.toUpperCase() || null;

/** A number with a decimal point or comma; another text is refused by the rules of its field. */
function number(cell: string): CellValue {
  if (cell === '') return null;
  const given = Number(/^[-+]?\d+,\d+$/.test(cell) ? cell.replace(',', '.') : cell);
  return Number.isNaN(given) ? cell : given;
}

const TRUE = new Set(['true', 'yes', 'y', '1', 'ja', 'evet', 'oui', 'si', 'نعم']);
const FALSE = new Set(['false', 'no', 'n', '0', 'nein', 'hayir', 'non', 'لا']);

function yesOrNo(cell: string): CellValue {
  const word = caseFold(cell);
  return TRUE.has(word) ? true : FALSE.has(word) ? false : cell || null;
}

/** The tags of a cell, separated by semicolons or vertical bars. */
function tags(cell: string): CellValue {
  return cell
    .split(/[;|]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

const lane = (cell: string): CellValue => (/^\d{1,4}$/.test(cell) ? Number(cell) : cell || null);

interface Placed {
  readonly coordinates: Coordinates | null;
}

const coordinateFields: readonly Field<Placed>[] = [
  {
    name: 'latitude',
    aliases: ['lat', 'breite'],
    read: number,
    of: ({ coordinates }) => coordinates?.latitude ?? null,
  },
  {
    name: 'longitude',
    aliases: ['lon', 'lng', 'long', 'laenge'],
    read: number,
    of: ({ coordinates }) => coordinates?.longitude ?? null,
  },
];

const directionField: Field<{ readonly direction: (typeof pointDirections)[number] | null }> = {
  name: 'direction',
  aliases: ['dir'],
  read: upper,
  of: ({ direction }) => direction,
};

/** A sensor as a row of a file. */
export interface SensorItem extends Placed {
  readonly deviceId: string;
  readonly name: string;
  readonly type: string;
  readonly locationName: string | null;
  readonly ipAddress: string | null;
  readonly eventsPerMin: number;
  readonly requiresHeartbeats: boolean;
  readonly lane: number | string | null;
  readonly direction: (typeof pointDirections)[number] | null;
  readonly make: string | null;
  readonly model: string | null;
  readonly serialNumber: string | null;
  readonly warrantyUntil: string | null;
  readonly certificatePlace: string | null;
  readonly tags: readonly string[];
  readonly description: string | null;
}

export const sensorFields: readonly Field<SensorItem>[] = [
  { name: 'deviceId', aliases: ['device', 'id'], read: text, of: ({ deviceId }) => deviceId },
  { name: 'name', read: text, of: ({ name }) => name },
  { name: 'type', read: upper, of: ({ type }) => type },
  {
    name: 'location',
    aliases: ['locationname', 'place', 'site'],
    read: text,
    of: ({ locationName }) => locationName,
  },
  ...coordinateFields,
  {
    name: 'address',
    read: text,
    of: ({ coordinates }) => coordinates?.address ?? null,
  },
  { name: 'ipAddress', aliases: ['ip', 'host'], read: text, of: ({ ipAddress }) => ipAddress },
  { name: 'eventsPerMin', read: number, of: ({ eventsPerMin }) => eventsPerMin },
  { name: 'requiresHeartbeats', read: yesOrNo, of: ({ requiresHeartbeats }) => requiresHeartbeats },
  { name: 'lane', read: lane, of: (sensor) => sensor.lane },
  directionField,
  { name: 'make', aliases: ['manufacturer', 'vendor'], read: text, of: ({ make }) => make },
  { name: 'model', read: text, of: ({ model }) => model },
  {
    name: 'serialNumber',
    aliases: ['serial', 'serialno'],
    read: text,
    of: (sensor) => sensor.serialNumber,
  },
  {
    name: 'warrantyUntil',
    aliases: ['warranty'],
    read: text,
    of: (sensor) => sensor.warrantyUntil,
  },
  {
    name: 'certificatePlace',
    aliases: ['certificates'],
    read: text,
    of: (sensor) => sensor.certificatePlace,
  },
  { name: 'tags', aliases: ['tag'], read: tags, of: (sensor) => sensor.tags },
  { name: 'description', aliases: ['notes', 'note'], read: text, of: ({ description }) => description },
];

/** A location as a row of a file. */
export interface LocationItem extends Placed {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly speedLimit: number | null;
  readonly speedUnits: string | null;
  readonly road: string | null;
  readonly kilometre: number | null;
  readonly direction: (typeof pointDirections)[number] | null;
  readonly lanes: number | null;
  readonly hasShoulder: boolean | null;
  readonly description: string | null;
}

export const locationFields: readonly Field<LocationItem>[] = [
  { name: 'id', read: text, of: ({ id }) => id },
  { name: 'name', aliases: ['location', 'place', 'site'], read: text, of: ({ name }) => name },
  { name: 'address', read: (cell) => cell, of: ({ address }) => address },
  ...coordinateFields,
  { name: 'speedLimit', aliases: ['limit'], read: number, of: ({ speedLimit }) => speedLimit },
  { name: 'speedUnits', aliases: ['units'], read: upper, of: ({ speedUnits }) => speedUnits },
  { name: 'road', read: text, of: ({ road }) => road },
  { name: 'kilometre', aliases: ['kilometer', 'km'], read: number, of: ({ kilometre }) => kilometre },
  directionField,
  { name: 'lanes', read: number, of: ({ lanes }) => lanes },
  { name: 'hasShoulder', aliases: ['shoulder'], read: yesOrNo, of: ({ hasShoulder }) => hasShoulder },
  { name: 'description', aliases: ['notes', 'note'], read: text, of: ({ description }) => description },
];

/**
 * The fields of the columns of a file, in their order.
 * @param required the names of fields without which rows cannot be recognised
 * @throws AppError `badRequest` for a column that is not known or occurs twice, and without a required one
 */
export function readHeader<Item>(
  header: TableRow | undefined,
  fields: readonly Field<Item>[],
  required: readonly string[],
): Field<Item>[] {
  const known = fields.map(({ name }) => name).join(', ');
  if (!header)
    throw invalidInput('text', `The file is empty: begin with a line of column names, such as ${known}`);
  const columns = header.cells.map((cell) => {
    const found = fields.find(({ name, aliases = [] }) => [plain(name), ...aliases].includes(plain(cell)));
    if (found) return found;
    const shown = JSON.stringify(cell.slice(0, 50));
    throw invalidInput(
      'text',
      `Line ${header.line}: the column ${shown} is not known: remove it, or use ${known}`,
    );
  });
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw invalidInput('text', `Line ${header.line}: two columns are ${twice}: remove one`);
  const missing = required.find((name) => !names.includes(name));
  if (missing !== undefined)
    throw invalidInput(
      'text',
      `Line ${header.line}: there is no column ${missing}, which identifies the rows: add it`,
    );
  return columns;
}

function plain(name: string): string {
  return caseFold(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** What a row says, by field. */
export type Given = ReadonlyMap<string, CellValue>;

/** What the cells of a row say; a text says what is wrong with the row as a whole. */
export function readRow<Item>({ cells }: TableRow, columns: readonly Field<Item>[]): Given | string {
  if (cells.slice(columns.length).some((cell) => cell !== ''))
    return `The row has ${cells.length} cells, the header ${columns.length}: quote cells that contain the separator`;
  return new Map(columns.map(({ name, read }, at) => [name, read(cells[at] ?? '')]));
}

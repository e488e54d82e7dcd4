import { MAX_FILE_PERIODS } from '@gantry/contract/count-files';
import { invalidInput } from '../../platform/error.ts';
import { type LineError, readTable, type TableRow } from '../../platform/sheet.ts';
import { KMH_PER_MPH } from '../speed-sample.ts';
import { createStarts, type RowTime } from './date-times.ts';
import { type FileOfCounts, type FileOptions, type FilePeriod, tooLong } from './file-of-counts.ts';
import {
  directionCodes,
  fieldsOf,
  recordTypes,
  SPEED_BIN_ENDS,
  SPEED_BIN_WIDTH,
  SPEED_BINS,
  type TmgKind,
} from './tmg-records.ts';

const SECONDS = 3_600;

/** A record by the names of its fields, in lower case. */
interface Entry {
  readonly line: number;
  readonly kind: TmgKind;
  readonly field: (name: string) => string;
}

/**
 * Reads records of volumes, classes and speeds of the Traffic Monitoring Guide, with or without headers. Those of one hour, direction
 * and lane are one period. Stations are skipped.
 * @throws AppError `badRequest` if there is no record, or records are of several stations
 */
export async function readTmg(text: string, options: FileOptions): Promise<FileOfCounts> {
  const errors: LineError[] = [];
  const entries = await readEntries(text, errors);
  const stations = new Set(entries.map(({ field }) => field('station_id')));
  const wanted = options.station?.padStart(6, '0');
  if (wanted === undefined && stations.size > 1)
    throw invalidInput(
      'station',
      `The file has records of ${stations.size} stations: send one as station, such as ${[...stations][0]}`,
    );
  const ofStation = entries.filter(({ field }) => wanted === undefined || field('station_id') === wanted);
  if (ofStation.length === 0)
    throw invalidInput(
      'text',
      'The file has no records of volumes (V), classes (C) or speeds (T) with | between fields',
    );
  const periods = new Map<string, FilePeriod>();
  const starts = new Map<TmgKind, ReturnType<typeof createStarts>>();
  for (const entry of ofStation) {
    const startOf =
      starts.get(entry.kind) ?? createStarts({ zone: options.zone, binLabel: 'START', seconds: SECONDS });
    starts.set(entry.kind, startOf);
    for (const period of entry.kind === 'VOLUME'
      ? hoursOf(entry, options, errors)
      : intervalOf(entry, startOf, errors)) {
      const key = JSON.stringify([period.start, period.part]);
      const known = periods.get(key);
      periods.set(key, known ? { ...known, content: { ...known.content, ...period.content } } : period);
    }
    if (periods.size > MAX_FILE_PERIODS) throw tooLong();
  }
  // Counts by class say the volume, too.
  const whole = [...periods.values()].map(({ content: { volume, ...content }, ...period }) => ({
    ...period,
    content: content.byClass ? content : { volume, ...content },
  }));
  const { length: rowCount } = ofStation;
  return { periods: whole, errors, rowCount, columns: [], binLabel: 'START', seconds: SECONDS };
}

/** The records of a file, by its headers or by the order of their fields. */
async function readEntries(text: string, errors: LineError[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  const headers = new Map<TmgKind, readonly string[]>();
  let header: readonly string[] | null = null;
  for await (const { line, cells } of readTable(text, '|')) {
    if (/^record_?type$/i.test(cells[0] ?? '')) {
      header = cells;
      continue;
    }
    const kind = kindOf(cells);
    if (kind === null)
      errors.push({ line, message: 'This is no record of a station, volume, class or speed' });
    else if (header) headers.set(kind, header);
    header = null;
    if (kind === null || kind === 'STATION') continue;
    entries.push(entryOf({ line, cells }, kind, headers.get(kind)));
    if (entries.length > MAX_FILE_PERIODS) throw tooLong();
  }
  return entries;
}

function kindOf([type = '']: readonly string[]): TmgKind | null {
  const found = Object.entries(recordTypes).find(([, letters]) => letters.includes(type.toUpperCase()));
  return (found?.[0] as TmgKind | undefined) ?? null;
}

function entryOf({ line, cells }: TableRow, kind: TmgKind, header: readonly string[] | undefined): Entry {
  const classes = cells.length - fieldsOf('CLASS', 0).length;
  const names = (header ?? fieldsOf(kind, Math.max(0, classes))).map((name) => name.toLowerCase());
  return { line, kind, field: (name) => cells[names.indexOf(name)] ?? '' };
}

const DIRECTIONS = new Map(Object.entries(directionCodes).map(([direction, code]) => [code, direction]));

/** The direction and lane of a record. Both directions of a road, or all lanes of one, are none. */
function partOf({ field }: Entry): FilePeriod['part'] | string {
  const direction = DIRECTIONS.get(field('travel_dir'));
  const lane = Number(field('travel_lane') || '0');
  if (direction === undefined)
    return `Travel_Dir: ${JSON.stringify(field('travel_dir'))} is no code of a direction, from 0 to 9`;
  if (!/^\d?$/.test(field('travel_lane')))
    return 'Travel_Lane: Use 1 to 9, or 0 for all lanes of the direction';
  return {
    ...(direction !== 'NS' && direction !== 'EW' && { direction: direction as 'NB' }),
    ...(lane > 0 && { lane }),
  };
}

/** The beginning of a local day as the same reading in UTC. */
function midnightOf({ field }: Entry): number | string {
  const [year, month, day] = ['year_record', 'month_record', 'day_record'].map((name) => Number(field(name)));
  const midnight = Date.UTC(year ?? 0, (month ?? 0) - 1, day);
  return new Date(midnight).getUTCDate() === day && (year ?? 0) >= 1970
    ? midnight
    : 'Use a date in Year_Record (four digits), Month_Record and Day_Record';
}

/** A number of vehicles, null for an empty field. */
function countIn({ field }: Entry, name: string): number | null | string {
  const text = field(name);
  if (text === '') return null;
  return /^\d+$/.test(text) ? Number(text) : `${name}: ${JSON.stringify(text.slice(0, 50))} is no count`;
}

/** The hours of a record of a day. Empty ones are gaps. */
function hoursOf(entry: Entry, { zone }: FileOptions, errors: LineError[]): FilePeriod[] {
  const { line } = entry;
  const fail = (message: string) => {
    errors.push({ line, message });
    return [];
  };
  const [part, midnight] = [partOf(entry), midnightOf(entry)];
  if (typeof part === 'string') return fail(part);
  if (typeof midnight === 'string') return fail(midnight);
  const startsOf = createStarts({ zone, binLabel: 'START', seconds: SECONDS });
  // 2: the counting device had a problem.
  const isFault = entry.field('restrictions') === '2';
  return Array.from({ length: 24 }, (_, hour) => hour).flatMap((hour): FilePeriod[] => {
    const name = `hour_${`${hour}`.padStart(2, '0')}`;
    const volume = countIn(entry, name);
    const local = { local: midnight + hour * SECONDS * 1_000 };
    const start = startsOf(local, '');
    if (typeof volume === 'string') return fail(volume);
    if (typeof start === 'string') return volume === null ? [] : fail(`${name}: ${start}`);
    if (startsOf(local, '') !== start)
      return volume === null
        ? []
        : fail(
            `${name} occurs twice on this day, and the field has the vehicles of both, which cannot be told apart`,
          );
    return [{ line, start, part, content: { volume, ...(isFault && { status: 'FAULT' }) } }];
  });
}

/** The period of a record of an hour. */
function intervalOf(
  entry: Entry,
  startOf: (time: RowTime, sequence: string) => number | string,
  errors: LineError[],
): FilePeriod[] {
  const { line, field } = entry;
  const fail = (message: string) => {
    errors.push({ line, message });
    return [];
  };
  const [part, midnight] = [partOf(entry), midnightOf(entry)];
  if (typeof part === 'string') return fail(part);
  if (typeof midnight === 'string') return fail(midnight);
  if (!['', '60'].includes(field('time_interval')))
    return fail('Time_Interval: Only records of whole hours can be read, with 60 or nothing');
  if (!/^(?:\d|1\d|2[0-3])$/.test(field('hour_record').replace(/^0(?=\d)/, '')))
    return fail('Hour_Record: Use 0 to 23');
  const hour = Number(field('hour_record'));
  const start = startOf({ local: midnight + hour * SECONDS * 1_000 }, JSON.stringify(part));
  if (typeof start === 'string') return fail(start);
  const content = entry.kind === 'CLASS' ? classesOf(entry) : speedsOf(entry);
  return typeof content === 'string' ? fail(content) : [{ line, start, part, content }];
}

/** The counts in numbered fields, as far as there are any. */
function numberedCounts(entry: Entry, name: string): number[] | string {
  const counts: number[] = [];
  for (let n = 1; entry.field(`${name}_${n}`) !== ''; n++) {
    const count = countIn(entry, `${name}_${n}`);
    if (typeof count !== 'number') return count ?? '';
    counts.push(count);
  }
  return counts;
}

function classesOf(entry: Entry): Record<string, unknown> | string {
  const counts = numberedCounts(entry, 'class');
  const total = countIn(entry, 'total_interval_volume');
  if (typeof counts === 'string') return counts;
  if (typeof total === 'string') return total;
  if (counts.length !== 13 && counts.length !== 2)
    return `${counts.length} classes cannot be read, only 13 or 2`;
  const sum = counts.reduce((all, count) => all + count, 0);
  if (total !== null && total < sum)
    return `Total_Interval_Volume: ${total} is less than the classes add up to, which is ${sum}`;
  const UNCLASSIFIED = (total ?? sum) - sum;
  const others = UNCLASSIFIED > 0 ? { UNCLASSIFIED } : {};
  const numbered = Object.fromEntries(counts.map((count, n) => [`${n + 1}`, count]));
  return {
    byClass:
      counts.length === 13
        ? { scheme: 'FHWA13', counts: { ...numbered, ...others } }
        : { scheme: 'LIGHT_HEAVY', counts: { LIGHT: counts[0], HEAVY: counts[1], ...others } },
  };
}

/** Speeds in classes of 5 mph, whose ends are rounded up to whole km/h. Their mean is that of the middles of the classes. */
function speedsOf(entry: Entry): Record<string, unknown> | string {
  const counts = numberedCounts(entry, 'bin');
  const total = countIn(entry, 'total_interval_volume');
  if (typeof counts === 'string') return counts;
  if (typeof total === 'string') return total;
  if (!['', '0'].includes(entry.field('first_speed_bin')) || counts.length !== SPEED_BINS)
    return `Only ${SPEED_BINS} speed bins can be read, of which the first is up to 20 mph`;
  const measured = counts.reduce((sum, count) => sum + count, 0);
  const volume = total ?? measured;
  if (measured === 0) return { volume };
  const ends = SPEED_BIN_ENDS.map((mph) => Math.ceil(mph * KMH_PER_MPH));
  const bins = counts.map((count, n) => ({ from: ends[n - 1] ?? 0, ...(ends[n] && { to: ends[n] }), count }));
  const middles = counts.reduce((sum, count, n) => sum + count * (17.5 + n * SPEED_BIN_WIDTH), 0);
  return {
    volume,
    speed: {
      mean: Math.round((middles / measured) * KMH_PER_MPH * 1_000) / 1_000,
      measured,
      bins: bins.filter(({ count }) => count > 0),
    },
  };
}

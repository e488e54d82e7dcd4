import type { TmgFile, TmgFileInput } from '@gantry/contract/count-files';
import { HOUR_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import { invalidInput } from '../../platform/error.ts';
import { monthOf } from '../../platform/time.ts';
import { getLocation } from '../../sensors/locations-store.ts';
import { getSensor } from '../../sensors/store.ts';
import { type Bin, type Cell, isMotor, type VehicleClass } from '../bin.ts';
import { inIntervals, type Parts, readTraffic } from '../figures.ts';
import { getPlace, type WantedPlace } from '../places-store.ts';
import { localBounds } from '../range.ts';
import { indexOf } from '../segments.ts';
import { KMH_PER_MPH } from '../speed-sample.ts';
import { getPlaceName } from '../study/store.ts';
import {
  type ClassGrouping,
  directionCodes,
  fieldsOf,
  recordTypes,
  SPEED_BIN_ENDS,
  SPEED_BINS,
} from './tmg-records.ts';

/** What a lane, or all lanes of a direction, counted in an hour of which the count is complete. */
interface TmgHour {
  /** Unix milliseconds. */
  readonly start: number;
  volume: number;
  readonly classes: number[];
  readonly speeds: number[];
}

/** The hours of a direction and lane, by their codes. */
interface Channel {
  readonly direction: string;
  /** 0 for all lanes of the direction together. */
  readonly lane: string;
  readonly hours: Map<number, TmgHour>;
}

/**
 * A month of a place as records of the Traffic Monitoring Guide (`tmg-records.ts`). Hours of which less than 95 % is known are
 * left out, as the guide has no partial counts. Hours of the clock are local; one that occurs twice is one field of a volume
 * record, with the vehicles of both, and two records of classes and speeds.
 * @throws AppError `notFound`; `badRequest` if vehicles have a direction that has no code
 */
export async function getTmgFile(parts: Parts, input: TmgFileInput): Promise<TmgFile> {
  const { timezone } = parts.settings.current();
  const { records, year, month } = input;
  const { channels, grouping } = await readChannels(parts, input, timezone);
  const station = { ...input, stationId: input.stationId.padStart(6, '0') };
  const rows =
    records === 'STATION'
      ? await stationRows(parts, station, channels, grouping)
      : channels.flatMap((channel) =>
          (records === 'VOLUME' ? volumeRows : intervalRows)(station, channel, timezone),
        );
  const fields = fieldsOf(records, grouping);
  const lines = [fields, ...rows.map((row) => fields.map((field) => row[field] ?? ''))];
  return {
    timezone,
    fileName: `${station.stationId}_${year}-${`${month}`.padStart(2, '0')}_${records.toLowerCase()}.txt`,
    text: lines.map((line) => `${line.join('|')}\r\n`).join(''),
    recordCount: rows.length,
  };
}

/** The complete hours of a month by direction and lane. */
async function readChannels(
  parts: Parts,
  input: TmgFileInput,
  zone: string,
): Promise<{ channels: Channel[]; grouping: ClassGrouping }> {
  const place = await getPlace(parts.db, input);
  const bounds = localBounds(monthOf(input.year, input.month, zone), 60, zone);
  const { binsOf, speedCells } = await readTraffic(parts.db, place, inIntervals(place, bounds), {
    now: parts.clock.now(),
    detail: input.records === 'SPEED' ? 'speeds' : 'kinds',
    excluding: { zone },
  });
  // Where clocks change by half an hour, an interval is shorter.
  const isHour = ({ start, end }: Bin): boolean => input.records === 'VOLUME' || end - start === HOUR_MS;
  const bins = binsOf(bounds).filter((bin) => bin.status === 'VALID' && isHour(bin));
  const counted = bins.flatMap(({ start, cells }) =>
    cells.filter(isMotor).map((cell) => ({ ...cell, start })),
  );
  const isOfFhwa = ({ code }: VehicleClass): boolean => /^\d+$/.test(code) || isUnclassified(code);
  const grouping = counted.some(({ class: of }) => of && !isOfFhwa(of)) ? 2 : 13;
  const codesOf = codesOfChannels(counted, input);
  const channels = new Map<string, Channel>();
  const hourOf = (cell: Omit<Cell, 'volume'>, start: number): TmgHour | undefined => {
    const [direction, lane] = codesOf(cell);
    const channel = channels.get(direction + lane) ?? {
      ...{ direction, lane },
      hours: new Map(bins.map((bin) => [bin.start, emptyHour(bin.start, grouping)])),
    };
    channels.set(direction + lane, channel);
    return channel.hours.get(start);
  };
  for (const cell of counted) {
    const hour = hourOf(cell, cell.start);
    if (!hour) continue;
    hour.volume += cell.volume;
    const at = cell.class ? classAt(cell.class, grouping) : -1;
    if (at >= 0) hour.classes[at] = (hour.classes[at] ?? 0) + cell.volume;
  }
  for (const { slot, bin, count, ...cell } of input.records === 'SPEED' ? speedCells() : []) {
    const interval = indexOf(bounds, slot);
    const speeds = interval === null ? undefined : hourOf(cell, bounds[interval] ?? 0)?.speeds;
    const at = speedBinOf(bin);
    if (speeds) speeds[at] = (speeds[at] ?? 0) + count;
  }
  const inOrder = [...channels.values()].sort(
    (a, b) => Number(a.direction + a.lane) - Number(b.direction + b.lane),
  );
  return { channels: inOrder, grouping };
}

function emptyHour(start: number, grouping: ClassGrouping): TmgHour {
  return { start, volume: 0, classes: Array(grouping).fill(0), speeds: Array(SPEED_BINS).fill(0) };
}

/** The codes of the direction and lane of vehicles. A direction with a vehicle of no lane from 1 to 9 has one record for all. */
function codesOfChannels(
  cells: readonly Omit<Cell, 'volume'>[],
  { records, direction: assumed }: TmgFileInput,
) {
  const directionOf = ({ direction = 'BOTH' }: Omit<Cell, 'volume'>): string => {
    const word =
      typeof direction === 'number'
        ? COMPASS[Math.round(direction / 45) % 8]
        : direction === 'BOTH'
          ? assumed
          : direction;
    const code = directionCodes[word ?? ''];
    if (code === undefined)
      throw invalidInput(
        'direction',
        word === undefined
          ? 'Some vehicles have no direction of travel: send the one of the place as direction'
          : `The Traffic Monitoring Guide has no code for the direction ${word}: use sensors that report directions of travel`,
      );
    if ((word === 'NS' || word === 'EW') && records !== 'VOLUME' && records !== 'STATION')
      throw invalidInput(
        'direction',
        'Both directions of a road together are allowed in records of volumes only',
      );
    return code;
  };
  const isLane = (lane: unknown): boolean => typeof lane === 'number' && lane <= 9;
  const combined = new Set(cells.filter(({ lane }) => !isLane(lane)).map(directionOf));
  return (cell: Omit<Cell, 'volume'>): readonly [direction: string, lane: string] => {
    const direction = directionOf(cell);
    return [direction, combined.has(direction) || !isLane(cell.lane) ? '0' : `${cell.lane}`];
  };
}

const COMPASS = ['NB', 'NE', 'EB', 'SE', 'SB', 'SW', 'WB', 'NW'];

/** The position of a class among those of a record; -1 for one that is not known. */
function classAt({ code, isHeavy }: VehicleClass, grouping: ClassGrouping): number {
  if (isUnclassified(code)) return -1;
  return grouping === 13 ? Number(code) - 1 : Number(isHeavy);
}

/** Such vehicles are in the volume of a record, and in none of its classes. */
function isUnclassified(code: string): boolean {
  return code === 'UNCLASSIFIED' || code === 'NK';
}

/**
 * The speed bin of the vehicles above `bin` − 1 km/h and up to it. A km/h that contains the end of a bin is below it, which is exact
 * for devices that report whole mph.
 */
function speedBinOf(bin: number): number {
  const at = SPEED_BIN_ENDS.findIndex((end) => bin <= Math.ceil(end * KMH_PER_MPH));
  return at === -1 ? SPEED_BINS - 1 : at;
}

type Row = Readonly<Record<string, string | number>>;
type Station = Pick<TmgFileInput, 'stateCode' | 'stationId' | 'functionalClass' | 'year' | 'records'>;

function keyFields(
  { stateCode, stationId, functionalClass, records }: Station,
  { direction, lane }: Channel,
): Row {
  return {
    ...{ Record_Type: recordTypes[records][0] ?? '', State_Code: stateCode.padStart(2, '0') },
    ...{ F_System: functionalClass ?? '', Station_Id: stationId, Travel_Dir: direction, Travel_Lane: lane },
  };
}

function dateFields(local: DateTime): Row {
  return { Year_Record: local.year, Month_Record: local.month, Day_Record: local.day };
}

async function stationRows(
  { db }: Parts,
  station: Station & WantedPlace,
  channels: readonly Channel[],
  grouping: ClassGrouping,
): Promise<Row[]> {
  const { kind, id, locationId = id } = await getPlace(db, station);
  const name = await getPlaceName(db, station);
  const { coordinates } = await (kind === 'sensor' ? getSensor(db, id) : getLocation(db, locationId));
  return channels.map((channel) => ({
    ...keyFields(station, channel),
    Year_Record: station.year,
    Number_Lanes_In_Direction: channels.filter(({ direction }) => direction === channel.direction).length,
    Vehicle_Classification_Groupings: grouping,
    Latitude: coordinates?.latitude ?? '',
    Longitude: coordinates?.longitude ?? '',
    Station_Location: name.replaceAll(/[|"\r\n]+/g, ' '),
  }));
}

/** A record for each local day with an hour that is complete. */
function volumeRows(station: Station, channel: Channel, zone: string): Row[] {
  const days = new Map<string, { local: DateTime; hours: Map<string, number> }>();
  for (const { start, volume } of channel.hours.values()) {
    const local = DateTime.fromMillis(start, { zone });
    const day = days.get(local.toISODate() ?? '') ?? { local, hours: new Map() };
    const field = `Hour_${local.toFormat('HH')}`;
    day.hours.set(field, (day.hours.get(field) ?? 0) + volume);
    days.set(local.toISODate() ?? '', day);
  }
  return [...days.values()].map(({ local, hours }) => ({
    ...keyFields(station, channel),
    ...dateFields(local),
    // From 1 for Sunday.
    Day_of_Week: (local.weekday % 7) + 1,
    ...Object.fromEntries(hours),
  }));
}

/** A record of classes and speeds for each hour. */
function intervalRows(station: Station, channel: Channel, zone: string): Row[] {
  return [...channel.hours.values()].map(({ start, volume, classes, speeds }) => {
    const local = DateTime.fromMillis(start, { zone });
    return {
      ...keyFields(station, channel),
      ...dateFields(local),
      Hour_Record: local.hour,
      Total_Interval_Volume: volume,
      Number_of_Speed_Bins: SPEED_BINS,
      ...Object.fromEntries(classes.map((count, n) => [`Class_${n + 1}`, count])),
      ...Object.fromEntries(speeds.map((count, n) => [`Bin_${n + 1}`, count])),
    };
  });
}

import { isDeepStrictEqual } from 'node:util';
import {
  type Format,
  type FormatName,
  type Reading,
  type ReadingContext,
  type Report,
  TooManyVehicles,
  without,
} from './format.ts';
import { formatNamed } from './formats.ts';
import type { MapInput } from './mapper.ts';
import type { DeviceMessage } from './message.ts';
import { readParts } from './read-parts.ts';
import type { StoredPart } from './split-body.ts';
import type { KnownConnection } from './store.ts';

/** The fields of a stored message that determine its meaning. */
export interface Interpretable {
  readonly path: string;
  readonly topic: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Unix milliseconds */
  readonly receivedAt: number;
  readonly parts: readonly StoredPart[];
}

/** What determines how the messages of a connection are read. */
export type ReadingRules = Pick<KnownConnection, 'format' | 'timeZone' | 'options'>;

/** What reading needs besides the message. */
export interface ReadingMeans {
  /** The time zone of the service, for connections without one. */
  readonly zone: string;
  /** Evaluates mappings. */
  readonly map: MapInput;
}

/** Why a message will not be read, of a format that says so in its answer (`Format.refusalOf`); null if it will. */
export function refusalNow(format: FormatName, { parts, ...rest }: Interpretable): string | null {
  return formatNamed(format).refusalOf?.({ ...rest, parts: readParts(parts) }) ?? null;
}

/** Reads a message in the format of its connection. */
export async function readNow(
  { format, timeZone, options }: ReadingRules,
  { parts, path, topic, headers, receivedAt }: Interpretable,
  { zone, map }: ReadingMeans,
): Promise<Reading> {
  const message = { parts: readParts(parts), path, topic, headers, receivedAt };
  return readMessage(format, message, { options, zone: timeZone ?? zone, map });
}

/**
 * Reads a message in a format. A message with too many vehicles is `unreadable`. Where keys may repeat, reports that are
 * different events are given different keys.
 * @param context its `zone` is the IANA name of the time zone
 */
export async function readMessage(
  name: FormatName,
  message: DeviceMessage,
  context: ReadingContext & { readonly zone: string },
): Promise<Reading> {
  const format = formatNamed(name);
  const { dayFirst } = context.options;
  const zone = { name: context.zone, receivedAt: message.receivedAt, dayFirst };
  const reading = await readIn(format, message, { ...context, zone });
  return format.keysMayRepeat ? { ...reading, reports: withDistinctKeys(reading.reports) } : reading;
}

async function readIn(format: Format, message: DeviceMessage, context: ReadingContext): Promise<Reading> {
  try {
    return await format.read(message, context);
  } catch (error) {
    if (error instanceof TooManyVehicles) return without('unreadable', error.message);
    throw error;
  }
}

/**
 * Distinguishes different reports with the same key: the position among them is appended to the key of each one after the
 * first. A report that only repeats another one has the same key as that one.
 */
function withDistinctKeys(reports: readonly Report[]): Report[] {
  const ofKey = new Map<string, Report[]>();
  return reports.map((report) => {
    const { key, passage } = report;
    if (key === null || passage) return report;
    const different = ofKey.get(key) ?? [];
    ofKey.set(key, different);
    const found = different.findIndex((other) => isDeepStrictEqual(other, report));
    const position = found === -1 ? different.push(report) - 1 : found;
    return position === 0 ? report : { ...report, key: `${key}#${position}` };
  });
}

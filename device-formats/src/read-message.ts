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
import type { DeviceMessage } from './message.ts';
import { readParts } from './read-parts.ts';
import type { StoredPart } from './split-body.ts';

/** A message in the parts into which `splitBody` divides its body. */
export interface StoredMessage {
  readonly parts: readonly StoredPart[];
  /** As in `DeviceMessage`. */
  readonly path: string;
  readonly topic: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Unix milliseconds */
  readonly receivedAt: number;
}

/** What determines how the messages of a connection are read. */
export interface ReadingRules extends Pick<ReadingContext, 'options'> {
  readonly format: FormatName;
  /** IANA name of the time zone of the device's local times; null for that of `ReadingMeans`. */
  readonly timeZone: string | null;
}

/** What reading needs besides the message. */
export interface ReadingMeans extends Pick<ReadingContext, 'map'> {
  /** IANA name of the time zone for connections without one. */
  readonly zone: string;
}

/** Why a message will not be read, of a format that says so in its answer (`Format.refusalOf`); null if it will. */
export function refusalOf(format: FormatName, { parts, ...rest }: StoredMessage): string | null {
  return formatNamed(format).refusalOf?.({ ...rest, parts: readParts(parts) }) ?? null;
}

/**
 * Reads a message in the format of its connection. A message with too many vehicles is `unreadable`. Where keys may repeat,
 * reports that are different events are given different keys.
 * @throws Error if a mapping cannot be evaluated now
 */
export async function readMessage(
  { format: name, timeZone, options }: ReadingRules,
  { parts, path, topic, headers, receivedAt }: StoredMessage,
  { zone: usual, map }: ReadingMeans,
): Promise<Reading> {
  const format = formatNamed(name);
  const message = { parts: readParts(parts), path, topic, headers, receivedAt };
  const zone = { name: timeZone ?? usual, receivedAt, dayFirst: options.dayFirst };
  const reading = await readIn(format, message, { options, zone, ...(map && { map }) });
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

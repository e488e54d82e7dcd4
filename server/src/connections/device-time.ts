import { DateTime } from 'luxon';
import { EARLIEST_EVENT, MAX_AHEAD_MS } from '../events/time-bounds.ts';

/** The time zone of the local times of a message, and when the message arrived. */
export interface DeviceZone {
  /** IANA time zone */
  readonly name: string;
  /**
   * Unix milliseconds. A local time that occurs twice, when clocks are set back, means the later occurrence, unless
   * that is more than 5 minutes after this time.
   */
  readonly receivedAt: number;
}

/** An IANA time zone, in which a local time that occurs twice means the first occurrence; or the zone of a message. */
export type Zone = string | DeviceZone;

/** Longer texts are not times, and matching them against patterns would be slow. */
const MAX_LENGTH = 100;

/** The length of each unit in milliseconds, by the number of digits of a time in that unit: s, ms, µs, ns. */
const UNIT_MS: Readonly<Record<number, number>> = { 10: 1_000, 13: 1, 16: 1 / 1_000, 19: 1 / 1_000_000 };

/**
 * The time of a Unix epoch in seconds, milliseconds, microseconds or nanoseconds; the number of digits determines the
 * unit. Seconds may have a fraction.
 * @returns Unix milliseconds; null for any other number of digits, and for times before the year 2000
 */
export function epochTime(value: unknown): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const found = /^\s*(\d+)(\.\d+)?\s*$/.exec(String(value));
  const unit = UNIT_MS[found?.[1]?.length ?? 0];
  if (!found || unit === undefined) return null;
  return sane(Math.floor(Number(`${found[1]}${found[2] ?? ''}`) * unit));
}

/**
 * The time of an ISO 8601 text in extended or basic form. It may have a fraction of up to nanoseconds, and an offset of
 * hours only (`+07`). A space may replace the `T`, and slashes the hyphens of the date.
 * @param zone for a text without an offset
 * @returns Unix milliseconds; null for any other text, and for times before the year 2000
 */
export function isoTime(text: unknown, zone: Zone): number | null {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return null;
  const normal = text
    .trim()
    .replace(/^(\d{4})\/(\d{2})\/(\d{2})\b/, '$1-$2-$3')
    .replace(/^(\d{4}-?\d{2}-?\d{2})\s+/, '$1T')
    .replace(/([.,]\d{3})\d+/, '$1')
    .replace(/\s+(?=Z|[+-]\d{2})/i, '');
  return momentOf(DateTime.fromISO(normal, { zone: nameOf(zone), setZone: true }), zone);
}

/**
 * The time of a text in the format of a device.
 * @param patterns tokens of Luxon, tried in order: `dd/MM/yyyy HH:mm:ss` for example
 * @param zone of the text, unless it contains an offset
 * @returns Unix milliseconds; null when no pattern fits, and for times before the year 2000
 */
export function timeIn(text: unknown, patterns: readonly string[], zone: Zone): number | null {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return null;
  for (const pattern of patterns) {
    const time = DateTime.fromFormat(text.trim(), pattern, {
      zone: nameOf(zone),
      setZone: true,
      locale: 'en',
    });
    const moment = momentOf(time, zone);
    if (moment !== null) return moment;
  }
  return null;
}

function nameOf(zone: Zone): string {
  return typeof zone === 'string' ? zone : zone.name;
}

function momentOf(time: DateTime, zone: Zone): number | null {
  if (!time.isValid) return null;
  const moments = time.getPossibleOffsets().map((each) => each.toMillis());
  const latest = typeof zone === 'string' ? Number.NEGATIVE_INFINITY : zone.receivedAt + MAX_AHEAD_MS;
  const past = moments.filter((moment) => moment <= latest);
  return sane(past.length > 0 ? Math.max(...past) : Math.min(...moments));
}

/** The time; null before the year 2000, because such numbers are counters, or times since the device was started. */
function sane(ms: number): number | null {
  return ms >= EARLIEST_EVENT ? ms : null;
}

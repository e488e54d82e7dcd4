import type { EventType } from '@gantry/contract/events';

/**
 * The spellings of "no plate was read" in the messages of all makers, without blanks, `_` and dashes, in lower case. No country
 * issues a plate of zeros only.
 */
const NO_PLATE =
  /^(?:unknown?|unkown|none|nil|null|undefined|no(?:license|licence|number)?plates?(?:number|found|detected|recogni[sz]ed|read|visible)?|noread|(?:plate)?not(?:detected|defined|found|read|recogni[sz]ed|available|visible)|unread|unreadable|unrecogni[sz]ed|unlicensed|empty|n\/a|无车牌|无牌车?|未识别|未知|无|0+|[/*?.]*)$/;

/**
 * The plate as the device wrote it, trimmed; null for an empty text, every spelling of "no plate", and a text with
 * characters that could not be read. Its script is kept.
 */
export function plateOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const plate = String(value).trim();
  if (plate.includes('\ufffd')) return null;
  return NO_PLATE.test(plate.toLowerCase().replaceAll(/[\s_\p{Pd}]/gu, '')) ? null : plate;
}

/** A number from a number or a text such as `093`; null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value.trim().replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}

/** A quantity that is greater than 0; null otherwise, because devices report 0 or −1 when they did not measure it. */
export function measured(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && number > 0 ? number : null;
}

const KM_PER_MILE = 1.609344;
const KM_PER_NAUTICAL_MILE = 1.852;
const KM_PER_HOUR_AND_FOOT = 1.09728;

/** The factors to km/h of the units of speed as devices write them, in lower case and without blanks. */
const SPEED_UNITS: ReadonlyMap<string, number> = new Map(
  (
    [
      ['km/h kmh kph kmph km/hr km/hour km/u км/ч km/sa km/saat كم/س كم/ساعة', 1],
      ['mph mi/h mi/hr miles/h miles/hour', KM_PER_MILE],
      ['m/s mps m/sec meters/s metres/s м/с', 3.6],
      ['kn kt kts kts. knot knots', KM_PER_NAUTICAL_MILE],
      ['ft/s fps ft/sec', KM_PER_HOUR_AND_FOOT],
    ] as const
  ).flatMap(([names, factor]) => names.split(' ').map((name): [string, number] => [name, factor])),
);

const SPEED_WITH_UNIT = /^([+-]?\d[\d.,]*)([^\d.,].*)$/;
const SPEED_MAX_LENGTH = 50;

/**
 * A measured speed in km/h, rounded to hundredths; null when it was not measured. A text may name its unit: `54 km/h`.
 * @param unit of a value that does not name it
 */
export function speedOf(value: unknown, unit: 'km/h' | 'mph' | 'm/s' = 'km/h'): number | null {
  const { number, named } = numberWithUnit(value);
  const speed = measured(number);
  const factor = SPEED_UNITS.get(named ?? unit);
  return speed === null || factor === undefined ? null : Math.round(speed * factor * 100) / 100;
}

function numberWithUnit(value: unknown): { readonly number: unknown; readonly named?: string } {
  if (typeof value !== 'string' || value.length > SPEED_MAX_LENGTH) return { number: value };
  const found = SPEED_WITH_UNIT.exec(value.toLowerCase().replaceAll(/\s/g, ''));
  // 1e3 is a number without a unit.
  if (!found || numberOf(value) !== null) return { number: value };
  return { number: found[1], named: found[2] ?? '' };
}

/**
 * A confidence as `metadata` holds it: from 0 to 1, and as the device wrote it. The former is absent if the latter is
 * not on the scale of the device.
 */
export interface Confidence {
  readonly confidence?: number;
  readonly confidenceRaw: number | string;
}

/** The value that a device uses for certainty; 0 is the opposite. */
export type ConfidenceScale = 1 | 100 | 255;

/**
 * Converts a confidence to the scale from 0 to 1. A text may end in `%` if the scale is 100.
 * @returns null when there is no number
 */
export function confidenceOf(value: unknown, scale: ConfidenceScale): Confidence | null {
  const number = numberOf(typeof value === 'string' && scale === 100 ? value.replace('%', '') : value);
  if (number === null) return null;
  const confidenceRaw = typeof value === 'string' ? value : number;
  if (number < 0 || number > scale) return { confidenceRaw };
  return { confidence: Math.round((number / scale) * 10_000) / 10_000, confidenceRaw };
}

/**
 * The confidence of a device whose firmware versions use different scales: a fraction such as `0.98` or `1.0` is out of 1,
 * any other number out of 100.
 */
export function fractionOrPercent(value: unknown): Confidence | null {
  const number = numberOf(value);
  const isFraction = number !== null && number <= 1 && /[.,]/.test(String(value));
  return confidenceOf(value, isFraction ? 1 : 100);
}

/** What is known of a vehicle or incident when the type of its event is chosen. */
export interface Observed {
  readonly isIncident?: boolean;
  readonly isBeltMissing?: boolean;
  readonly violation?: string | null;
  /** km/h */
  readonly speed?: number | null;
  /** km/h */
  readonly speedLimit?: number | null;
  readonly plate?: string | null;
}

/** The type and violation of an event: the first rule that matches applies. */
export function kindOf(seen: Observed): {
  readonly eventType: EventType;
  readonly violationType: string | null;
} {
  if (seen.isIncident) return { eventType: 'INCIDENT', violationType: null };
  if (seen.isBeltMissing) return { eventType: 'SEATBELT_VIOLATION', violationType: 'NO_SEATBELT' };
  if (seen.violation) return { eventType: 'TRAFFIC_VIOLATION', violationType: seen.violation };
  const { speed, speedLimit } = seen;
  if (speed && speedLimit && speedLimit > 0 && speed > speedLimit) {
    return { eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING' };
  }
  if (seen.plate) return { eventType: 'PLATE_RECOGNITION', violationType: null };
  return { eventType: speed ? 'SPEED_DETECTION' : 'VEHICLE_DETECTION', violationType: null };
}

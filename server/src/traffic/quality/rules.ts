import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Interval } from '../../platform/time.ts';
import { type Count, roundTo } from '../bin.ts';
import type { LocalHour } from '../local-hours.ts';

// Rules that judge the counts of a place by hour and day. Those that judge a detector by its samples are in
// detector-rules.ts.

/** What becomes of the data: `REJECT` leaves them out of figures, `SUSPECT` lists them, `INFO` notes something. */
export type Severity = 'REJECT' | 'SUSPECT' | 'INFO';

export const SEVERITIES = {
  R1: 'REJECT',
  R2: 'REJECT',
  R3: 'REJECT',
  R4: 'REJECT',
  R5: 'REJECT',
  R6: 'SUSPECT',
  R7: 'REJECT',
  R8: 'REJECT',
  R9: 'REJECT',
  R10: 'SUSPECT',
  R11: 'SUSPECT',
  R12: 'SUSPECT',
  R13: 'SUSPECT',
  R14: 'SUSPECT',
  R15: 'INFO',
  R16: 'REJECT',
  R17: 'REJECT',
  R18: 'INFO',
} as const satisfies Record<string, Severity>;
export type Rule = keyof typeof SEVERITIES;

/** The rules that leave data out of figures. */
export const REJECTING: readonly string[] = Object.entries(SEVERITIES).flatMap(([rule, severity]) =>
  severity === 'REJECT' ? [rule] : [],
);

/** Whether a text is the name of a rule. */
export function isRule(text: string): text is Rule {
  return Object.hasOwn(SEVERITIES, text);
}

/** What a rule found: `value` is beyond `threshold`. Times are Unix milliseconds, `until` excluded. */
export interface Flag {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly from: number;
  readonly until: number;
  readonly value: number;
  readonly threshold: number;
  readonly lane?: number | string;
}

/** A flag of one sensor; value and threshold are null where there are none. */
export interface SensorFlag extends Omit<Flag, 'value' | 'threshold'> {
  readonly value: number | null;
  readonly threshold: number | null;
  readonly sensorId: string;
  /** What happened, where the rule alone does not say it. */
  readonly note?: string;
}

export function flagOf(
  rule: Rule,
  { from, until }: Interval,
  value: number,
  threshold: number,
  lane?: number | string,
): Flag {
  const flag = { rule, severity: SEVERITIES[rule], from, until, value, threshold };
  return lane === undefined ? flag : { ...flag, lane };
}

export type Facility = 'MAINLINE' | 'RAMP_ON' | 'RAMP_OFF' | 'HOV' | 'BUS' | 'CYCLE' | 'CROSSWALK' | 'LEG';

/** How busy the surroundings of a place are. */
export type Setting = 'URBAN' | 'RURAL' | 'LOW_VOLUME';

export interface Thresholds {
  /** R1: hours without a vehicle, by facility. */
  readonly noHitsHours: Record<Facility, number>;
  /** R2: the longest gap in minutes of an hour with usually at least so many vehicles, in descending order. */
  readonly gaps: readonly { readonly vehicles: number; readonly minutes: number }[];
  /** R3: vehicles in 30 s on a lane. */
  readonly chatterVehicles: number;
  /** R3, R4: hours until a detector is trusted again. */
  readonly clearHours: number;
  /** R4: minutes with an occupancy of 100 %, by facility. */
  readonly lockedOnMinutes: Record<Facility, number>;
  /** R5: hours with the same occupancy. */
  readonly noChangeHours: number;
  /** R6: the change of occupancy between samples, in per cent, and the seconds of spikes. */
  readonly spikePercent: number;
  readonly spikeSeconds: number;
  /** R7: the share of the expected samples in the judged hours of the day. */
  readonly sampleShare: number;
  readonly judgedHours: { readonly from: number; readonly until: number };
  /** R8: the share of samples without occupancy. */
  readonly zeroOccupancyShare: Record<Setting, number>;
  /** R9: vehicles in 30 s, occupancy in per cent, and the share of samples above one of them. */
  readonly highVehicles: number;
  readonly highOccupancy: number;
  readonly highShare: number;
  /** R10: the shares of samples with occupancy and no vehicle, and with vehicles and no occupancy. */
  readonly occupiedEmptyShare: number;
  readonly vehiclesUnoccupiedShare: number;
  /** R11: hours in a row. */
  readonly equalHours: number;
  readonly zeroHours: number;
  /** R12 */
  readonly hourlyVehiclesPerLane: number;
  readonly monthlyChange: number;
  readonly directionShare: number;
  /** R13: as a share of the volume that is counted. */
  readonly sensorDifference: number;
  /** R14: times the limit; km/h, below an occupancy in per cent. */
  readonly limitFactor: number;
  readonly minSpeed: number;
  readonly slowOccupancy: number;
  /** R15: metres; median absolute deviations. */
  readonly minLength: number;
  readonly maxLength: number;
  readonly classDeviations: number;
  /** R16 */
  readonly hourCoverage: number;
  /** Of no rule, as they need the latest events only: equal speeds in a row, and reads of one plate in ten minutes. */
  readonly equalSpeeds: number;
  readonly samePlate: number;
}

/** The thresholds of MnDOT's IRIS (R1, R3–R6), Toronto (R2, R13), Caltrans PeMS (R7–R10), LTPP (R11) and Berlin (R16). */
export const THRESHOLDS: Thresholds = {
  noHitsHours: {
    MAINLINE: 4,
    RAMP_OFF: 8,
    HOV: 8,
    RAMP_ON: 12,
    LEG: 24,
    BUS: 72,
    CYCLE: 72,
    CROSSWALK: 72,
  },
  gaps: [
    { vehicles: 1_500, minutes: 5 },
    { vehicles: 500, minutes: 10 },
    { vehicles: 100, minutes: 15 },
    { vehicles: 0, minutes: 20 },
  ],
  chatterVehicles: 38,
  clearHours: 24,
  lockedOnMinutes: {
    MAINLINE: 2,
    HOV: 2,
    RAMP_ON: 30,
    RAMP_OFF: 30,
    LEG: 30,
    BUS: 30,
    CYCLE: 30,
    CROSSWALK: 30,
  },
  noChangeHours: 24,
  spikePercent: 25,
  spikeSeconds: 60,
  sampleShare: 0.6,
  judgedHours: { from: 5, until: 22 },
  zeroOccupancyShare: { URBAN: 0.59, RURAL: 0.9, LOW_VOLUME: 1 },
  highVehicles: 20,
  highOccupancy: 70,
  highShare: 0.2,
  occupiedEmptyShare: 0.02,
  vehiclesUnoccupiedShare: 0.5,
  equalHours: 4,
  zeroHours: 8,
  hourlyVehiclesPerLane: 3_000,
  monthlyChange: 0.3,
  directionShare: 0.6,
  sensorDifference: 0.1,
  limitFactor: 1.5,
  minSpeed: 5,
  slowOccupancy: 10,
  minLength: 0.5,
  maxLength: 40,
  classDeviations: 3,
  hourCoverage: 0.75,
  equalSpeeds: 30,
  samePlate: 20,
};

/**
 * R2: a gap in an hour that is too long for its usual volume.
 * @param bins of the hour, in order
 * @param usual the mean volume of such hours in the last 60 days; null if there is none, which judges nothing
 */
export function gapInHour(
  bins: readonly Count[],
  usual: number | null,
  { gaps }: Thresholds = THRESHOLDS,
): Flag[] {
  const [first, last] = [bins[0], bins.at(-1)];
  const minutes = gaps.find(({ vehicles }) => usual !== null && usual >= vehicles)?.minutes;
  if (!first || !last || minutes === undefined) return [];
  let [gap, longest] = [0, 0];
  for (const { start, end, coverage, status } of bins) {
    const unknown = status === 'PROVISIONAL' ? 0 : (1 - coverage) * (end - start);
    gap = unknown > 0 ? gap + unknown : 0;
    longest = Math.max(longest, gap);
  }
  // Coverage is known to 0.0001: ten minutes of an hour must not be a little more.
  const value = roundTo(longest / MINUTE_MS, 2);
  return value > minutes ? [flagOf('R2', { from: first.start, until: last.end }, value, minutes)] : [];
}

/** R11: hourly volumes of a day that no road has. @param hours of the day, in order, with its bounds */
export function oddHours(
  { from, until }: Interval,
  hours: readonly LocalHour[],
  { equalHours, zeroHours }: Thresholds = THRESHOLDS,
): Flag[] {
  const flags: Flag[] = [];
  for (const { volume, bins } of runsOf(hours)) {
    const threshold = volume === 0 ? zeroHours : equalHours;
    const [first, last] = [bins[0], bins.at(-1)];
    if (volume !== null && first && last && bins.length >= threshold)
      flags.push(flagOf('R11', { from: first.start, until: last.end }, bins.length, threshold));
  }
  const volumeAt = (wanted: number): number | null =>
    hours.find(({ hour }) => hour === wanted)?.volume ?? null;
  const [night, noon] = [volumeAt(1), volumeAt(13)];
  if (night !== null && noon !== null && night > noon)
    flags.push(flagOf('R11', { from, until }, night, noon));
  const expected = (until - from) / HOUR_MS;
  const known =
    hours.reduce((sum, { start, end, volume }) => sum + (volume === null ? 0 : end - start), 0) / HOUR_MS;
  if (known < expected) flags.push(flagOf('R11', { from, until }, known, expected));
  return flags;
}

/** Successive hours with the same volume. */
function runsOf(hours: readonly LocalHour[]): { volume: number | null; bins: LocalHour[] }[] {
  const runs: { volume: number | null; bins: LocalHour[] }[] = [];
  for (const hour of hours) {
    const last = runs.at(-1);
    if (last && last.volume === hour.volume && last.bins.at(-1)?.end === hour.start) last.bins.push(hour);
    else runs.push({ volume: hour.volume, bins: [hour] });
  }
  return runs;
}

/** R12: more vehicles in an hour than its lanes carry. */
export function overCapacity(
  { start, end, volume }: Count,
  lanes: number,
  { hourlyVehiclesPerLane }: Thresholds = THRESHOLDS,
): Flag[] {
  const value = ((volume ?? 0) / lanes / (end - start)) * HOUR_MS;
  return value > hourlyVehiclesPerLane
    ? [flagOf('R12', { from: start, until: end }, value, hourlyVehiclesPerLane)]
    : [];
}

/** R12: a month whose average daily traffic is far from that of the same month a year before. */
export function changedMonth(
  month: Interval,
  average: number,
  before: number,
  { monthlyChange }: Thresholds = THRESHOLDS,
): Flag[] {
  const value = before > 0 ? Math.abs(average - before) / before : 0;
  return value > monthlyChange ? [flagOf('R12', month, value, monthlyChange)] : [];
}

/** R12: a day on which most vehicles went in one direction. */
export function unevenDirections(
  day: Interval,
  one: number,
  other: number,
  { directionShare }: Thresholds = THRESHOLDS,
): Flag[] {
  const value = one + other > 0 ? Math.max(one, other) / (one + other) : 0;
  return value > directionShare ? [flagOf('R12', day, value, directionShare)] : [];
}

/**
 * R13: a count that differs from another of the same traffic: of a second sensor over a day, or of the history of the
 * place.
 */
export function differingCounts(
  span: Interval,
  counted: number,
  other: number,
  { sensorDifference }: Thresholds = THRESHOLDS,
): Flag[] {
  const difference = Math.abs(counted - other);
  const value = difference === 0 ? 0 : difference / Math.max(1, counted);
  return value > sensorDifference ? [flagOf('R13', span, value, sensorDifference)] : [];
}

/** R15: whether a length (m) can be that of a vehicle. */
export function isPlausibleLength(
  length: number,
  { minLength, maxLength }: Thresholds = THRESHOLDS,
): boolean {
  return length >= minLength && length <= maxLength;
}

/**
 * R15: a day on which the share of a class is far from the median of the days before.
 * @param before the shares on the last 60 days, of which there must be 7
 */
export function oddClassShare(
  day: Interval,
  share: number,
  before: readonly number[],
  { classDeviations }: Thresholds = THRESHOLDS,
): Flag[] {
  if (before.length < 7) return [];
  const usual = medianOf(before);
  const threshold = roundTo(classDeviations * medianOf(before.map((each) => Math.abs(each - usual))), 4);
  const value = roundTo(Math.abs(share - usual), 4);
  return value > threshold ? [flagOf('R15', day, value, threshold)] : [];
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** R16: hours that are over and not known well enough to be published. Those of which nothing is known are gaps. */
export function littleKnownHours(hours: readonly Count[], { hourCoverage }: Thresholds = THRESHOLDS): Flag[] {
  return hours.flatMap(({ start, end, status, coverage }) =>
    status !== 'PROVISIONAL' && status !== 'GAP' && coverage < hourCoverage
      ? [flagOf('R16', { from: start, until: end }, coverage, hourCoverage)]
      : [],
  );
}

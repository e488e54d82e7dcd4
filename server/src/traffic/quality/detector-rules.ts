import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { LocalDay } from '../../platform/time.ts';
import { clockOf } from '../local-hours.ts';
import { type Facility, type Flag, flagOf, type Setting, THRESHOLDS, type Thresholds } from './rules.ts';

// Rules that judge a detector by its samples, which are usually 30 seconds long. A bin is a sample, too.

/** What a detector reported for an interval; null if it reported nothing. Times are Unix milliseconds. */
export interface Sample {
  readonly start: number;
  /** Excluded. */
  readonly end: number;
  readonly volume: number | null;
  /** The share of the time in which a vehicle was over the detector, in per cent. */
  readonly occupancy?: number | null;
  /** km/h */
  readonly meanSpeed?: number | null;
  /** The limit at that time, in km/h. */
  readonly limit?: number | null;
}

/** The samples of a lane, in order. */
export interface Samples {
  readonly lane?: number | string;
  readonly samples: readonly Sample[];
}

const SECOND_MS = 1_000;
/** The interval to which numbers of vehicles in thresholds refer. */
const USUAL_MS = 30 * SECOND_MS;

/**
 * R1: no vehicle for longer than the facility usually is without one, whether the detector was silent or reported none.
 * It runs from the end of the last interval with a vehicle, and one vehicle ends it.
 */
export function noHits(
  { lane, samples }: Samples,
  facility: Facility,
  { noHitsHours }: Thresholds = THRESHOLDS,
): Flag[] {
  const threshold = noHitsHours[facility];
  const flags: Flag[] = [];
  let since = samples[0]?.start ?? 0;
  const end = (until: number): void => {
    const hours = (until - since) / HOUR_MS;
    if (hours > threshold) flags.push(flagOf('R1', { from: since, until }, hours, threshold, lane));
  };
  for (const sample of samples)
    if (sample.volume !== null && sample.volume > 0) {
      end(sample.start);
      since = sample.end;
    }
  end(samples.at(-1)?.end ?? since);
  return flags;
}

/** R3: more vehicles than can pass on a lane. The detector is not trusted for a day afterwards. */
export function chatter(
  { lane, samples }: Samples,
  { chatterVehicles, clearHours }: Thresholds = THRESHOLDS,
): Flag[] {
  const found = samples.flatMap((sample) => {
    const value = perUsual(sample);
    return value >= chatterVehicles
      ? [flagOf('R3', { from: sample.start, until: sample.end }, value, chatterVehicles, lane)]
      : [];
  });
  return untilTrusted(found, clearHours);
}

/** R4: an occupancy of 100 % for too long. The detector is not trusted for a day afterwards. */
export function lockedOn(
  { lane, samples }: Samples,
  facility: Facility,
  { lockedOnMinutes, clearHours }: Thresholds = THRESHOLDS,
): Flag[] {
  const threshold = lockedOnMinutes[facility];
  const runs = runsOf(samples, ({ occupancy }) => (occupancy ?? 0) >= 100);
  const found = runs.flatMap(({ from, until }) => {
    const minutes = (until - from) / MINUTE_MS;
    return minutes > threshold ? [flagOf('R4', { from, until }, minutes, threshold, lane)] : [];
  });
  return untilTrusted(found, clearHours);
}

/** R5: an occupancy that does not change. */
export function noChange({ lane, samples }: Samples, { noChangeHours }: Thresholds = THRESHOLDS): Flag[] {
  const runs = runsOf(
    samples,
    ({ occupancy }) => (occupancy ?? 0) > 0,
    (before, { occupancy }) => before.occupancy === occupancy,
  );
  return runs.flatMap(({ from, until }) => {
    const hours = (until - from) / HOUR_MS;
    return hours > noChangeHours ? [flagOf('R5', { from, until }, hours, noChangeHours, lane)] : [];
  });
}

/**
 * R6: an occupancy that jumps. Each full 25 % of a jump between two samples adds their length, and each sample removes
 * its own.
 */
export function occupancySpikes(
  { lane, samples }: Samples,
  { spikePercent, spikeSeconds }: Thresholds = THRESHOLDS,
): Flag[] {
  const flags: Flag[] = [];
  let seconds = 0;
  let before: number | null = null;
  for (const { start, end, occupancy = null } of samples) {
    const length = (end - start) / SECOND_MS;
    if (occupancy !== null && before !== null)
      seconds += length * Math.floor(Math.abs(occupancy - before) / spikePercent);
    if (seconds > spikeSeconds) {
      const last = flags.at(-1);
      const isSame = last?.until === start;
      const from = isSame ? last.from : start;
      const value = isSame ? Math.max(last.value, seconds) : seconds;
      if (isSame) flags.pop();
      flags.push(flagOf('R6', { from, until: end }, value, spikeSeconds, lane));
    }
    seconds = Math.max(0, seconds - length);
    before = occupancy;
  }
  return flags;
}

/**
 * R7: too few samples in the hours of the day that are judged.
 * @param seconds the length of a sample
 */
export function fewSamples(
  { lane, samples }: Samples,
  day: LocalDay,
  zone: string,
  seconds: number,
  { sampleShare, judgedHours }: Thresholds = THRESHOLDS,
): Flag[] {
  const clock = clockOf(day, zone);
  const { from, until } = judgedHours;
  const good = samples.filter(({ start, volume }) => {
    const { minute } = clock(start);
    return volume !== null && minute >= from * 60 && minute < until * 60;
  });
  const value = (good.length * seconds) / ((until - from) * 3_600);
  return value < sampleShare ? [flagOf('R7', day, value, sampleShare, lane)] : [];
}

/** R8, R9, R10: what is wrong with the samples of a day. */
export function oddSamples(
  { lane, samples }: Samples,
  day: LocalDay,
  setting: Setting,
  thresholds: Thresholds = THRESHOLDS,
): Flag[] {
  const known = samples.filter(({ volume, occupancy }) => volume !== null || typeof occupancy === 'number');
  const measured = samples.filter(({ occupancy }) => typeof occupancy === 'number');
  const both = measured.filter(({ volume }) => volume !== null);
  const { highVehicles, highOccupancy } = thresholds;
  const judged = [
    {
      rule: 'R8',
      value: shareOf(measured, ({ occupancy }) => occupancy === 0),
      threshold: thresholds.zeroOccupancyShare[setting],
    },
    {
      rule: 'R9',
      value: shareOf(
        known,
        (sample) => perUsual(sample) > highVehicles || (sample.occupancy ?? 0) > highOccupancy,
      ),
      threshold: thresholds.highShare,
    },
    {
      rule: 'R10',
      value: shareOf(both, ({ volume, occupancy }) => volume === 0 && (occupancy ?? 0) > 0),
      threshold: thresholds.occupiedEmptyShare,
    },
    {
      rule: 'R10',
      value: shareOf(both, ({ volume, occupancy }) => (volume ?? 0) > 0 && occupancy === 0),
      threshold: thresholds.vehiclesUnoccupiedShare,
    },
  ] as const;
  return judged.flatMap(({ rule, value, threshold }) =>
    value > threshold ? [flagOf(rule, day, value, threshold, lane)] : [],
  );
}

/** R14: mean speeds far above the limit, and standing traffic on an empty road. */
export function oddSpeeds(
  { lane, samples }: Samples,
  { limitFactor, minSpeed, slowOccupancy }: Thresholds = THRESHOLDS,
): Flag[] {
  return samples.flatMap(({ start, end, meanSpeed, limit, occupancy }) => {
    if (typeof meanSpeed !== 'number') return [];
    const span = { from: start, until: end };
    if (typeof limit === 'number' && meanSpeed > limitFactor * limit)
      return [flagOf('R14', span, meanSpeed, limitFactor * limit, lane)];
    const isEmpty = typeof occupancy === 'number' && occupancy < slowOccupancy;
    return meanSpeed < minSpeed && isEmpty ? [flagOf('R14', span, meanSpeed, minSpeed, lane)] : [];
  });
}

/** Vehicles in 30 seconds. */
function perUsual({ start, end, volume }: Sample): number {
  return ((volume ?? 0) * USUAL_MS) / (end - start);
}

function shareOf(samples: readonly Sample[], isCounted: (sample: Sample) => boolean): number {
  return samples.length === 0 ? 0 : samples.filter(isCounted).length / samples.length;
}

/** The spans of successive samples that are alike. */
function runsOf(
  samples: readonly Sample[],
  isCounted: (sample: Sample) => boolean,
  isAlike: (before: Sample, sample: Sample) => boolean = () => true,
): { from: number; until: number }[] {
  const runs: { from: number; until: number }[] = [];
  let before: Sample | null = null;
  for (const sample of samples) {
    const last = runs.at(-1);
    if (!isCounted(sample)) before = null;
    else {
      if (last && before?.end === sample.start && isAlike(before, sample)) last.until = sample.end;
      else runs.push({ from: sample.start, until: sample.end });
      before = sample;
    }
  }
  return runs;
}

/** Prolongs flags until the detector is trusted again, and joins those that overlap then. */
function untilTrusted(flags: readonly Flag[], clearHours: number): Flag[] {
  const joined: Flag[] = [];
  for (const flag of flags) {
    const until = flag.until + clearHours * HOUR_MS;
    const last = joined.at(-1);
    if (last && flag.from <= last.until)
      joined.splice(-1, 1, { ...last, until, value: Math.max(last.value, flag.value) });
    else joined.push({ ...flag, until });
  }
  return joined;
}

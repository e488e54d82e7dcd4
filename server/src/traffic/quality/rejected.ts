import { MINUTE_MS } from '@gantry/contract/durations';
import type { DataDecision } from '@gantry/contract/quality';
import { type Interval, SLOT_MS, slotOf } from '../../platform/time.ts';
import type { Severity } from './rules.ts';

// Which data do not count: what rules reject and people decide.

/** Spans in order that do not overlap. */
export type Spans = readonly Interval[];

/** Spans with another one, which may overlap them. */
export function withSpan(spans: Spans, added: Interval): Spans {
  if (added.from >= added.until) return spans;
  const touching = spans.filter(({ from, until }) => from <= added.until && until >= added.from);
  const joined = {
    from: Math.min(added.from, ...touching.map(({ from }) => from)),
    until: Math.max(added.until, ...touching.map(({ until }) => until)),
  };
  return [
    ...spans.filter(({ until }) => until < added.from),
    joined,
    ...spans.filter(({ from }) => from > added.until),
  ];
}

/** Spans without the time of another one. */
export function withoutSpan(spans: Spans, removed: Interval): Spans {
  return spans.flatMap(({ from, until }) =>
    [
      { from, until: Math.min(until, removed.from) },
      { from: Math.max(from, removed.until), until },
    ].filter((part) => part.from < part.until),
  );
}

/** What is decided about a span, in the order of the decisions. */
export interface Decided extends Interval {
  readonly decision: DataDecision;
}

/** What rules say about a span. */
export interface Judged extends Interval {
  readonly severity: Severity;
  /** Whether nothing was counted in it, so that no count is lost if it is left out. */
  readonly isEmpty?: boolean;
}

/**
 * The time whose data do not count, in slots of five minutes. The latest decision about a time wins over earlier ones and
 * over rules. A slot is left out if any of it is rejected; of time without a vehicle, only whole slots are.
 */
export function rejectedSpans(judged: readonly Judged[], decided: readonly Decided[]): Spans {
  let spans: Spans = [];
  for (const { severity, isEmpty = false, from, until } of judged) {
    if (severity !== 'REJECT') continue;
    spans = withSpan(spans, isEmpty ? wholeSlots({ from, until }) : slotsOver({ from, until }));
  }
  for (const { decision, ...span } of decided)
    spans = decision === 'REJECT' ? withSpan(spans, slotsOver(span)) : withoutSpan(spans, slotsOver(span));
  return spans;
}

function slotsOver({ from, until }: Interval): Interval {
  return { from: slotOf(from), until: slotOf(until + SLOT_MS - 1) };
}

function wholeSlots({ from, until }: Interval): Interval {
  return { from: slotOf(from + SLOT_MS - 1), until: slotOf(until) };
}

/** The latest decision about all of a span; null if there is none, or it concerns only a part. */
export function decisionAbout(span: Interval, decided: readonly Decided[]): DataDecision | null {
  const [first] = slotsDecided(span, decided);
  return first !== undefined && slotsDecided(span, decided).every((each) => each === first) ? first : null;
}

/** The decision about each part of a span between the bounds of decisions. */
function slotsDecided({ from, until }: Interval, decided: readonly Decided[]): (DataDecision | null)[] {
  const cuts = decided.flatMap((each) => [each.from, each.until]).filter((at) => at > from && at < until);
  return [from, ...new Set(cuts)].map(
    (at) => decided.findLast((each) => each.from <= at && each.until > at)?.decision ?? null,
  );
}

/** What of the data of a sensor is rejected. */
export interface RejectedOfSensor {
  /** The time that is not known. */
  readonly time: Spans;
  /** The time whose counts do not count: without that in which there were none. */
  readonly counts: Spans;
}

/** The rejected data of the sensors of a place. */
export class Rejected {
  readonly #bySensor: ReadonlyMap<string, RejectedOfSensor>;

  constructor(bySensor: ReadonlyMap<string, RejectedOfSensor>) {
    this.#bySensor = new Map([...bySensor].filter(([, { time }]) => time.length > 0));
  }

  get isNone(): boolean {
    return this.#bySensor.size === 0;
  }

  /** The times at which counts must be divided, in order, so that none is rejected in part. */
  get cuts(): number[] {
    const ends = [...this.#bySensor.values()].flatMap(({ counts }) =>
      counts.flatMap(({ from, until }) => [from, until]),
    );
    return [...new Set(ends)].sort((a, b) => a - b);
  }

  /** Whether what a sensor counted in the slot from a time does not count. */
  hasCounts(sensorId: string, slot: number): boolean {
    return isWithin(this.#bySensor.get(sensorId)?.counts, slot);
  }

  /** The parts of a time whose counts of a sensor count. */
  keptWithin(sensorId: string, time: Interval): Interval[] {
    const spans = this.#bySensor.get(sensorId)?.counts ?? [];
    return spans.reduce<Spans>(withoutSpan, [{ from: time.from, until: time.until }]).slice();
  }

  /** The covered time of a sensor in each slot, without what is rejected. @param from the start of the first slot */
  coveredOf(sensorId: string, from: number, covered: Float64Array): Float64Array {
    const spans = this.#bySensor.get(sensorId)?.time;
    if (!spans) return covered;
    const kept = covered.slice();
    for (const span of spans)
      kept.fill(0, Math.max(0, (span.from - from) / SLOT_MS), Math.max(0, (span.until - from) / SLOT_MS));
    return kept;
  }
}

function isWithin(spans: Spans | undefined, time: number): boolean {
  return spans?.some(({ from, until }) => time >= from && time < until) ?? false;
}

export const NOTHING_REJECTED = new Rejected(new Map());

/** A duration in minutes, to 0.1. */
export function minutesOf({ from, until }: Interval): number {
  return Math.round((until - from) / (MINUTE_MS / 10)) / 10;
}

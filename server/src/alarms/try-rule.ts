import type { AlarmRuleInput, ConditionOf, TriedRule } from '@gantry/contract/alarm-rules';
import { MAX_TRIED, type TryRuleInput } from '@gantry/contract/alarm-rules';
import { describeRule } from '@gantry/contract/alarm-sentences';
import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { SYSTEM_THRESHOLDS } from '@gantry/contract/values';
import type { ActorContext } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { type Interval, SLOT_MS } from '../platform/time.ts';
import { requireSensible } from './check-rule.ts';
import { isInForce } from './evaluate.ts';
import { inScope, isLowWorse } from './observe.ts';
import { groupedBy, observeTraffic } from './observe-traffic.ts';
import {
  MAX_TRIED_EVENTS,
  readBackupEnds,
  readHitSpans,
  readIncidentSpans,
  readRateTimes,
  readStatusSpans,
  type Span,
} from './past-store.ts';
import { timingOf } from './rounds.ts';
import { scopeWarnings } from './service.ts';
import { readSensorFacts, type SensorFact } from './sources-store.ts';
import { FLAPPING_MS, isFiring, type Machine, type Sample, step, type Timing } from './step.ts';
import { readFives, type SlotFact } from './traffic-store.ts';

// When a rule would have fired, from what is recorded of the past.

/** What is known of one key over time: samples in order. */
interface PastKey {
  readonly place: string | null;
  readonly samples: readonly (Sample | { readonly at: number; readonly unknown: true })[];
}

interface Past {
  readonly keys: readonly PastKey[];
  readonly stepSeconds: number;
  readonly warnings: readonly string[];
}

type TriedAlarm = TriedRule['alarms'][number];

/**
 * When a rule would have fired within some hours.
 * @throws AppError `badRequest` for a rule that can never fire, and for a source of which the past is not recorded
 */
export async function tryRule({ app }: ActorContext, { rule, hours }: TryRuleInput): Promise<TriedRule> {
  requireSensible(rule);
  const until = Math.floor(app.clock.now() / MINUTE_MS) * MINUTE_MS;
  const range = { from: until - hours * HOUR_MS, until };
  const { keys, stepSeconds, warnings } = await readPast(app.db, rule, range);
  const zone = app.settings.current().timezone;
  const alarms = keys
    .flatMap(({ place, samples }) => {
      const watched = rule.hours ? cutToHours(samples, rule, zone, range) : samples;
      return replay(watched, timingOf(rule), range).map((alarm) => ({ place, ...alarm }));
    })
    .sort((a, b) => a.firedAt.getTime() - b.firedAt.getTime());
  return {
    from: new Date(range.from),
    until: new Date(range.until),
    sentence: describeRule(rule),
    warnings: [...warnings, ...(await scopeWarnings(app.db, rule))],
    stepSeconds,
    total: alarms.length,
    alarms: alarms.slice(0, MAX_TRIED),
  };
}

/** The alarms that samples lead to. */
export function replay(
  samples: PastKey['samples'],
  timing: Timing,
  { until }: Interval,
): Omit<TriedAlarm, 'place'>[] {
  const alarms: { firedAt: Date; clearedAt: Date | null; value: number | null }[] = [];
  let machine: Machine | null = null;
  for (const sample of samples) {
    if (sample.at > until) break;
    const wasFiring = isFiring(machine);
    const known = 'unknown' in sample ? null : sample;
    const next: Machine | null = step(machine, known, timing, sample.at).machine;
    machine = next;
    const last = alarms.at(-1);
    if (isFiring(next) && !wasFiring)
      alarms.push({ firedAt: new Date(sample.at), clearedAt: null, value: next?.value ?? null });
    else if (!isFiring(next) && wasFiring && last) last.clearedAt = new Date(sample.at);
  }
  return alarms;
}

/** What does not hold outside of the hours of a rule. */
function cutToHours(
  samples: PastKey['samples'],
  { hours }: AlarmRuleInput,
  zone: string,
  { from, until }: Interval,
): PastKey['samples'] {
  const cut: PastKey['samples'][number][] = [];
  let current: PastKey['samples'][number] | undefined;
  let n = 0;
  for (let at = from; at <= until; at += MINUTE_MS) {
    for (let next = samples[n]; next && next.at <= at; next = samples[++n]) current = next;
    if (!current) continue;
    const isOn = isInForce(hours, at, zone);
    cut.push(isOn ? { ...current, at } : { at, value: null, holds: false, clears: true });
  }
  return cut;
}

/** Sensors of a rule of TRAFFIC that can be tried at once, times hours. */
const MAX_SENSOR_HOURS = 20_000;

async function readPast(db: Executor, rule: AlarmRuleInput, range: Interval): Promise<Past> {
  const { condition, scope } = rule;
  const timing = timingOf(rule);
  const sensors = inScope(await readSensorFacts(db), scope);
  const nameOf = new Map(sensors.map(({ id, name }) => [id, name]));
  const bySpans = (spans: readonly Span[], placeOf: (key: string) => string | null): Past => ({
    keys: [...groupedBy(spans, ({ key }) => key)].map(([key, own]) => ({
      place: placeOf(key),
      samples: samplesOf(own, timing, range),
    })),
    stepSeconds: 1,
    warnings: [],
  });
  switch (condition.source) {
    case 'SENSOR_STATUS':
    case 'SENSOR_ISSUE': {
      const spans = await readStatusSpans(db, [...nameOf.keys()], condition, range);
      const isOfPlaces = condition.source === 'SENSOR_STATUS' && condition.of === 'PLACE';
      if (isOfPlaces) return bySpans(spansOfPlaces(sensors, spans), (key) => key);
      return bySpans(spans, (key) => nameOf.get(key) ?? null);
    }
    case 'INCIDENT_UNATTENDED':
      return bySpans(await readIncidentSpans(db, condition, scope, range), () => null);
    case 'HIT':
      return bySpans(await readHitSpans(db, condition, scope, range), () => null);
    case 'TRAFFIC':
      return pastTraffic(db, rule, condition, sensors, range);
    case 'EVENT_RATE':
      return pastRate(db, rule, condition, range);
    case 'SYSTEM':
      if (condition.part === 'BACKUP') return pastBackups(db, condition, range);
      break;
    default:
  }
  throw invalidInput(
    'rule.condition',
    `The past of ${condition.source} is not recorded, so the rule cannot be tried: save it, and see what it does`,
  );
}

/** The samples at which something can change, if it held in some spans. */
function samplesOf(spans: readonly Span[], { forMs }: Timing, { from, until }: Interval): Sample[] {
  const borders = spans.flatMap((span) => [Math.max(span.from, from), Math.min(span.until, until)]);
  const times = new Set([
    from,
    ...borders,
    ...borders.map((at) => at + forMs),
    ...borders.map((at) => at + forMs + FLAPPING_MS),
    until,
  ]);
  return [...times]
    .filter((at) => at >= from && at <= until)
    .sort((a, b) => a - b)
    .map((at) => {
      const holds = spans.some((span) => span.from <= at && at < span.until);
      return { at, value: null, holds, clears: !holds };
    });
}

/** When none of the sensors of each location worked; the key is the name of the location. */
function spansOfPlaces(sensors: readonly SensorFact[], spans: readonly Span[]): Span[] {
  const bySensor = groupedBy(spans, ({ key }) => key);
  return [...groupedBy(sensors, ({ locationId }) => locationId)].flatMap(([locationId, here]) => {
    if (locationId === null) return [];
    const key = here[0]?.locationName ?? locationId;
    let common: Span[] = [{ key, from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }];
    for (const { id } of here)
      common = common.flatMap((one) =>
        (bySensor.get(id) ?? []).flatMap((other) => {
          const [from, until] = [Math.max(one.from, other.from), Math.min(one.until, other.until)];
          return from < until ? [{ key, from, until }] : [];
        }),
      );
    return common;
  });
}

async function pastTraffic(
  db: Executor,
  rule: AlarmRuleInput,
  given: ConditionOf<'TRAFFIC'>,
  sensors: readonly SensorFact[],
  range: Interval,
): Promise<Past> {
  const hours = (range.until - range.from) / HOUR_MS;
  if (sensors.length * hours > MAX_SENSOR_HOURS)
    throw invalidInput(
      'hours',
      `That are ${sensors.length} sensors: try at most ${Math.floor(MAX_SENSOR_HOURS / sensors.length)} hours, or name some of them in the scope`,
    );
  if (given.of === 'USUAL')
    throw invalidInput('rule.condition.of', 'What was usual then is not known: try it with NUMBER or LIMIT');
  // Longer ago than a quarter of an hour, slots of five minutes are known.
  const minutes = Math.ceil(given.minutes / 5) * 5;
  const condition = { ...given, minutes };
  const hasBins = given.measure === 'v85' || given.measure === 'shareOverLimit';
  const ids = sensors.map(({ id }) => id);
  const slots = await readFives(db, ids, { ...range, from: range.from - minutes * MINUTE_MS }, hasBins);
  const bySlot = groupedBy(slots, ({ slot }) => slot);
  const places = new Map<string, { place: string | null; samples: PastKey['samples'][number][] }>();
  const first = Math.ceil(range.from / SLOT_MS) * SLOT_MS;
  for (let until = first; until <= range.until; until += SLOT_MS) {
    const recent: SlotFact[] = [];
    for (let slot = until - minutes * MINUTE_MS; slot < until; slot += SLOT_MS)
      recent.push(...(bySlot.get(slot) ?? []));
    for (const { key, sample, about } of observeTraffic(rule, condition, sensors, {
      until,
      minutes: recent,
      usual: [],
    })) {
      const known = places.get(key) ?? { place: about.place, samples: [] };
      known.samples.push(sample ?? { at: until, unknown: true });
      places.set(key, known);
    }
  }
  const warnings =
    minutes === given.minutes
      ? []
      : [`The past is known in slots of five minutes, so it was tried with ${minutes} min`];
  return { keys: [...places.values()], stepSeconds: 300, warnings };
}

async function pastRate(
  db: Executor,
  { clear, condition: rule }: AlarmRuleInput,
  condition: ConditionOf<'EVENT_RATE'>,
  range: Interval,
): Promise<Past> {
  const window = condition.minutes * MINUTE_MS;
  const times = await readRateTimes(db, condition, { ...range, from: range.from - window });
  if (!times)
    throw invalidInput(
      'hours',
      `There were more than ${MAX_TRIED_EVENTS} such events: try fewer hours, or a narrower filter`,
    );
  const samples: Sample[] = [];
  let [first, end] = [0, 0];
  for (let at = range.from; at <= range.until; at += MINUTE_MS) {
    while ((times[end] ?? Number.POSITIVE_INFINITY) < at) end++;
    while ((times[first] ?? Number.POSITIVE_INFINITY) < at - window) first++;
    const n = end - first;
    const isBeyond = (limit: number): boolean => (isLowWorse(rule) ? n < limit : n >= limit);
    const holds = isBeyond(condition.count);
    samples.push({ at, value: n, holds, clears: !isBeyond(clear?.threshold ?? condition.count) });
  }
  return { keys: [{ place: null, samples }], stepSeconds: 60, warnings: [] };
}

async function pastBackups(
  db: Executor,
  { threshold = SYSTEM_THRESHOLDS.BACKUP }: ConditionOf<'SYSTEM'>,
  { from, until }: Interval,
): Promise<Past> {
  const ends = await readBackupEnds(db, until);
  const samples: Sample[] = [];
  for (let at = from, n = 0; at <= until; at += MINUTE_MS) {
    while ((ends[n] ?? Number.POSITIVE_INFINITY) <= at) n++;
    const last = ends[n - 1];
    if (last === undefined) continue;
    const value = (at - last) / HOUR_MS;
    samples.push({ at, value, holds: value >= threshold, clears: value < threshold });
  }
  return { keys: [{ place: null, samples }], stepSeconds: 60, warnings: [] };
}

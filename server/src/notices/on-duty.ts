import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { RotaHours, RotaLayer, StoredOverride } from '@gantry/contract/rotas';
import { addDays, hoursOn, type Interval, offsetsOf, resolveTime, weekdayOf } from '../platform/time.ts';

// Who is on duty, as a pure function of the rota and the time.

/** What decides who is on duty. */
export interface DutyRules {
  readonly timezone: string;
  /** Where several apply, the last one counts. */
  readonly layers: readonly RotaLayer[];
  /** They take precedence over all layers; where several apply, the last one counts. */
  readonly overrides: readonly StoredOverride[];
}

export interface OnDuty {
  /** null: nobody. */
  readonly userId: string | null;
  /** The position of the layer; null for an override or a gap. */
  readonly layer: number | null;
}

export interface DutyShift extends Interval, OnDuty {}

const NOBODY: OnDuty = { userId: null, layer: null };

/** Who is on duty at a time (Unix milliseconds). */
export function onDuty({ timezone, layers, overrides }: DutyRules, at: number): OnDuty {
  const override = overrides.findLast(({ from, until }) => Date.parse(from) <= at && at < Date.parse(until));
  if (override) return { userId: override.userId, layer: null };
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const rules = layers[layer];
    const userId = rules && memberOf(rules, timezone, at);
    if (userId) return { userId, layer };
  }
  return NOBODY;
}

/** The member of a layer who is on duty; undefined outside of its hours and before its start. */
function memberOf(
  { start, handover, days, members, hours }: RotaLayer,
  zone: string,
  at: number,
): string | undefined {
  if (hours && !isWithinHours(hours, zone, at)) return undefined;
  const today = localDay(at, zone);
  // Compared as moments: where clocks are set back over a handover, the first one counts, once.
  const day = at < moment(today, handover, zone) ? addDays(today, -1) : today;
  const passed = Math.round((Date.parse(day) - Date.parse(start)) / DAY_MS);
  return passed < 0 ? undefined : members[Math.floor(passed / days) % members.length];
}

function isWithinHours(hours: RotaHours, zone: string, at: number): boolean {
  const today = localDay(at, zone);
  return [today, addDays(today, -1)].some((day) => {
    const { from, until } = hoursOn(hours, day, zone);
    return hours.weekdays.includes(weekdayOf(day)) && from <= at && at < until;
  });
}

/** The shifts of an interval, in order and without gaps between them. */
export function shiftsOf(rota: DutyRules, { from, until }: Interval): DutyShift[] {
  const shifts: DutyShift[] = [];
  for (const at of changesIn(rota, { from, until })) {
    const { userId, layer } = onDuty(rota, at);
    const last = shifts.at(-1);
    if (last && last.userId === userId && last.layer === layer) continue;
    if (last) shifts[shifts.length - 1] = { ...last, until: at };
    shifts.push({ from: at, until, userId, layer });
  }
  return shifts;
}

/** The start of an interval and all times within it at which somebody else may be on duty, in order. */
function changesIn({ timezone, layers, overrides }: DutyRules, { from, until }: Interval): number[] {
  const times = [from, ...overrides.flatMap((each) => [Date.parse(each.from), Date.parse(each.until)])];
  const last = addDays(localDay(until, timezone), 1);
  for (let day = addDays(localDay(from, timezone), -1); day <= last; day = addDays(day, 1)) {
    for (const { handover, hours } of layers) {
      times.push(moment(day, handover, timezone));
      if (!hours) continue;
      const range = hoursOn(hours, day, timezone);
      times.push(range.from, range.until);
    }
  }
  return [...new Set(times)].filter((at) => at >= from && at < until).sort((a, b) => a - b);
}

/** The time at which clocks show a time of day; if they skip it, the time after the gap, and if they repeat it, the first. */
function moment(day: string, timeOfDay: string, zone: string): number {
  return resolveTime(`${day}T${timeOfDay}`, zone);
}

function localDay(at: number, zone: string): string {
  return new Date(at + offsetsOf(zone)(at) * MINUTE_MS).toISOString().slice(0, 10);
}

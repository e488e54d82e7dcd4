// The state machine of one rule and key, as a pure function. Times are Unix milliseconds.

/** What is known about a key at a time. */
export interface Sample {
  /** When it was so. */
  readonly at: number;
  readonly value: number | null;
  /** Whether the condition holds, so that the rule may fire. */
  readonly holds: boolean;
  /** Whether the alarm may end. Neither is true between two thresholds. */
  readonly clears: boolean;
}

/** Of a rule: what its machines need to know. */
export interface Timing {
  /** How long the condition must hold, and must not hold, in milliseconds. */
  readonly forMs: number;
  readonly noData: 'KEEP' | 'CLEAR' | 'ALARM';
  /** Whether smaller values are worse. */
  readonly isLowWorse: boolean;
}

/** The state of a rule and key. */
export interface Machine {
  /** DOWN: nothing is wrong. RISING: the condition holds, but not for long enough yet. UP: it does. */
  readonly level: 'DOWN' | 'RISING' | 'UP';
  /** Since when the condition has held. */
  readonly since: number;
  /** UP: since when the alarm may end; null if it may not. */
  readonly clearingSince: number | null;
  readonly firedAt: number | null;
  readonly value: number | null;
  readonly worst: number | null;
  /** When the level rose to UP or fell from it, within `FLAPPING_MS`. */
  readonly changes: readonly number[];
  readonly isFlapping: boolean;
}

/** FIRED and CLEARED begin and end an alarm. FLAPPING and STEADY begin and end the time in which it changes too often. */
export type Effect = 'FIRED' | 'CLEARED' | 'FLAPPING' | 'STEADY';

export interface Step {
  /** Null if nothing needs to be remembered. */
  readonly machine: Machine | null;
  readonly effects: readonly Effect[];
}

/** Four changes in 15 minutes are flapping, until there was none for as long. */
export const FLAPPING_MS = 900_000;
const FLAPPING_CHANGES = 4;

/** An older sample never fires: it is about the past, as when a sensor sends what it kept. */
export const STALE_MS = 900_000;

/**
 * The state after a sample.
 * @param machine null if nothing is remembered
 * @param sample null if nothing is known
 */
export function step(machine: Machine | null, sample: Sample | null, timing: Timing, now: number): Step {
  const before = machine ? forgetOld(machine, now) : null;
  const known = usable(sample, timing, now);
  const moved = known ? move(before, known, timing) : before;
  return settle(before, moved, now);
}

/** The state after time in which nothing was evaluated: what must last begins again, and what fires stays. */
export function resume(machine: Machine): Machine | null {
  if (machine.level === 'UP') return { ...machine, clearingSince: null };
  return machine.isFlapping || machine.changes.length > 0 ? { ...machine, level: 'DOWN' } : null;
}

/** Whether an alarm is firing. One that flaps is, at either level. */
export function isFiring(machine: Machine | null): boolean {
  return machine?.isFlapping === true || machine?.level === 'UP';
}

function forgetOld(machine: Machine, now: number): Machine {
  const changes = machine.changes.filter((at) => at > now - FLAPPING_MS);
  return changes.length === machine.changes.length ? machine : { ...machine, changes };
}

function usable(sample: Sample | null, { noData }: Timing, now: number): Sample | null {
  if (sample && sample.at > now - STALE_MS) return sample;
  if (noData === 'KEEP') return null;
  const holds = noData === 'ALARM';
  return { at: now, value: null, holds, clears: !holds };
}

const NOTHING: Machine = {
  level: 'DOWN',
  since: 0,
  clearingSince: null,
  firedAt: null,
  value: null,
  worst: null,
  changes: [],
  isFlapping: false,
};

/** The state with the level that the sample leads to. */
function move(before: Machine | null, sample: Sample, timing: Timing): Machine | null {
  const machine = before ?? NOTHING;
  if (machine.level === 'UP') return fall(machine, sample, timing);
  if (!sample.holds) return before && { ...machine, level: 'DOWN' };
  const since = machine.level === 'RISING' ? machine.since : sample.at;
  const { at, value } = sample;
  const worst = machine.level === 'RISING' ? worse(machine.worst, value, timing) : value;
  if (at - since < timing.forMs) return { ...machine, level: 'RISING', since, value, worst };
  const changes = [...machine.changes, at];
  return { ...machine, level: 'UP', since, clearingSince: null, value, worst, changes };
}

function fall(machine: Machine, sample: Sample, timing: Timing): Machine {
  const { at, value } = sample;
  const seen = { ...machine, value, worst: worse(machine.worst, value, timing) };
  if (!sample.clears) return { ...seen, clearingSince: null };
  const clearingSince = machine.clearingSince ?? at;
  if (at - clearingSince < timing.forMs) return { ...seen, clearingSince };
  return { ...seen, level: 'DOWN', clearingSince: null, changes: [...machine.changes, at] };
}

function worse(a: number | null, b: number | null, { isLowWorse }: Timing): number | null {
  if (a === null || b === null) return a ?? b;
  return isLowWorse ? Math.min(a, b) : Math.max(a, b);
}

/** What the new level means for the alarm. */
function settle(before: Machine | null, moved: Machine | null, now: number): Step {
  if (!moved) return { machine: null, effects: [] };
  const wasFiring = isFiring(before);
  if (moved.isFlapping && moved.changes.length === 0) {
    const steady = { ...moved, isFlapping: false };
    if (steady.level === 'UP') return { machine: steady, effects: ['STEADY'] };
    return { machine: emptied(steady), effects: ['STEADY', 'CLEARED'] };
  }
  const isFlapping = moved.isFlapping || moved.changes.length >= FLAPPING_CHANGES;
  const machine = { ...moved, isFlapping };
  const effects: Effect[] = [];
  if (isFlapping && !moved.isFlapping) effects.push('FLAPPING');
  if (isFiring(machine) && !wasFiring) {
    effects.unshift('FIRED');
    return { machine: { ...machine, firedAt: now }, effects };
  }
  if (!isFiring(machine) && wasFiring) effects.push('CLEARED');
  return { machine: emptied(machine), effects };
}

/** Null if the machine remembers nothing. */
function emptied(machine: Machine): Machine | null {
  return machine.level === 'DOWN' && !machine.isFlapping && machine.changes.length === 0 ? null : machine;
}

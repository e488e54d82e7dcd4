import type {
  AlarmHours,
  AlarmRuleInput,
  AlarmSource,
  ConditionOf,
  SystemPart,
} from '@gantry/contract/alarm-rules';
import { MAX_CHANNELS } from '@gantry/contract/notices';
import { MAX_ROTAS } from '@gantry/contract/rotas';
import { SYSTEM_THRESHOLDS } from '@gantry/contract/values';
import { MAX_FAULTS } from '../evidence/check.ts';
import { invalidInput } from '../platform/error.ts';
import { MAX_SPEED } from '../traffic/speed-sample.ts';
import { isLowWorse } from './observe.ts';

// Rules that a schema accepts and that would never fire, or not do what their author thinks.

/** The sources whose values have a threshold, so that an alarm may end at another one. */
const WITH_THRESHOLD: ReadonlySet<AlarmSource> = new Set(['TRAFFIC', 'EVENT_RATE', 'SYSTEM']);
const WITHOUT_SCOPE: ReadonlySet<AlarmSource> = new Set(['EVENT_RATE', 'SYSTEM', 'HOTLIST']);

/** @throws AppError `badRequest` with what would be right */
export function requireSensible(rule: AlarmRuleInput): void {
  const { condition, scope, clear, forSeconds, noData, hours } = rule;
  if (condition.source === 'TRAFFIC') requireTraffic(condition);
  if (condition.source === 'SYSTEM') requireSystem(condition);
  const named = scope.locationIds.length + scope.sensorIds.length + scope.sensorTypes.length;
  if (named > 0 && WITHOUT_SCOPE.has(condition.source))
    throw invalidInput('scope', `${condition.source} is not about sensors: leave the scope empty`);
  if (scope.sensorTypes.length > 0 && ['INCIDENT_UNATTENDED', 'HIT', 'INTAKE'].includes(condition.source))
    throw invalidInput(
      'scope.sensorTypes',
      `${condition.source} can be limited to locations and sensors only`,
    );
  if (condition.source === 'HIT' && forSeconds > 0)
    throw invalidInput('forSeconds', 'A hit happens at one moment, so it cannot last: use 0');
  if (condition.source === 'INTAKE' && condition.what === 'MISSED' && condition.count > 1)
    throw invalidInput('condition.count', 'Of missed messages, only the time is known: use 1');
  if (noData === 'ALARM' && condition.source !== 'TRAFFIC' && condition.source !== 'SYSTEM')
    throw invalidInput('noData', `Of ${condition.source}, something is always known: use KEEP`);
  if (clear) requireClear(rule, clear.threshold);
  const watched = hours ? watchedSeconds(hours) : Number.POSITIVE_INFINITY;
  if (forSeconds >= watched)
    throw invalidInput(
      'forSeconds',
      'The hours are shorter than the time for which the condition must hold, so the rule would never fire',
    );
}

/** The longest time for which a rule with these hours is watched without a break, in seconds. */
function watchedSeconds({ days, from, until }: AlarmHours): number {
  const minutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const length = minutes(until) - minutes(from);
  if (length === 0) return days.length === 7 ? Number.POSITIVE_INFINITY : longestRun(days) * 86_400;
  return (length > 0 ? length : length + 1_440) * 60;
}

function longestRun(days: readonly number[]): number {
  const isOn = (day: number): boolean => days.includes(((day - 1) % 7) + 1);
  let [run, longest] = [0, 0];
  for (let day = 1; day <= 14; day++) {
    run = isOn(day) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

function requireTraffic({ measure, comparison, threshold, of }: ConditionOf<'TRAFFIC'>): void {
  const field = 'condition.threshold';
  if (comparison === 'BELOW' && threshold === 0)
    throw invalidInput(field, 'Nothing is below 0, so the rule would never fire: give a larger threshold');
  if (of === 'LIMIT' && measure !== 'meanSpeed' && measure !== 'v85')
    throw invalidInput(
      'condition.of',
      `Only speeds are compared with the limit: use NUMBER or USUAL for ${measure}`,
    );
  if (
    of === 'NUMBER' &&
    comparison === 'ABOVE' &&
    (measure === 'meanSpeed' || measure === 'v85') &&
    threshold >= MAX_SPEED
  )
    throw invalidInput(
      field,
      `Speeds above ${MAX_SPEED} km/h are not measured, so the rule would never fire: give a smaller threshold`,
    );
  if (of !== 'NUMBER' && threshold > 10)
    throw invalidInput(field, 'A share is meant: for half of it, use 0.5');
  if (
    of === 'NUMBER' &&
    measure === 'shareOverLimit' &&
    (comparison === 'ABOVE' ? threshold >= 1 : threshold > 1)
  )
    throw invalidInput(field, 'A share is from 0 to 1: for half of the vehicles, use 0.5');
}

/** The largest values that parts of the system can have, of those with a limit. */
const MAX_VALUES: Readonly<Partial<Record<SystemPart, number>>> = {
  CHANNEL: MAX_CHANNELS,
  DUTY: MAX_ROTAS,
  SEAL: MAX_FAULTS,
};

function requireSystem({ part, threshold = SYSTEM_THRESHOLDS[part] }: ConditionOf<'SYSTEM'>): void {
  if (part === 'DISK' && (threshold <= 0 || threshold >= 100))
    throw invalidInput('condition.threshold', 'Give the free share of the disk in per cent, from 1 to 99');
  const most = MAX_VALUES[part];
  if (most !== undefined && threshold > most)
    throw invalidInput(
      'condition.threshold',
      `There are at most ${most}, so the rule would never fire: give a smaller threshold`,
    );
  if (part !== 'DISK' && threshold <= 0)
    throw invalidInput('condition.threshold', 'At 0, the rule would always fire: give a larger threshold');
}

/** Whether values can come to a threshold at which an alarm ends. */
function canEnd(condition: AlarmRuleInput['condition'], end: number): boolean {
  if (condition.source === 'EVENT_RATE') return condition.comparison === 'FEWER_THAN' || end > 0;
  if (condition.source === 'SYSTEM') return condition.part === 'DISK' ? end < 100 : end > 0;
  if (condition.source !== 'TRAFFIC') return true;
  const { measure, comparison, of } = condition;
  const isSpeed = measure === 'meanSpeed' || measure === 'v85';
  if (comparison === 'ABOVE') return end > 0 || !isSpeed;
  const most = isSpeed ? MAX_SPEED : measure === 'shareOverLimit' ? 1 : Number.POSITIVE_INFINITY;
  return of !== 'NUMBER' || end <= most;
}

function requireClear({ condition }: AlarmRuleInput, end: number): void {
  if (!WITH_THRESHOLD.has(condition.source))
    throw invalidInput(
      'clear',
      `${condition.source} has no threshold, so its alarms end when it is over: leave clear empty`,
    );
  if (!canEnd(condition, end))
    throw invalidInput(
      'clear.threshold',
      `The alarm would never end at ${end}: give a value that can be reached`,
    );
  const begin =
    condition.source === 'TRAFFIC'
      ? condition.threshold
      : condition.source === 'EVENT_RATE'
        ? condition.count
        : condition.source === 'SYSTEM'
          ? (condition.threshold ?? SYSTEM_THRESHOLDS[condition.part])
          : end;
  if (isLowWorse(condition) ? end < begin : end > begin)
    throw invalidInput(
      'clear.threshold',
      `The alarm begins at ${begin}: give ${isLowWorse(condition) ? 'that or a larger' : 'that or a smaller'} value at which it ends`,
    );
}

import type { AlarmCondition, AlarmRuleInput, AlarmSource, ConditionOf } from '@gantry/contract/alarm-rules';
import {
  eventTypes,
  hotlistTroubles,
  incidentTypes,
  plausibilityChecks,
  severities,
  systemParts,
  trafficMeasures,
} from '@gantry/contract/values';
import type { Entered } from '../../../shared/form/form.ts';

// The forms of conditions: which fields each source has, and what was entered into them.

/** The catalogue that has the names of the values of a field. */
type Names = 'severity' | 'eventTypes' | 'incidentTypes' | 'own';

/** A field of a condition; its name is its path in the condition. */
export type ConditionField = { readonly name: string } & (
  | {
      readonly kind: 'choice' | 'checks';
      readonly values: readonly string[];
      readonly names: Names;
      /** Whether nothing may be chosen. */
      readonly isOptional?: true;
    }
  | { readonly kind: 'number'; readonly isOptional?: true }
  | { readonly kind: 'text' | 'sensor' | 'hotlist' }
);

const choice = (name: string, values: readonly string[], names: Names = 'own'): ConditionField => ({
  ...{ kind: 'choice', name, values, names },
});
const optional = (name: string, values: readonly string[], names: Names): ConditionField => ({
  ...{ kind: 'choice', name, values, names, isOptional: true },
});
const checks = (name: string, values: readonly string[], names: Names = 'own'): ConditionField => ({
  ...{ kind: 'checks', name, values, names },
});
const number = (name: string): ConditionField => ({ kind: 'number', name });

export const fieldsOf: Readonly<Record<AlarmSource, readonly ConditionField[]>> = {
  SENSOR_STATUS: [choice('of', ['SENSOR', 'PLACE']), checks('statuses', ['OFFLINE', 'ERROR'])],
  SENSOR_ISSUE: [{ kind: 'text', name: 'code' }],
  SENSOR_PLAUSIBILITY: [checks('checks', plausibilityChecks)],
  TRAFFIC: [
    choice('measure', trafficMeasures),
    choice('comparison', ['BELOW', 'ABOVE']),
    number('threshold'),
    choice('of', ['NUMBER', 'LIMIT', 'USUAL']),
    number('minutes'),
    choice('per', ['LOCATION', 'SENSOR']),
  ],
  EVENT_RATE: [
    optional('filter.eventType', eventTypes, 'eventTypes'),
    { kind: 'text', name: 'filter.violationType' },
    optional('filter.minSeverity', severities, 'severity'),
    { kind: 'sensor', name: 'filter.sensorId' },
    choice('comparison', ['AT_LEAST', 'FEWER_THAN']),
    number('count'),
    number('minutes'),
  ],
  INCIDENT_UNATTENDED: [
    choice('minSeverity', severities, 'severity'),
    choice('lacking', ['ACKNOWLEDGEMENT', 'OWNER']),
    checks('types', incidentTypes, 'incidentTypes'),
  ],
  HIT: [choice('minPriority', severities, 'severity'), { kind: 'hotlist', name: 'listId' }],
  HOTLIST: [checks('states', hotlistTroubles), { kind: 'hotlist', name: 'listId' }],
  CERTIFICATE: [number('days')],
  INTAKE: [choice('what', ['REFUSED', 'MISSED', 'FOLLOW_UPS']), number('count'), number('minutes')],
  SYSTEM: [choice('part', systemParts), { kind: 'number', name: 'threshold', isOptional: true }],
};

/** The conditions of new rules. */
export const initialOf: { readonly [Source in AlarmSource]: Partial<ConditionOf<Source>> } = {
  SENSOR_STATUS: { statuses: ['OFFLINE', 'ERROR'] },
  SENSOR_ISSUE: {},
  SENSOR_PLAUSIBILITY: { checks: [...plausibilityChecks] },
  TRAFFIC: { threshold: 40, minutes: 5 },
  EVENT_RATE: { count: 10, minutes: 10 },
  INCIDENT_UNATTENDED: { minSeverity: 'CRITICAL' },
  HIT: {},
  HOTLIST: { states: [...hotlistTroubles] },
  CERTIFICATE: { days: 30 },
  INTAKE: { count: 1, minutes: 10 },
  SYSTEM: {},
};

/** Sources whose alarms may end at another threshold than that at which they begin. */
export const withThreshold: ReadonlySet<AlarmSource> = new Set(['TRAFFIC', 'EVENT_RATE', 'SYSTEM']);
/** Sources of which nothing may be known. */
export const withGaps: ReadonlySet<AlarmSource> = new Set(['TRAFFIC', 'SYSTEM']);

/** The parts of a scope that a source has. */
export function scopeOf(source: AlarmSource): { readonly isPlaces: boolean; readonly isTypes: boolean } {
  const isTypes = source.startsWith('SENSOR_') || source === 'TRAFFIC';
  return { isTypes, isPlaces: isTypes || ['INCIDENT_UNATTENDED', 'HIT', 'INTAKE'].includes(source) };
}

/** The value of a field in a condition, as the form shows it. */
export function valueIn(condition: object, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], condition);
}

function enteredAt(entered: Entered, field: ConditionField): unknown {
  const at = `condition.${field.name}`;
  if (field.kind === 'number') return entered.numberOrNull(at) ?? (field.isOptional ? undefined : Number.NaN);
  if (field.kind === 'checks') return field.values.filter((value) => entered.checked(`${at}.${value}`));
  return entered.textOrNull(at) ?? undefined;
}

/** The condition that was entered. What is left empty is not in it; a missing number is NaN. */
export function readCondition(entered: Entered, source: AlarmSource): AlarmCondition {
  const condition: Record<string, unknown> = { source };
  for (const field of fieldsOf[source]) {
    const value = enteredAt(entered, field);
    const [group = '', inner] = field.name.split('.');
    if (inner === undefined) condition[group] = value;
    else condition[group] = { ...(condition[group] as object), [inner]: value };
  }
  if (source === 'SENSOR_ISSUE') condition.code ??= null;
  if (source === 'HIT' || source === 'HOTLIST') condition.listId ??= null;
  return condition as AlarmCondition;
}

/** Whether a rule can be put in words: each number is one, and something is chosen. */
export function isComplete({ condition, forSeconds, clear }: AlarmRuleInput): boolean {
  const numbers = [forSeconds, clear?.threshold ?? 0, ...Object.values(condition)];
  const chosen = ['statuses', 'checks', 'states'].map((name) => valueIn(condition, name) ?? [true]);
  return (
    chosen.every((values) => (values as unknown[]).length > 0) &&
    numbers.every((value) => !Number.isNaN(value))
  );
}

import type {
  AlarmCondition,
  AlarmRuleInput,
  ConditionOf,
  HotlistTroubleKind,
  TrafficMeasure,
} from './alarm-rules.ts';
import { SYSTEM_THRESHOLDS } from './values.ts';

// A rule as an English sentence, for those who enter it and for those who are told of its alarms.

const MEASURES: Readonly<Record<TrafficMeasure, string>> = {
  meanSpeed: 'the mean speed',
  v85: 'V85',
  volumePerHour: 'the volume per hour',
  shareOverLimit: 'the share of vehicles over the limit',
};
const UNITS: Readonly<Record<TrafficMeasure, string>> = {
  meanSpeed: ' km/h',
  v85: ' km/h',
  volumePerHour: ' vehicles',
  shareOverLimit: '',
};

function trafficText(condition: ConditionOf<'TRAFFIC'>): string {
  const { measure, comparison, threshold, of, minutes, per } = condition;
  const limit =
    of === 'NUMBER'
      ? `${threshold}${UNITS[measure]}`
      : `${Math.round(threshold * 100)} % of ${of === 'LIMIT' ? 'the speed limit' : 'what is usual at that hour of the week'}`;
  return `${MEASURES[measure]} of ${minutes} min at a ${per.toLowerCase()} is ${comparison.toLowerCase()} ${limit}`;
}

const TROUBLES: Readonly<Record<HotlistTroubleKind, string>> = {
  STALE: 'is not renewed in time',
  REFUSED: 'has a last file that was refused',
  SOURCE: 'has a source that cannot be read',
};

function systemText({ part, threshold = SYSTEM_THRESHOLDS[part] }: ConditionOf<'SYSTEM'>): string {
  const texts: Readonly<Record<typeof part, string>> = {
    DISK: `less than ${threshold} % of the disk is free`,
    BACKUP: `the last complete backup is at least ${threshold} h old`,
    CLOCK: `the clock of the service is off by at least ${threshold} s`,
    WEBHOOKS: `at least ${threshold} deliveries of webhooks were given up`,
    CHANNEL: `at least ${threshold} channels fail`,
    DUTY: `nobody is on duty on ${threshold === 1 ? 'a rota' : `at least ${threshold} rotas`} that should be told of an alarm`,
    SEAL: `at least ${threshold} seals are broken`,
  };
  return texts[part];
}

function intakeText({ what, count, minutes }: ConditionOf<'INTAKE'>): string {
  if (what === 'FOLLOW_UPS')
    return `at least ${count} events have waited for their follow-up for ${minutes} min`;
  return what === 'REFUSED'
    ? `at least ${count} messages of a connection were refused in ${minutes} min`
    : `a message of a connection was missed in the last ${minutes} min`;
}

/** What must be so for a rule to fire, as the end of a sentence. */
function conditionText(condition: AlarmCondition): string {
  switch (condition.source) {
    case 'SENSOR_STATUS':
      return condition.of === 'SENSOR'
        ? `a sensor is ${condition.statuses.join(' or ')}`
        : 'no sensor of a place works';
    case 'SENSOR_ISSUE':
      return condition.code === null
        ? 'a sensor reports a critical issue'
        : `a sensor reports a critical issue with “${condition.code}”`;
    case 'SENSOR_PLAUSIBILITY':
      return `a sensor fails a check of plausibility (${condition.checks.join(', ')})`;
    case 'TRAFFIC':
      return trafficText(condition);
    case 'EVENT_RATE': {
      const kinds = Object.values(condition.filter).filter((each) => each !== undefined);
      const how = condition.comparison === 'AT_LEAST' ? 'at least' : 'fewer than';
      return `there are ${how} ${condition.count} events (${kinds.join(', ')}) in ${condition.minutes} min`;
    }
    case 'INCIDENT_UNATTENDED':
      return `an incident of severity ${condition.minSeverity} or more urgent ${condition.lacking === 'OWNER' ? 'has no owner' : 'is not acknowledged'}`;
    case 'HIT':
      return `a ${condition.listId === null ? 'watched vehicle' : 'vehicle of one hotlist'} of priority ${condition.minPriority} or more urgent is seen`;
    case 'HOTLIST':
      return `${condition.listId === null ? 'a' : 'one'} hotlist ${condition.states.map((state) => TROUBLES[state]).join(' or ')}`;
    case 'CERTIFICATE':
      return `a certificate expires within ${condition.days} days`;
    case 'INTAKE':
      return intakeText(condition);
    case 'SYSTEM':
      return systemText(condition);
  }
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

function daysText(days: readonly number[]): string {
  if (days.length === 7) return 'every day';
  if (days.join() === '1,2,3,4,5') return 'on workdays';
  return `on ${days.map((day) => DAYS[day - 1]).join(', ')}`;
}

/** A duration such as 90 s, 5 min or 2 h. @param seconds at least 1 */
function durationText(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** A rule as a sentence: When … for 5 min on workdays from 06:00 until 22:00, an alarm of severity HIGH fires. */
export function describeRule(
  rule: Pick<AlarmRuleInput, 'condition' | 'scope' | 'forSeconds' | 'hours' | 'severity' | 'clear'>,
): string {
  const { condition, scope, forSeconds, hours, severity, clear } = rule;
  const named = [
    ...(scope.locationIds.length > 0 ? [`${scope.locationIds.length} locations`] : []),
    ...(scope.sensorIds.length > 0 ? [`${scope.sensorIds.length} sensors`] : []),
    ...(scope.sensorTypes.length > 0 ? [`the types ${scope.sensorTypes.join(', ')}`] : []),
  ];
  const within = named.length === 0 ? '' : ` (only ${named.join(' and ')})`;
  const lasting = forSeconds === 0 ? '' : ` for ${durationText(forSeconds)}`;
  const when = hours ? ` ${daysText(hours.days)} from ${hours.from} until ${hours.until}` : '';
  const ending = clear ? ` It ends at ${clear.threshold}.` : '';
  return `When ${conditionText(condition)}${within}${lasting}${when}, an alarm of severity ${severity} fires.${ending}`;
}

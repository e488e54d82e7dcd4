import type { AlarmSource } from '@gantry/contract/alarm-rules';
import type { SilenceMatcher } from '@gantry/contract/alarms';
import type { Severity } from '@gantry/contract/events';
import { severities } from '@gantry/contract/values';

// Which firing alarms people are not told of: those that are silenced, and those with a cause of which they are told.
// Causes are a fixed table, not a setting.

/** A firing alarm, as silences and causes see it. */
export interface Suppressible {
  readonly id: string;
  readonly ruleId: string;
  readonly key: string;
  readonly source: AlarmSource;
  readonly severity: Severity;
  readonly sensorId: string | null;
  readonly locationId: string | null;
}

export interface ActiveSilence {
  readonly id: string;
  readonly matchers: readonly SilenceMatcher[];
}

export interface Suppression {
  readonly silencedBy: string | null;
  readonly cause: 'ALARM' | 'MAINTENANCE' | 'SENSOR_NOT_WORKING' | 'PLACE_NOT_WORKING' | null;
  /** The alarm that is the cause, or the works because of which a sensor is in maintenance. */
  readonly causeId: string | null;
}

/** What works. Sensors and locations that are not in it do. */
export interface NotWorking {
  /** Sensors that are not ONLINE. */
  readonly sensorIds: ReadonlySet<string>;
  /** Locations with sensors, none of which is ONLINE. */
  readonly locationIds: ReadonlySet<string>;
}

/** The works because of which sensors are in maintenance, by the id of the sensor, and of the location with no other sensors. */
export type Maintained = ReadonlyMap<string, string>;

/** The key of the alarm of a rule with too many keys, which stands for them. */
export const WHOLE_RULE = '*';

/** The key of an alarm that stands for the sensors of a location. */
export function placeKey(locationId: string): string {
  return `place:${locationId}`;
}

const OF_SENSORS: ReadonlySet<AlarmSource> = new Set([
  'SENSOR_STATUS',
  'SENSOR_ISSUE',
  'SENSOR_PLAUSIBILITY',
]);

/** What happens on the road, whatever is done to the sensor that reported it. */
const OF_ROAD: ReadonlySet<AlarmSource> = new Set(['INCIDENT_UNATTENDED', 'HIT']);

/** Why each of the alarms, all of which are firing, is not told, by its id; those that are told are not in it. */
export function suppress(
  alarms: readonly Suppressible[],
  silences: readonly ActiveSilence[],
  notWorking: NotWorking,
  maintained: Maintained = new Map(),
): ReadonlyMap<string, Suppression> {
  const byKey = new Map(alarms.map((alarm) => [`${alarm.ruleId} ${alarm.key}`, alarm]));
  const places = placesOf(alarms);
  const causeOf = (alarm: Suppressible): Omit<Suppression, 'silencedBy'> => {
    const { source, ruleId, key, sensorId, locationId } = alarm;
    const works = maintained.get(sensorId ?? (key === placeKey(`${locationId}`) ? `${locationId}` : ''));
    if (works !== undefined && !OF_ROAD.has(source)) return { cause: 'MAINTENANCE', causeId: works };
    const whole = key === WHOLE_RULE ? undefined : byKey.get(`${ruleId} ${WHOLE_RULE}`);
    const place =
      OF_SENSORS.has(source) && locationId !== null ? places.get(placeKey(locationId)) : undefined;
    const above = whole ?? (place === alarm ? undefined : place);
    if (above) return { cause: 'ALARM', causeId: above.id };
    const isAboutData = source === 'SENSOR_PLAUSIBILITY' || source === 'TRAFFIC';
    if (isAboutData && sensorId !== null && notWorking.sensorIds.has(sensorId))
      return { cause: 'SENSOR_NOT_WORKING', causeId: null };
    if (source === 'TRAFFIC' && locationId !== null && notWorking.locationIds.has(locationId))
      return { cause: 'PLACE_NOT_WORKING', causeId: null };
    return { cause: null, causeId: null };
  };
  const found = new Map<string, Suppression>();
  for (const alarm of alarms) {
    const silencedBy =
      silences.find(({ matchers }) => matchers.every((one) => matches(alarm, one)))?.id ?? null;
    const cause = causeOf(alarm);
    if (silencedBy !== null || cause.cause !== null) found.set(alarm.id, { silencedBy, ...cause });
  }
  return found;
}

/** The alarm that stands for the sensors of each location; of those of several rules, the most urgent. */
function placesOf(alarms: readonly Suppressible[]): ReadonlyMap<string, Suppressible> {
  const rankOf = ({ severity }: Suppressible): number => severities.indexOf(severity);
  return new Map(
    alarms
      .filter(
        ({ source, key, locationId }) => source === 'SENSOR_STATUS' && key === placeKey(`${locationId}`),
      )
      .sort((a, b) => rankOf(a) - rankOf(b) || (a.id < b.id ? 1 : -1))
      .map((alarm) => [alarm.key, alarm]),
  );
}

function matches(alarm: Suppressible, { label, values }: SilenceMatcher): boolean {
  const value = labelOf(alarm, label);
  return value !== null && values.some((each) => each.toLowerCase() === value.toLowerCase());
}

/** The value of a label of an alarm; null if it has none. */
export function labelOf(
  { ruleId, source, severity, locationId, sensorId }: Omit<Suppressible, 'id' | 'key'>,
  label: SilenceMatcher['label'],
): string | null {
  const labels = { RULE: ruleId, SOURCE: source, SEVERITY: severity, LOCATION: locationId, SENSOR: sensorId };
  return labels[label];
}

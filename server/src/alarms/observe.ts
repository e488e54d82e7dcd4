import type {
  AlarmCondition,
  AlarmScope,
  ConditionOf,
  HotlistTroubleKind,
  PlausibilityCheck,
  SystemPart,
} from '@gantry/contract/alarm-rules';
import { DAY_MS } from '@gantry/contract/durations';
import { SYSTEM_THRESHOLDS } from '@gantry/contract/values';
import type { Ending } from '../cases/certificates.ts';
import { rankOf } from '../events/severity.ts';
import type { HotlistTrouble } from '../hotlists/store.ts';
import type { Observation } from './evaluate.ts';
import { observeTraffic, sensorsByPlace, type TrafficFacts } from './observe-traffic.ts';
import type { ConnectionFact, HitFact, IncidentFact, SensorFact } from './sources-store.ts';
import type { Sample } from './step.ts';
import { placeKey } from './suppress.ts';

// From what the sources know to what each rule observes, without a database.

/** What the sources know. A part that is null was not asked for, or could not be read. */
export interface Facts {
  readonly sensors: readonly SensorFact[] | null;
  readonly incidents: readonly IncidentFact[] | null;
  readonly hits: readonly HitFact[] | null;
  readonly hotlists: readonly HotlistTrouble[] | null;
  /** When the certificates of sensors end. */
  readonly certificates: readonly Ending[] | null;
  /** Number of events, by rule. */
  readonly rates: ReadonlyMap<string, number> | null;
  readonly connections: readonly ConnectionFact[] | null;
  /** Minutes for which events have waited for their follow-up. */
  readonly followUps: readonly number[] | null;
  readonly system: ReadonlyMap<SystemPart, number | null> | null;
  readonly traffic: TrafficFacts | null;
  /** The sensors that fail a check, with its value; null for a value that is not a number. */
  readonly implausible: ReadonlyMap<PlausibilityCheck, ReadonlyMap<string, number | null>> | null;
}

export const NO_FACTS: Facts = {
  sensors: null,
  incidents: null,
  hits: null,
  hotlists: null,
  certificates: null,
  rates: null,
  connections: null,
  followUps: null,
  system: null,
  traffic: null,
  implausible: null,
};

/** Of a rule: what observing needs. */
export interface ObservedRule {
  readonly id: string;
  readonly condition: AlarmCondition;
  readonly scope: AlarmScope;
  readonly clear: { readonly threshold: number } | null;
}

/** What a rule observes now; null if its source could not be read. */
export function observe(rule: ObservedRule, facts: Facts, now: number): Observation[] | null {
  const { condition } = rule;
  const { sensors } = facts;
  switch (condition.source) {
    case 'SENSOR_STATUS':
      return sensors && ofStatus(condition, inScope(sensors, rule.scope), now);
    case 'SENSOR_ISSUE':
      return sensors && ofIssue(condition, inScope(sensors, rule.scope), now);
    case 'SENSOR_PLAUSIBILITY':
      return (
        sensors &&
        facts.implausible &&
        ofChecks(condition, inScope(sensors, rule.scope), facts.implausible, now)
      );
    case 'TRAFFIC':
      return (
        sensors &&
        facts.traffic &&
        observeTraffic(rule, condition, inScope(sensors, rule.scope), facts.traffic)
      );
    case 'EVENT_RATE':
      return facts.rates && ofRate(rule, condition, facts.rates.get(rule.id) ?? 0, now);
    case 'INCIDENT_UNATTENDED':
      return facts.incidents && ofIncidents(rule, condition, facts.incidents, now);
    case 'HIT':
      return facts.hits && ofHits(rule, condition, facts.hits);
    case 'INTAKE':
      return ofIntake(rule, condition, facts, now);
    case 'SYSTEM':
      return facts.system && ofSystem(rule, condition, facts.system, now);
    case 'HOTLIST':
      return facts.hotlists && ofHotlists(condition, facts.hotlists, now);
    case 'CERTIFICATE':
      return (
        sensors &&
        facts.certificates &&
        ofCertificates(condition, inScope(sensors, rule.scope), facts.certificates, now)
      );
  }
}

function holding(at: number, value: number | null = null): Sample {
  return { at, value, holds: true, clears: false };
}

function isNamed(ids: readonly string[], id: string | null): boolean {
  return ids.length === 0 || (id !== null && ids.some((each) => each.toLowerCase() === id));
}

/** The sensors that a scope names. */
export function inScope(sensors: readonly SensorFact[], scope: AlarmScope): readonly SensorFact[] {
  const { locationIds, sensorIds, sensorTypes } = scope;
  if (locationIds.length + sensorIds.length + sensorTypes.length === 0) return sensors;
  const [places, named] = [new Set(locationIds.map(lower)), new Set(sensorIds.map(lower))];
  return sensors.filter(
    ({ id, type, locationId }) =>
      (places.size === 0 || places.has(locationId ?? '')) &&
      (named.size === 0 || named.has(id)) &&
      (sensorTypes.length === 0 || sensorTypes.includes(type)),
  );
}

function lower(id: string): string {
  return id.toLowerCase();
}

/** The fields of an alarm about a sensor. */
function aboutSensor({ id, name, locationId }: SensorFact) {
  return { place: name, sensorId: id, locationId };
}

function ofStatus(
  { statuses, of }: ConditionOf<'SENSOR_STATUS'>,
  sensors: readonly SensorFact[],
  now: number,
): Observation[] {
  const isDown = ({ status }: SensorFact): boolean => (statuses as readonly string[]).includes(status);
  const single = sensors.filter(isDown).map((sensor) => ({
    key: sensor.id,
    sample: holding(now),
    about: { ...aboutSensor(sensor), text: `The sensor is ${sensor.status}` },
  }));
  const places = [...sensorsByPlace(sensors)].flatMap(([locationId, here]) => {
    if (here.some(({ status }) => status === 'ONLINE')) return [];
    const down = here.filter(isDown).length;
    if (down <= (of === 'PLACE' ? 0 : 1)) return [];
    const text = `${down} of ${here.length} sensors do not work, and none does`;
    const about = { text, place: here[0]?.locationName ?? null, locationId };
    return [{ key: placeKey(locationId), sample: holding(now, down), about }];
  });
  return of === 'PLACE' ? places : [...single, ...places];
}

function ofIssue(
  { code }: ConditionOf<'SENSOR_ISSUE'>,
  sensors: readonly SensorFact[],
  now: number,
): Observation[] {
  const wanted = code?.toLowerCase() ?? '';
  return sensors
    .filter(({ issue }) => issue?.toLowerCase().includes(wanted))
    .map((sensor) => ({
      key: sensor.id,
      sample: holding(now),
      about: { ...aboutSensor(sensor), text: 'The sensor reports a critical issue' },
    }));
}

const CHECK_TEXTS: Readonly<Record<PlausibilityCheck, string>> = {
  SILENT: 'The sensor is ONLINE, but has seen no vehicle for longer than usual',
  STUCK: 'The sensor repeats one speed or one plate',
  CHATTER: 'The sensor counts more vehicles than a lane carries',
  SPIKE: 'The sensor counts far more vehicles than usual',
  CLOCK: 'The clock of the sensor is wrong',
  READ_RATE: 'The sensor reads far fewer plates than usual',
};

function ofChecks(
  { checks }: ConditionOf<'SENSOR_PLAUSIBILITY'>,
  sensors: readonly SensorFact[],
  implausible: ReadonlyMap<PlausibilityCheck, ReadonlyMap<string, number | null>>,
  now: number,
): Observation[] {
  return checks.flatMap((check) => {
    const failing = implausible.get(check);
    return sensors
      .filter(({ id }) => failing?.has(id))
      .map((sensor) => ({
        key: `${check}:${sensor.id}`,
        sample: holding(now, failing?.get(sensor.id) ?? null),
        about: { ...aboutSensor(sensor), text: CHECK_TEXTS[check] },
      }));
  });
}

function ofRate(
  { clear }: ObservedRule,
  { comparison, count, minutes }: ConditionOf<'EVENT_RATE'>,
  n: number,
  now: number,
): Observation[] {
  const isOver = (threshold: number): boolean => (comparison === 'AT_LEAST' ? n >= threshold : n < threshold);
  const sample = { at: now, value: n, holds: isOver(count), clears: !isOver(clear?.threshold ?? count) };
  const than = comparison === 'AT_LEAST' ? `At least ${count}` : `Fewer than ${count}`;
  return [{ key: '', sample, about: { text: `${than} events in ${minutes} min`, place: null } }];
}

function ofIncidents(
  { scope }: ObservedRule,
  { minSeverity, types, lacking }: ConditionOf<'INCIDENT_UNATTENDED'>,
  incidents: readonly IncidentFact[],
  now: number,
): Observation[] {
  return incidents
    .filter(
      (incident) =>
        incident.severity >= rankOf(minSeverity) &&
        (types.length === 0 || types.includes(incident.type)) &&
        (lacking === 'OWNER' ? !incident.hasOwner : incident.isOpen) &&
        isNamed(scope.locationIds, incident.locationId) &&
        isNamed(scope.sensorIds, incident.sensorId),
    )
    .map(({ id, title, place, sensorId, locationId }) => ({
      key: id,
      sample: holding(now),
      about: {
        text: lacking === 'OWNER' ? 'Nobody has the incident' : 'Nobody acknowledged the incident',
        place: place ?? title,
        sensorId,
        locationId,
        incidentId: id,
      },
    }));
}

function ofHits(
  { scope }: ObservedRule,
  { minPriority, listId }: ConditionOf<'HIT'>,
  hits: readonly HitFact[],
): Observation[] {
  return hits
    .filter(
      ({ priority, sensorId, locationId, listId: list }) =>
        priority >= rankOf(minPriority) &&
        isOfList(listId, list) &&
        isNamed(scope.locationIds, locationId) &&
        isNamed(scope.sensorIds, sensorId),
    )
    .map(({ id, plate, place, sensorId, locationId, at }) => ({
      key: id,
      sample: holding(at),
      about: { text: 'A watched vehicle was seen', place, sensorId, locationId, alertId: id, plate },
    }));
}

/** Whether a list is meant, if one is. */
function isOfList(wanted: string | null, listId: string | null): boolean {
  return wanted === null || wanted.toLowerCase() === listId;
}

const TROUBLE_TEXTS: Readonly<Record<HotlistTroubleKind, string>> = {
  STALE: 'was not renewed in time',
  REFUSED: 'has a last file that was refused',
  SOURCE: 'has a source that cannot be read',
};

function ofHotlists(
  { states, listId }: ConditionOf<'HOTLIST'>,
  troubles: readonly HotlistTrouble[],
  now: number,
): Observation[] {
  return troubles
    .filter(({ trouble, hotlistId }) => states.includes(trouble) && isOfList(listId, hotlistId))
    .map(({ trouble, hotlistId, name, covert }) => ({
      key: `${trouble}:${hotlistId}`,
      sample: holding(now),
      // Alarms are seen by users who must not learn of covert lists.
      about: {
        text: `${covert ? 'A covert' : 'The'} hotlist ${TROUBLE_TEXTS[trouble]}`,
        place: covert ? null : name,
      },
    }));
}

function ofCertificates(
  { days }: ConditionOf<'CERTIFICATE'>,
  sensors: readonly SensorFact[],
  certificates: readonly Ending[],
  now: number,
): Observation[] {
  const byId = new Map(sensors.map((sensor) => [sensor.id, sensor]));
  return certificates.flatMap(({ sensorId, kind, validUntil }) => {
    const sensor = byId.get(sensorId);
    const left = Math.floor((validUntil - now) / DAY_MS);
    if (!sensor || validUntil > now + days * DAY_MS) return [];
    const text = `The certificate ${kind} of the sensor ${validUntil <= now ? 'has ended' : 'ends soon'}`;
    return [
      { key: `${kind}:${sensorId}`, sample: holding(now, left), about: { ...aboutSensor(sensor), text } },
    ];
  });
}

function ofIntake(
  { scope }: ObservedRule,
  { what, count, minutes }: ConditionOf<'INTAKE'>,
  { connections, followUps }: Facts,
  now: number,
): Observation[] | null {
  if (what === 'FOLLOW_UPS') {
    const late = followUps?.filter((each) => each >= minutes).length ?? 0;
    const about = { text: `Follow-ups of events are more than ${minutes} min late`, place: null };
    return followUps && (late >= count ? [{ key: '', sample: holding(now, late), about }] : []);
  }
  if (!connections) return null;
  return connections
    .filter(
      ({ sensorId, locationId }) =>
        isNamed(scope.sensorIds, sensorId) && isNamed(scope.locationIds, locationId),
    )
    .flatMap(({ id, sensorId, sensorName, locationId, refused, missedMinutes }) => {
      const isMissed = what === 'MISSED' && missedMinutes !== null && missedMinutes <= minutes;
      const n = what === 'REFUSED' ? refused.filter((each) => each <= minutes).length : Number(isMissed);
      if (n < count) return [];
      const verb = what === 'REFUSED' ? 'refused' : 'missed';
      const about = { text: `Messages of the device were ${verb}`, place: sensorName, sensorId, locationId };
      return [{ key: id, sample: holding(now, what === 'REFUSED' ? n : null), about }];
    });
}

const SYSTEM_TEXTS: Readonly<Record<SystemPart, string>> = {
  DISK: 'The disk of the data folder is nearly full',
  BACKUP: 'The last backup is too old',
  CLOCK: 'The clock of the service differs from that of the database',
  WEBHOOKS: 'Deliveries of webhooks were given up',
  CHANNEL: 'A channel does not accept messages',
  DUTY: 'Nobody is on duty who should be told of an alarm',
  HANDOVER: 'Nobody has accepted the hand-over of a shift',
  SEAL: 'A seal is broken',
};

/** Whether smaller values of a condition are worse. */
export function isLowWorse(condition: AlarmCondition): boolean {
  if (condition.source === 'TRAFFIC') return condition.comparison === 'BELOW';
  if (condition.source === 'EVENT_RATE') return condition.comparison === 'FEWER_THAN';
  return condition.source === 'SYSTEM' && condition.part === 'DISK';
}

function ofSystem(
  { clear }: ObservedRule,
  condition: ConditionOf<'SYSTEM'>,
  system: ReadonlyMap<SystemPart, number | null>,
  now: number,
): Observation[] {
  const { part, threshold = SYSTEM_THRESHOLDS[condition.part] } = condition;
  const value = system.get(part) ?? null;
  const about = { text: SYSTEM_TEXTS[part], place: null };
  if (value === null) return [{ key: '', sample: null, about }];
  const isBeyond = (limit: number): boolean => (isLowWorse(condition) ? value < limit : value >= limit);
  const clears = !isBeyond(clear?.threshold ?? threshold);
  return [{ key: '', sample: { at: now, value, holds: isBeyond(threshold), clears }, about }];
}

import type { IncidentType } from '@gantry/contract/incidents';
import { basicClassOf } from '@gantry/contract/vehicle-classes';
import { isoTime, reportedTime } from '../device-time.ts';
import { nameOnly } from '../fields.ts';
import {
  type ConnectionValues,
  type Format,
  type ObservedEvent,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf } from '../json-values.ts';
import { type Confidence, confidenceOf, kindOf, measured, numberOf, plateOf, speedOf } from '../observed.ts';
import { directionOf, laneOf, passageFieldsOf } from '../passage.ts';
import { type Counted, type IntervalFound, intervalAt, intervalBetween, periodFound } from '../periods.ts';
import { placeOfGeoJson } from '../place.ts';
import { plateFieldsOf } from '../plate-region.ts';
import { type Found, readingOfAll, refusalOfContent } from '../reading.ts';
import { violationIn, violationNamed } from '../violation-names.ts';
import { type Entity, entitiesOf } from './ngsi.ts';

/** Models of figures about the vehicles of an interval. */
const FLOWS = /Flow(?:Observed|Measurement)?$|^TrafficMeasurement|^CrowdFlow|^TrafficIntensity/;

/** The model of the passage of one vehicle, in spite of its name. */
const ANPR = /^AnprFlowObserved$/i;

/** The attributes with the time of an observation, in the order of preference. Some hold an interval `a/b`. */
const TIMES = [
  'observationDateTime',
  'accidentDate',
  'dateObserved',
  'dateObservedFrom',
  'dateIssued',
  'timestamp',
  'TimeInstant',
];

/** The units of speed in km/h, by their codes (UN/CEFACT). */
const KM_PER_HOUR: ReadonlyMap<string, number> = new Map([
  ['KMH', 1],
  ['KNT', 1.852],
  ['MTS', 3.6],
  ['HM', 1.609344],
]);

/** The code of the unit percent (UN/CEFACT). */
const PERCENT = 'P1';

/** The type of incident for each `subCategory` of the model Alert. */
const ALERTS: ReadonlyMap<string, IncidentType> = new Map([
  ['caraccident', 'COLLISION'],
  ['carstopped', 'BREAKDOWN'],
  ['carwrongdirection', 'WRONG_WAY_DRIVER'],
  ['trafficjam', 'CONGESTION'],
  ['roadworks', 'ROADWORKS'],
  ['roadclosed', 'OBSTRUCTION'],
  ['hazardonroad', 'OBSTRUCTION'],
  ['injuredbiker', 'COLLISION'],
]);
const SEVERITIES: ReadonlyMap<string, NonNullable<ObservedEvent['severity']>> = new Map([
  ['informational', 'LOW'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
  ['critical', 'CRITICAL'],
]);

/**
 * Entities of a context broker, in notifications of NGSI-v2 and NGSI-LD or bare, in the representations normalized, concise
 * and key-values.
 * The models are those of smart-data-models.org. Tested only with their official examples; notifications follow the
 * documentation of Orion.
 */
export const fiware: Format = {
  name: 'fiware',
  label: 'FIWARE (NGSI-v2, NGSI-LD)',
  transports: ['http'],
  authentication: ['header', 'basic'],
  // Orion counts a failed notification and does not send it again.
  repeats: false,
  refusalOf: refusalOfContent,
  read({ parts, receivedAt }, context) {
    const unreadable = parts.find(({ content }) => content.kind === 'unreadable')?.content;
    if (unreadable?.kind === 'unreadable') return without('unreadable', unreadable.reason);
    const bodies = parts.flatMap(({ content }) => (content.kind === 'json' ? [content.value] : []));
    if (bodies.length === 0) return without('unreadable', 'The body is not JSON');
    return readingOfAll(
      bodies.flatMap(entitiesOf).map((entity) => foundIn(entity, receivedAt, context)),
      'The message has no entity',
    );
  },
  instructions: ({ url, token }: ConnectionValues) => [
    'Create a subscription in the context broker: POST /v2/subscriptions (Orion), or POST /ngsi-ld/v1/subscriptions (Orion-LD, Scorpio, Stellio).',
    'Subject: the entity types TrafficViolation, AnprFlowObserved, RoadAccident, Alert, or TrafficFlowObserved, and as condition the attribute with the time of the observation.',
    `NGSI-v2: "notification": {"http": {"url": "${url}"}, "attrsFormat": "normalized"}. keyValues is accepted too.`,
    `NGSI-LD: "notification": {"endpoint": {"uri": "${url}", "accept": "application/json"}}.`,
    `To keep the token out of the address, use "httpCustom" with the header "Authorization": "Bearer ${token}" instead, or "receiverInfo" in NGSI-LD.`,
    'Flows (TrafficFlowObserved, ItemFlowObserved) are counts of their interval, dateObservedFrom to dateObservedTo, and are not events. If an entity names only one time, set the option periodSeconds.',
  ],
};

function foundIn(entity: Entity, receivedAt: number, context: ReadingContext): Found {
  const { type, values } = entity;
  const accident = /^(?:Road|Traffic)Accident/.test(type);
  const incidentType = accident ? 'COLLISION' : incidentTypeOf(entity);
  if (incidentType) return { report: incidentOf(entity, incidentType, context) };
  const seen = objectOf(values.observedVehicle);
  const plate = plateOf(
    first(values, 'licensePlate', 'licensePlateNumber', 'vehiclePlateIdentifier', 'plate', 'plateNumber') ??
      nameIn(seen.licensePlate, 'identifier'),
  );
  if (/^TrafficViolation/.test(type) || ANPR.test(type) || plate !== null) {
    return { report: vehicleOf(entity, plate, context) };
  }
  // A flow of a single vehicle is not an event either: such events would show traffic in quiet times, and none in busy ones.
  if (FLOWS.test(type)) return flowOf(entity, receivedAt, context);
  return { is: 'nothing', note: `Entities of the type ${type.slice(0, 60) || '(none)'} are not events` };
}

/** The flow of an interval. The examples of the models show a share of the time as `occupancy`, from 0 to 1. */
function flowOf(entity: Entity, receivedAt: number, context: ReadingContext): Found {
  const { type, values, units } = entity;
  const { intensity, occupancy } = values;
  if (!('intensity' in values)) {
    return { is: 'aggregate', note: `${type.slice(0, 60)} has no intensity, and is not an event` };
  }
  // Brokers send null, and detectors a negative number, for what was not measured.
  const number = numberOf(intensity);
  const volume = number === null || number < 0 ? null : number;
  const word = textOf(first(values, 'vehicleType', 'itemType', 'vehicleSubType'));
  const mean = speedIn(entity, ['averageVehicleSpeed', 'averageSpeed'], context);
  const headway = measured(values.averageHeadwayTime);
  const share = numberOf(occupancy);
  const isPercent = units.occupancy === PERCENT || (share ?? 0) > 1;
  const counted: Counted = {
    direction: directionOf(values.laneDirection) ?? undefined,
    lane: laneOfFlow(values),
    ...(word === null || volume === null
      ? { volume }
      : { byClass: { scheme: 'BASIC', counts: { [basicClassOf(word)]: volume } } }),
    ...(mean !== null && volume !== 0 && { speed: { mean } }),
    ...(share !== null && share >= 0 && { occupancy: isPercent ? share : Math.round(share * 1e6) / 1e4 }),
    ...(headway !== null && { meanHeadway: headway }),
  };
  return periodFound(originOf(entity, context).device, intervalOf(entity, receivedAt, context), counted);
}

/** Lanes against the usual direction are numbered again, so they have names. */
function laneOfFlow({ laneId, laneDirection }: Entity['values']): Counted['lane'] {
  const id = textOf(laneId);
  return (
    laneOf(textOf(laneDirection)?.toLowerCase() === 'backward' ? `${id ?? ''} backward` : id) ?? undefined
  );
}

function intervalOf(
  { values, observedAt }: Entity,
  receivedAt: number,
  { zone, options }: ReadingContext,
): IntervalFound {
  const time = (value: unknown) => isoTime(textOf(value) ?? '', zone);
  const given = [values.dateObserved, values.observationDateTime].map(textOf).find((each) => each !== null);
  const [from, until] = given?.split('/') ?? [];
  const start = time(values.dateObservedFrom) ?? time(from);
  const end = time(values.dateObservedTo) ?? time(until);
  if (end !== null) return intervalBetween(start, end);
  return intervalAt(start ?? time(values.timestamp ?? observedAt), null, null, receivedAt, options);
}

function incidentTypeOf({ type, values }: Entity): IncidentType | null {
  if (/^Road-?Works?$/i.test(type)) return 'ROADWORKS';
  if (type !== 'Alert') return null;
  const kind = textOf(values.subCategory)?.toLowerCase() ?? '';
  return ALERTS.get(kind) ?? (textOf(values.category)?.toLowerCase() === 'traffic' ? 'OTHER' : null);
}

function vehicleOf(entity: Entity, plate: string | null, context: ReadingContext): Report {
  const { type, values } = entity;
  const isViolation = /^TrafficViolation/.test(type);
  const code = textOf(first(values, 'violationType', 'titleCode', 'violationCode', 'offenceCode'));
  const seen = objectOf(values.observedVehicle);
  const speed =
    speedIn(entity, ['speed', 'vehicleSpeed', 'averageVehicleSpeed', 'averageSpeed'], context) ??
    speedOf(seen.speed, context.options.speedUnit);
  const speedLimit = speedIn(entity, ['speedLimit', 'maximumAllowedSpeed'], context);
  // A number is the sender's code of the violation, and remains in the metadata.
  const name = violationIn(nameOnly(code));
  const violation = isViolation ? (name ? violationNamed(name) : 'TrafficViolation') : null;
  const origin = originOf(entity, context);
  const described = descriptionOf(seen);
  const vehicleType = textOf(first(values, 'vehicleType', 'vehicleSubType', 'itemType'));
  return {
    ...origin,
    // The entity stands for a place, which several vehicles may pass in the same second.
    ...(origin.key && plate && ANPR.test(type) && { key: `${plate}@${origin.key}`.slice(0, 200) }),
    event: {
      ...kindOf({ violation, plate, speed, speedLimit }),
      ...passageFieldsOf({
        direction: directionOf(values.laneDirection) === null ? seen.direction : values.laneDirection,
        lane: values.laneId,
        vehicleType,
      }),
      ...(plate !== null && plateFieldsOf(described, described)),
      licensePlateNumber: plate,
      vehicleSpeed: speed,
      vehicleType,
      ...commonOf(entity, {
        speedLimit,
        reportId: textOf(values.reportId),
        titleCode: textOf(values.titleCode),
        violationCode: name === null ? code : null,
        ...described,
      }),
    },
  };
}

/** What an `observedVehicle` says of a vehicle; each property is a text, or an object with a confidence. */
function descriptionOf(
  seen: Readonly<Record<string, unknown>>,
): Record<string, unknown> & Partial<Confidence> {
  const found = {
    make: nameIn(seen.brand, 'name'),
    model: nameIn(seen.model, 'name'),
    color: nameIn(seen.color, 'name'),
    country: nameIn(seen.country, 'code'),
    direction: textOf(seen.direction),
    ...confidenceOf(objectOf(seen.licensePlate).confidence, 1),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
}

function nameIn(value: unknown, key: string): string | null {
  return textOf(value) ?? textOf(objectOf(value)[key]);
}

function incidentOf(entity: Entity, incidentType: IncidentType, context: ReadingContext): Report {
  const { values } = entity;
  const rank = textOf(values.severity)?.toLowerCase() ?? '';
  const isFatal = has(
    values,
    'numPassengersDead',
    'numPedestrianDead',
    'totalDeadPeopleWithin24Hours',
    'totalDeadPeopleWithin30Days',
  );
  const isInjured = has(values, 'totalInjured', 'numPassengersInjured', 'numPedestrianInjured');
  const severity = SEVERITIES.get(rank) ?? (isFatal ? 'CRITICAL' : isInjured ? 'HIGH' : 'MEDIUM');
  return {
    ...originOf(entity, context),
    event: {
      ...kindOf({ isIncident: true }),
      severity,
      ...commonOf(entity, { incidentType, status: textOf(values.status) }),
    },
  };
}

function originOf(entity: Entity, { zone }: ReadingContext): Omit<Report, 'event'> {
  const { id, values } = entity;
  const text = first(values, ...TIMES) ?? entity.observedAt;
  const start = typeof text === 'string' ? text.split('/')[0] : text;
  return {
    // The key does not contain the subscription, because several may notify of the same entity.
    key: id === null || textOf(start) === null ? null : `${id}@${textOf(start)}`.slice(0, 200),
    device: namesOf(
      values.equipmentId,
      values.refDevice,
      ...arrayOf(values.refDevice),
      values.observedBy,
      values.name,
      id,
    ),
    ...reportedTime(zone, ['dateObserved', start]),
  };
}

function commonOf(entity: Entity, more: Readonly<Record<string, unknown>>) {
  const { id, type, values, units, raw } = entity;
  const address = objectOf(values.address);
  const street = [address.streetAddress, address.addressLocality].map(textOf).filter(Boolean).join(', ');
  const references = arrayOf(values.refImages).map((image) => textOf(image) ?? objectOf(image).url);
  const images = namesOf(
    ...arrayOf(values.mediaURL),
    values.mediaURL,
    values.imageSnapshot,
    values.image,
    ...references,
  );
  return {
    description: textOf(values.description),
    location: placeOfGeoJson(values.location, street || null),
    images: images.filter((each) => /^(?:https?:\/\/|\/images\/)/.test(each)),
    tags: ['FIWARE'],
    metadata: {
      vendor: 'fiware',
      entity: id,
      entityType: type,
      device: textOf(values.equipmentId ?? values.refDevice ?? values.observedBy),
      direction: textOf(values.laneDirection),
      lane: textOf(values.laneId),
      ...confidenceOf(values.confidence, units.confidence === PERCENT ? 100 : 1),
      ...more,
      raw,
    },
  };
}

function speedIn(entity: Entity, names: readonly string[], { options }: ReadingContext): number | null {
  const name = names.find((each) => numberOf(entity.values[each]) !== null);
  if (name === undefined) return null;
  const factor = KM_PER_HOUR.get(entity.units[name] ?? '');
  const value = entity.values[name];
  return factor === undefined ? speedOf(value, options.speedUnit) : speedOf((numberOf(value) ?? 0) * factor);
}

function first(values: Readonly<Record<string, unknown>>, ...names: readonly string[]): unknown {
  return names
    .map((name) => values[name])
    .find((value) => value !== undefined && value !== null && value !== '');
}

/** Whether one of the numbers is greater than 0. The official example has `true` in place of numbers. */
function has(values: Readonly<Record<string, unknown>>, ...names: readonly string[]): boolean {
  return names.some((name) => values[name] === true || (numberOf(values[name]) ?? 0) > 0);
}

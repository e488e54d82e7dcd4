import { isoTime, reportedTime } from '../device-time.ts';
import { type ConnectionValues, type Format, type ReadingContext, type Report, without } from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf, valueAt } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { kindOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { directionOf, laneOf, passageFieldsOf } from '../passage.ts';
import { intervalAt, intervalBetween, periodFound } from '../periods.ts';
import { placeOfGeoJson } from '../place.ts';
import { type Found, readingOfAll, refusalOfContent } from '../reading.ts';

type Json = Readonly<Record<string, unknown>>;

/** Properties of several vehicles, by the names that operators give them. */
const OF_MANY =
  /average|\bavg|mean|median|percentile|\bv\d\d\b|flow|count|volume|intensity|occupancy|density/i;

/** Properties that are numbers of road users, by the names that operators give them. */
const COUNTS =
  /\bcounts?\b|counted|number of|volume|flow|intensity|anzahl|verkehrsst(?:ä|ae)rke|zählung|aantal|nombre|conteo/i;
/** Properties that are not numbers of road users although their names say so, such as the share of heavy vehicles. */
const NOT_COUNTS =
  /speed|velocity|geschwindigkeit|vitesse|occupancy|belegung|share|percent|anteil|available|verfügbar|parking/i;
/** Parts of all motor vehicles, which another datastream counts. */
const PARTS = /schwerverkehr|\bSV\b|heavy|\btrucks?\b|\blkw\b|\bpkw\b/i;
/** The classes of the scheme BASIC of properties that are not about motor vehicles. */
const CLASSES = [
  ['BICYCLE', /fahrr(?:ad|äder)|radverkehr|bicycle|cyclist|\bbikes?\b|vélo|fiets/i],
  ['PEDESTRIAN', /fu(?:ß|ss)g|pedestrian|piéton|people/i],
] as const;
const PER_HOUR = /\/ ?h(?:r|our)?\b|per hour|pro stunde|\/stunde/i;

/**
 * Observations of the OGC SensorThings API 1.0 and 1.1: alone, in an array or page (`value`), in a data array, or over
 * MQTT. An observation is a vehicle only when that is certain: it has a plate or a speed, or its datastream says that its
 * result is a speed, and it is not about several vehicles. A count of an interval is one if its datastream says so. Tested only
 * with the tutorial's page of counts, and with datastreams as cities name them.
 */
export const sensorthings: Format = {
  name: 'sensorthings',
  label: 'OGC SensorThings API',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'header', 'mqtt'],
  repeats: false,
  refusalOf: refusalOfContent,
  read(message, context) {
    const unreadable = message.parts.find(({ content }) => content.kind === 'unreadable')?.content;
    if (unreadable?.kind === 'unreadable') return without('unreadable', unreadable.reason);
    const bodies = message.parts.flatMap(({ content }) => (content.kind === 'json' ? [content.value] : []));
    if (bodies.length === 0) return without('unreadable', 'The body is not JSON');
    return readingOfAll(
      bodies.flatMap(observationsOf).map((each) => foundIn(each, message, context)),
      'The message has no observation',
    );
  },
  instructions: ({ url, token, username, password }: ConnectionValues) => [
    `Send new Observations of the SensorThings server with POST to ${url}, for example from a rule or a subscription of the server (FROST, SensorUp).`,
    'Include the datastream ($expand=Datastream($expand=ObservedProperty,Thing)): it says what a result is. Observations without it are figures, not vehicles.',
    'Counts are read if their datastream says so ("Number of motor vehicles", "Anzahl Kfz") and phenomenonTime is an interval; otherwise set the option periodSeconds. Assign each datastream to one sensor: those of a station count the same vehicles in intervals of several lengths.',
    'If all results are speeds of single vehicles, set the option speedUnit of the connection: then numbers without a datastream are speeds.',
    `Over HTTP, the user name ${username} with the password ${password} (Basic) or the header "Authorization: Bearer ${token}" may be used instead of the token in the address.`,
    'Over MQTT, set the option topics to the topics of the server, such as v1.1/Datastreams(42)/Observations for each datastream: there are no usual ones.',
  ],
};

function observationsOf(body: unknown): Json[] {
  if (Array.isArray(body)) return body.flatMap(observationsOf);
  const given = objectOf(body);
  const { value, dataArray, components, Observations } = given;
  if (Array.isArray(dataArray)) {
    const names = arrayOf(components).map(textOf);
    const { dataArray: _, components: __, ...shared } = given;
    return dataArray.map((row) => ({
      ...shared,
      ...Object.fromEntries(names.map((name, at) => [name ?? at, arrayOf(row)[at]])),
    }));
  }
  if (Array.isArray(value)) return value.flatMap(observationsOf);
  if (Array.isArray(Observations)) {
    return Observations.flatMap(observationsOf).map((each) => ({ Datastream: given, ...each }));
  }
  return 'result' in given ? [given] : [];
}

function foundIn(observation: Json, message: DeviceMessage, context: ReadingContext): Found {
  const { result, parameters } = observation;
  const stream = objectOf(observation.Datastream ?? observation.MultiDatastream);
  const property = objectOf(stream.ObservedProperty);
  const names = [property.name, property.definition, stream.name, stream.description].map(textOf).join(' ');
  const seen = { ...objectOf(parameters), ...objectOf(result) };
  const plate = plateOf(seen.licensePlate ?? seen.licensePlateNumber ?? seen.plate);
  const isOfMany = OF_MANY.test(names) || textOf(observation.phenomenonTime)?.includes('/');
  const unit = unitOf(objectOf(stream.unitOfMeasurement)) ?? context.options.speedUnit ?? null;
  const isSpeed = /speed|velocity|geschwindigkeit|vitesse|velocidad/i.test(names) || names.trim() === '';
  const single = seen.speed ?? seen.vehicleSpeed ?? (isSpeed && unit !== null ? result : null);
  const speed = speedOf(single, unit ?? context.options.speedUnit);
  if (plate === null && (speed === null || isOfMany || numberOf(single) === null)) {
    if (COUNTS.test(names) && !NOT_COUNTS.test(names)) {
      return countOf(observation, { stream, names, seen }, message, context);
    }
    return {
      is: 'aggregate',
      note: 'An observation that is neither the speed or plate of a single vehicle nor a count is not an event',
    };
  }
  return { report: reportOf(observation, stream, { ...seen, plate, speed }, message, context) };
}

/** A number of road users, or a flow in vehicles per hour. */
function countOf(
  observation: Json,
  { stream, names, seen }: { readonly stream: Json; readonly names: string; readonly seen: Json },
  message: DeviceMessage,
  { zone, options }: ReadingContext,
): Found {
  if (PARTS.test(names)) {
    return { is: 'aggregate', note: 'Counts of a part of the motor vehicles are not read' };
  }
  const [from, until] = textOf(observation.phenomenonTime)?.split('/') ?? [];
  const time = (text: string | undefined) => isoTime(text ?? '', zone);
  const interval =
    until === undefined
      ? intervalAt(time(from), null, null, message.receivedAt, options)
      : intervalBetween(time(from), time(until));
  const number = numberOf(observation.result);
  const { symbol, name, definition } = objectOf(stream.unitOfMeasurement);
  const isRate = PER_HOUR.test([symbol, name, definition].map(textOf).join(' '));
  const hours = isRate && 'seconds' in interval ? interval.seconds / 3_600 : 1;
  const volume = number === null || number < 0 ? null : Math.round(number * hours * 1_000) / 1_000;
  const [code] = CLASSES.find(([, pattern]) => pattern.test(names)) ?? [];
  const thing = objectOf(stream.Thing);
  // Datastreams of a station count the same vehicles in intervals of several lengths, so they come first.
  const device = namesOf(streamOf(observation, stream, message.topic), stream.name, thing.name);
  return periodFound(device, interval, {
    direction: directionOf(seen.direction) ?? undefined,
    lane: laneOf(seen.lane) ?? undefined,
    ...(code === undefined || volume === null
      ? { volume }
      : { byClass: { scheme: 'BASIC', counts: { [code]: volume } } }),
  });
}

/** The identification of the datastream, which may stand in the topic or the link. */
function streamOf(observation: Json, stream: Json, topic: string | null): string | null {
  const link = textOf(observation['Datastream@iot.navigationLink']);
  return textOf(stream['@iot.id']) ?? /Datastreams\(([^()]{1,200})\)/.exec(topic ?? link ?? '')?.[1] ?? null;
}

function reportOf(
  observation: Json,
  stream: Json,
  seen: Json & { readonly plate: string | null; readonly speed: number | null },
  { topic }: DeviceMessage,
  { zone }: ReadingContext,
): Report {
  const { phenomenonTime, resultTime } = observation;
  const time = textOf(phenomenonTime)?.split('/')[0] ?? resultTime;
  const thing = objectOf(stream.Thing);
  const streamName = streamOf(observation, stream, topic);
  const vehicleType = textOf(seen.vehicleType ?? seen.vehicleClass ?? seen.class);
  const id = textOf(observation['@iot.id']);
  const place =
    placeOfGeoJson(valueAt(observation, 'FeatureOfInterest.feature')) ??
    placeOfGeoJson(valueAt(thing, 'Locations.0.location'));
  return {
    key:
      id !== null ? `Observations(${id})` : time ? `Datastreams(${streamName ?? ''})@${textOf(time)}` : null,
    device: namesOf(thing.name, stream.name, streamName),
    ...reportedTime(zone, ['phenomenonTime', time]),
    event: {
      ...kindOf({ plate: seen.plate, speed: seen.speed }),
      ...passageFieldsOf({
        direction: seen.direction,
        lane: seen.lane,
        vehicleType,
        length: seen.length ?? seen.vehicleLength,
        headway: seen.headway,
        gap: seen.gap,
      }),
      licensePlateNumber: seen.plate,
      vehicleSpeed: seen.speed,
      vehicleType,
      location: place,
      tags: ['SensorThings'],
      metadata: {
        vendor: 'sensorthings',
        device: textOf(thing.name ?? stream.name) ?? streamName,
        datastream: streamName,
        direction: textOf(seen.direction),
        lane: textOf(seen.lane),
        raw: observation,
      },
    },
  };
}

function unitOf({ symbol, name, definition }: Json): 'km/h' | 'mph' | 'm/s' | null {
  const text = [symbol, name, definition].map(textOf).join(' ').toLowerCase();
  if (/km\/h|kmh|kph|kilomet(?:er|re)s? per hour/.test(text)) return 'km/h';
  if (/mph|mi\/h|miles? per hour/.test(text)) return 'mph';
  return /m\/s|met(?:er|re)s? per second/.test(text) ? 'm/s' : null;
}

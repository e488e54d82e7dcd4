import { type EventType, eventType, passageFieldNames, reportedEvent } from '@gantry/contract/events';
import { reportedTime } from '../device-time.ts';
import {
  type ConnectionValues,
  type Format,
  type ObservedEvent,
  type Reading,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { arrayOf, fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { Content, DeviceMessage } from '../message.ts';
import { confidenceOf, kindOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { directionOf, passageFieldsOf } from '../passage.ts';
import { placeAt, placeOfGeoJson } from '../place.ts';
import { plateFieldsOf, plateRegionOf } from '../plate-region.ts';
import { refusalOfContent } from '../reading.ts';
import { asJson } from '../xml.ts';

/** Maximum number of events in one result. */
const MAX_EVENTS = 1_000;

/** The values of `confidenceScale`. */
const CONFIDENCE_SCALES = [1, 100, 255] as const;

/** Types in a result that say what the message is, instead of an event. */
const INSTEAD = { HEARTBEAT: 'heartbeat', STATUS: 'status', AGGREGATE: 'aggregate' } as const;

/**
 * Any JSON, XML or form body, read by a JSONata expression in `options.mapping`. Its input is
 * `{body, fields, pictures, path, topic, headers, receivedAt}`: the first part of the body (XML as `{root: {...}}`), all
 * named parts, the addresses of the images, and where, with which HTTP headers (their names in lower case, without
 * secrets) and when the message arrived (ISO 8601). Its result is one event or an array of events, with at least one of
 * the keys plate, speed (in `options.speedUnit`), speedLimit, type, violation,
 * description, vehicleType, direction, lane and the other fields of a passage (as `events.ingest`), severity, location {latitude, longitude, address} or GeoJSON, images, tags, confidence (on the scale of
 * `confidenceScale`, which is 1, 100 or 255; without it, a confidence of at most 1 is out of 1, and others out of 100),
 * metadata, time (any common form, or an epoch of s, ms, µs or ns), key (unique within the connection), and device (a name or
 * several, for `options.sensors`). A note names keys that are not known or have no value, and values that cannot be used.
 * The types HEARTBEAT, STATUS and AGGREGATE mark a message that is not an event.
 */
export const mapped: Format = {
  name: 'mapped',
  label: 'Any JSON, XML or form (mapping)',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'digest', 'header', 'mqtt'],
  repeats: false,
  refusalOf: refusalOfContent,
  // The meaning of the body is not known, so only an equal message shortly afterwards counts as a repetition.
  repetitionMs: 10_000,
  readsHeaders: true,
  async read(message, context) {
    const { options, map } = context;
    if (!options.mapping) return without('unreadable', 'The connection has no mapping: set options.mapping');
    if (!map) return without('unreadable', 'Mappings are not evaluated here');
    const unreadable = message.parts.find(({ content }) => content.kind === 'unreadable')?.content;
    const input = inputOf(message);
    if (unreadable?.kind === 'unreadable' && input.body === null)
      return without('unreadable', unreadable.reason);
    const outcome = await map(options.mapping, input, context.zone);
    return 'refusal' in outcome
      ? without('unreadable', outcome.refusal)
      : readingOf(outcome.value, outcome.flaws ?? [], input, context);
  },
  instructions: ({ url, token, username, password }: ConnectionValues) => [
    `Let the device send its messages with POST to ${url}. JSON, XML, forms and multipart bodies with images are accepted.`,
    `If it cannot have a long address, use the user name ${username} and the password ${password} (Basic or Digest), or the header "Authorization: Bearer ${token}".`,
    'Trigger one message. It is kept although it does not become an event yet, and is shown with its body in the messages of the connection.',
    'Write a mapping in JSONata: its input is {body, fields, pictures, path, topic, headers, receivedAt}, its result one event or an array of events with the keys plate, speed, speedLimit, type, violation, description, vehicleType, severity, location, images, tags, confidence, time, key, device, metadata, and the fields direction, lane, vehicleClass, vehicleLength, headway, gap, occupancyMs, movement, passageId, plateRegion and plateConfidence of events.ingest.',
    'Integers of more than 15 digits that a number cannot hold are texts in body. Speeds may name their unit ("54 km/h", "20 mph", "15 m/s", "30 kn"), and locations be {lat, lng} or GeoJSON. $time(text, pattern, zone) reads other times, for example $time(body.t, "dd/MM/yyyy HH:mm", "Europe/Berlin"): letters are tokens of Luxon, and without a zone that of the connection is used.',
    'For example: {"plate": body.data.plate, "speed": body.data.kmh, "time": body.timestamp, "key": body.id, "device": body.camera.name}',
    'Try the mapping on the last message (connections.tryReading) before you save it as options.mapping: it names keys that are not known, values that cannot be used and paths without a value. A key that stays the same when the device resends a message prevents duplicate events.',
    'Replay the messages that arrived before the mapping was saved.',
  ],
};

interface Input {
  readonly body: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly pictures: readonly string[];
  readonly path: string;
  readonly topic: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: string;
}

function inputOf({ parts, path, topic, headers = {}, receivedAt }: DeviceMessage): Input {
  const fields: Record<string, unknown> = Object.create(null);
  for (const { name, content } of parts) if (name !== null) fields[name] = contentOf(content);
  const body = parts.find(({ content }) => content.kind !== 'image' && content.kind !== 'unreadable');
  return {
    body: body ? contentOf(body.content) : null,
    fields,
    pictures: parts.flatMap(({ content }) => (content.kind === 'image' ? [content.address] : [])),
    path,
    topic,
    headers,
    receivedAt: new Date(receivedAt).toISOString(),
  };
}

function contentOf(content: Content): unknown {
  if (content.kind === 'json') return content.value;
  if (content.kind === 'xml') return { [content.root.name]: asJson(content.root) };
  if (content.kind === 'text') return content.text;
  return content.kind === 'image' ? content.address : null;
}

function readingOf(
  result: unknown,
  unread: readonly string[],
  input: Input,
  context: ReadingContext,
): Reading {
  const items = Array.isArray(result) ? result : result === undefined || result === null ? [] : [result];
  if (items.length === 0)
    return without('nothing', noteOf(['The mapping makes no event of this message', ...unread]));
  if (items.length > MAX_EVENTS)
    return without('unreadable', `The mapping makes more than ${MAX_EVENTS} events`);
  const reports: Report[] = [];
  const flaws: string[] = [];
  const warnings = [...unread];
  const instead: Reading[] = [];
  for (const [at, item] of items.entries()) {
    const is = INSTEAD[(textOf(objectOf(item).type) ?? '').toUpperCase() as keyof typeof INSTEAD];
    if (is) instead.push(without(is, `According to the mapping: ${is}`, devicesOf(objectOf(item).device)));
    else {
      const where = items.length > 1 ? `event ${at}: ` : '';
      const report = reportOf(item, { input, unread, context });
      if (typeof report === 'string') flaws.push(`${where}${report}`);
      else {
        reports.push(report);
        warnings.push(...warningsOf(objectOf(item), report).map((warning) => `${where}${warning}`));
      }
    }
  }
  const refusal =
    flaws.length === 0
      ? []
      : [`The result of the mapping is invalid: ${flaws.slice(0, MAX_NOTED).join('; ')}`];
  const note = noteOf([...refusal, ...warnings]);
  if (reports.length > 0) return { reports, is: 'reports', note: note || null };
  return flaws.length === 0 && instead[0] ? instead[0] : without('unreadable', note);
}

/** Maximum number of sentences of each kind in a note. */
const MAX_NOTED = 10;

function noteOf(sentences: readonly string[]): string {
  return [...new Set(sentences)].slice(0, MAX_NOTED + 1).join('; ');
}

/** The keys of an event. */
const KEYS = new Set([
  ...passageFieldNames,
  ...'plate licensePlateNumber speed vehicleSpeed speedLimit type eventType violation violationType description vehicleType severity location images tags confidence confidenceScale metadata time timestamp key idempotencyKey device'.split(
    ' ',
  ),
]);
const SHOWN_KEYS =
  'plate, speed, speedLimit, type, violation, description, vehicleType, severity, location, images, tags, confidence, confidenceScale, metadata, time, key, device, direction, lane, vehicleClass, vehicleLength, headway, gap, occupancyMs, movement, passageId, plateRegion and plateConfidence';
const severities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

/** What of an object of the result was not used, as sentences. */
function warningsOf(given: Readonly<Record<string, unknown>>, { event }: Report): string[] {
  const warnings: string[] = [];
  const say = (key: string, hint: string): void => {
    const value = JSON.stringify(given[key]) ?? '';
    warnings.push(`${key} ${value.length > 60 ? `${value.slice(0, 59).toWellFormed()}…` : value} ${hint}`);
  };
  const isGiven = (key: string): boolean =>
    given[key] !== undefined && given[key] !== null && given[key] !== '';
  const unknown = Object.keys(given).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) {
    const names = unknown.slice(0, MAX_NOTED).map((name) => name.slice(0, 50).toWellFormed());
    warnings.push(`these keys are not known and were ignored: ${names.join(', ')} (known are ${SHOWN_KEYS})`);
  }
  for (const key of ['speed', 'vehicleSpeed', 'speedLimit']) {
    const isNumber = numberOf(given[key]) !== null || /^[-0]/.test(textOf(given[key]) ?? '');
    if (isGiven(key) && !isNumber && speedOf(given[key]) === null) {
      say(key, 'is not a speed: use a number, or a text such as "54 km/h", "20 mph", "15 m/s" or "30 kn"');
    }
  }
  if (isGiven('severity') && !event.severity) say('severity', `was left out: use ${severities.join(', ')}`);
  if (isGiven('location') && !event.location) {
    say('location', 'was left out: use {"latitude": 52.5, "longitude": 13.4} in degrees, or GeoJSON');
  }
  if (isGiven('confidence') && event.metadata?.confidence === undefined) {
    say('confidence', 'was left out: use a number from 0 to confidenceScale (1, 100 or 255)');
  }
  for (const key of [
    'plate',
    'licensePlateNumber',
    'violation',
    'violationType',
    'description',
    'vehicleType',
  ]) {
    if (isGiven(key) && textOf(given[key]) === null) say(key, 'was left out: use a text');
  }
  for (const key of passageFieldNames) {
    const { error } = passageFieldIn(given, key);
    if (error) say(key, `was left out: ${error.issues[0]?.message}`);
  }
  for (const key of ['key', 'idempotencyKey']) {
    if (isGiven(key) && textOf(given[key]) === null) say(key, 'was left out: use a text or a number');
  }
  for (const key of ['tags', 'images', 'device']) {
    const values = Array.isArray(given[key]) ? arrayOf(given[key]) : [given[key]];
    if (isGiven(key) && values.some((each) => textOf(each) === null))
      say(key, 'has entries that are not texts');
  }
  if (isGiven('metadata') && (typeof given.metadata !== 'object' || Array.isArray(given.metadata))) {
    say('metadata', 'was left out: use an object');
  }
  return warnings;
}

interface Surroundings {
  readonly input: Input;
  /** What the expression could not read in the message. */
  readonly unread: readonly string[];
  readonly context: ReadingContext;
}

/** The report of one object of the result, or what is wrong with it. */
function reportOf(
  item: unknown,
  { input, unread, context: { options, zone } }: Surroundings,
): Report | string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return `an event must be an object, not ${item === null ? 'null' : Array.isArray(item) ? 'an array' : `a ${typeof item}`}`;
  }
  const given = objectOf(item);
  const { location, images, tags, time, key, device, confidence, metadata, description, severity } = given;
  const names = Object.keys(given).filter((name) => given[name] !== null);
  if (!names.some((name) => KEYS.has(name))) {
    return names.length === 0
      ? `an event has none of its keys: use at least one of ${SHOWN_KEYS}`
      : `an event has only keys that are not known (${names.slice(0, MAX_NOTED).join(', ').slice(0, 200)}): use ${SHOWN_KEYS}`;
  }
  const plate = plateOf(given.plate ?? given.licensePlateNumber);
  const speed = speedOf(given.speed ?? given.vehicleSpeed, options.speedUnit);
  const violation = textOf(given.violation ?? given.violationType);
  const limit = speedOf(given.speedLimit, options.speedUnit);
  const type = textOf(given.type ?? given.eventType)?.toUpperCase() ?? null;
  const kind = kindOf({ plate, speed, speedLimit: limit, violation });
  if (type !== null && !isEventType(type)) {
    return `type must be one of ${[...eventType.options, ...Object.keys(INSTEAD)].join(', ')}, not ${type.slice(0, 50)}`;
  }
  const scale = CONFIDENCE_SCALES.find((each) => each === numberOf(given.confidenceScale));
  if (scale === undefined && given.confidenceScale !== undefined && given.confidenceScale !== null) {
    return `confidenceScale must be one of ${CONFIDENCE_SCALES.join(', ')}`;
  }
  const sureness = confidenceOf(confidence, scale ?? ((numberOf(confidence) ?? 0) > 1 ? 100 : 1));
  const isOfKind = type === null || type === kind.eventType;
  const rank = textOf(severity)?.toUpperCase();
  const when = reportedTime(zone, ['time', time ?? given.timestamp]);
  const unreadTime = unread.find((flaw) => flaw.startsWith('$time'));
  return {
    key: textOf(key ?? given.idempotencyKey)?.slice(0, 200) ?? null,
    device: devicesOf(device),
    ...when,
    ...(when.occurredAt === null && unreadTime !== undefined && { timeFlaw: unreadTime }),
    event: {
      eventType: type ?? kind.eventType,
      violationType: violation ?? (isOfKind ? kind.violationType : null),
      licensePlateNumber: plate,
      vehicleSpeed: speed,
      vehicleType: textOf(given.vehicleType),
      ...passageFieldsOf({ vehicleType: given.vehicleType }),
      ...(plate !== null && plateFieldsOf({}, sureness)),
      ...Object.fromEntries(
        passageFieldNames.flatMap((name) => {
          const { data } = passageFieldIn(given, name);
          return data === undefined ? [] : [[name, data]];
        }),
      ),
      description: textOf(description),
      severity: severities.find((each) => each === rank) ?? null,
      location: placeOf(location),
      images:
        images === undefined ? [...input.pictures] : namesOf(...(Array.isArray(images) ? images : [images])),
      tags: namesOf(...(Array.isArray(tags) ? tags : [tags])),
      metadata: {
        vendor: 'mapped',
        ...objectOf(metadata),
        ...(limit !== null && { speedLimit: limit }),
        ...sureness,
        ...(device !== undefined && { device: devicesOf(device)[0] }),
        raw: input.body,
      },
    },
  };
}

/** What the result says of how a vehicle passed, as `events.ingest` takes it; a direction and a country may also be in words. */
function passageFieldIn(given: Readonly<Record<string, unknown>>, name: (typeof passageFieldNames)[number]) {
  const value = given[name];
  const inWords = { direction: directionOf, plateRegion: (text: unknown) => plateRegionOf(text, text) };
  const understood = name === 'direction' || name === 'plateRegion' ? inWords[name](value) : null;
  return reportedEvent.shape[name].safeParse(understood ?? value);
}

function devicesOf(device: unknown): string[] {
  return namesOf(...(Array.isArray(device) ? arrayOf(device) : [device]));
}

function isEventType(type: string): type is EventType {
  return eventType.options.some((each) => each === type);
}

/** A location in GeoJSON, as an object with one of the usual names, or as a text `52.5,13.4`. */
function placeOf(location: unknown): NonNullable<ObservedEvent['location']> | null {
  if (typeof location === 'string') {
    const [, north, east] =
      /^(?:geo:)?\s*([+-]?\d[\d.]*)\s*[,;]\s*([+-]?\d[\d.]*)/.exec(location.slice(0, 100)) ?? [];
    return placeAt(numberOf(north), numberOf(east));
  }
  const field = fieldsOf(location);
  const address = textOf(field('address', 'name'));
  if (field('coordinates', 'geometry', 'geometries') !== undefined) return placeOfGeoJson(location, address);
  return placeAt(
    numberOf(field('latitude', 'lat', 'y')),
    numberOf(field('longitude', 'lng', 'lon', 'long', 'x')),
    address,
  );
}

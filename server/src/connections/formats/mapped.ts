import { type EventType, eventType } from '@gantry/contract/events';
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
import { arrayOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { Content, DeviceMessage } from '../message.ts';
import { confidenceOf, kindOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { asJson } from '../xml.ts';

/** Maximum number of events in one result. */
const MAX_EVENTS = 1_000;

/** The values of `confidenceScale`. */
const CONFIDENCE_SCALES = [1, 100, 255] as const;

/** Types in a result that say what the message is, instead of an event. */
const INSTEAD = { HEARTBEAT: 'heartbeat', STATUS: 'status', AGGREGATE: 'aggregate' } as const;

/**
 * Any JSON, XML or form body, read by a JSONata expression in `options.mapping`. Its input is
 * `{body, fields, pictures, path, topic, receivedAt}`: the first part of the body (XML as `{root: {...}}`), all named
 * parts, the addresses of the pictures, and where and when the message arrived (ISO 8601). Its result is one event or an
 * array of events, of which every key is optional: plate, speed (in `options.speedUnit`), speedLimit, type, violation,
 * description, vehicleType, severity, location {latitude, longitude, address}, images, tags, confidence (on the scale of
 * `confidenceScale`, which is 1, 100 or 255; without it, a confidence of at most 1 is out of 1, and others out of 100),
 * metadata, time (ISO 8601, or an epoch of s, ms, µs or ns), key (unique within the connection), and device (a name or
 * several, for `options.sensors`). The types HEARTBEAT, STATUS and AGGREGATE mark a message that is not an event.
 */
export const mapped: Format = {
  name: 'mapped',
  label: 'Any JSON, XML or form (mapping)',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'digest', 'header', 'mqtt'],
  repeats: false,
  // The meaning of the body is not known, so only an equal message shortly afterwards counts as a repetition.
  repetitionMs: 10_000,
  async read(message, context) {
    const { options, map } = context;
    if (!options.mapping) return without('unreadable', 'The connection has no mapping: set options.mapping');
    if (!map) return without('unreadable', 'Mappings are not evaluated here');
    const unreadable = message.parts.find(({ content }) => content.kind === 'unreadable')?.content;
    const input = inputOf(message);
    if (unreadable?.kind === 'unreadable' && input.body === null)
      return without('unreadable', unreadable.reason);
    const outcome = await map(options.mapping, input);
    return 'refusal' in outcome
      ? without('unreadable', outcome.refusal)
      : readingOf(outcome.value, input, context);
  },
  instructions: ({ url, token, username, password }: ConnectionValues) => [
    `Let the device send its messages with POST to ${url}. JSON, XML, forms and multipart bodies with pictures are accepted.`,
    `If it cannot have a long address, use the user name ${username} and the password ${password} (Basic or Digest), or the header "Authorization: Bearer ${token}".`,
    'Trigger one message. It is kept although it does not become an event yet, and is shown with its body in the messages of the connection.',
    'Write a mapping in JSONata: its input is {body, fields, pictures, path, topic, receivedAt}, its result one event or an array of events with the keys plate, speed, type, violation, description, vehicleType, location, images, tags, time, key, device and metadata.',
    'For example: {"plate": body.data.plate, "speed": body.data.kmh, "time": body.timestamp, "key": body.id, "device": body.camera.name}',
    'Try the mapping on the last message (connections.tryReading) before you save it as options.mapping. A key that stays the same when the device resends a message prevents duplicate events.',
    'Replay the messages that arrived before the mapping was saved.',
  ],
};

interface Input {
  readonly body: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly pictures: readonly string[];
  readonly path: string;
  readonly topic: string | null;
  readonly receivedAt: string;
}

function inputOf({ parts, path, topic, receivedAt }: DeviceMessage): Input {
  const fields: Record<string, unknown> = Object.create(null);
  for (const { name, content } of parts) if (name !== null) fields[name] = contentOf(content);
  const body = parts.find(({ content }) => content.kind !== 'picture' && content.kind !== 'unreadable');
  return {
    body: body ? contentOf(body.content) : null,
    fields,
    pictures: parts.flatMap(({ content }) => (content.kind === 'picture' ? [content.address] : [])),
    path,
    topic,
    receivedAt: new Date(receivedAt).toISOString(),
  };
}

function contentOf(content: Content): unknown {
  if (content.kind === 'json') return content.value;
  if (content.kind === 'xml') return { [content.root.name]: asJson(content.root) };
  if (content.kind === 'text') return content.text;
  return content.kind === 'picture' ? content.address : null;
}

function readingOf(result: unknown, input: Input, context: ReadingContext): Reading {
  const items = Array.isArray(result) ? result : result === undefined || result === null ? [] : [result];
  if (items.length === 0) return without('nothing', 'The mapping makes no event of this message');
  if (items.length > MAX_EVENTS)
    return without('unreadable', `The mapping makes more than ${MAX_EVENTS} events`);
  const reports: Report[] = [];
  const flaws: string[] = [];
  const instead: Reading[] = [];
  for (const [at, item] of items.entries()) {
    const is = INSTEAD[String(objectOf(item).type).toUpperCase() as keyof typeof INSTEAD];
    if (is) instead.push(without(is, `According to the mapping: ${is}`, devicesOf(objectOf(item).device)));
    else {
      const report = reportOf(item, input, context);
      if (typeof report === 'string') flaws.push(`${items.length > 1 ? `event ${at}: ` : ''}${report}`);
      else reports.push(report);
    }
  }
  const note =
    flaws.length === 0 ? null : `The result of the mapping is invalid: ${flaws.slice(0, 10).join('; ')}`;
  if (reports.length > 0) return { reports, is: 'reports', note };
  return note === null && instead[0] ? instead[0] : without('unreadable', note ?? '');
}

/** The report of one object of the result, or what is wrong with it. */
function reportOf(item: unknown, input: Input, { options, zone }: ReadingContext): Report | string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return `an event must be an object, not ${item === null ? 'null' : Array.isArray(item) ? 'an array' : `a ${typeof item}`}`;
  }
  const given = objectOf(item);
  const { location, images, tags, time, key, device, confidence, metadata, description, severity } = given;
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
  const isOfKind = type === null || type === kind.eventType;
  const rank = textOf(severity)?.toUpperCase();
  return {
    key: textOf(key ?? given.idempotencyKey)?.slice(0, 200) ?? null,
    device: devicesOf(device),
    ...reportedTime(zone, ['time', time ?? given.timestamp]),
    event: {
      eventType: type ?? kind.eventType,
      violationType: violation ?? (isOfKind ? kind.violationType : null),
      licensePlateNumber: plate,
      vehicleSpeed: speed,
      vehicleType: textOf(given.vehicleType),
      description: textOf(description),
      severity: (['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const).find((each) => each === rank) ?? null,
      location: placeOf(location),
      images:
        images === undefined ? [...input.pictures] : namesOf(...(Array.isArray(images) ? images : [images])),
      tags: namesOf(...(Array.isArray(tags) ? tags : [tags])),
      metadata: {
        vendor: 'mapped',
        ...objectOf(metadata),
        ...(limit !== null && { speedLimit: limit }),
        ...confidenceOf(confidence, scale ?? ((numberOf(confidence) ?? 0) > 1 ? 100 : 1)),
        ...(device !== undefined && { device: devicesOf(device)[0] }),
        raw: input.body,
      },
    },
  };
}

function devicesOf(device: unknown): string[] {
  return namesOf(...(Array.isArray(device) ? arrayOf(device) : [device]));
}

function isEventType(type: string): type is EventType {
  return eventType.options.some((each) => each === type);
}

function placeOf(location: unknown): NonNullable<ObservedEvent['location']> | null {
  const { latitude, longitude, address } = objectOf(location);
  const [north, east, place] = [numberOf(latitude), numberOf(longitude), textOf(address)];
  if (north === null || east === null) return null;
  return { latitude: north, longitude: east, ...(place !== null && { address: place }) };
}

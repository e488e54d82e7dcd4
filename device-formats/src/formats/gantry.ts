import { reportedEvent } from '@gantry/contract/events';
import { reportedTime, type Zone } from '../device-time.ts';
import {
  type ConnectionValues,
  type Format,
  type Reading,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';

/** How many invalid events a note names. */
const MAX_NAMED = 10;

/** Events as `events.ingest` takes them: one, an array of them, or `{events: [...]}`; over MQTT, also heartbeats. */
export const gantry: Format = {
  name: 'gantry',
  label: 'Gantry JSON',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'header', 'mqtt'],
  repeats: true,
  refusalOf: (message) => {
    const reading = read(message, { zone: 'utc' });
    return reading.is === 'unreadable' ? reading.note : null;
  },
  // As for `events.ingest`, a report without an idempotencyKey is another event each time.
  repetitionMs: 0,
  topics: ['gantry/{deviceId}/events', 'gantry/{deviceId}/heartbeat'],
  read,
  instructions: ({ url, token, username, password }: ConnectionValues) => [
    `Send each event as JSON with POST to ${url}, with the fields of events.ingest but without apiKey: {"eventType": "SPEED_DETECTION", "vehicleSpeed": 62, "timestamp": "2026-01-31T08:15:00Z", "idempotencyKey": "42"}.`,
    'Several events may be sent as an array, or as {"events": [...]}. An invalid one does not affect the others.',
    'Always send timestamp and idempotencyKey, so that an event that is sent again is stored once. A timestamp without an offset is in the time zone of the connection. An event with an unreadable one is refused.',
    `Instead of the token in the address, a device may send the user name ${username} and the password ${password} (Basic), or the header "Authorization: Bearer ${token}".`,
    'Over MQTT, publish events to gantry/<deviceId>/events with QoS 1 on the broker of the service; <deviceId> is the device ID of the sensor. If the connection has options.sensors, it is any name that they assign to a sensor. If it contains + or #, enter a topic of your own in the option topics.',
    'Publish anything to gantry/<deviceId>/heartbeat once a minute, or POST to the address followed by /heartbeat, so that the sensor counts as online without events.',
    'Repeat with growing pauses, and not before Retry-After if it is given, after 408, 429, 502, 503 and 504 and when there is no answer; do not repeat after any other answer.',
  ],
};

function read(message: DeviceMessage, { zone }: Pick<ReadingContext, 'zone'>): Reading {
  const device = deviceOf(message);
  if (/(?:^|\/)heartbeat$/.test(message.topic ?? message.path))
    return without('heartbeat', 'A heartbeat', device);
  const images = message.parts.flatMap(({ content }) => (content.kind === 'image' ? [content.address] : []));
  const items = message.parts.flatMap(({ content }) =>
    content.kind === 'json' ? itemsOf(content.value) : [],
  );
  if (items.length === 0) return withoutEvents(message);
  const found = items.map((item) => reportOf(item, device, zone));
  const reports = found.filter((each) => typeof each !== 'string');
  const [only] = reports;
  if (only && items.length === 1 && images.length > 0) {
    const event = { ...only.event, images: [...new Set([...(only.event.images ?? []), ...images])] };
    return { reports: [{ ...only, event }], is: 'reports', note: null };
  }
  const flaws = found.flatMap((each, at) => (typeof each === 'string' ? `events.${at}: ${each}` : []));
  if (reports.length === 0) return without('unreadable', noteOf(flaws), device);
  return { reports, is: 'reports', note: flaws.length === 0 ? null : noteOf(flaws) };
}

function deviceOf({ topic }: DeviceMessage): string[] {
  return namesOf(topic?.split('/').at(-2));
}

/** The events of a body, which may be in the envelope of a call (`{"json": ...}`). */
function itemsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  const { json, events } = objectOf(body);
  if (typeof json === 'object' && json !== null) return itemsOf(json);
  if (Array.isArray(events)) return events;
  return Object.keys(objectOf(body)).length === 0 ? [] : [body];
}

/** The report of an event, or why it is invalid. */
function reportOf(item: unknown, device: readonly string[], zone: Zone): Report | string {
  const { apiKey: _, ...fields } = objectOf(item);
  const { timestamp, idempotencyKey } = fields;
  // The contract requires a time with a key. The time of receipt replaces this one.
  const keyed = idempotencyKey != null && timestamp == null ? { timestamp: '2000-01-01' } : {};
  const parsed = reportedEvent.safeParse(
    typeof item === 'object' && !Array.isArray(item) ? { ...fields, ...keyed } : item,
  );
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ');
  }
  const { timestamp: __, idempotencyKey: key, ...event } = parsed.data;
  const time =
    timestamp == null ? { occurredAt: null } : reportedTime(zone, ['timestamp', parsed.data.timestamp]);
  return { key: key ?? null, device, ...time, event };
}

function withoutEvents({ parts }: DeviceMessage): Reading {
  const unreadable = parts.find(({ content }) => content.kind === 'unreadable')?.content;
  const reason = unreadable?.kind === 'unreadable' ? unreadable.reason : null;
  return reason === null
    ? without(
        'unreadable',
        'The body is not JSON with an event: send an object with eventType, or an array of them',
      )
    : without('unreadable', reason);
}

function noteOf(flaws: readonly string[]): string {
  const named = flaws.slice(0, MAX_NAMED).map((flaw) => textOf(flaw));
  const rest = flaws.length - named.length;
  const count = flaws.length === 1 ? 'One event is' : `${flaws.length} events are`;
  return `${count} invalid: ${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

import { hash } from 'node:crypto';
import type { ConnectionOptions } from '@gantry/contract/connections';
import { DAY_MS } from '@gantry/contract/durations';
import {
  IMAGE_REFERENCE_MAX,
  passageFieldNames,
  type ReportedEvent,
  reportedEvent,
} from '@gantry/contract/events';
import { isStorableText } from '@gantry/contract/text';
import { EARLIEST_EVENT, MAX_AHEAD_MS } from '@gantry/contract/time-bounds';
import { z } from 'zod';
import type { ReportedTime } from './device-time.ts';
import type { ObservedEvent, Report } from './format.ts';
import { remembered } from './json-values.ts';
import { kindOf } from './observed.ts';

/** The lengths that the contract allows, in characters. */
const MAX = { description: 10_000, kind: 100, plate: 50, tag: 100, address: 300, key: 128 } as const;
/** Maximum number of images, and of tags, that the contract allows. */
const MAX_ITEMS = 100;
/** The highest speed that the contract allows, in km/h. */
const MAX_SPEED = 2000;
/**
 * Maximum length of the body in the metadata of an event, in characters of JSON. A longer body is left out of the event;
 * it remains in the message.
 */
const RAW_MAX = 200_000;

/** The schema of events, compiled when the first one is composed: checking one takes 1 instead of 20 µs. */
let compiled: typeof reportedEvent | undefined;

/** What is known about a report in addition to its message. */
export interface Composition {
  /** When the message arrived, in Unix milliseconds; for a repeated report, when the first one arrived. */
  readonly receivedAt: number;
  /** When it happened according to the device, in Unix milliseconds; null if that is unknown or implausible. */
  readonly believedAt: number | null;
  readonly connectionId: string;
  readonly messageId: string;
  /** The position of the report in the message. */
  readonly index: number;
}

/** The event as `events.ingest` would receive it, or why it cannot be stored, as a sentence. */
export type Composed = { readonly event: ReportedEvent } | { readonly refusal: string };

/**
 * Makes the event of a report. Texts that are too long are cut, and values that the contract does not admit in optional
 * fields (a speed of 3000, a latitude of 168) are left out, because a device cannot correct them.
 */
export function composeEvent(report: Report, composition: Composition): Composed {
  const { receivedAt, believedAt, connectionId, messageId } = composition;
  const seen = fitting(report.event);
  const received = new Date(receivedAt).toISOString();
  const clock = believedAt === null ? 'receipt' : 'device';
  compiled ??= z.compile(reportedEvent);
  const origin = { connectionId, messageId, receivedAt: received, clock };
  const parsed = compiled.safeParse({
    timestamp: new Date(believedAt ?? receivedAt).toISOString(),
    idempotencyKey: idempotencyKeyOf(report, composition),
    ...seen,
    metadata: Object.assign({}, seen.metadata, origin),
  });
  if (parsed.success) return { event: parsed.data };
  const [issue] = parsed.error.issues;
  return { refusal: `The event is invalid: ${issue?.path.join('.')}: ${issue?.message}` };
}

/**
 * The time that a device reports, if it is plausible: at most 5 minutes after the time of receipt, and not older than
 * events may be. Otherwise null.
 * @param oldestDays maximum age in days; null for no limit other than the earliest time of any event
 */
export function believedTime(
  occurredAt: number | null,
  receivedAt: number,
  oldestDays: number | null,
): number | null {
  const isPossible =
    occurredAt !== null && occurredAt >= EARLIEST_EVENT && occurredAt <= receivedAt + MAX_AHEAD_MS;
  if (!isPossible) return null;
  return oldestDays !== null && occurredAt < receivedAt - oldestDays * DAY_MS ? null : occurredAt;
}

/**
 * The sentence that says why the event has the time of receipt although the device reported a time; null if the device
 * reported none, or if its time is used.
 */
export function disbeliefIn(
  { occurredAt, timeFlaw }: ReportedTime,
  believedAt: number | null,
): string | null {
  if (believedAt !== null || (occurredAt === null && timeFlaw === undefined)) return null;
  const flaw = timeFlaw ?? `that of the device cannot be right: ${new Date(occurredAt ?? 0).toISOString()}`;
  return `The event has the time of receipt, because ${flaw}`;
}

/**
 * The event without its plate if that was read with less confidence than the connection requires. A plate without a
 * confidence is kept; so is one whose confidence is not on the scale of the device, with a note.
 */
export function withEnoughConfidence(
  event: ObservedEvent,
  { minConfidence }: ConnectionOptions,
): { readonly event: ObservedEvent; readonly note: string | null } {
  const { confidence, confidenceRaw } = event.metadata ?? {};
  if (!event.licensePlateNumber) return { event, note: null };
  if (confidence === undefined && confidenceRaw !== undefined) {
    return {
      event,
      note: `The confidence of the plate is unknown: ${confidenceRaw} is not on the scale of the device`,
    };
  }
  if (minConfidence === undefined || typeof confidence !== 'number') return { event, note: null };
  return confidence >= minConfidence
    ? { event, note: null }
    : {
        event: withoutPlate(event),
        note: `The plate was left out: its confidence of ${confidence} is less than ${minConfidence}`,
      };
}

/** The event without its plate, which was read with too little confidence or is not a plate. */
function withoutPlate(event: ObservedEvent): ObservedEvent {
  const { eventType, vehicleSpeed } = event;
  return {
    ...event,
    licensePlateNumber: null,
    plateRegion: undefined,
    plateConfidence: undefined,
    eventType:
      eventType === 'PLATE_RECOGNITION' ? kindOf({ speed: vehicleSpeed ?? null }).eventType : eventType,
  };
}

/**
 * The idempotency key of the event. It contains the id of the connection or of the message, because keys are unique
 * within a sensor, which may have several connections.
 */
export function idempotencyKeyOf(
  { key }: Pick<Report, 'key'>,
  { connectionId, messageId, index }: Pick<Composition, 'connectionId' | 'messageId' | 'index'>,
): string {
  if (key === null) return `${messageId}:${index}`;
  const whole = `${connectionId}:${key}`;
  if (whole.length <= MAX.key && storable(whole) === whole) return whole;
  return `${connectionId}:${hash('sha256', key)}`;
}

/** What nobody sees of a text, and what changes the order of its characters on a screen. */
const INVISIBLE = /[\p{Cc}\p{Cf}]/gu;

function fitting(event: ObservedEvent): ObservedEvent {
  const plate = event.licensePlateNumber?.replaceAll(INVISIBLE, '');
  if (event.licensePlateNumber && (!plate?.trim() || [...plate].length > MAX.plate))
    return fitting(withoutPlate(event));
  const { vehicleSpeed, location } = event;
  return {
    ...withoutUnfit(event),
    description: cut(event.description, MAX.description),
    violationType: cut(event.violationType, MAX.kind),
    vehicleType: cut(event.vehicleType, MAX.kind),
    licensePlateNumber: cut(plate, MAX.plate),
    vehicleSpeed: isWithin(vehicleSpeed, 0, MAX_SPEED) ? vehicleSpeed : null,
    location:
      location && isWithin(location.latitude, -90, 90) && isWithin(location.longitude, -180, 180)
        ? { ...location, address: cut(location.address, MAX.address) ?? undefined }
        : null,
    images: (event.images ?? [])
      .filter((image) => image !== '' && image.length <= IMAGE_REFERENCE_MAX)
      .slice(0, MAX_ITEMS),
    tags: [
      ...new Set((event.tags ?? []).map((tag) => cut(tag, MAX.tag)).filter((tag) => tag !== null)),
    ].slice(0, MAX_ITEMS),
    metadata: fittingMetadata(event.metadata ?? {}),
  };
}

/** The event without what it says of how its vehicle passed where the contract does not admit it: a lane of 300 m. */
function withoutUnfit(event: ObservedEvent): ObservedEvent {
  const unfit = passageFieldNames.filter(
    (name) => event[name] !== undefined && !reportedEvent.shape[name].safeParse(event[name]).success,
  );
  return unfit.length === 0
    ? event
    : { ...event, ...Object.fromEntries(unfit.map((name) => [name, undefined])) };
}

function fittingMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { raw: body, ...rest } = metadata;
  const raw = typeof body === 'object' && body !== null ? fittingBody(body) : fittingBodyOf(body);
  const given = Object.entries(measure(rest).isStorable ? rest : (withStorableValues(rest) as object));
  return Object.fromEntries(
    [...given, ['raw', raw]].filter(([, value]) => value !== null && value !== undefined),
  );
}

/** The body of a message as it is stored with each of its reports; null if it is too long. */
const fittingBody = remembered(fittingBodyOf);

function fittingBodyOf(body: unknown): unknown {
  const { least, most, isStorable } = measure(body, RAW_MAX);
  // Only a body of which that is in doubt is written as JSON to find its length.
  const isLong = least > RAW_MAX || (most > RAW_MAX && JSON.stringify(body).length > RAW_MAX);
  return isLong ? null : isStorable ? (body ?? null) : withStorableValues(body);
}

/** A bound of the length of a number in JSON, and of an escaped character. */
const MAX_NUMBER = 25;
const MAX_ESCAPE = 6;

/**
 * The least and the most length of the JSON of a value, and whether PostgreSQL can store its texts and numbers.
 * @param enough the length at which it stops
 */
function measure(value: unknown, enough = Number.POSITIVE_INFINITY) {
  const found = { least: 0, most: 0, isStorable: true };
  const addText = (text: string): void => {
    found.least += text.length + 2;
    found.most += MAX_ESCAPE * text.length + 4;
    found.isStorable &&= isStorableText(text);
  };
  const add = (each: unknown): void => {
    if (typeof each === 'string') {
      addText(each);
      return;
    }
    found.least++;
    found.most += MAX_NUMBER;
    found.isStorable &&= !isInfinite(each);
    if (typeof each !== 'object' || each === null) return;
    if (Array.isArray(each)) {
      for (const item of each) if (found.least <= enough) add(item);
      return;
    }
    for (const name of Object.keys(each)) {
      if (found.least > enough) return;
      addText(name);
      add((each as Record<string, unknown>)[name]);
    }
  };
  add(value);
  return found;
}

function isWithin(value: number | null | undefined, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most;
}

/** The trimmed text with at most `max` characters (code points); null for an empty one. */
function cut(text: string | null | undefined, max: number): string | null {
  const whole = storable(text ?? '').trim();
  const fits = whole.length <= max ? whole : [...whole.slice(0, max * 2)].slice(0, max).join('').trim();
  return fits || null;
}

/** The text without what PostgreSQL cannot store: NUL characters and unpaired surrogates. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function withStorableValues(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (isInfinite(value)) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withStorableValues);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [storable(name), withStorableValues(each)]),
  );
}

/** Whether a value is a number that JSON cannot express, although JSON can contain it: `1e999`. */
function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

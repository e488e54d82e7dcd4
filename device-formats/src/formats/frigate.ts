import { epochTime, type ReportedTime, reportedTime } from '../device-time.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { imagesIn, jsonValues, notRead, reportKey, textsOf } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** Labels of vehicles; `license_plate` is what a camera that is set up for plates alone tracks. */
const VEHICLES: ReadonlySet<string> = new Set(
  'car truck bus motorcycle van vehicle suv pickup school_bus garbage_truck license_plate'.split(' '),
);

/** Updates follow each other within seconds while a vehicle moves; the plate is read 3 to 5 s after the first. */
const WAIT_SECONDS = 30;
/** A recognizer outside Frigate may send the plate shortly after the end. */
const WAIT_AFTER_END_SECONDS = 5;

/** The qualities of reports: events contain more than the messages with only a plate. */
const QUALITY = { vehicle: 1, plateAlone: 2, vehicleWithPlate: 4 } as const;

/**
 * Frigate over MQTT: `events` (new, update and end of one id), `tracked_object_update` with a plate, and the topic on
 * which frigate_plate_recognizer returns plates. The same messages are read over HTTP.
 */
export const frigate: Format = {
  name: 'frigate',
  label: 'Frigate (MQTT)',
  transports: ['mqtt', 'http'],
  authentication: ['mqtt', 'header'],
  repeats: false,
  namesCamera: true,
  topics: [
    'frigate/events',
    'frigate/tracked_object_update',
    'frigate/plate_recognizer',
    'frigate/available',
  ],
  read,
  instructions: ({ url, username, password }) => [
    'Set MQTT_URL of Gantry to the broker that Frigate uses.',
    `In the configuration of Frigate, section mqtt: enabled: true, host: the broker. A user for it may be ${username} with the password ${password}, if you create it on the broker.`,
    'If topic_prefix is not frigate, or several Frigates share the broker, enter the topics <prefix>/events, <prefix>/tracked_object_update and <prefix>/available in the option topics.',
    'Track car, truck, bus and motorcycle under objects, and switch on lpr to have plates read.',
    'For speeds, define a zone with distances. If ui.unit_system is imperial, set the option speedUnit to mph.',
    'Enter the name of each camera in the option sensors.',
    `Instead of MQTT, anything that forwards these messages may POST them to ${url}`,
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const values = jsonValues(message)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    // Bridges from MQTT to HTTP wrap the message together with its topic.
    .map((value) => objectOf(value).payload ?? value);
  const readings = values.map((value) => readingOf(objectOf(value), imagesIn(message), context));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((reading) => reading !== null) ?? availability(message);
}

function readingOf(body: Json, images: readonly string[], context: ReadingContext): Reading | null {
  const after = objectOf(body.after);
  if (body.after !== undefined && isReview(after)) {
    return without('nothing', 'Reviews summarize events, which are read themselves');
  }
  if (textOf(after.id) !== null) return eventOf(body, after, images, context);
  if (textOf(body.frigate_event_id) !== null) return reportsOf([returned(body, context)]);
  if (textOf(body.id) !== null && body.type !== undefined && body.camera !== undefined) {
    return body.type === 'lpr'
      ? reportsOf([plateUpdate(body, context)])
      : without('nothing', `Updates of the type ${textOf(body.type)} are not recorded`);
  }
  if (textOf(body.id) !== null && textOf(body.type) !== null) {
    return without('nothing', `Updates of the type ${textOf(body.type)} are not recorded`);
  }
  // What the HTTP API returns for one event is the content of `after`.
  return textOf(body.id) !== null && textOf(body.label) !== null
    ? eventOf(
        { type: body.end_time ? 'end' : 'update' },
        { ...body, ...objectOf(body.data) },
        images,
        context,
      )
    : null;
}

function eventOf(body: Json, after: Json, images: readonly string[], context: ReadingContext): Reading {
  const label = textOf(after.label) ?? '';
  if (!VEHICLES.has(label)) return without('nothing', `${label || 'The object'} is not a vehicle`);
  if (after.false_positive === true)
    return without('nothing', 'Frigate considers the object a false positive');
  const id = reportKey(textOf(after.id));
  const { plate, score, name } = plateIn(after);
  const isEnd = body.type === 'end' || (after.end_time !== null && after.end_time !== undefined);
  const device = namesOf(after.camera);
  const speed =
    speedOf(after.average_estimated_speed, context.options.speedUnit) ??
    speedOf(after.current_estimated_speed, context.options.speedUnit);
  return reportsOf([
    {
      key: id,
      device,
      ...reportedTime(
        context.zone,
        ['start_time', after.start_time],
        ['id', startIn(id)],
        ['frame_time', after.frame_time],
      ),
      event: vehicleEvent({
        plate,
        speed,
        vehicleType: label === 'license_plate' ? null : label,
        images: imageUrls(...images, after.thumbnail),
        confidence: confidenceOf(score, 1),
        tags: ['frigate', device[0], name],
        metadata: {
          vendor: 'frigate',
          device: device[0],
          eventId: id,
          objectScore: after.top_score ?? after.score,
          direction: speed === null ? null : after.velocity_angle,
          zones: after.entered_zones ?? after.zones,
          subLabel: name,
          isStationary: after.stationary,
          box: after.box,
          // The path of the image on Frigate; it is not fetched.
          snapshot: after.has_snapshot === true ? `/api/events/${id}/snapshot.jpg` : null,
          raw: body.after === undefined ? after : { type: body.type, after },
        },
      }),
      passage: {
        id,
        quality: plate === null ? QUALITY.vehicle : QUALITY.vehicleWithPlate,
        isLast: isEnd && plate !== null,
        waitSeconds: isEnd ? WAIT_AFTER_END_SECONDS : WAIT_SECONDS,
      },
    },
  ]);
}

/** `tracked_object_update` of the type `lpr`. */
function plateUpdate(body: Json, { zone }: ReadingContext): Report {
  return plateAlone(reportKey(textOf(body.id)), body, {
    plate: body.plate,
    camera: body.camera,
    time: reportedTime(zone, ['timestamp', body.timestamp], ['id', startIn(textOf(body.id) ?? '')]),
    more: { subLabel: textOf(body.name), box: body.plate_box },
  });
}

/** What frigate_plate_recognizer returns; its `start_time` has no zone, but the id contains the same time. */
function returned(body: Json, { zone }: ReadingContext): Report {
  const id = reportKey(textOf(body.frigate_event_id));
  return plateAlone(id, body, {
    plate: body.plate_number,
    camera: body.camera_name,
    time: reportedTime(zone, ['id', startIn(id)], ['start_time', body.start_time]),
    more: {
      originalPlate: textOf(body.original_plate),
      listName: body.is_watched_plate === true ? 'watched' : null,
    },
  });
}

interface PlateOfObject {
  readonly plate: unknown;
  readonly camera: unknown;
  readonly time: ReportedTime;
  readonly more: Json;
}

function plateAlone(id: string, body: Json, { plate: text, camera, time, more }: PlateOfObject): Report {
  const plate = plateOf(text);
  const score = confidenceOf(body.score, 1);
  return {
    key: id,
    device: namesOf(camera),
    ...time,
    event: vehicleEvent({
      plate,
      confidence: score,
      tags: ['frigate', textOf(camera), more.subLabel, more.listName],
      metadata: {
        vendor: 'frigate',
        device: textOf(camera),
        eventId: id,
        ...more,
        raw: body,
      },
    }),
    passage: {
      id,
      quality: plate === null ? 0 : QUALITY.plateAlone + (score?.confidence ?? 0),
      isLast: false,
      waitSeconds: WAIT_SECONDS,
    },
  };
}

/**
 * The plate of an object, and its name in `sub_label`: of a known plate, a person, a brand or a delivery service.
 * A name is never a plate; recognizers outside Frigate, which write plates there, send them in messages of their own.
 */
function plateIn(after: Json): { plate: string | null; score: unknown; name: string | null } {
  const [read, score] = textWithScore(after.recognized_license_plate);
  const [name] = textWithScore(after.sub_label);
  return { plate: plateOf(read), score: after.recognized_license_plate_score ?? score, name };
}

/** A text alone, or with its score as `[text, score]`. */
function textWithScore(value: unknown): [string | null, unknown] {
  return Array.isArray(value) ? [textOf(value[0]), value[1]] : [textOf(value), null];
}

/** Ids begin with the time at which the object appeared. */
function startIn(id: string): number | null {
  return epochTime(/^(\d{10}\.\d+)-/.exec(id)?.[1]);
}

function isReview(after: Json): boolean {
  return arrayOf(objectOf(after.data).detections).length > 0 || after.severity !== undefined;
}

function reportsOf(reports: readonly Report[]): Reading {
  return { reports, is: 'reports', note: null };
}

/** `frigate/available` is `online` or `offline`. */
function availability(message: DeviceMessage): Reading {
  const text = textsOf(message)[0]?.trim().toLowerCase();
  if (text === 'online') return without('heartbeat', 'Frigate is running');
  if (text === 'offline') return without('nothing', 'Frigate was stopped');
  return text === undefined || text === ''
    ? notRead(message, 'a message of Frigate')
    : without('unreadable', 'The message is not JSON');
}

import { inZone, type ReportedTime, reportedTime, type Zone } from '../device-time.ts';
import {
  type Format,
  MAX_VEHICLES,
  type Reading,
  type ReadingContext,
  type Report,
  TooManyVehicles,
  without,
} from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf, valueAt } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { plateFieldsOf } from '../plate-region.ts';
import { formFields, imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';

/**
 * Plate Recognizer Stream and Snapshot, as webhooks. A message is `{hook, data}`, as the body, as the field `json` of a
 * multipart body with the image in `upload`, or as a form. `data.results` has one element per vehicle.
 */
export const platerecognizer: Format = {
  name: 'platerecognizer',
  label: 'Plate Recognizer (Stream and Snapshot webhooks)',
  transports: ['http'],
  authentication: ['header'],
  // Stream repeats with webhook_caching; Snapshot does not, and removes a hook that answers with errors.
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, token }) => [
    'Stream: open config.ini, and in the section [webhooks] add a target, for example [[gantry]].',
    `Set url = ${url}`,
    `Optional, instead of the token in the address: set header = Authorization: Token ${token}`,
    'Set image = yes and request_timeout = 30. Set caching = yes, so that Stream resends failed deliveries.',
    'In the section of each camera, set webhook_targets = gantry, and start Stream again.',
    'Snapshot Cloud: open app.platerecognizer.com, Account, Webhooks, and add a webhook with image to the same address.',
    'If one Stream serves several cameras, enter the id of each camera (the name of its section) in the option sensors.',
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const payloads = jsonValues(message).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const found = payloads.find((value) => dataOf(value) !== null);
  if (found === undefined) return withoutResults(message, payloads);
  const data = dataOf(found) ?? {};
  const results = arrayOf(data.results);
  const images = [...imagesIn(message), ...imageUrls(formFields(message).upload)];
  const device = namesOf(data.camera_id, valueAt(found, 'hook.id'));
  if (results.length > MAX_VEHICLES) throw new TooManyVehicles();
  if (results.length === 0) return without('nothing', 'No vehicle was recognized in the image', device);
  return {
    reports: results.map((result, index) =>
      reportOf(objectOf(result), index, { found, data, device, images, context }),
    ),
    is: 'reports',
    note: null,
  };
}

interface Envelope {
  readonly found: unknown;
  readonly data: Readonly<Record<string, unknown>>;
  readonly device: readonly string[];
  readonly images: readonly string[];
  readonly context: ReadingContext;
}

function reportOf(result: Readonly<Record<string, unknown>>, index: number, envelope: Envelope): Report {
  const { found, data, device, images, context } = envelope;
  const { plate, score, region, box } = plateIn(result);
  const vehicle = objectOf(result.vehicle);
  const model = firstOf(result.model_make, vehicle.model_make, valueAt(vehicle, 'props.make_model'));
  const color = firstOf(result.color, vehicle.color, valueAt(vehicle, 'props.color'));
  const side = firstOf(result.orientation, vehicle.orientation, valueAt(vehicle, 'props.orientation'));
  const { results: _, ...rest } = data;
  return {
    key: keyOf(data, index),
    device,
    ...timeOf(data, context.zone),
    event: vehicleEvent({
      plate,
      speed: speedOf(result.speed ?? vehicle.speed, context.options.speedUnit),
      vehicleType: vehicle.type,
      images: images,
      confidence: confidenceOf(score, 1),
      // The code of a country, or of a part of one, such as gb or us-ca.
      passage: plate === null ? {} : plateFieldsOf({ country: region, region }, confidenceOf(score, 1)),
      tags: ['platerecognizer', data.camera_id],
      metadata: {
        vendor: 'platerecognizer',
        device: device[0],
        direction: result.direction,
        region,
        make: model.make,
        model: model.model,
        color: color.color ?? color.value,
        orientation: side.orientation ?? side.value,
        box,
        vehicleBox: vehicle.box,
        dwellTime: result.dwell_time,
        raw: { hook: valueAt(found, 'hook'), data: { ...rest, results: [result] } },
      },
    }),
  };
}

/** In version 1 `plate` is a text; in version 2 it is null or an object with candidates under `props`. */
function plateIn(result: Readonly<Record<string, unknown>>) {
  const { plate } = result;
  if (typeof plate !== 'object' || plate === null) {
    return {
      plate: plateOf(plate),
      score: plateOf(plate) === null ? null : result.score,
      region: textOf(valueAt(result, 'region.code') ?? result.region),
      box: result.box,
    };
  }
  const best = firstOf(valueAt(plate, 'props.plate'));
  const region = firstOf(valueAt(plate, 'props.region'));
  return {
    plate: plateOf(best.value ?? valueAt(plate, 'value')),
    score: best.score ?? valueAt(plate, 'score'),
    region: textOf(region.value ?? region.code),
    box: valueAt(plate, 'box'),
  };
}

/** The times of Snapshot have no offset and are in UTC. */
function timeOf(data: Readonly<Record<string, unknown>>, zone: Zone): ReportedTime {
  return reportedTime(
    inZone(zone, 'utc'),
    ['timestamp', data.timestamp],
    ['timestamp_local', data.timestamp_local],
    ['timestamp_camera', data.timestamp_camera],
  );
}

function keyOf(data: Readonly<Record<string, unknown>>, index: number): string | null {
  const [camera, file, time] = [data.camera_id, data.filename, data.timestamp].map(textOf);
  return file === null && time === null ? null : reportKey(camera, file, time, index);
}

/** The object with `results`: `data` of a webhook, or the answer of the service itself. */
function dataOf(payload: unknown): Readonly<Record<string, unknown>> | null {
  const data = objectOf(objectOf(payload).data ?? payload);
  // OpenALPR has `results` as well, and times as epochs.
  return Array.isArray(data.results) && data.epoch_time === undefined ? data : null;
}

function firstOf(...lists: readonly unknown[]): Readonly<Record<string, unknown>> {
  const list = lists.find((each) => arrayOf(each).length > 0);
  return objectOf(arrayOf(list)[0]);
}

/** Stream also reports the state of its cameras. Which events it uses for that is not confirmed. */
function withoutResults(message: DeviceMessage, payloads: readonly unknown[]): Reading {
  for (const payload of payloads) {
    const event = textOf(valueAt(payload, 'hook.event') ?? valueAt(payload, 'event')) ?? '';
    if (/heartbeat|status|health|camera/i.test(event)) {
      const device = namesOf(
        valueAt(payload, 'data.camera_id'),
        valueAt(payload, 'hook.id'),
        valueAt(payload, 'camera_id'),
      );
      return without('heartbeat', `Plate Recognizer reports ${event}`, device);
    }
  }
  return notRead(message, 'a webhook of Plate Recognizer');
}

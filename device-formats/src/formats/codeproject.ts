import { isoTime, reportedTime } from '../device-time.ts';
import type { Format, Reading, ReadingContext, Report } from '../format.ts';
import { without } from '../format.ts';
import { namesOf, objectOf, textOf } from '../json-values.ts';
import { type Fields, fieldsOf } from '../lenient-keys.ts';
import type { DeviceMessage } from '../message.ts';
import { formFields, jsonValues, notRead, picturesOf } from '../message-content.ts';
import { reportKey } from '../report-key.ts';
import { imageAddresses, vehicleEvent } from '../vehicle-event.ts';
import { answersIn, type PlateRead, platesOf, predictionsOf, vehicleOf } from './codeproject-plates.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Blue Iris with CodeProject.AI, in the form that ALPR Database expects: plates in `ai_dump` (the macro &JSON), otherwise in
 * `plate_number` (&PLATE), otherwise in `memo` (&MEMO). The array of the macro alone is read as well.
 */
export const codeproject: Format = {
  name: 'codeproject',
  label: 'Blue Iris with CodeProject.AI (ALPR Database form)',
  transports: ['http'],
  authentication: ['header'],
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, token }) => [
    'Open Blue Iris, the settings of the camera, tab Alerts, On alert, and add the action Web request or MQTT.',
    `Enter the address without http:// in the field for it, and select http:// or https://: ${url}`,
    'Method: POST. Content type: application/json.',
    `Optional, instead of the token in the address: add the header x-api-key: ${token}`,
    'Body: { "ai_dump": &JSON, "Image": "&ALERT_JPEG", "camera": "&CAM", "ALERT_PATH": "&ALERT_PATH", "ALERT_CLIP": "&ALERT_CLIP", "timestamp": "&ALERT_TIME" }',
    'Without the module License Plate Reader 3 or newer, send "memo": "&MEMO" instead of ai_dump.',
    'Set the time zone of the connection to the one of the computer with Blue Iris, whose times may have no offset.',
    'If one address serves several cameras, enter the short name of each camera in the option sensors.',
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const form = formFields(message);
  const isForm = fieldsOf(form)('ai_dump', 'plate_number', 'plate', 'memo', 'camera') !== undefined;
  const bodies = isForm ? [form] : jsonValues(message).flatMap(bodiesOf);
  const readings = bodies.map((body) => readingOf(body, picturesOf(message), context));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return (
    readings.find((reading) => reading !== null) ??
    notRead(message, 'an alert of Blue Iris or CodeProject.AI')
  );
}

/** An array of answers of modules is read as an alert that contains nothing else. */
function bodiesOf(value: unknown): Json[] {
  const items = Array.isArray(value) ? value : [value];
  const isAnswer = (item: unknown): boolean => fieldsOf(item)('found', 'predictions') !== undefined;
  return items.some(isAnswer) ? [{ ai_dump: items.filter(isAnswer) }] : items.map(objectOf);
}

/** Messages of other makers have plates and cameras as well, but identify them by a type or an id. */
function isAlert(field: Fields): boolean {
  if (field('ai_dump', 'memo', 'alert_path', 'alert_clip') !== undefined) return true;
  const isOther = field('type', 'id', 'data_type') !== undefined;
  return !isOther && textOf(field('camera')) !== null && field('plate_number', 'plate') !== undefined;
}

function readingOf(body: Json, pictures: readonly string[], context: ReadingContext): Reading | null {
  const field = fieldsOf(body);
  if (!isAlert(field)) return null;
  const device = namesOf(field('camera'));
  const answers = answersIn(field('ai_dump', 'json'));
  const vehicleType = vehicleOf(field, answers);
  const seen = platesOf(field, answers);
  if (seen.length === 0 && vehicleType === null) {
    return without('nothing', 'The alert contains neither a plate nor a vehicle', device);
  }
  const one = seen.length > 0 ? seen : [{ plate: null, confidence: null, prediction: null }];
  const from: Alert = { body, field, device, answers, vehicleType, pictures, isOnly: one.length === 1 };
  return {
    reports: one.map((each, index) => reportOf(each, index, from, context)),
    is: 'reports',
    note: null,
  };
}

interface Alert {
  readonly body: Json;
  readonly field: Fields;
  readonly device: readonly string[];
  readonly answers: readonly Json[];
  readonly vehicleType: string | null;
  readonly pictures: readonly string[];
  readonly isOnly: boolean;
}

function reportOf(seen: PlateRead, index: number, from: Alert, context: ReadingContext): Report {
  const { body, field, device, answers, vehicleType, pictures, isOnly } = from;
  const answer = answers.find((each) => predictionsOf(each).includes(seen.prediction)) ?? answers[0] ?? {};
  const given = fieldsOf(seen.prediction);
  const moment =
    textOf(field('timestamp', 'time')) ?? textOf(answer.timestampUTC) ?? textOf(answer.requestId);
  return {
    key: moment === null ? null : reportKey(device[0], moment, seen.plate, index),
    device,
    ...reportedTime(
      context.zone,
      ['timestamp', field('timestamp', 'time')],
      ['timestampUTC', answer.timestampUTC, (text) => isoTime(text, 'utc')],
    ),
    event: vehicleEvent({
      plate: seen.plate,
      // With several plates it is unknown which of the vehicles each belongs to.
      vehicleType: isOnly ? vehicleType : null,
      images: [...imageAddresses(field('image')), ...pictures],
      confidence: seen.confidence,
      tags: ['blueiris', device[0]],
      metadata: {
        vendor: 'codeproject',
        device: device[0],
        box: boxOf(given),
        module: textOf(answer.moduleId),
        clip: textOf(field('alert_clip')),
        path: textOf(field('alert_path')),
        raw: body,
      },
    }),
  };
}

function boxOf(field: Fields): readonly unknown[] | null {
  const box = [field('x_min'), field('y_min'), field('x_max'), field('y_max')];
  return box.includes(undefined) ? null : box;
}

import { isoTime, reportedTime } from '../device-time.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { arrayOf, type Fields, fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { type Confidence, confidenceOf, plateOf } from '../observed.ts';
import { formFields, imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';

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
  const readings = bodies.map((body) => readingOf(body, imagesIn(message), context));
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

function readingOf(body: Json, images: readonly string[], context: ReadingContext): Reading | null {
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
  const from: Alert = { body, field, device, answers, vehicleType, images, isOnly: one.length === 1 };
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
  readonly images: readonly string[];
  readonly isOnly: boolean;
}

function reportOf(seen: PlateRead, index: number, from: Alert, context: ReadingContext): Report {
  const { body, field, device, answers, vehicleType, images, isOnly } = from;
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
      images: [...imageUrls(field('image')), ...images],
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

/** Labels of the object detectors of CodeProject.AI that are vehicles. */
const VEHICLES: ReadonlySet<string> = new Set(
  'car truck bus motorcycle motorbike van vehicle suv pickup'.split(' '),
);

/** Maximum length of an entry of a memo, in characters; longer ones are not labels. */
const MAX_LABEL = 100;

/** A plate, or the report that none was read, with the prediction of the module. */
interface PlateRead {
  readonly plate: string | null;
  readonly confidence: Confidence | null;
  readonly prediction: unknown;
}

/** The plates of an alert: from the answers of the modules, otherwise from `plate_number`, otherwise from the memo. */
function platesOf(field: Fields, answers: readonly Json[]): PlateRead[] {
  const found = platesIn(answers);
  if (found.length > 0) return unique(found);
  const plate = plateOf(filledIn(field('plate_number', 'plate')));
  if (plate !== null) return [{ plate, confidence: confidenceOf(field('confidence'), 1), prediction: null }];
  const read = memoEntries(field('memo')).filter(isPlate);
  return unique(
    read.map(({ label, percent }) => ({
      plate: plateOf(label),
      confidence: confidenceOf(percent, 100),
      prediction: null,
    })),
  );
}

/** The label of the vehicle in an alert: from the object detector, otherwise from the memo; null if there is none. */
function vehicleOf(field: Fields, answers: readonly Json[]): string | null {
  const inMemo = memoEntries(field('memo')).find(({ label }) => VEHICLES.has(label.toLowerCase()));
  return vehicleIn(answers) ?? inMemo?.label ?? null;
}

/** The answers of the modules: `found` of each element, or the element itself. `ai_dump` may also be a single element. */
function answersIn(dump: unknown): Json[] {
  return (Array.isArray(dump) ? dump : [dump]).map((item) => {
    const { api, found } = objectOf(item);
    return { api, ...objectOf(found ?? item) };
  });
}

/** What a module found in the image. */
function predictionsOf(answer: Json): readonly unknown[] {
  return arrayOf(answer.predictions);
}

function platesIn(answers: readonly Json[]): PlateRead[] {
  return answers.flatMap((answer) =>
    predictionsOf(answer).flatMap((prediction) => {
      const field = fieldsOf(prediction);
      // The label of a module for plates is `Plate: SGX7923G`; any other label is the name of an object.
      const label = /^plate:(.*)$/is.exec(textOf(field('label')) ?? '')?.[1];
      const isRead = objectOf(prediction).plate !== undefined || /^alpr$/i.test(textOf(answer.api) ?? '');
      if (!isRead) return [];
      const text = field('plate') ?? label;
      return [{ plate: plateOf(text), confidence: confidenceOf(field('confidence'), 1), prediction }];
    }),
  );
}

/** The most probable vehicle that the object detector saw. */
function vehicleIn(answers: readonly Json[]): string | undefined {
  return answers
    .flatMap(predictionsOf)
    .map(fieldsOf)
    .filter((field) => VEHICLES.has((textOf(field('label')) ?? '').toLowerCase()))
    .sort((a, b) => Number(b('confidence') ?? 0) - Number(a('confidence') ?? 0))
    .map((field) => textOf(field('label')) ?? '')[0];
}

/** Some versions of Blue Iris do not replace macros that they do not know, such as &PLATE. */
function filledIn(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && /^&\w+$/.test(text) ? null : text;
}

interface MemoEntry {
  readonly label: string;
  /** Whether the entry says that it is a plate. */
  readonly isMarked: boolean;
  readonly percent: string | null;
}

/**
 * The entries of `car:87%,SGX7923G:94%`. Plates may be marked: `DayPlate [SGX7923G]:94%`, `Plate SGX7923G:94%` and
 * `Plate: SGX7923G:94%`.
 */
function memoEntries(memo: unknown): MemoEntry[] {
  return (filledIn(memo) ?? '').split(',').flatMap((each) => {
    if (each.length > MAX_LABEL) return [];
    const found = /^([^:]+)(?::\s?(\d+(?:\.\d+)?)\s?%?)?$/.exec(each.replace(/^\s*plate:/i, 'plate ').trim());
    const label = found?.[1]?.trim();
    if (!label) return [];
    const marked = /^\w*plate\s?\[([^\]]*)\]$/i.exec(label)?.[1] ?? /^plate\s(.*)$/i.exec(label)?.[1];
    const isMarked = marked !== undefined;
    return [{ label: isMarked ? marked.trim() : label, isMarked, percent: found?.[2] ?? null }];
  });
}

/**
 * Whether an entry is a plate: it is marked as one, or is a single word with a digit and without small letters. Names of
 * models, brands and delivery services (`USPS`, `BMW X5`) are not plates.
 */
function isPlate({ label, isMarked }: MemoEntry): boolean {
  return plateOf(label) !== null && (isMarked || (/\d/.test(label) && !/[\p{Ll}\s]/u.test(label)));
}

/** Both models of a camera may read the same plate; the first reading is used. */
function unique(reads: readonly PlateRead[]): PlateRead[] {
  const plates = new Set<string | null>();
  return reads.filter(({ plate }) => {
    if (plate !== null && plates.has(plate)) return false;
    plates.add(plate);
    return true;
  });
}

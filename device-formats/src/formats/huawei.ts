import { reportedTime } from '../device-time.ts';
import {
  addressesIn,
  fieldAt,
  fieldList,
  fieldText,
  itemsOf,
  knownText,
  objectsIn,
  unreadableReason,
  valuesOf,
} from '../fields.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { fractionOrPercent, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { vehicleEvent } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** What the numbers in `event_type` mean; 75008 is a vehicle without a violation. */
const VIOLATIONS: ReadonlyMap<string, string> = new Map([
  ['75012', 'SPEEDING'],
  ['75009', 'WRONG_WAY'],
  ['74240', 'ILLEGAL_PARKING'],
]);

/** Huawei's video analysis (VIAS): messages to a webhook, with the vehicles of one image. */
export const huawei: Format = {
  name: 'huawei',
  label: 'Huawei VIAS (webhook)',
  transports: ['http'],
  authentication: ['header', 'basic'],
  repeats: false,
  read,
  instructions({ url, token }) {
    return [
      'Open the console of the Video Intelligent Analysis Service, and create or change the task of the vehicle algorithm.',
      'As its output, select Webhook.',
      `URL: ${url}`,
      'Headers: Content-Type with the value application/json.',
      `If the address must not contain a secret, add the header x-api-key with the value ${token}.`,
      'Switch on the output of images (output_image_sw), if images are to be kept, and start the task.',
      'For several cameras in one task, assign the identification of each stream (stream_id) to a sensor in the options of this connection.',
    ];
  },
};

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const values = valuesOf(parts).flatMap((value) => itemsOf(value));
  if (values.length === 0) return without('unreadable', unreadableReason(parts, 'JSON from Huawei VIAS'));
  const reports = values.filter((value) => !isEnd(value)).flatMap((value) => reportsOf(value, context));
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  const [value] = values;
  const device = namesOf(fieldText(value, 'stream_id'));
  if (isEnd(value)) return without('nothing', 'The end of an alarm is not recorded', device);
  return /heartbeat|keep.?alive/i.test(fieldText(value, 'type', 'message_type', 'event_type') ?? '')
    ? without('heartbeat', 'A heartbeat', device)
    : without('nothing', 'The message contains no vehicles', device);
}

/** Whether the alarm is over: a vehicle that was parked has left. */
function isEnd(message: unknown): boolean {
  return fieldText(message, 'alarm_type') === '1';
}

function reportsOf(message: unknown, context: ReadingContext): Report[] {
  const vehicles = vehiclesIn(message);
  return vehicles.map((vehicle, index) => reportOf(message, vehicle, index, vehicles.length, context));
}

/** The objects that describe a vehicle, wherever they are; without any, a message about a known violation counts as one. */
function vehiclesIn(message: unknown): readonly unknown[] {
  const isOwn =
    fieldText(message, 'message_id', 'stream_id', 'task_id', 'data/message_id', 'data/stream_id') !== null ||
    /^\d+$/.test(fieldText(message, 'event_type') ?? '');
  if (!isOwn) return [];
  // Vehicles that break a rule may have neither a plate nor a type.
  const listed = [message, fieldAt(message, 'data')]
    .flatMap((holder) => fieldList(holder, 'vehicles'))
    .filter((vehicle) => typeof vehicle === 'object' && vehicle !== null);
  if (listed.length > 0) return itemsOf(listed);
  const found = objectsIn(message).filter((object) =>
    ['license_plate_id', 'license_plate', 'vehicle_type'].some((name) => fieldAt(object, name) !== undefined),
  );
  if (found.length > 0) return itemsOf(found);
  return VIOLATIONS.has(eventTypeOf(message, null) ?? '') ? [fieldAt(message, 'data') ?? message] : [];
}

function eventTypeOf(message: unknown, vehicle: unknown): string | null {
  return fieldText(vehicle, 'event_type') ?? fieldText(message, 'event_type', 'data/event_type');
}

function reportOf(
  message: unknown,
  vehicle: unknown,
  index: number,
  count: number,
  { zone, options }: ReadingContext,
): Report {
  const find = (...names: string[]) =>
    fieldText(vehicle, ...names) ??
    fieldText(message, ...names) ??
    fieldText(message, ...names.map((name) => `data/${name}`));
  const id = find('message_id');
  const stream = find('stream_id', 'camera_id', 'device_id');
  const time = find('timestamp', 'time', 'event_time');
  const type = eventTypeOf(message, vehicle);
  const named = violationIn(knownText(vehicle, 'violation_type', 'violation'));
  const vehicleType = knownText(vehicle, 'vehicle_type', 'vehicle_type_name');
  const isCode = vehicleType !== null && /^-?\d+$/.test(vehicleType);
  const plate = plateOf(fieldText(vehicle, 'license_plate_id', 'license_plate', 'plate_number'));
  const own = addressesIn(vehicle);
  return {
    key: id ? `${id}/${index}` : stream && time && plate ? [stream, time, plate, index].join('/') : null,
    device: namesOf(stream, find('task_id')),
    ...reportedTime(zone, ['timestamp', time]),
    event: vehicleEvent({
      plate,
      violation: VIOLATIONS.get(type ?? '') ?? (named && violationNamed(named)),
      speed: speedOf(fieldText(vehicle, 'speed', 'vehicle_speed'), options.speedUnit),
      speedLimit: speedOf(find('speed_limit'), options.speedUnit),
      vehicleType: isCode ? null : vehicleType,
      location: positionOf(find('latitude', 'lat'), find('longitude', 'lon', 'lng')),
      // An image inside another vehicle belongs to that one.
      images:
        count > 1 ? [...scenesOf(message), ...own] : [...scenesOf(message), ...own, ...addressesIn(message)],
      confidence: fractionOrPercent(fieldText(vehicle, 'license_plate_confidence', 'confidence', 'score')),
      tags: ['Huawei', find('stream_name', 'camera_name')],
      metadata: {
        vendor: 'huawei',
        device: stream,
        task: find('task_id'),
        alarm: type,
        lane: fieldText(vehicle, 'lane', 'lane_id', 'lane_no'),
        direction: knownText(vehicle, 'direction'),
        country: knownText(vehicle, 'country'),
        region: knownText(vehicle, 'region', 'province'),
        plateColor: knownText(vehicle, 'license_plate_color', 'license_plate_type'),
        make: knownText(vehicle, 'vehicle_brand', 'brand'),
        model: knownText(vehicle, 'vehicle_model'),
        color: knownText(vehicle, 'vehicle_color', 'color'),
        // The numbers are in Huawei's documentation of the algorithm, and differ between algorithms.
        vehicleTypeCode: isCode ? vehicleType : null,
        box: fieldAt(vehicle, 'bounding_box') ?? fieldAt(vehicle, 'bbox') ?? fieldAt(vehicle, 'position'),
        raw: message,
      },
    }),
  };
}

function scenesOf(message: unknown): string[] {
  return [
    ...addressesIn(fieldAt(message, 'image_base64')),
    ...addressesIn(fieldAt(message, 'data/image_base64')),
  ];
}

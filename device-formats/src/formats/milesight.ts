import type { BasicClass } from '@gantry/contract/vehicle-classes';
import { isoTime, reportedTime } from '../device-time.ts';
import {
  addressesIn,
  fieldAt,
  fieldText,
  itemsOf,
  knownText,
  unreadableReason,
  valuesOf,
} from '../fields.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { fractionOrPercent, numberOf, plateOf, speedOf } from '../observed.ts';
import { directionOf, laneOf } from '../passage.ts';
import { intervalBetween, periodFound } from '../periods.ts';
import { type Found, readingOfAll } from '../reading.ts';
import { listTag, vehicleEvent, withValues } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** Milesight's plate readers: HTTP notifications of recognitions, lists, attributes, violations and counts. */
export const milesight: Format = {
  name: 'milesight',
  label: 'Milesight LPR (HTTP notification)',
  transports: ['http'],
  authentication: ['basic', 'digest'],
  repeats: false,
  read,
  instructions({ url, username, password }) {
    return [
      'Open the web page of the camera, and go to Settings > LPR > LPR Management (firmware differs: Integration, or Smart Event), and there to HTTP Notification or Notification Post.',
      'Select Enable. Post Type or Method: HTTP, POST. With GET, the address has no image, and on some cameras only the plate.',
      `HTTP Notification URL: ${url}`,
      `If the page asks for a user name and a password, enter ${username} and ${password}; otherwise the address identifies the camera.`,
      'Snapshot Type: All, so that the image of the plate and the whole image are sent.',
      'Select LPR recognition, and Violation if the camera detects violations. Lists and attributes repeat a recognition, and do not become further events.',
      'Set a device name under System > System Settings, and NTP under System > Date and Time. Give this connection the time zone of the camera, because it sends local time.',
    ];
  },
};

/** The keys of counts of vehicles, as `fieldAt` compares them. */
const COUNTS = ['All-Car', 'All-Motorcycle', 'All-Non-motor', 'Small Vehicle'];
/** The counts that do not overlap, with their classes: cars of all sizes, motorcycles, and bicycles. */
const TOTALS: readonly (readonly [string, BasicClass])[] = [
  ['All-Car', 'UNCLASSIFIED'],
  ['All-Motorcycle', 'MOTORCYCLE'],
  ['All-Non-motor', 'BICYCLE'],
];

/** Events that any object causes, such as `Region Entrance`; what it is stands in one of the fields of `TARGETS`. */
const ZONE_EVENT = /region|intrusion|entrance|exit|line|loiter|motion|object/i;
const TARGETS = [
  'object_type',
  'target_type',
  'detection_target',
  'detect_target',
  'target',
  'object',
  'class',
];
const VEHICLE = /vehicle|\b(?:car|truck|bus|van|motor(?:bike|cycle)|lorry|suv)\b/i;

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const isQuery = parts.every(({ name, content }) => name !== null && content.kind === 'text');
  const sent = valuesOf(parts).flatMap((value) => itemsOf(value));
  const values = isQuery ? sent.map(withPlateOfQuery) : sent;
  if (values.length === 0)
    return without('unreadable', unreadableReason(parts, 'JSON from a Milesight camera'));
  const readings = values.map((value) => readOne(value, context, isQuery));
  const reports = readings.flatMap((each) => each.reports);
  const periods = readings.flatMap((each) => each.periods ?? []);
  const counts = periods.length > 0 ? { periods } : {};
  if (reports.length > 0) return { reports, ...counts, is: 'reports', note: null };
  return { ...(readings.find((each) => each.periods) ?? (readings[0] as Reading)), ...counts };
}

/**
 * A notification by GET has the fields of the JSON, or `Caption=LPR&description=<plate>`, which some cameras append to
 * the address (by the maker's documentation).
 */
function withPlateOfQuery(value: unknown): unknown {
  const fields = fieldsOf(value);
  return /^lpr$/i.test(textOf(fields('caption')) ?? '') && fields('plate') === undefined
    ? { ...objectOf(value), plate: fields('description') }
    : value;
}

/** @param isQuery whether the value is the query of a GET request, which need not name the camera or the time */
function readOne(value: unknown, context: ReadingContext, isQuery: boolean): Reading {
  const kind = fieldText(value, 'event', 'event_type') ?? '';
  const device = namesOf(fieldText(value, 'device_id', 'mac', 'sn'), fieldText(value, 'device'));
  if (/count/i.test(kind) || COUNTS.some((name) => fieldText(value, name) !== null)) {
    return readingOfAll([countOf(value, device, context)], 'The message has no count', device);
  }
  if (/heartbeat|keep.?alive/i.test(kind)) return without('heartbeat', 'A heartbeat', device);
  if (/parking/i.test(kind) && plateOf(fieldText(value, 'plate')) === null) {
    return without('status', 'The state of parking spaces is not recorded', device);
  }
  if (ZONE_EVENT.test(kind) && plateOf(fieldText(value, 'plate', 'license_plate')) === null) {
    const target = knownText(value, ...TARGETS) ?? knownText(value, 'vehicle_type') ?? '';
    return VEHICLE.test(target)
      ? { reports: [reportOf(value, device, context)], is: 'reports', note: null }
      : without(
          'nothing',
          `${kind} by ${target === '' ? 'an unknown object' : target} is not recorded`,
          device,
        );
  }
  const known = [
    'plate',
    'license_plate',
    'violation_type',
    'vehicle_type',
    'plate_image',
    'full_image',
    'list_type',
  ];
  const isOwn = isQuery || fieldText(value, 'device', 'time', 'time_msec') !== null;
  return isOwn && known.some((name) => fieldAt(value, name) !== undefined)
    ? { reports: [reportOf(value, device, context)], is: 'reports', note: null }
    : without('nothing', 'The message contains no recognition');
}

/** The counts of a message that names their interval. Without one, they may be running totals, which no count can be made of. */
function countOf(value: unknown, device: readonly string[], { zone }: ReadingContext): Found {
  const start = isoTime(fieldText(value, 'start_time', 'begin_time') ?? '', zone);
  const end = isoTime(fieldText(value, 'end_time', 'stop_time') ?? '', zone);
  if (start === null || end === null) {
    return {
      is: 'aggregate',
      note: 'Counts of vehicles that do not name their interval, and may be running totals, are not read',
    };
  }
  const counts = TOTALS.flatMap(([name, code]): [string, number][] => {
    const number = numberOf(fieldText(value, name));
    return number === null || number < 0 ? [] : [[code, number]];
  });
  return periodFound(device, intervalBetween(start, end), {
    direction: directionOf(fieldText(value, 'direction')) ?? undefined,
    lane: laneOf(fieldText(value, 'detection_region', 'lane', 'region_name')) ?? undefined,
    ...(counts.length === 0
      ? { volume: null }
      : { byClass: { scheme: 'BASIC', counts: Object.fromEntries(counts) } }),
  });
}

function reportOf(value: unknown, device: readonly string[], { zone, options }: ReadingContext): Report {
  const plate = plateOf(fieldText(value, 'plate', 'license_plate', 'plate_number'));
  const name = fieldText(value, 'device');
  const time = fieldText(value, 'time_msec', 'time', 'timestamp');
  const violation = violationIn(knownText(value, 'violation_type', 'violation'));
  const list = knownText(value, 'list_type', 'type', 'plate_list');
  const image = (field: string) => addressesIn(fieldAt(value, field));
  return {
    // The list, the attributes and the recognition of a vehicle are one event; a violation is another one. Without a
    // plate, only the milliseconds tell vehicles apart.
    key: time
      ? [device[0] ?? '', plate === null ? time : seconds(time), plate ?? '', violation ?? ''].join('/')
      : null,
    device,
    ...reportedTime(zone, ['time', time]),
    event: vehicleEvent({
      plate,
      violation: violation && violationNamed(violation),
      speed: speedOf(fieldText(value, 'speed'), options.speedUnit),
      speedLimit: speedOf(fieldText(value, 'speed_limit', 'limit_speed'), options.speedUnit),
      vehicleType: knownText(value, 'vehicle_type'),
      images: [
        ...image('full_image'),
        ...image('snapshot'),
        ...image('evidence_image0'),
        ...image('evidence_image1'),
        ...image('plate_image'),
        ...addressesIn(value),
      ],
      confidence: fractionOrPercent(fieldText(value, 'confidence')),
      tags: ['Milesight', name, listTag(list)],
      metadata: {
        vendor: 'milesight',
        device: name,
        alarm: fieldText(value, 'event'),
        direction: knownText(value, 'direction'),
        lane: fieldText(value, 'detection_region', 'lane', 'region_name'),
        country: knownText(value, 'country'),
        region: knownText(value, 'region'),
        plateColor: knownText(value, 'plate_color'),
        plateType: knownText(value, 'plate_type'),
        make: knownText(value, 'vehicle_brand', 'brand'),
        model: knownText(value, 'vehicle_model'),
        color: knownText(value, 'vehicle_color'),
        listName: list,
        violationName: violation,
        box: withValues({
          x1: fieldText(value, 'coordinate_x1'),
          y1: fieldText(value, 'coordinate_y1'),
          x2: fieldText(value, 'coordinate_x2'),
          y2: fieldText(value, 'coordinate_y2'),
        }),
        raw: value,
      },
    }),
  };
}

/** The time without its milliseconds, which only recognitions have. */
function seconds(time: string): string {
  return time.replace(/(:\d{2})\.\d+$/, '$1');
}

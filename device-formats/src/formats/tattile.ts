import { isoTime, type ReportedTime, reportedTime, type Zone } from '../device-time.ts';
import {
  addressesIn,
  fieldAt,
  fieldText,
  imagesIn,
  itemsOf,
  knownText,
  objectsIn,
  unreadableReason,
  valuesOf,
} from '../fields.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { listTag, vehicleEvent, withValues } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** Tattile's plate readers: a message of the fields that were chosen in the camera, in XML or JSON. */
export const tattile: Format = {
  name: 'tattile',
  label: 'Tattile (HTTP action)',
  transports: ['http'],
  authentication: ['basic'],
  repeats: false,
  read,
  instructions({ url, username, password }) {
    return [
      'Open the web page of the camera, and add an action of the type HTTP POST (under Actions or Event Manager) to the event of a read plate.',
      `Address: ${url}`,
      `If it asks for a user name and a password, enter ${username} and ${password}; otherwise the address identifies the camera.`,
      'Content: XML, with a root element of any name and one element for each field.',
      'Fields: PLATE_STRING, DATE, TIME, DEVICE_SN, DEVICE_NAME, OCRSCORE, DIRECTION, LANE_ID, PLATE_COUNTRY_CODE, IMAGE_CTX, IMAGE_OCR; SPEED and CLASS_STRING where the camera measures them.',
      'Add an action for plates that were not read, if those vehicles are to be recorded too.',
      'Set the clock by NTP, and give this connection the time zone of the camera, because it sends local time.',
    ];
  },
};

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const values = valuesOf(parts);
  if (values.length === 0)
    return without('unreadable', unreadableReason(parts, 'XML or JSON from a Tattile camera'));
  // Messages of other makers have a `plate` in lower case.
  const messages = values.flatMap((value) =>
    objectsIn(value).filter(
      (object) => fieldAt(object, 'PLATE_STRING') !== undefined || Object.hasOwn(object, 'PLATE'),
    ),
  );
  const reports = itemsOf(messages).map((message) => reportOf(message, imagesIn(parts), context));
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  const device = namesOf(fieldText(values[0], 'DEVICE_SN', 'SN'), fieldText(values[0], 'DEVICE_NAME'));
  return device.length > 0
    ? without('status', 'The message is about the device, not about a vehicle', device)
    : without('nothing', 'The message has no field PLATE_STRING');
}

function reportOf(message: unknown, images: readonly string[], { zone, options }: ReadingContext): Report {
  const plate = plateOf(fieldText(message, 'PLATE_STRING', 'PLATE'));
  const [serial, name] = [
    fieldText(message, 'DEVICE_SN', 'SN'),
    fieldText(message, 'DEVICE_NAME', 'NETBIOSNAME'),
  ];
  const [date, time] = [fieldText(message, 'DATE'), fieldText(message, 'TIME')];
  const violation = violationIn(knownText(message, 'VIOLATION', 'VIOLATION_TYPE', 'INFRACTION'));
  const list = knownText(message, 'LIST_NAME', 'LIST', 'LIST_TYPE');
  const transit = fieldText(message, 'TRANSIT_ID', 'ID_TRANSIT');
  const lane = fieldText(message, 'LANE_ID');
  return {
    // Vehicles whose plates were not read may pass at the same time in different lanes.
    key: date && time ? [serial ?? name ?? '', date, time, plate ?? transit ?? lane ?? ''].join('/') : null,
    device: namesOf(serial, name),
    ...timeOf(date, time, zone),
    event: vehicleEvent({
      plate,
      violation: violation && violationNamed(violation),
      // Whether the speed is measured depends on the camera. Its unit is not documented: that of the connection is assumed.
      speed: speedOf(fieldText(message, 'SPEED', 'VEHICLE_SPEED'), options.speedUnit),
      speedLimit: speedOf(fieldText(message, 'SPEED_LIMIT'), options.speedUnit),
      vehicleType: knownText(message, 'CLASS_STRING', 'VEHICLE_TYPE', 'VEHICLE_CLASS'),
      location: positionOf(
        fieldText(message, 'LATITUDE', 'GPS_LAT'),
        fieldText(message, 'LONGITUDE', 'GPS_LON'),
      ),
      images: [
        ...['IMAGE_CTX', 'IMAGE_COL', 'IMAGE_OCR', 'IMAGE_BW'].flatMap((field) =>
          addressesIn(fieldAt(message, field)),
        ),
        ...addressesIn(message),
        ...images,
      ],
      confidence: confidenceOf(fieldText(message, 'OCRSCORE', 'OCR_SCORE'), 100),
      tags: ['Tattile', name, listTag(list)],
      metadata: {
        vendor: 'tattile',
        device: serial,
        deviceName: name,
        direction: knownText(message, 'DIRECTION'),
        lane,
        laneName: knownText(message, 'LANE_DESCR'),
        country: knownText(message, 'PLATE_COUNTRY_CODE', 'PLATE_COUNTRY'),
        countryName: knownText(message, 'PLATE_COUNTRY'),
        region: knownText(message, 'PLATE_REGION', 'PLATE_STATE'),
        make: knownText(message, 'BRAND', 'VEHICLE_BRAND'),
        model: knownText(message, 'MODEL', 'VEHICLE_MODEL'),
        color: knownText(message, 'COLOR', 'VEHICLE_COLOR'),
        listName: list,
        box: withValues({
          x1: fieldText(message, 'ORIG_PLATE_MIN_X', 'PLATE_MIN_X'),
          y1: fieldText(message, 'ORIG_PLATE_MIN_Y', 'PLATE_MIN_Y'),
          x2: fieldText(message, 'ORIG_PLATE_MAX_X', 'PLATE_MAX_X'),
          y2: fieldText(message, 'ORIG_PLATE_MAX_Y', 'PLATE_MAX_Y'),
        }),
        raw: message,
      },
    }),
  };
}

/** The time of a text such as `12-34-56-789`, `12:34:56.789` or `15:42:10`, with the date in one of its spellings. */
function timeOf(date: string | null, time: string | null, zone: Zone): ReportedTime {
  const day = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})$/.exec(date ?? '');
  const hour = /^(\d{1,2})[-:.]?(\d{2})[-:.]?(\d{2})(?:[-:.](\d{1,3}))?$/.exec(time ?? '');
  const european = /^(\d{2})[-/.](\d{2})[-/.](\d{4})$/.exec(date ?? '');
  const ymd = day ? day.slice(1) : european ? european.slice(1).reverse() : null;
  const moment = `${date ?? ''} ${time ?? ''}`.trim();
  if (!ymd || !hour) return reportedTime(zone, ['DATE and TIME', moment]);
  const [, h = '', m, s, ms] = hour;
  const iso = `${ymd.join('-')}T${h.padStart(2, '0')}:${m}:${s}.${(ms ?? '0').padEnd(3, '0')}`;
  return reportedTime(zone, ['DATE and TIME', moment, () => isoTime(iso, zone)]);
}

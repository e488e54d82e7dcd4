import { DAY_MS } from '@gantry/contract/durations';
import { inZone, isoTime, type ReportedTime, reportedTime, timeIn, type Zone } from '../device-time.ts';
import { knownText } from '../fields.ts';
import type { Format, Reading, ReadingContext, Report } from '../format.ts';
import { arrayOf, type Fields, fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';
import { asJson } from '../xml.ts';

/**
 * Genetec AutoVu Sharp cameras over HTTP: the read events of SharpOS (`PlateRead`, `Timestamp`, `PlateAnalytics`), and
 * templates with `Plate`, `DateUtc` and `TimeUtc`, in JSON or XML. From documentation only: no capture was available.
 */
export const genetec: Format = {
  name: 'genetec',
  label: 'Genetec AutoVu (Sharp, HTTP)',
  transports: ['http'],
  authentication: ['basic'],
  // Whether a Sharp camera resends after an error is not confirmed.
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, username, password }) => [
    'Log on to the Sharp Portal of the camera, and open Configuration, Extension.',
    'Select the extension HTTP and the format JSON.',
    `Server address: ${url}`,
    `If credentials are asked for: user ${username}, password ${password}. The address contains the token already.`,
    'Enable context and plate images, and save.',
    'If you use a template of your own, name the fields CameraName, Plate, DateUtc (dd/mm/yyyy), TimeUtc, ConfidenceScore, ContextImage and PlateImage.',
    'If several cameras use this address, enter the name of each in the option sensors.',
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const documents = message.parts.flatMap(({ content }) =>
    content.kind === 'xml' ? [asJson(content.root)] : [],
  );
  const reads = [...jsonValues(message), ...documents]
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isRead);
  if (reads.length === 0) return notRead(message, 'a plate read of Genetec');
  return {
    reports: reads.map((each, index) =>
      reportOf(each, { message, context, index: reads.length > 1 ? index : null }),
    ),
    is: 'reports',
    note: null,
  };
}

interface Surroundings {
  readonly message: DeviceMessage;
  readonly context: ReadingContext;
  readonly index: number | null;
}

function reportOf(value: unknown, { message, context, index }: Surroundings): Report {
  const field = fieldsOf(value);
  const attribute = attributesOf(field('Attributes', 'PlateAnalytics', 'CustomFields'));
  const plate = plateOf(field('Plate', 'PlateRead', 'PlateNumber'));
  const device = namesOf(
    field('CameraName', 'LprCameraName'),
    field('SourceUrl', 'SourceName', 'SharpName', 'UnitName'),
    field('ContextCameraName'),
  );
  const text = (...names: readonly string[]) => knownText(field(...names) ?? attribute(...names));
  return {
    key: keyOf(field, device, index),
    device,
    ...timeOf(field, context.zone, message.receivedAt),
    event: vehicleEvent({
      plate,
      speed: speedOf(field('Speed') ?? attribute('Speed', 'Vehicle Speed'), context.options.speedUnit),
      vehicleType: text('VehicleType'),
      location: positionOf(field('Latitude', 'LatitudeY'), field('Longitude', 'LongitudeX')),
      images: [
        ...imageUrls(field('ContextImage'), field('OverviewImage'), field('PlateImage')),
        ...imagesIn(message),
      ],
      confidence: confidenceOf(field('ConfidenceScore') ?? attribute('Confidence Score'), 100),
      tags: ['genetec', device[0], text('HotlistName', 'Hotlist')],
      metadata: {
        vendor: 'genetec',
        device: device[0],
        direction: text('Relative Motion', 'Direction'),
        lane: text('Lane', 'LaneName'),
        country: text('Country', 'Context'),
        region: text('State', 'State Name', 'PlateState'),
        make: text('Vehicle Make'),
        model: text('Vehicle Model'),
        color: text('Vehicle Color'),
        listName: text('HotlistName', 'Hotlist'),
        raw: value,
      },
    }),
  };
}

/** An object, or a list of keys and values; in XML the list is repeated inside an element of the same name. */
function attributesOf(given: unknown): Fields {
  const inner = fieldsOf(given)('PlateAnalytics', 'Attribute', 'CustomField') ?? given;
  const list = Array.isArray(inner) ? inner : fieldsOf(inner)('Key') === undefined ? [] : [inner];
  if (list.length === 0) return fieldsOf(given);
  return fieldsOf(
    Object.fromEntries(
      arrayOf(list).flatMap((each) => {
        const { Key: key, Value: value, Name: name } = objectOf(each);
        const title = textOf(key) ?? textOf(name);
        return title === null ? [] : [[title, value]];
      }),
    ),
  );
}

function keyOf(field: Fields, device: readonly string[], index: number | null): string | null {
  const id = textOf(field('Id', 'Guid', 'ReadId'));
  if (id !== null) return reportKey(id);
  const moment = [field('DateUtc', 'UtcDate', 'Timestamp'), field('TimeUtc', 'UtcTime')].map(textOf);
  if (moment.every((each) => each === null)) return null;
  return reportKey(device[0], ...moment, textOf(field('Plate', 'PlateRead')), index);
}

/**
 * The time of a read. In `DateUtc`, the day or the month comes first, depending on the template: of two possible times, the
 * later one that is at most a day after the time of receipt is used. `Timestamp` has an offset or is in UTC.
 */
function timeOf(field: Fields, zone: Zone, receivedAt: number): ReportedTime {
  const day = textOf(field('DateUtc', 'UtcDate'));
  const utc = inZone(zone, 'utc');
  if (day === null) {
    return reportedTime(utc, ['Timestamp', field('Timestamp', 'TimestampUtc', 'DateTimeUtc')]);
  }
  const moment = `${day} ${textOf(field('TimeUtc', 'UtcTime')) ?? '00:00:00'}`;
  return reportedTime(utc, [
    'DateUtc',
    moment,
    () => isoTime(moment, utc) ?? timeInOrder(moment, receivedAt),
  ]);
}

/** The time of a text whose date is in an order that its other fields do not tell. */
function timeInOrder(moment: string, receivedAt: number): number | null {
  const inOrder = (date: string): number | null =>
    timeIn(
      moment,
      [`${date} HH:mm:ss`, `${date} HH:mm:ss.SSS`, `${date} H:m:s`, `${date} hh:mm:ss a`],
      'utc',
    );
  const dayFirst = inOrder('d/M/yyyy') ?? inOrder('d-M-yyyy') ?? inOrder('d.M.yyyy');
  const monthFirst = inOrder('M/d/yyyy') ?? inOrder('M-d-yyyy');
  const latest = receivedAt + DAY_MS;
  const past = [dayFirst, monthFirst].flatMap((each) => (each !== null && each <= latest ? each : []));
  return past.length > 0 ? Math.max(...past) : (dayFirst ?? monthFirst);
}

function isRead(value: unknown): boolean {
  const field = fieldsOf(value);
  if (field('PlateRead') !== undefined) return true;
  // A plate that was not read is empty; the message is then recognized by its time and camera.
  return (
    field('DateUtc', 'UtcDate', 'LprCameraName') !== undefined &&
    field('CameraName', 'LprCameraName', 'SharpName', 'SourceName', 'Plate') !== undefined
  );
}

import { epochTime, reportedTime } from '../device-time.ts';
import {
  addressesIn,
  anyText,
  fieldAt,
  fieldList,
  fieldText,
  imagesIn,
  itemsOf,
  knownText,
  nameOnly,
  objectsIn,
  unreadableReason,
  valuesOf,
} from '../fields.ts';
import {
  addressParts,
  type Format,
  type Reading,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { listTag, vehicleEvent } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

const LIST = 'VehicleInfoList';

/**
 * Uniview (UNV): notifications of LAPI with structured data. From documentation only: no message of a device was available;
 * the structure is from public descriptions of LAPI and from programs that read it.
 */
export const uniview: Format = {
  name: 'uniview',
  label: 'Uniview (LAPI notifications)',
  transports: ['http'],
  authentication: ['digest', 'basic'],
  repeats: false,
  read,
  instructions({ url, username, password }) {
    const { host, port, path } = addressParts(url);
    return [
      'This format is supported from the documentation only; please check the first messages that arrive.',
      'Open the web page of the camera or NVR, and go to Setup > Network > HTTP(S) Notification or Upload to Server; without such a page, subscribe through LAPI with a request to /LAPI/V1.0/System/Event/Subscription of the device.',
      `Server address: ${host}. Port: ${port}.`,
      `Path or URL: ${path}. The device may add /LAPI/V1.0/System/Event/Notification and the type of the event to it.`,
      `If it asks for a user name and a password, enter ${username} and ${password}.`,
      'Select structured data of vehicles (license plate recognition, vehicle capture), with images.',
      'Set time zone and NTP, and give this connection the same time zone: capture times are local.',
    ];
  },
};

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const values = valuesOf(parts).flatMap((value) => itemsOf(value));
  if (values.length === 0)
    return without('unreadable', unreadableReason(parts, 'JSON from a Uniview device'));
  const images = imagesIn(parts);
  const reports = values.flatMap((value) => reportsOf(value, images, context));
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  const [value] = values;
  const device = namesOfDevice(value);
  const alarm = anyText(value, 'AlarmType');
  if (alarm !== null) return without('status', `The device reports ${alarm}`, device);
  return objectsIn(value).some((object) => fieldText(object, 'RefId', 'HeartBeat', 'KeepAlive') !== null)
    ? without('heartbeat', 'A heartbeat', device)
    : without('nothing', 'The message contains no vehicles', device);
}

function reportsOf(message: unknown, images: readonly string[], context: ReadingContext): Report[] {
  const holders = objectsIn(message).filter((object) => fieldAt(object, LIST) !== undefined);
  const vehicles = holders
    .flatMap((holder) => fieldList(holder, LIST))
    .filter((vehicle) => typeof vehicle === 'object' && vehicle !== null);
  const all = [
    ...addressesIn(fieldAt(message, 'StructureInfo/ImageInfoList')),
    ...addressesIn(message),
    ...images,
  ];
  return itemsOf(vehicles).map((vehicle, index) => {
    const own = vehicles.length > 1 ? imagesOf(message, vehicle) : [];
    return reportOf(message, vehicle, index, own.length > 0 ? own : all, context);
  });
}

function reportOf(
  message: unknown,
  vehicle: unknown,
  index: number,
  images: readonly string[],
  { zone, options }: ReadingContext,
): Report {
  const plate = plateOf(fieldText(vehicle, 'PlateAttributeInfo/PlateNo', 'PlateNo', 'PlateNumber'));
  const attributes = fieldAt(vehicle, 'VehicleAttributeInfo');
  const type = knownText(attributes, 'TypeName', 'VehicleType', 'Type');
  const color = knownText(attributes, 'ColorName', 'VehicleColor', 'Color');
  const make = knownText(attributes, 'VehicleBrandName', 'Brand', 'VehicleBrand');
  const passed =
    fieldText(vehicle, 'PassTime', 'CaptureTime', 'AppearTime') ?? anyText(message, 'CaptureTime');
  const violation = violationIn(
    knownText(vehicle, 'ViolationType', 'ViolationName', 'PeccancyType', 'IllegalType'),
  );
  const device = namesOfDevice(message);
  const reference = anyText(message, 'RelatedID', 'RecordID', 'Seq', 'NotificationSeq');
  const time = passed ?? anyText(message, 'TimeStamp', 'Time');
  const id = fieldText(vehicle, 'ID', 'VehicleID') ?? String(index);
  const belts = [
    fieldText(attributes, 'DriverSeatBeltStatus'),
    fieldText(attributes, 'CodriverSeatBeltStatus'),
  ];
  const list = knownText(vehicle, 'ListType', 'LibType', 'PlateAttributeInfo/ListType');
  return {
    key: time || reference ? [device[0] ?? '', reference ?? '', time ?? '', id, plate ?? ''].join('/') : null,
    device,
    ...reportedTime(
      zone,
      ['PassTime', passed],
      ['TimeStamp', anyText(message, 'TimeStamp', 'Time'), epochTime],
    ),
    event: vehicleEvent({
      plate,
      isBeltMissing: belts.some((belt) => /^(?:no|without.*|unfastened|off)$/i.test(belt ?? '')),
      violation: violation && violationNamed(violation),
      speed: speedOf(
        fieldText(attributes, 'SpeedValue', 'Speed') ?? fieldText(vehicle, 'Speed'),
        options.speedUnit,
      ),
      speedLimit: speedOf(anyText(vehicle, 'SpeedLimit', 'LimitSpeed'), options.speedUnit),
      // LAPI numbers types, colors and makes; the sources that were available do not say what the numbers mean.
      vehicleType: nameOnly(type),
      images,
      confidence: confidenceOf(fieldText(vehicle, 'PlateAttributeInfo/Confidence', 'Confidence'), 100),
      tags: ['Uniview', anyText(message, 'SrcName', 'DeviceName'), listTag(list)],
      metadata: {
        vendor: 'uniview',
        device: anyText(message, 'DeviceCode', 'SerialNumber', 'DeviceID'),
        channel: anyText(message, 'SrcID', 'ChannelID'),
        lane: fieldText(vehicle, 'LaneInfo/ID', 'LaneID', 'LaneNo'),
        direction:
          knownText(vehicle, 'LaneInfo/Direction', 'Direction') ?? knownText(attributes, 'Direction'),
        country: knownText(vehicle, 'PlateAttributeInfo/Country'),
        region: knownText(vehicle, 'PlateAttributeInfo/Region', 'PlateAttributeInfo/Area'),
        plateColor: knownText(vehicle, 'PlateAttributeInfo/Color'),
        plateType: knownText(vehicle, 'PlateAttributeInfo/Type'),
        make: nameOnly(make),
        makeCode: nameOnly(make) === null ? make : null,
        color: nameOnly(color),
        colorCode: nameOnly(color) === null ? color : null,
        vehicleTypeCode: nameOnly(type) === null ? type : null,
        violationName: violation,
        listName: list,
        box: fieldText(vehicle, 'Position'),
        raw: message,
      },
    }),
  };
}

/** The images of the message to which the vehicle refers by their indexes. */
function imagesOf(message: unknown, vehicle: unknown): string[] {
  const names = ['LargePicAttachIndex', 'SmallPicAttachIndex', 'PlatePicAttachIndex'];
  const indexes = names.map((name) => fieldText(vehicle, name)).filter((index) => index !== null);
  return indexes.flatMap((index) =>
    fieldList(message, 'StructureInfo/ImageInfoList')
      .filter((image) => fieldText(image, 'Index') === index)
      .flatMap(addressesIn),
  );
}

function namesOfDevice(message: unknown): string[] {
  return namesOf(
    anyText(message, 'SrcID', 'AlarmSrcID', 'ChannelID'),
    anyText(message, 'DeviceCode', 'SerialNumber', 'DeviceID'),
    anyText(message, 'SrcName', 'AlarmSrcName', 'DeviceName'),
  );
}

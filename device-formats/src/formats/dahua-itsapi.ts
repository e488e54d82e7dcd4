import { reportedTime } from '../device-time.ts';
import { addressesIn, anyText, fieldAt, fieldText, knownText } from '../fields.ts';
import { type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { namesOf } from '../json-values.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { vehicleEvent } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** Whether the value is a message of ITSAPI: a recognition, a heartbeat, or a description of the device. */
export function isItsapi(value: unknown): boolean {
  return pictureOf(value) !== null || isKeepAlive(value) || fieldText(value, 'DeviceModel') !== null;
}

/** What the message says of a vehicle: in `Picture`, or without that wrapper. */
function pictureOf(value: unknown): unknown {
  const picture = fieldAt(value, 'Picture');
  if (typeof picture === 'object' && picture !== null) return picture;
  const isEvent = ['Code', 'Events', 'Data', 'TrafficCar', 'EventBaseInfo', 'params'].some(
    (name) => fieldAt(value, name) !== undefined,
  );
  const has = (name: string) => typeof fieldAt(value, name) === 'object';
  const others = ['Vehicle', 'NormalPic', 'VehiclePic', 'CutoutPic'];
  const isBare = has('SnapInfo') || (has('Plate') && others.some(has));
  return isBare && !isEvent ? value : null;
}

function isKeepAlive(value: unknown): boolean {
  return fieldText(value, 'Active') !== null && fieldText(value, 'Code', 'Action') === null;
}

/** Reads the messages of ITSAPI (`/NotificationInfo/…`). */
export function readItsapi(
  values: readonly unknown[],
  pictures: readonly string[],
  context: ReadingContext,
): Reading {
  const reports = values.flatMap((value) => {
    const picture = pictureOf(value);
    return picture === null ? [] : [tollgateReport(value, picture, pictures, context)];
  });
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  const [value] = values;
  const device = namesOf(fieldText(value, 'DeviceID'), fieldText(value, 'DeviceName'));
  if (isKeepAlive(value)) return without('heartbeat', 'A heartbeat', device);
  return fieldText(value, 'DeviceModel') === null
    ? without('nothing', 'The message has no picture', device)
    : without('status', 'The description of the device', device);
}

function tollgateReport(
  value: unknown,
  picture: unknown,
  pictures: readonly string[],
  { zone, options }: ReadingContext,
): Report {
  const exists = !/^(?:false|0)$/i.test(fieldText(picture, 'Plate/IsExist') ?? '');
  const plate = exists ? plateOf(fieldText(picture, 'Plate/PlateNumber')) : null;
  const id = fieldText(picture, 'SnapInfo/DeviceID') ?? fieldText(value, 'DeviceID');
  const channel = fieldText(picture, 'SnapInfo/Channel', 'Plate/Channel', 'Channel');
  const time = fieldText(picture, 'SnapInfo/AccurateTime', 'SnapInfo/SnapTime');
  const lane = fieldText(picture, 'SnapInfo/LanNo', 'SnapInfo/Lane', 'SnapInfo/LaneNo');
  const code = knownText(picture, 'SnapInfo/ViolationCode', 'ViolationCode', 'Violation/Code');
  const violation = anyText(picture, 'ViolationName', 'ViolationDesc') ?? code;
  const isYes = (name: string) => fieldText(picture, `SnapInfo/${name}`)?.toLowerCase() === 'true';
  const make = knownText(picture, 'Vehicle/VehicleSign');
  const belts = [anyText(picture, 'MainSeat', 'SafeBelt'), anyText(picture, 'SubSeat')];
  return {
    // Vehicles whose plates were not read may pass at the same time in different lanes.
    key: time && (id || plate) ? [id ?? '', time, plate ?? lane ?? '', channel ?? ''].join('/') : null,
    device: namesOf(channel, id, fieldText(picture, 'SnapInfo/DeviceName')),
    ...reportedTime(zone, ['AccurateTime', time]),
    event: vehicleEvent({
      plate,
      isBeltMissing: belts.some((belt) => /^without/i.test(belt ?? '')),
      violation:
        violationIn(code) !== null && violationIn(violation) !== null
          ? violationNamed(violation ?? '')
          : null,
      speed: speedOf(anyText(picture, 'Speed', 'VehicleSpeed'), options.speedUnit),
      speedLimit: speedOf(anyText(picture, 'SpeedLimit', 'UpperSpeedLimit'), options.speedUnit),
      vehicleType: knownText(picture, 'Vehicle/VehicleType'),
      location: positionOf(anyText(picture, 'Latitude'), anyText(picture, 'Longitude')),
      images: [
        ...['NormalPic', 'VehiclePic', 'CutoutPic'].flatMap((name) => addressesIn(fieldAt(picture, name))),
        ...addressesIn(value),
        ...pictures,
      ],
      confidence: confidenceOf(fieldText(picture, 'Plate/Confidence'), 100),
      tags: [
        'Dahua',
        knownText(picture, 'SnapInfo/SnapAddress', 'SnapInfo/DeviceName'),
        isYes('AllowUser') ? 'allow' : null,
        isYes('BlockUser') ? 'block' : null,
      ],
      metadata: {
        vendor: 'dahua',
        device: id,
        channel,
        address: knownText(picture, 'SnapInfo/SnapAddress'),
        direction: knownText(picture, 'SnapInfo/Direction'),
        lane,
        country: knownText(picture, 'Plate/Country'),
        region: knownText(picture, 'Plate/Region', 'Plate/Province'),
        plateColor: knownText(picture, 'Plate/PlateColor'),
        plateType: knownText(picture, 'Plate/PlateType'),
        make,
        model: knownText(picture, 'Vehicle/VehicleSeries'),
        color: knownText(picture, 'Vehicle/VehicleColor'),
        violationCode: code,
        box: fieldAt(picture, 'Plate/BoundingBox'),
        raw: value,
      },
    }),
  };
}

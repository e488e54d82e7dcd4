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
  return imageOf(value) !== null || isKeepAlive(value) || fieldText(value, 'DeviceModel') !== null;
}

/** What the message says of a vehicle: in `Image`, or without that wrapper. */
function imageOf(value: unknown): unknown {
  const image = fieldAt(value, 'Picture');
  if (typeof image === 'object' && image !== null) return image;
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
  images: readonly string[],
  context: ReadingContext,
): Reading {
  const reports = values.flatMap((value) => {
    const image = imageOf(value);
    return image === null ? [] : [tollgateReport(value, image, images, context)];
  });
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  const [value] = values;
  const device = namesOf(fieldText(value, 'DeviceID'), fieldText(value, 'DeviceName'));
  if (isKeepAlive(value)) return without('heartbeat', 'A heartbeat', device);
  return fieldText(value, 'DeviceModel') === null
    ? without('nothing', 'The message has no image', device)
    : without('status', 'The description of the device', device);
}

function tollgateReport(
  value: unknown,
  image: unknown,
  images: readonly string[],
  { zone, options }: ReadingContext,
): Report {
  const exists = !/^(?:false|0)$/i.test(fieldText(image, 'Plate/IsExist') ?? '');
  const plate = exists ? plateOf(fieldText(image, 'Plate/PlateNumber')) : null;
  const id = fieldText(image, 'SnapInfo/DeviceID') ?? fieldText(value, 'DeviceID');
  const channel = fieldText(image, 'SnapInfo/Channel', 'Plate/Channel', 'Channel');
  const time = fieldText(image, 'SnapInfo/AccurateTime', 'SnapInfo/SnapTime');
  const lane = fieldText(image, 'SnapInfo/LanNo', 'SnapInfo/Lane', 'SnapInfo/LaneNo');
  const code = knownText(image, 'SnapInfo/ViolationCode', 'ViolationCode', 'Violation/Code');
  const violation = anyText(image, 'ViolationName', 'ViolationDesc') ?? code;
  const isYes = (name: string) => fieldText(image, `SnapInfo/${name}`)?.toLowerCase() === 'true';
  const make = knownText(image, 'Vehicle/VehicleSign');
  const belts = [anyText(image, 'MainSeat', 'SafeBelt'), anyText(image, 'SubSeat')];
  return {
    // Vehicles whose plates were not read may pass at the same time in different lanes.
    key: time && (id || plate) ? [id ?? '', time, plate ?? lane ?? '', channel ?? ''].join('/') : null,
    device: namesOf(channel, id, fieldText(image, 'SnapInfo/DeviceName')),
    ...reportedTime(zone, ['AccurateTime', time]),
    event: vehicleEvent({
      plate,
      isBeltMissing: belts.some((belt) => /^without/i.test(belt ?? '')),
      violation:
        violationIn(code) !== null && violationIn(violation) !== null
          ? violationNamed(violation ?? '')
          : null,
      speed: speedOf(anyText(image, 'Speed', 'VehicleSpeed'), options.speedUnit),
      speedLimit: speedOf(anyText(image, 'SpeedLimit', 'UpperSpeedLimit'), options.speedUnit),
      vehicleType: knownText(image, 'Vehicle/VehicleType'),
      location: positionOf(anyText(image, 'Latitude'), anyText(image, 'Longitude')),
      images: [
        ...['NormalPic', 'VehiclePic', 'CutoutPic'].flatMap((name) => addressesIn(fieldAt(image, name))),
        ...addressesIn(value),
        ...images,
      ],
      confidence: confidenceOf(fieldText(image, 'Plate/Confidence'), 100),
      tags: [
        'Dahua',
        knownText(image, 'SnapInfo/SnapAddress', 'SnapInfo/DeviceName'),
        isYes('AllowUser') ? 'allow' : null,
        isYes('BlockUser') ? 'block' : null,
      ],
      metadata: {
        vendor: 'dahua',
        device: id,
        channel,
        address: knownText(image, 'SnapInfo/SnapAddress'),
        direction: knownText(image, 'SnapInfo/Direction'),
        lane,
        country: knownText(image, 'Plate/Country'),
        region: knownText(image, 'Plate/Region', 'Plate/Province'),
        plateColor: knownText(image, 'Plate/PlateColor'),
        plateType: knownText(image, 'Plate/PlateType'),
        make,
        model: knownText(image, 'Vehicle/VehicleSeries'),
        color: knownText(image, 'Vehicle/VehicleColor'),
        violationCode: code,
        box: fieldAt(image, 'Plate/BoundingBox'),
        raw: value,
      },
    }),
  };
}

import { epochTime, reportedTime, timeIn } from '../device-time.ts';
import {
  addressesIn,
  anyText,
  fieldAt,
  fieldList,
  fieldText,
  knownText,
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
import { type Confidence, confidenceOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { listTag, vehicleEvent } from '../vehicle-event.ts';

/** Devices keep a connection open, and send further messages, only after this answer. */
const ANSWER =
  '<?xml version="1.0" encoding="UTF-8"?>\n<config version="1.0" xmlns="http://www.ipc.com/ver10"><status>success</status></config>';

/** TVT and its brands (Viewtron and others): HTTP POST of cameras (1.x) and of NVRs (2.0). */
export const tvt: Format = {
  name: 'tvt',
  label: 'TVT, Viewtron (HTTP POST)',
  transports: ['http'],
  authentication: ['basic'],
  repeats: false,
  fixedPaths: ['/API'],
  read,
  answer: () => ({ contentType: 'application/xml', body: ANSWER }),
  instructions({ url, username, password }) {
    const { protocol, host, port, path } = addressParts(url);
    return [
      'Camera: open Network > HTTP POST, click Edit and then Add. NVR: open Network > HTTP POST (under Integration), and select Enable.',
      `Protocol: ${protocol.toLowerCase()}. Domain/IP or Server Address: ${host}. Port: ${port}. Path: ${path}.`,
      `If the device keeps the path /API whatever you enter, clear Anonymous Login and enter the user name ${username} and the password ${password}; they identify the device. Otherwise leave the login anonymous.`,
      'Select Send heartbeat, with an interval of 60 seconds.',
      'Camera: under Smart Alarm Data, select Smart event data, Original picture and Target picture, and not Smart track data. NVR: under Attaching Image, select Snap and Original.',
      'Under the alarm or event types, select license plate recognition, and Illegal Parking Detection or others with vehicles as targets, if you use them.',
      'Save. On an NVR, Test shows whether it reaches the address.',
      'Set the time zone of this connection to that of the device, because some messages contain local time.',
    ];
  },
};

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const [value] = valuesOf(parts);
  if (value === undefined) return without('unreadable', unreadableReason(parts, 'XML from a TVT device'));
  const device = namesOfDevice(value);
  if (fieldAt(value, 'alarmStatusInfo') !== undefined) {
    return without('status', 'An alarm began or ended; its data arrive in a message of their own', device);
  }
  const smartType = fieldText(value, 'smartType');
  if (smartType !== null) {
    const reports = targetReports({ config: value, smartType, device }, context);
    return reports.length > 0
      ? { reports, is: 'reports', note: null }
      : without('nothing', `The message of the type ${smartType} contains no vehicle`, device);
  }
  if (fieldAt(value, 'traject') !== undefined)
    return without('nothing', 'Positions of targets are not recorded', device);
  // The heartbeats of cameras contain only the description of the device.
  const isAlive = /^keepalive$/i.test(fieldText(value, 'messageType') ?? '');
  const isDevice = fieldText(value, 'SN', 'deviceInfo/sn', 'macAddress', 'deviceInfo/mac') !== null;
  return isAlive || isDevice
    ? without('heartbeat', 'A heartbeat', device)
    : without('nothing', 'The message has no type that TVT devices send');
}

function namesOfDevice(config: unknown): string[] {
  const info = fieldAt(config, 'deviceInfo');
  const find = (...names: string[]) => fieldText(info, ...names) ?? fieldText(config, ...names);
  return namesOf(
    find('channelId'),
    find('macAddress', 'mac'),
    find('sn'),
    find('deviceName'),
    find('ipAddress', 'ip'),
  );
}

/** `dataTime` depends on the date format that is set in the device. */
const LOCAL_TIMES = [
  'yyyy-MM-dd HH:mm:ss',
  'MM-dd-yyyy hh:mm:ss a',
  'yyyy/MM/dd HH:mm:ss',
  'MM/dd/yyyy hh:mm:ss a',
  'yyyy-MM-dd hh:mm:ss a',
  'MM-dd-yyyy HH:mm:ss',
];

/** A message about targets. */
interface Detection {
  readonly config: unknown;
  readonly smartType: string;
  readonly device: readonly string[];
}

/** The vehicles of a message, of cameras (1.x) and NVRs (2.0); none if it is about persons only. */
function targetReports(detection: Detection, context: ReadingContext): Report[] {
  const { config, smartType } = detection;
  // Some firmware writes VEHICE.
  if (/^vehi(?:cl|c)e$|plate/i.test(smartType)) return plateReports(detection, context);
  const isParking = /^(?:PVD|illegalParking|parking.*)$/i.test(smartType);
  const targets = targetsOf(config).filter((target) => isVehicle(target));
  if (targets.length === 0 && !isParking) return [];
  const all = targets.length > 0 ? targets : [fieldList(config, 'eventInfo')[0] ?? config];
  const rest = imagesInOnly(config, all);
  return all.map((target, at) =>
    report(detection, { item: target, at }, [...addressesIn(target), ...rest], isParking, context),
  );
}

function plateReports(detection: Detection, context: ReadingContext): Report[] {
  const { config } = detection;
  const items = [...fieldList(config, 'licensePlateListInfo'), ...fieldList(config, 'listInfo')];
  // The list of a camera has entries with an image but without a plate, which belong to the entries with one.
  const plates = items.filter(
    (item) =>
      plateText(item) !== null ||
      ['carAttribute', 'carAttr'].some((name) => fieldAt(item, name) !== undefined),
  );
  const vehicles = plates.length > 0 ? plates : [items[0] ?? config];
  const others = items.filter((item) => !vehicles.includes(item)).flatMap(addressesIn);
  const rest = imagesInOnly(config, vehicles);
  return vehicles.map((item, at) =>
    report(detection, { item, at }, [...others, ...addressesIn(item), ...rest], false, context),
  );
}

/** The images of the whole message, if it is about one vehicle. Otherwise, an image belongs to the vehicle that contains it. */
function imagesInOnly(config: unknown, vehicles: readonly unknown[]): readonly string[] {
  return vehicles.length === 1 ? addressesIn(config) : [];
}

/** The images of the whole scene. */
function scenesOf(config: unknown): string[] {
  return ['sourceDataInfo', 'vsd/sourceDataInfo'].flatMap((path) => addressesIn(fieldAt(config, path)));
}

function plateText(item: unknown): string | null {
  return fieldText(
    item,
    'plateNumber',
    'licensePlateNumber',
    'licensePlateAttribute/licensePlateNumber',
    'licensePlateAttribute/plateNumber',
  );
}

/** The targets of all places where firmware versions have them. */
function targetsOf(config: unknown): readonly unknown[] {
  const vsd = fieldAt(config, 'vsd');
  return [
    ...fieldList(config, 'targetListInfo'),
    ...fieldList(config, 'listInfo'),
    ...(vsd === undefined ? [] : [vsd, ...fieldList(vsd, 'vsdInfo')]),
  ];
}

/** NVRs write `car` and `motor`, cameras 2 for a car and 4 for a bike; a person is 1. */
function isVehicle(target: unknown): boolean {
  const type = fieldText(target, 'targetType', 'targetImageData/targetType', 'vsdInfo/targetType') ?? '';
  return /^(?:2|4|car|motor.*|vehicle|truck|bus|bike|non.?motor.*)$/i.test(type);
}

function report(
  { config, smartType, device }: Detection,
  { item, at }: { readonly item: unknown; readonly at: number },
  images: readonly string[],
  isParking: boolean,
  { zone, options }: ReadingContext,
): Report {
  const info = fieldAt(config, 'deviceInfo');
  const time = fieldText(config, 'currentTime');
  const plate = plateOf(plateText(item));
  const name = fieldText(info, 'deviceName') ?? fieldText(config, 'deviceName');
  const channel = fieldText(info, 'channelId') ?? fieldText(config, 'channelId');
  const list = knownText(item, 'vehicleListType', 'listType');
  const target =
    fieldText(item, 'eventId', 'targetId') ?? anyText(fieldAt(config, 'eventInfo'), 'eventId', 'targetId');
  const event = fieldList(config, 'eventInfo')[0];
  const happened = time ?? fieldText(config, 'dataTime');
  const direction = knownText(item, 'vehicleDirect', 'direction', 'carAttribute/direction');
  return {
    key:
      happened && (target || plate || time)
        ? [
            fieldText(config, 'sn', 'mac') ?? fieldText(info, 'sn', 'mac', 'macAddress') ?? '',
            channel ?? '',
            smartType,
            target ?? '',
            happened,
            // Vehicles of the same microsecond differ only in their position in the message.
            plate ?? (target === null ? String(at) : ''),
          ].join('/')
        : null,
    device,
    // In some messages about plates, NVRs send a number of 20 digits that is not a time.
    ...reportedTime(
      zone,
      ['currentTime', time, epochTime],
      ['dataTime', fieldText(config, 'dataTime'), (text) => timeIn(text, LOCAL_TIMES, zone)],
    ),
    event: vehicleEvent({
      plate,
      violation: isParking ? 'ILLEGAL_PARKING' : null,
      speed: speedOf(fieldText(item, 'speed', 'carAttribute/speed', 'vehicleSpeed'), options.speedUnit),
      vehicleType:
        knownText(item, 'carAttribute/carType', 'carAttr/type', 'carType', 'vehicleType') ??
        typeOfTarget(item),
      images: [...scenesOf(config), ...images],
      confidence: confidenceIn(item),
      tags: ['TVT', name, listTag(list)],
      metadata: {
        vendor: 'tvt',
        device: fieldText(config, 'sn', 'mac') ?? fieldText(info, 'sn', 'mac', 'macAddress'),
        deviceName: name,
        channel,
        alarm: smartType,
        direction,
        country: knownText(item, 'licensePlateAttribute/country', 'country', 'region'),
        plateColor: knownText(item, 'plateColor', 'licensePlateAttribute/color'),
        make: knownText(item, 'carAttribute/brand', 'carAttr/brand', 'brand'),
        model: knownText(item, 'carAttribute/model', 'carAttr/model', 'model'),
        color: knownText(item, 'carAttribute/color', 'carAttr/color', 'carColor'),
        listName: list,
        box: boxOf(item) ?? boxOf(event),
        raw: config,
      },
    }),
  };
}

/** The confidence of the plate. Cameras with API 2.1 write `<PlateConfidence count="9900"/>` for 99 %. */
function confidenceIn(item: unknown): Confidence | null {
  const hundredths = numberOf(fieldText(item, 'PlateConfidence/@count'));
  return hundredths === null
    ? confidenceOf(fieldText(item, 'PlateConfidence', 'licensePlateAttribute/confidence', 'confidence'), 100)
    : confidenceOf(hundredths / 100, 100);
}

/** The corners of the rectangle of a target or event; null where all are 0, as in events about a line. */
function boxOf(item: unknown): Readonly<Record<string, number>> | null {
  const rect = ['rect', 'targetImageData/rect', 'vsdInfo/rect']
    .map((path) => fieldAt(item, path))
    .find(Boolean);
  const corners = ['x1', 'y1', 'x2', 'y2'].map((name) => [name, numberOf(fieldText(rect, name))] as const);
  return corners.every(([, at]) => !at)
    ? null
    : Object.fromEntries(corners.flatMap(([name, at]) => (at === null ? [] : [[name, at]])));
}

function typeOfTarget(item: unknown): string | null {
  const type = knownText(item, 'targetType');
  return type !== null && /^[a-z]/i.test(type) ? type : null;
}

import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { type ReportedTime, reportedTime, timeIn, type Zone } from '../device-time.ts';
import { knownText } from '../fields.ts';
import {
  type Format,
  type PartOfPassage,
  type Reading,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { arrayOf, type Fields, fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { imagesIn, jsonValues, notRead, reportKey, textsOf } from '../reading.ts';
import { imageUrls, listTag, vehicleEvent } from '../vehicle-event.ts';

/**
 * LOST is sent 10 s after the last recognition by default. A camera that is set to send only NEW never reports that a
 * car has left, so its events are stored after this time.
 */
const WAIT_SECONDS = 20;

/** How long after a full hour a car may still have reports whose passage has the previous hour, in milliseconds. */
const OVERLAP_MS = 5 * MINUTE_MS;

/** How final the plate is in each state: it may change until the car is lost. */
const RANK: ReadonlyMap<string, number> = new Map([
  ['new', 1],
  ['update', 2],
  ['updated', 2],
  ['lost', 3],
]);
const WITH_PLATE = 10;

const APPLICATIONS = 'axis/+/event/tns:axis/CameraApplicationPlatform';

/**
 * AXIS License Plate Verifier (by FF Group) as it pushes events: multipart with the parts `event` and `image`, or JSON
 * with the images in `ImageArray`; and its events as the camera publishes them over MQTT (according to the documentation). One car
 * is reported as new, updated and lost.
 */
export const axisLpv: Format = {
  name: 'axis-lpv',
  label: 'AXIS License Plate Verifier (push events, MQTT)',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'digest', 'header', 'mqtt'],
  repeats: true,
  topics: [
    ...['ALPV.AllPlates', 'ALPV.New', 'ALPV.Update', 'ALPV.Lost', 'LPR'].map(
      (event) => `${APPLICATIONS}/${event}`,
    ),
    'axis/+/connection',
  ],
  read,
  instructions: ({ url, username, password }) => [
    'Open the web page of the camera, Apps, AXIS License Plate Verifier, and open the app.',
    'On the tab Integration, section Push events, choose the protocol HTTP POST.',
    `Server URL: ${url}`,
    `User: ${username}   Password: ${password} (optional, because the address contains the token).`,
    'Device ID: a name for this camera. It is sent with each event.',
    'Under Event types, select New, Update and Lost. They become one event with the final plate.',
    'Switch on "Send event data through HTTP POST multipart" for images, and the event buffer, which resends failed deliveries.',
    'Or over MQTT, without images: set MQTT_URL of Gantry to the broker that the camera uses, and connect the camera to it under System, MQTT.',
    'On the tab MQTT publication, press Add condition, select Application: ALPV.AllPlates, and choose QoS 1. Keep the default topic prefix; otherwise, and if other cameras publish to the same broker, whose events would all belong to this sensor, enter the topics of this camera in the option topics: axis/<serial number>/event/tns:axis/CameraApplicationPlatform/ALPV.AllPlates and axis/<serial number>/connection.',
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const values = jsonValues(message)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .map((value) => ofPublication(value, message.topic));
  const cars = values.filter(isCar);
  if (cars.length === 0) return withoutCar(message, values);
  const images = imagesIn(message);
  return {
    reports: cars.map((car) => reportOf(car, { images, context, receivedAt: message.receivedAt })),
    is: 'reports',
    note: null,
  };
}

/** The data of an event that the camera published over MQTT, with its serial number and time; any other value unchanged. */
function ofPublication(value: unknown, topic: string | null): unknown {
  const field = fieldsOf(value);
  const { data } = objectOf(field('message'));
  if (data === undefined) return value;
  const serial = textOf(field('serial')) ?? /^axis\/([^/]+)\//.exec(topic ?? '')?.[1];
  const { text: plateText, ...published } = objectOf(data);
  return { plateText, ...published, SerialNumber: serial, publishedAt: field('timestamp') };
}

interface Surroundings {
  readonly images: readonly string[];
  readonly context: ReadingContext;
  readonly receivedAt: number;
}

function reportOf(car: unknown, { images, context, receivedAt }: Surroundings): Report {
  const field = fieldsOf(car);
  const vehicle = fieldsOf(field('vehicle_info'));
  const camera = fieldsOf(field('camera_info'));
  const place = fieldsOf(field('geotag'));
  const plate = plateOf(field('plateUTF8', 'plateUnicode', 'plateText', 'plateASCII'));
  const device = deviceOf(field);
  const state = textOf(field('carState'))?.toLowerCase() ?? '';
  const time = timeOf(field, context.zone);
  const carId = textOf(field('carID'));
  const embedded = arrayOf(field('ImageArray')).flatMap((each) => imageUrls(fieldsOf(each)('BinaryImage')));
  const part = passageOf({ device, carId, state, plate, at: time.occurredAt ?? receivedAt });
  const moment = textOf(field('capture_timestamp', 'capture_ts', 'datetime', 'packetCounter', 'publishedAt'));
  return {
    key: moment === null ? null : reportKey(device[0], carId ?? plate, moment),
    device,
    ...time,
    event: vehicleEvent({
      plate,
      speed: speedOf(field('speed', 'carSpeed', 'vehicleSpeed'), context.options.speedUnit),
      vehicleType: vehicle('type') ?? field('vehicleType'),
      location: positionOf(place('lat', 'latitude'), place('lon', 'lng', 'longitude')),
      images: [...images, ...embedded, ...imageUrls(field('lpImage'))],
      confidence: confidenceOf(field('plateConfidence'), 1),
      tags: [
        'axis',
        field('sensorProviderID'),
        listTag(textOf(field('plateListMode', 'listMode'))) ?? field('plateListMode', 'listMode'),
        field('plateList', 'listName'),
      ],
      metadata: {
        vendor: 'axis-lpv',
        device: device[0],
        product: camera('ProdShortName'),
        direction: knownText(field('carMoveDirection')),
        lane: textOf(field('roiID')),
        country: knownText(field('plateCountry', 'country')),
        region: knownText(field('plateRegion', 'region')),
        make: knownText(vehicle('brand', 'make')),
        model: knownText(vehicle('model')),
        color: knownText(vehicle('color') ?? field('vehicleColor')),
        view: knownText(vehicle('view') ?? field('view')),
        box: field('plateCoordinates'),
        listName: textOf(field('plateList', 'listName')),
        listMode: textOf(field('plateListMode', 'listMode')),
        carState: state,
        carId,
        raw: car,
      },
    }),
    ...(part && { passage: part }),
  };
}

interface Sighting {
  readonly device: readonly string[];
  readonly carId: string | null;
  readonly state: string;
  readonly plate: string | null;
  readonly at: number;
}

/** Car numbers start again when the app is restarted, so the hour is part of the id. */
function passageOf({ device, carId, state, plate, at }: Sighting): PartOfPassage | null {
  if (carId === null) return null;
  const hour = Math.floor(at / HOUR_MS);
  const idIn = (each: number): string => reportKey(device[0], carId, each);
  return {
    id: idIn(hour),
    quality: (RANK.get(state) ?? 0) + (plate === null ? 0 : WITH_PLATE),
    isLast: state === 'lost',
    waitSeconds: WAIT_SECONDS,
    ...(at % HOUR_MS < OVERLAP_MS && { joins: [idIn(hour - 1)] }),
  };
}

function timeOf(field: Fields, zone: Zone): ReportedTime {
  const patterns = ['yyyyMMdd HHmmssSSS', 'yyyyMMdd HHmmssSSSZZZ', 'yyyyMMdd HHmmss'];
  return reportedTime(
    zone,
    ['capture_timestamp', field('capture_timestamp')],
    ['capture_ts', field('capture_ts')],
    ['datetime', field('datetime'), (text) => timeIn(text, patterns, zone)],
    ['publishedAt', field('publishedAt')],
    ['frame_timestamp', field('frame_timestamp')],
  );
}

function deviceOf(field: Fields): string[] {
  const camera = fieldsOf(field('camera_info'));
  return namesOf(
    camera('SerialNumber', 'serial') ?? field('SerialNumber'),
    camera('MACAddress') ?? field('MACAddress'),
    field('sensorProviderID'),
    camera('IPAddress'),
  );
}

function isCar(value: unknown): boolean {
  const field = fieldsOf(value);
  return field('carID', 'carState', 'plateUTF8', 'plateText', 'plateUnicode', 'plateASCII') !== undefined;
}

/** The form of heartbeats is not confirmed: a message that names the camera but no car counts as one. */
function withoutCar(message: DeviceMessage, values: readonly unknown[]): Reading {
  for (const value of values) {
    const field = fieldsOf(value);
    if (field('active') !== undefined) {
      return without(
        'nothing',
        'A condition of the camera does not say which plate it is about',
        deviceOf(field),
      );
    }
    if (field('connected') !== undefined) {
      return without('heartbeat', 'The camera reports its connection', deviceOf(field));
    }
    const beats = field('heartbeat', 'keepalive', 'camera_info', 'sensorProviderID', 'SerialNumber');
    if (beats !== undefined || /heart|alive/i.test(textOf(field('type', 'event', 'eventType')) ?? '')) {
      return without('heartbeat', 'The camera reports that it is running', [
        ...new Set([...deviceOf(field), ...namesOf(field('SerialNumber'))]),
      ]);
    }
  }
  if (textsOf(message).some((text) => /^\W*(?:heart\W?beat|alive|keep\W?alive)/i.test(text))) {
    return without('heartbeat', 'The camera reports that it is running');
  }
  return notRead(message, 'an event of AXIS License Plate Verifier');
}

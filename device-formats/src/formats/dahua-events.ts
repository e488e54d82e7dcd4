import { HOUR_MS } from '@gantry/contract/durations';
import { epochTime, isoTime, type ReportedTime, reportedTime, type Zone } from '../device-time.ts';
import { addressesIn, anyText, fieldAt, fieldList, fieldText, knownText } from '../fields.ts';
import type { ObservedEvent, PartOfPassage, ReadingContext, Report } from '../format.ts';
import { type Confidence, confidenceOf, measured, numberOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { listTag, vehicleEvent } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** An event whose data is in one object. */
export interface DahuaEvent {
  readonly code: string;
  readonly action: string;
  readonly channel: string | null;
  readonly data: unknown;
  readonly raw: unknown;
}

/** Codes of events that are violations, whatever the other fields of the event contain. */
const VIOLATION_CODES =
  /^Traffic(?:RunRedLight|RunYellowLight|OverLine|OverYellowLine|CrossLane|Retrograde|Wrong|Reverse|Backing|Turn|UTurn|OverSpeed|UnderSpeed|Parking$|Without|NonMotorWithout|NonMotorInMotor|Driver(?:Smoking|Calling)|YellowPlate|VehicleIn|Restricted|Control|NoPassing|Priority|PedestrainPriority|Stay|Throw$|OverStopLine|StopOn|Lane)/i;

/** Codes of events that are incidents: their type in Gantry, and how urgent they are. */
const INCIDENT_CODES: readonly (readonly [RegExp, string, ObservedEvent['severity']])[] = [
  [/^TrafficAccident/i, 'COLLISION', 'HIGH'],
  [/^Traffic(?:Fire|Smoke)/i, 'OTHER', 'HIGH'],
  [/^Traffic(?:Jam|Congestion)/i, 'CONGESTION', 'LOW'],
  [/^TrafficRoad(?:Construction|Work)/i, 'ROADWORKS', 'LOW'],
  [/^Traffic(?:RoadBlock|Pedestrain$|Pedestrian$|Throw|Abandon|Obstacle)/i, 'OBSTRUCTION', 'MEDIUM'],
  [/^Traffic(?:Fog|Weather)/i, 'WEATHER', 'MEDIUM'],
];

/** For how long to wait for the further images of a group, in seconds. */
const WAIT_SECONDS = 10;

/** An event of a vehicle, as EventHttpUpload, `snapManager` and RPC2 send it. */
export function eventReport(
  event: DahuaEvent,
  device: readonly string[],
  images: readonly string[],
  { zone, options }: ReadingContext,
): Report {
  const { code, data, channel, raw } = event;
  const car = fieldAt(data, 'TrafficCar');
  const plate = plateIn(data);
  const vehicle = objectOfType(data, VEHICLE_TYPE) ?? {};
  const [, incidentType, severity] = INCIDENT_CODES.find(([pattern]) => pattern.test(code)) ?? [];
  const time = timeOf(data, zone);
  const list = knownText(data, 'TrafficCar/ListType', 'ListType', 'CarListType');
  const machine = knownText(data, 'TrafficCar/MachineName', 'MachineName');
  const limits = fieldList(data, 'SpeedLimit');
  const belts = seatsOf(data);
  const direction = knownText(data, 'TrafficCar/DrivingDirection', 'JunctionDirection', 'DrivingDirection');
  const event_ = vehicleEvent({
    plate,
    isIncident: incidentType !== undefined,
    severity: severity ?? null,
    description: violationAt(data, 'TrafficCar/ViolationDesc') ?? (incidentType ? code : null),
    isBeltMissing: belts.some((seat) => /^without/i.test(seat.belt)),
    violation: violationOf(code, data, belts),
    speed: speedFrom(data, options.speedUnit),
    speedLimit: speedOf(
      measured(fieldText(car, 'UpperSpeedLimit')) ??
        measured(fieldText(data, 'UpperSpeedLimit')) ??
        fieldText(limits.at(-1), ''),
      options.speedUnit,
    ),
    vehicleType:
      knownText(data, 'Vehicle/Category', 'NonMotor/Category', 'TrafficCar/Category') ??
      knownText(vehicle, 'Category') ??
      knownText(data, 'TrafficCar/VehicleSize', 'TrafficCar/VehicleType'),
    location: locationOf(data),
    images: [...addressesIn(raw), ...images],
    confidence: confidenceIn(data),
    tags: ['Dahua', machine, listTag(list)],
    // The opposite of Obverse, which is towards the camera.
    passage: /^reverse$/i.test(direction ?? '') ? { direction: 'RECEDING' } : {},
    metadata: {
      vendor: 'dahua',
      device: machine,
      channel,
      alarm: code,
      incidentType,
      lane: fieldText(data, 'Lane', 'TrafficCar/Lane'),
      direction,
      country: knownText(data, 'TrafficCar/Country', 'CommInfo/Country', 'Object/Country'),
      region: knownText(data, 'TrafficCar/Province', 'Object/Province', 'CommInfo/Province'),
      plateColor: knownText(data, 'TrafficCar/PlateColor', 'Object/PlateColor'),
      plateType: knownText(data, 'TrafficCar/PlateType'),
      make: knownText(data, 'TrafficCar/VehicleSign', 'Vehicle/Text') ?? knownText(vehicle, 'Text'),
      model: knownText(data, 'Vehicle/SubText', 'TrafficCar/VehicleSeries') ?? knownText(vehicle, 'SubText'),
      color: knownText(data, 'TrafficCar/VehicleColor', 'NonMotor/Color'),
      vehicleClass: knownText(data, 'TrafficCar/VehicleSize', 'CommInfo/SnapCategory'),
      violationCode: violationCodeOf(data),
      violationName: violationTextOf(data),
      listName: list,
      box: fieldAt(data, 'Object/BoundingBox'),
      raw,
    },
  });
  const passage = passageOf(data, channel, time.occurredAt, plate !== null);
  return {
    key: keyOf(event, plate),
    device,
    ...time,
    event: event_,
    ...(passage && { passage }),
  };
}

/** The fields that are plates by their names, the most reliable first. */
const PLATE_FIELDS = [
  ...['PlateNumber', 'PlateNo'].flatMap((name) =>
    ['TrafficCar/', '', 'Plate/', 'Vehicle/', 'Object/', 'NonMotor/'].map((owner) => owner + name),
  ),
  'PlateInfo/FrontPlateNumber',
  'Plate/Text',
  'Vehicle/Plate/Text',
  'NonMotor/Plate/Text',
];

const PLATE_TYPE = /^plate$/i;
const VEHICLE_TYPE = /^(?:motor)?vehicle$/i;

/**
 * The plate of an event. The `Text` of an object is its plate only if the object is a plate: that of a vehicle is
 * its brand.
 */
function plateIn(data: unknown): string | null {
  const ofObject = fieldText(objectOfType(data, PLATE_TYPE), 'Text');
  const named = PLATE_FIELDS.map((path) => plateOf(fieldText(data, path)));
  return [named[0], plateOf(ofObject), ...named].find((each) => each) ?? null;
}

/** The confidence of the plate. That of an object is out of 255. */
function confidenceIn(data: unknown): Confidence | null {
  return (
    confidenceOf(fieldText(data, 'TrafficCar/PlateConfidence'), 100) ??
    confidenceOf(fieldText(objectOfType(data, PLATE_TYPE), 'Confidence'), 255)
  );
}

/** The first object of an event whose `ObjectType` matches; undefined if there is none. */
function objectOfType(data: unknown, type: RegExp): unknown {
  return ['Object', 'Objects', 'Vehicle', 'Plate']
    .flatMap((name) => fieldAt(data, name) ?? [])
    .find((object) => type.test(fieldText(object, 'ObjectType') ?? ''));
}

/** Whether an event that is not about traffic, such as the crossing of a line, was caused by a vehicle. */
export function isAboutVehicle(data: unknown): boolean {
  return [PLATE_TYPE, VEHICLE_TYPE].some((type) => objectOfType(data, type) !== undefined);
}

/**
 * The time of an event. `RealUTC` is the true time. `UTC` is, like `LocaleTime`, the local time, but written as if it were
 * UTC: a camera 7 hours ahead reports 1706625295 besides the true 1706600095.
 */
function timeOf(data: unknown, zone: Zone): ReportedTime {
  const wallTime = (value: unknown): number | null => {
    const wall = epochTime(value);
    return wall === null ? null : isoTime(new Date(wall).toISOString().slice(0, -1), zone);
  };
  return reportedTime(
    zone,
    ['RealUTC', anyTimeOf(data, 'RealUTC')],
    ['LocaleTime', anyTimeOf(data, 'LocaleTime')],
    ['UTC', anyTimeOf(data, 'UTC'), wallTime],
  );
}

function anyTimeOf(data: unknown, name: string): string | null {
  return fieldText(data, name, `TrafficCar/${name}`, `EventBaseInfo/${name}`);
}

function keyOf({ code, channel, data }: DahuaEvent, plate: string | null): string | null {
  const time = anyTimeOf(data, 'RealUTC') ?? anyTimeOf(data, 'UTC') ?? anyTimeOf(data, 'LocaleTime');
  const group = fieldText(data, 'GroupID', 'TrafficCar/GroupID');
  const id = group && group !== '0' ? `g${group}` : fieldText(data, 'EventID', 'EventSeq', 'Object/ObjectID');
  if (time === null || (id === null && plate === null)) return null;
  const index = fieldText(data, 'IndexInGroup', 'TrafficCar/IndexInGroup') ?? '';
  return [channel ?? '', code, id ?? '', index, time, id === null ? plate : ''].join('/');
}

/**
 * Several images of one vehicle arrive as a group of events. Devices restart the numbers of groups when they are
 * restarted, so the hour is part of the id.
 */
function passageOf(
  data: unknown,
  channel: string | null,
  occurredAt: number | null,
  hasPlate: boolean,
): PartOfPassage | null {
  const group = fieldText(data, 'GroupID', 'TrafficCar/GroupID');
  const count = numberOf(fieldText(data, 'CountInGroup', 'TrafficCar/CountInGroup')) ?? 1;
  const index = numberOf(fieldText(data, 'IndexInGroup', 'TrafficCar/IndexInGroup')) ?? 1;
  if (group === null || group === '0' || count <= 1 || occurredAt === null) return null;
  const hour = Math.floor(occurredAt / HOUR_MS);
  const idIn = (each: number): string => `${channel ?? ''}/${group}/${each}`;
  return {
    id: idIn(hour),
    quality: hasPlate ? 1 : 0,
    isLast: index >= count,
    waitSeconds: WAIT_SECONDS,
    // The first images of the group may be from before the full hour.
    ...(occurredAt % HOUR_MS < WAIT_SECONDS * 1_000 && { joins: [idIn(hour - 1)] }),
  };
}

function speedFrom(data: unknown, unit: 'km/h' | 'mph' | undefined): number | null {
  const paths = ['Speed', 'TrafficCar/Speed', 'RadarInfo/VehSpeed', 'Vehicle/Speed', 'NonMotor/Speed'];
  return paths.map((path) => speedOf(fieldText(data, path), unit)).find((each) => each !== null) ?? null;
}

interface Seat {
  readonly belt: string;
  readonly calling: boolean;
  readonly smoking: boolean;
}

/** The seats, from all places where events describe them. A belt that is "unknow" is not known to be missing. */
function seatsOf(data: unknown): Seat[] {
  const names = ['MainSeat', 'SubSeat', 'SlaveSeat'];
  const owners = [data, fieldAt(data, 'Object'), fieldAt(data, 'Vehicle'), fieldAt(data, 'TrafficCar')];
  const seats = owners.flatMap((owner) => names.map((name) => fieldAt(owner, name)));
  return [...seats, ...fieldList(data, 'CommInfo/Seat')].map((seat) => {
    const states = fieldList(seat, 'Status').map((state) => fieldText(state, '') ?? '');
    return {
      belt: fieldText(seat, '') ?? fieldText(seat, 'SafeBelt') ?? '',
      calling: [fieldText(seat, 'DriverCalling') ?? '', ...states].some((each) => /^calling$/i.test(each)),
      smoking: [fieldText(seat, 'DriverSmoking') ?? '', ...states].some((each) => /^smoking$/i.test(each)),
    };
  });
}

function violationCodeOf(data: unknown): string | null {
  return violationAt(data, 'TrafficCar/ViolationCode', 'ViolationCode');
}

function violationTextOf(data: unknown): string | null {
  const texts = ['TrafficCar/ViolationName', 'TrafficCar/ViolationDesc', 'ViolationName', 'ViolationDesc'];
  return texts.map((path) => violationAt(data, path)).find((each) => each !== null) ?? null;
}

function violationAt(data: unknown, ...paths: string[]): string | null {
  return violationIn(knownText(data, ...paths));
}

function violationOf(code: string, data: unknown, seats: readonly Seat[]): string | null {
  if (VIOLATION_CODES.test(code)) return violationNamed(code);
  const violation = violationCodeOf(data);
  if (violation !== null) return violationNamed(violationTextOf(data) ?? violation);
  if (seats.some((seat) => seat.calling)) return 'PHONE_USE';
  return seats.some((seat) => seat.smoking) ? 'SMOKING' : null;
}

function locationOf(data: unknown): ObservedEvent['location'] {
  for (const path of ['GPSInfo', 'CommInfo/GPSInfo', 'TrafficCar/GPSInfo', 'GPS']) {
    const gps = fieldAt(data, path);
    const found = positionOf(anyText(gps, 'Latitude', 'Lat'), anyText(gps, 'Longitude', 'Lon', 'Lng'));
    if (found) return found;
  }
  return null;
}

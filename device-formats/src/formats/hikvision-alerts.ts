import { isoTime, type ReportedTime, reportedTime, type Zone } from '../device-time.ts';
import { anyText, fieldAt, fieldText, knownText, objectsIn } from '../fields.ts';
import type { ObservedEvent, ReadingContext, Report } from '../format.ts';
import { confidenceOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { listTag, type SeenVehicle, vehicleEvent } from '../vehicle-event.ts';
import { violationIn, violationNamed } from '../violation-names.ts';

/** An alert, as the functions that make reports of it take it. */
export interface Source {
  readonly alert: unknown;
  /** In lower case. */
  readonly type: string;
  readonly device: readonly string[];
  readonly images: readonly string[];
}

/** A recognised plate or a detected vehicle (ANPR). */
export function plateReport(source: Source, anpr: unknown, context: ReadingContext): Report {
  const plates = ['licensePlate', 'plateNumber', 'plate', 'originalLicensePlate'];
  const plate = plates.map((name) => plateOf(fieldText(anpr, name))).find((each) => each !== null);
  const belts = [fieldText(anpr, 'pilotsafebelt'), fieldText(anpr, 'vicepilotsafebelt')];
  return report(source, anpr, context, {
    plate,
    isBeltMissing: belts.some((belt) => /^(?:no|off)$/i.test(belt ?? '')),
    violation: violationOf(anpr),
    vehicleType: knownText(anpr, 'vehicleType', 'vehicleInfo/vehicleTypeName'),
    speed: speedOf(fieldText(anpr, 'vehicleInfo/speed', 'speed'), context.options.speedUnit),
  });
}

/** A violation recorded by traffic enforcement (TFS). */
export function violationReport(source: Source, tfs: unknown, context: ReadingContext): Report {
  // The event checkPoint is recorded for every vehicle, so it is not a violation.
  const name = violationIn(knownText(tfs, 'illegalTrafficEvent', 'illegalInfo/illegalName'));
  return report(source, tfs, context, {
    plate: anyText(tfs, 'licensePlate', 'plateNumber', 'plateNo', 'plate'),
    violation: name === null ? violationOf(tfs) : violationNamed(name),
    vehicleType: anyText(tfs, 'vehicleType'),
    speed: speedOf(anyText(tfs, 'vehicleSpeed', 'speed'), context.options.speedUnit),
  });
}

/** The types of incidents by what automatic incident detection (AID) calls them; others are OTHER. */
const INCIDENT_TYPES: readonly (readonly [RegExp, string, ObservedEvent['severity']])[] = [
  [/accident|collision/i, 'COLLISION', 'HIGH'],
  [/conflagration|fire/i, 'OTHER', 'HIGH'],
  [/congestion|jam|queue/i, 'CONGESTION', 'LOW'],
  [/construction/i, 'ROADWORKS', 'LOW'],
  [/abandoned|dropped|roadblock|pedestrian/i, 'OBSTRUCTION', 'MEDIUM'],
  [/fog|rain|snow|visibility/i, 'WEATHER', 'MEDIUM'],
];

/** What automatic incident detection (AID) reports: driving the wrong way and illegal parking are violations. */
export function incidentReport(source: Source, aid: unknown, context: ReadingContext): Report {
  const name = knownText(aid, 'illegalTrafficEvent', 'aidEventType') ?? 'incident';
  const seen = {
    plate: anyText(aid, 'licensePlate', 'plateNumber', 'plateNo', 'plate'),
    vehicleType: anyText(aid, 'vehicleType'),
    speed: speedOf(anyText(aid, 'vehicleSpeed', 'speed'), context.options.speedUnit),
  };
  if (/^(?:wrongDirection|illegalParking)$/i.test(name)) {
    return report(source, aid, context, { ...seen, violation: violationNamed(name) });
  }
  const [, incidentType, severity] = INCIDENT_TYPES.find(([pattern]) => pattern.test(name)) ?? [];
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return report(
    source,
    aid,
    context,
    {
      ...seen,
      isIncident: true,
      severity: severity ?? 'MEDIUM',
      description: `${words.charAt(0).toUpperCase()}${words.slice(1)}`,
    },
    { incidentType: incidentType ?? 'OTHER', incidentName: name },
  );
}

type Seen = Omit<SeenVehicle, 'tags' | 'metadata'>;

function report(
  { alert, type, device, images }: Source,
  block: unknown,
  { zone, options }: ReadingContext,
  seen: Seen,
  more: Readonly<Record<string, unknown>> = {},
): Report {
  const channelName = knownText(alert, 'channelName');
  const list = knownText(block, 'vehicleListName', 'listName', 'vehicleList');
  const make = knownText(block, 'vehicleInfo/vehicleLogoRecog', 'vehicleInfo/vehicleLogo');
  const region = knownText(block, 'plateRegion', 'region', 'area', 'province', 'tailandStateID', 'CRIndex');
  return {
    key: keyOf(alert, block, type, seen.plate),
    device,
    ...timeOf(alert, block, zone),
    event: vehicleEvent({
      ...seen,
      speedLimit: speedOf(fieldText(block, 'speedLimit', 'vehicleInfo/speedLimit'), options.speedUnit),
      location: locationOf(block) ?? locationOf(alert),
      images: images,
      confidence: confidenceOf(anyText(block, 'confidenceLevel', 'plateConfidence', 'confidence'), 100),
      tags: ['Hikvision', channelName, listTag(list)],
      metadata: {
        vendor: 'hikvision',
        device: fieldText(alert, 'deviceID', 'Extensions/serialNumber', 'serialNumber', 'macAddress'),
        channel: fieldText(alert, 'dynChannelID', 'channelID'),
        channelName,
        alarm: fieldText(alert, 'eventType'),
        site: knownText(block, 'monitoringSiteID'),
        direction: knownText(block, 'direction', 'vehicleInfo/direction'),
        lane: anyText(block, 'line', 'laneNo', 'relatedLaneNo'),
        country: knownText(block, 'country'),
        region,
        plateColor: anyText(block, 'plateColor'),
        plateType: anyText(block, 'plateType'),
        originalPlate: plateOf(fieldText(block, 'originalLicensePlate')),
        // Firmware writes numbers whose meaning Hikvision does not publish; 0 is unknown.
        make: make !== null && numberOf(make) === null ? make : null,
        makeCode: numberOf(make) || null,
        color: anyText(fieldAt(block, 'vehicleInfo'), 'color', 'vehicleColor'),
        listName: list,
        violationCode: codeOf(block),
        violationName: violationIn(knownText(block, 'illegalInfo/illegalName', 'illegalTrafficEvent')),
        box: objectsIn(block)
          .map((each) => fieldAt(each, 'plateRect'))
          .find((each) => each !== undefined),
        ...more,
        raw: alert,
      },
    }),
  };
}

/**
 * The key of an alert. It contains the type besides the UUID, because alerts of several types for the same vehicle may
 * have the same UUID.
 */
function keyOf(alert: unknown, block: unknown, type: string, plate: unknown): string | null {
  const uuid = fieldText(alert, 'UUID') ?? fieldText(block, 'UUID');
  if (uuid !== null && uuid.length >= 8) return `${uuid}/${type}`;
  const time = fieldText(alert, 'dateTime');
  if (time === null) return null;
  const vehicle = fieldText(block, 'vehicleInfo/index') ?? anyText(block, 'line', 'laneNo') ?? '';
  return [
    fieldText(alert, 'macAddress', 'ipAddress') ?? '',
    fieldText(alert, 'dynChannelID', 'channelID') ?? '',
    type,
    time,
    plateOf(plate) ?? '',
    vehicle,
  ].join('/');
}

function timeOf(alert: unknown, block: unknown, zone: Zone): ReportedTime {
  return reportedTime(
    zone,
    ['dateTime', fieldText(alert, 'dateTime')],
    ['absTime', anyText(block, 'absTime'), (text) => isoTime(text, zone)],
  );
}

/** The code of a violation; null for 0, which means that there is none. */
function codeOf(block: unknown): string | null {
  const code = knownText(block, 'illegalInfo/illegalCode', 'illegalCode');
  return code === null || Number(code) === 0 ? null : code;
}

function violationOf(block: unknown): string | null {
  const isYes = (name: string) => /^yes$/i.test(fieldText(block, name) ?? '');
  const code = codeOf(block);
  const name = fieldText(block, 'illegalInfo/illegalName', 'illegalInfo/illegalDescription');
  if (code !== null && (name === null || violationIn(name) !== null))
    return violationNamed(knownText(name) ?? code);
  if (isYes('uphone') || isYes('playMobilePhone')) return 'PHONE_USE';
  const isMotorcycle = /wheel|motor|unknown|^$/i.test(fieldText(block, 'vehicleType') ?? '');
  if (isMotorcycle && /^no$/i.test(fieldText(block, 'helmet') ?? '')) return 'NO_HELMET';
  return isYes('smoking') ? 'SMOKING' : null;
}

function locationOf(value: unknown): ObservedEvent['location'] {
  const gps = fieldAt(value, 'DeviceGPSInfo') ?? fieldAt(value, 'GPSInfo');
  const latitude = degreesOf(fieldAt(gps, 'Latitude'), fieldText(gps, 'latitudeType'));
  return positionOf(latitude, degreesOf(fieldAt(gps, 'Longitude'), fieldText(gps, 'longitudeType')));
}

/** Decimal degrees of a number, or of degrees, minutes and seconds. */
function degreesOf(value: unknown, hemisphere: string | null): number | null {
  const decimal = numberOf(fieldText(value, ''));
  const degrees = decimal ?? numberOf(fieldText(value, 'degree'));
  if (degrees === null) return null;
  const minutes = numberOf(fieldText(value, 'minute')) ?? 0;
  const seconds = numberOf(fieldText(value, 'sec', 'second')) ?? 0;
  const size = Math.abs(degrees) + minutes / 60 + seconds / 3600;
  const isNegative = degrees < 0 || /^[SW]/i.test(hemisphere ?? '');
  return Math.round((isNegative ? -size : size) * 1e7) / 1e7;
}

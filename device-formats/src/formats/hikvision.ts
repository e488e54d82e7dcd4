import { isoTime, reportedTime, type Zone } from '../device-time.ts';
import {
  elementsOf,
  fieldAt,
  fieldList,
  fieldText,
  imagesIn,
  itemsOf,
  knownText,
  unreadableReason,
  valuesOf,
} from '../fields.ts';
import {
  addressParts,
  type Format,
  MAX_VEHICLES,
  type Reading,
  type ReadingContext,
  type Report,
  without,
} from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage, MessagePart } from '../message.ts';
import { confidenceOf } from '../observed.ts';
import { readingOfAll } from '../reading.ts';
import { vehicleEvent } from '../vehicle-event.ts';
import { incidentReport, plateReport, type Source, violationReport } from './hikvision-alerts.ts';
import { countsOf } from './hikvision-counts.ts';

/** Types of messages that Hikvision's cameras and NVRs send about themselves. */
const DEVICE_STATUS =
  /^(?:videoloss|shelteralarm|tamperdetection|scenechangedetection|defocus|badvideo|videomismatch|resolutionmismatch|disk|hdd|raid|recording|nicbroken|ipconflict|illaccess|overheat|fan|poe|heartbeat|keepalive)/;

/** Messages with figures about several vehicles: traffic parameters, instant traffic data, and counters. */
const FIGURES = /^(?:tps|ttd|trafficdatastatistic|vehiclecount|counting|trafficflow)/;

/** Messages that repeat the recognition of a plate, which the camera also sends as ANPR. */
const REPETITION = /^(?:vehiclematchresult|blacklist|whitelist|allvehiclelist|othervehiclelist)/;

/** Hikvision's alarm server (ISAPI `httpHosts`) and the documents that ISAPI returns. */
export const hikvision: Format = {
  name: 'hikvision',
  label: 'Hikvision (alarm server, HTTP listening)',
  transports: ['http'],
  authentication: ['basic', 'digest'],
  // Cameras have not been observed to resend a message, whatever the answer was.
  repeats: false,
  keysMayRepeat: true,
  read,
  instructions({ url, username, password }) {
    const { protocol, host, port, path } = addressParts(url);
    return [
      'Open the web page of the camera or NVR, and go to Configuration > Network > Advanced Settings > HTTP Listening; newer firmware calls it Alarm Server, under Configuration > Event > Alarm Setting.',
      `Destination IP or Host Name: ${host}`,
      `URL: ${path} (the field accepts 128 characters)`,
      `Protocol: ${protocol}. Port: ${port}.`,
      `If the page asks for authentication, choose Digest, or Basic, with the user name ${username} and the password ${password}. Otherwise leave it at None: the URL identifies the camera.`,
      'Save, and press Test if there is such a button.',
      'In the settings of Road Traffic (license plates), and of every other event that is to be sent, open Linkage Method and select Notify Surveillance Center; in the picture settings, select the images to upload.',
      'Set time zone and NTP server under Configuration > System > Time Settings, because the events have the time of the camera.',
    ];
  },
};

function read({ parts }: DeviceMessage, context: ReadingContext): Reading {
  const plates = elementsOf(parts, 'Plates').flatMap((document) =>
    fieldList(document, 'Plate', MAX_VEHICLES),
  );
  if (plates.length > 0 || elementsOf(parts, 'Plates').length > 0) {
    const reports = plates.map((plate) => pollReport(plate, context));
    return reports.length > 0
      ? { reports, is: 'reports', note: null }
      : without('nothing', 'The list of plates is empty');
  }
  const alerts = alertsOf(parts);
  if (alerts.length === 0) {
    return valuesOf(parts).length > 0
      ? without('nothing', 'The message is not an EventNotificationAlert')
      : without('unreadable', unreadableReason(parts, 'XML or JSON with an EventNotificationAlert'));
  }
  const readings = alerts.map(({ alert, images }) => readAlert(alert, images, context));
  const reports = readings.flatMap((each) => each.reports);
  const periods = readings.flatMap((each) => each.periods ?? []);
  const counts = periods.length > 0 ? { periods } : {};
  if (reports.length > 0) {
    const cut = parts.find((part) => part.content.kind === 'unreadable' && alertsIn(part).length > 0);
    const note = cut && `${unreadableReason([cut], '')}, but the recognition in it is whole`;
    return {
      reports,
      ...counts,
      is: 'reports',
      note: note ?? readings.find((each) => each.note)?.note ?? null,
    };
  }
  const first = readings.find((each) => each.periods) ?? readings.find((each) => each.is !== 'nothing');
  return { ...(first ?? (readings[0] as Reading)), ...counts };
}

interface Alert {
  readonly alert: unknown;
  readonly images: readonly string[];
}

/** The alerts of a message with their images: a stream has several, each followed by its own images. */
function alertsOf(parts: readonly MessagePart[]): Alert[] {
  const starts = parts.flatMap((part, index) => {
    const alerts = alertsIn(part);
    return alerts.length > 0 ? [{ index, alerts }] : [];
  });
  return starts.flatMap(({ index, alerts }, at) => {
    const own = starts.length === 1 ? parts : parts.slice(index, starts[at + 1]?.index);
    return alerts.map((alert) => ({ alert, images: imagesIn(own, rankOfImage) }));
  });
}

/** The alerts of a part. If its end is missing, those count of which a recognition is whole. */
function alertsIn(part: MessagePart): readonly unknown[] {
  const { content } = part;
  if (content.kind === 'unreadable') {
    const whole = content.whole ? alertsIn({ ...part, content: content.whole }) : [];
    return whole.filter((alert) => fieldAt(alert, 'ANPR') !== undefined);
  }
  // Cameras upload the same content to an FTP server, without the alert around it.
  if (content.kind === 'xml') {
    return itemsOf(
      [...elementsOf([part], 'EventNotificationAlert'), ...elementsOf([part], 'FTP')],
      MAX_VEHICLES,
    );
  }
  if (content.kind !== 'json') return [];
  return itemsOf(content.value, MAX_VEHICLES)
    .map((value) => fieldAt(value, 'EventNotificationAlert') ?? value)
    .filter((value) => fieldText(value, 'eventType') !== null || fieldAt(value, 'ANPR') !== undefined);
}

/** The rank of an image by its name: the scene is the best, and the image of the plate alone the last. */
function rankOfImage(name: string): number {
  if (/detection/i.test(name)) return 0;
  if (/vehicle|scene|background/i.test(name)) return 1;
  return /plate/i.test(name) ? 3 : 2;
}

function readAlert(alert: unknown, images: readonly string[], context: ReadingContext): Reading {
  const type = (fieldText(alert, 'eventType') ?? '').toLowerCase();
  const device = namesOfDevice(alert);
  if (fieldText(alert, 'eventState')?.toLowerCase() === 'inactive') {
    return without('heartbeat', 'A heartbeat, or the end of an alarm', device);
  }
  if (DEVICE_STATUS.test(type)) return without('status', `The device reports ${type}`, device);
  if (FIGURES.test(type)) {
    return readingOfAll(countsOf(alert, device, context), 'The message has no figures', device);
  }
  if (REPETITION.test(type)) {
    return without(
      'nothing',
      'It repeats the recognition of a plate, which the camera sends as ANPR',
      device,
    );
  }
  const source = { alert, type, device, images };
  const reports = reportsOf(source, context);
  return reports.length > 0
    ? { reports, is: 'reports', note: null }
    : without('nothing', `Alarms of the type ${type || 'unknown'} are not recorded`, device);
}

function reportsOf(source: Source, context: ReadingContext): Report[] {
  const { alert, type } = source;
  if (type === 'tfs')
    return fieldsOrWhole(alert, 'TFS').map((each) => violationReport(source, each, context));
  if (type === 'aid') return fieldsOrWhole(alert, 'AID').map((each) => incidentReport(source, each, context));
  const recognised = fieldList(alert, 'ANPR');
  if (recognised.length > 0) return recognised.map((each) => plateReport(source, each, context));
  const isVehicle = /^(?:anpr$|vehicle|traffic|mixedtarget)/.test(type) || isAboutVehicle(alert);
  // The content of a file on an FTP server has no type of its own.
  return isVehicle || fieldText(alert, 'licensePlate') !== null ? [plateReport(source, alert, context)] : [];
}

function fieldsOrWhole(alert: unknown, name: string): readonly unknown[] {
  const found = fieldList(alert, name);
  return found.length > 0 ? found : [alert];
}

/** Whether a smart event, such as the crossing of a line, was caused by a vehicle. */
function isAboutVehicle(alert: unknown): boolean {
  const entries = fieldList(fieldAt(alert, 'DetectionRegionList'), 'DetectionRegionEntry');
  return [alert, ...entries].some((each) =>
    /vehicle|^car$/i.test(fieldText(each, 'detectionTarget', 'targetType', 'TargetType') ?? ''),
  );
}

function namesOfDevice(alert: unknown): string[] {
  return namesOf(
    fieldText(alert, 'dynChannelID'),
    fieldText(alert, 'channelID'),
    fieldText(alert, 'macAddress'),
    fieldText(alert, 'Extensions/serialNumber', 'serialNumber', 'deviceID'),
    fieldText(alert, 'channelName'),
    fieldText(alert, 'ipAddress'),
  );
}

/** One `Plate` of the list that `vehicleDetect/plates` returns. */
function pollReport(plate: unknown, { zone }: ReadingContext): Report {
  const number = fieldText(plate, 'plateNumber', 'licensePlate');
  const image = fieldText(plate, 'picName');
  const captured = fieldText(plate, 'captureTime');
  const channel = fieldText(plate, 'channelID', 'channel');
  return {
    key: image ?? (captured && number ? `${captured}/${number}` : null),
    device: namesOf(channel),
    ...reportedTime(zone, ['captureTime', captured, (text) => captureTime(String(text), zone)]),
    event: vehicleEvent({
      plate: number,
      confidence: confidenceOf(fieldText(plate, 'confidenceLevel', 'matchingResult/confidence'), 100),
      tags: ['Hikvision'],
      metadata: {
        vendor: 'hikvision',
        channel,
        lane: fieldText(plate, 'laneNo', 'line'),
        direction: knownText(plate, 'direction'),
        country: knownText(plate, 'country'),
        raw: plate,
      },
    }),
  };
}

/**
 * Firmware writes `20200424T1616270000` for `20200424T161627+0000`. An offset without its sign is used only if it
 * is zero; otherwise the time is local.
 */
function captureTime(text: string, zone: Zone): number | null {
  const found = /^(\d{8}T\d{6})(\d{4})$/.exec(text);
  if (!found) return isoTime(text, zone);
  return isoTime(found[1], found[2] === '0000' ? 'utc' : zone);
}

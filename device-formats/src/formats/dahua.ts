import { parse } from 'secure-json-parse';
import { fieldAt, fieldList, fieldText, imagesIn, itemsOf, unreadableReason, valuesOf } from '../fields.ts';
import {
  addressParts,
  type DeviceAnswer,
  type Format,
  type Reading,
  type ReadingContext,
  without,
} from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage, MessagePart } from '../message.ts';
import { type DahuaEvent, eventReport, isAboutVehicle } from './dahua-events.ts';
import { isItsapi, readItsapi } from './dahua-itsapi.ts';

/** The paths of ITSAPI, to which cameras post regardless of the configured address. */
const ITSAPI_PATHS = [
  '/NotificationInfo/TollgateInfo',
  '/NotificationInfo/KeepAlive',
  '/NotificationInfo/DeviceInfo',
];

/** Messages with figures about several vehicles. */
const FIGURES = /^(?:trafficflow|vehicles?flow|flowstat|numberstat|trafficqueue|mannumdetection)/;

/** What Dahua's devices report about themselves. */
const DEVICE_STATUS =
  /^(?:video(?:loss|blind|unfocus|abnormal)|storage|disk|login|reboot|ntp|timechange|net|ipconflict|macconflict|newfile|rtsp|upgrade|heat|fan|power|battery|sensor|sceneChange)/i;

/** Dahua and Intelbras: EventHttpUpload, ITSAPI, the events of `snapManager` and of RPC2. */
export const dahua: Format = {
  name: 'dahua',
  label: 'Dahua, Intelbras (HTTP upload, ITSAPI)',
  transports: ['http'],
  authentication: ['basic', 'digest'],
  // ITSAPI repeats messages that were not answered; EventHttpUpload has not been observed to do so.
  repeats: false,
  keysMayRepeat: true,
  fixedPaths: ITSAPI_PATHS,
  read,
  answer,
  instructions({ url, username, password }) {
    const { protocol, host, port, path } = addressParts(url);
    return [
      'ITSAPI, for cameras that read plates: open Setup > Network > Platform Access > ITSAPI (Intelbras: Push), and enable it.',
      `Platform server: ${host}. Port: ${port}. Authentication: Digest, user name ${username}, password ${password}. The camera posts to /NotificationInfo/TollgateInfo, and these credentials identify it.`,
      'Select plate number, time, vehicle attributes and images as the content, and set the heartbeat to 60 seconds.',
      'Or, for other cameras and NVRs: open Setup > Network > Auto Registration or HTTP Upload (EventHttpUpload), and enable the upload of events.',
      `Server: ${host}. Port: ${port}. Path: ${path}. Protocol: ${protocol}. The path identifies the device, so that no authentication is needed; if it asks for one, enter the same user name and password.`,
      'Select the traffic events (such as TrafficJunction), and the images.',
      'Set time zone and NTP server under Setup > System > Date & Time, and give this connection the same time zone: cameras report local time.',
    ];
  },
};

function answer(path: string): DeviceAnswer {
  // Cameras repeat a message until they receive this answer.
  const body = JSON.stringify({ Result: true, Message: 'Success' });
  return /NotificationInfo/i.test(path) ? { contentType: 'application/json', body } : {};
}

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const { parts, path } = message;
  const values = valuesWithLines(parts);
  const itsapi = values.filter(isItsapi);
  if (itsapi.length > 0) return readItsapi(itsapi, imagesIn(parts), context);
  const events = values.flatMap(eventsIn);
  if (events.length > 0) return readEvents(events, imagesIn(parts), context);
  if (/keep-?alive|heartbeat/i.test(path) || hasHeartbeat(parts)) return without('heartbeat', 'A heartbeat');
  return values.length > 0
    ? without('nothing', 'The message contains no events of Dahua')
    : without('unreadable', unreadableReason(parts, 'JSON or text with the events of a Dahua device'));
}

/** JSON and XML as they are, and texts of lines such as `Events[0].Lane=1` as if they were JSON. */
function valuesWithLines(parts: readonly MessagePart[]): unknown[] {
  const lines = parts.flatMap(({ content }) => (content.kind === 'text' ? valuesOfLines(content.text) : []));
  return lines.length > 0
    ? [...valuesOf(parts.filter(({ content }) => content.kind !== 'text')), ...lines]
    : valuesOf(parts);
}

function hasHeartbeat(parts: readonly MessagePart[]): boolean {
  return parts.some(({ content }) => content.kind === 'text' && /^\s*heartbeat\s*$/i.test(content.text));
}

function eventsIn(value: unknown): DahuaEvent[] {
  return itemsOf(value)
    .flatMap((each) => {
      const lists = ['Events', 'ReturnEvents', 'params/eventList'].flatMap((path) => fieldList(each, path));
      return lists.length > 0 ? lists : [each];
    })
    .flatMap(eventOf);
}

function eventOf(raw: unknown): DahuaEvent[] {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [];
  const data = fieldAt(raw, 'Data') ?? raw;
  const find = (name: string) =>
    fieldText(raw, name, `EventBaseInfo/${name}`) ?? fieldText(data, name, `EventBaseInfo/${name}`);
  const isEvent = find('Code') !== null || fieldAt(data, 'TrafficCar') !== undefined;
  if (!isEvent) return [];
  return [
    {
      code: find('Code') ?? fieldText(data, 'TrafficCar/Event', 'Name') ?? '',
      action: find('Action') ?? '',
      channel: fieldText(raw, 'Channel', 'Index') ?? find('Channel') ?? find('Index'),
      data,
      raw,
    },
  ];
}

function readEvents(
  events: readonly DahuaEvent[],
  images: readonly string[],
  context: ReadingContext,
): Reading {
  const readings = events.map((event) => readEvent(event, images, context));
  const reports = readings.flatMap((each) => each.reports);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((each) => each.is !== 'nothing') ?? (readings[0] as Reading);
}

function readEvent(event: DahuaEvent, images: readonly string[], context: ReadingContext): Reading {
  const { code, action, data } = event;
  const device = namesOf(event.channel, fieldText(data, 'TrafficCar/MachineName', 'MachineName'));
  if (/^(?:heartbeat|keepalive)$/i.test(code)) return without('heartbeat', 'A heartbeat', device);
  if (FIGURES.test(code.toLowerCase())) {
    return without('aggregate', 'Figures of several vehicles are not events', device);
  }
  if (/^stop$/i.test(action)) return without('nothing', `The end of ${code} is not recorded`, device);
  if (DEVICE_STATUS.test(code)) return without('status', `The device reports ${code}`, device);
  const isTraffic =
    /^(?:traffic|smartmotionvehicle|cardriving|vehicle)/i.test(code) ||
    fieldAt(data, 'TrafficCar') !== undefined;
  if (!isTraffic && !isAboutVehicle(data)) {
    return without('nothing', `Events of the type ${code || 'unknown'} are not recorded`, device);
  }
  return { reports: [eventReport(event, device, images, context)], is: 'reports', note: null };
}

/** Maximum number of lines that are read; no event has as many. */
const MAX_LINES = 5_000;
/** Maximum index in an array; no event has arrays as long. */
const MAX_INDEX = 200;
const MAX_STEPS = 12;

/** A line about an event; the answers to requests have names such as `ReturnEvents`. */
const EVENT_LINE = /^\s*(?:Return)?Events(\[\d{1,3}\][\w[\].-]*)\s?=(.*)$/i;

type Branch = Record<string, unknown>;

/**
 * The values of a text of lines: `Events[0].TrafficCar.Lane=1` or `ReturnEvents[0].…` as a tree, and `Code=X;action=Y;index=0;data={…}` as an
 * event. Empty when the text has neither.
 */
function valuesOfLines(text: string): unknown[] {
  const coded =
    /^\s*Code=([^;\s]+);\s*action=([^;\s]+)(?:;\s*index=([^;\s]+))?(?:;\s*data=([\s\S]*))?$/i.exec(text);
  if (coded) {
    const [, Code, Action, Index, data] = coded;
    return [{ Code, Action, Index, Data: jsonOf(data) ?? {} }];
  }
  const root: Branch = Object.create(null);
  let found = 0;
  for (const line of text.split(/\r?\n/, MAX_LINES)) {
    const pair = EVENT_LINE.exec(line);
    if (pair && place(root, `Events${pair[1]}`, pair[2]?.trim() ?? '')) found++;
  }
  return found > 0 ? [asArrays(root)] : [];
}

function jsonOf(text: string | undefined): unknown {
  try {
    return parse(text ?? '', undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return null;
  }
}

/** Puts the value at the path; false when the path is not one that devices use. */
function place(root: Branch, path: string, value: string): boolean {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  if (steps.length > MAX_STEPS || steps.some((step) => /^\d+$/.test(step) && Number(step) > MAX_INDEX)) {
    return false;
  }
  let branch = root;
  for (const step of steps.slice(0, -1)) {
    const next = branch[step];
    if (typeof next === 'object') branch = next as Branch;
    else {
      const added: Branch = Object.create(null);
      branch[step] = added;
      branch = added;
    }
  }
  const last = steps.at(-1);
  if (last !== undefined && typeof branch[last] !== 'object') branch[last] = value;
  return true;
}

/** Converts objects whose keys are all numbers to arrays. */
function asArrays(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.every(([key]) => /^\d+$/.test(key))) {
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, each]) => asArrays(each));
  }
  return Object.fromEntries(
    entries.filter(([key]) => key !== '__proto__').map(([key, each]) => [key, asArrays(each)]),
  );
}

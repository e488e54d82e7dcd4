import { reportedTime } from '../device-time.ts';
import { type Format, type Reading, type ReadingContext, type Report, without } from '../format.ts';
import { fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { jsonValues, notRead, reportKey, textsOf } from '../reading.ts';
import { vehicleEvent } from '../vehicle-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** Classes of AXIS Object Analytics that are vehicles, without blanks and hyphens. */
const VEHICLE = /^(?:car|truck|bus|bike|motorcycle|motorbike|van|vehicle|othervehicle)$/;

/**
 * Why the figures of a scenario are not counts of an interval: the camera adds up since the last reset, which it does not
 * name, so only the difference of two messages would be a count.
 */
const FIGURES =
  'The counts of a scenario are running totals since its last reset, and occupancies are of a moment: neither is a single vehicle or the count of an interval';

/** `…/ObjectAnalytics/Device1Scenario2`, and what follows the number: `Threshold` or `Interval` for example. */
const SCENARIO = /ObjectAnalytics\/(?:\w+:)?(Device\d+Scenario(?:\d+|ANY))(\w*)/i;

/**
 * AXIS Object Analytics over MQTT. A scenario that is triggered by a single object names it, and is an event if
 * the object is a vehicle. Counts since the last reset, occupancies and thresholds are figures of several objects.
 */
export const axisAoa: Format = {
  name: 'axis-aoa',
  label: 'AXIS Object Analytics (MQTT)',
  transports: ['mqtt', 'http'],
  authentication: ['mqtt'],
  repeats: true,
  namesCamera: true,
  topics: ['axis/+/event/tns:axis/CameraApplicationPlatform/ObjectAnalytics/#', 'axis/+/connection'],
  read,
  instructions: ({ url, username, password }) => [
    'Set MQTT_URL of Gantry to the broker that the camera uses.',
    'Open the web page of the camera, Apps, AXIS Object Analytics, and create a scenario (object in area or line crossing) for vehicles.',
    'Open System, MQTT, and enter the host and port of the broker.',
    `Enter the user and password that the broker expects, for example ${username} and ${password} if you create them there, and press Connect.`,
    'On the tab MQTT publication, press Add condition, select Application: Object Analytics with your scenario, and choose QoS 1.',
    'Keep "Include topic namespaces" and the default topic prefix; otherwise enter the topics of the camera in the option topics.',
    'If other cameras publish to the same broker, enter the topics of this one in the option topics, axis/<serial number>/event/tns:axis/CameraApplicationPlatform/ObjectAnalytics/# and axis/<serial number>/connection: otherwise the events of all of them belong to its sensor.',
    'If one connection serves several cameras, enter their serial numbers in the option sensors.',
    `Instead of MQTT, anything that forwards these messages may POST them to ${url}`,
  ],
};

function read(message: DeviceMessage, context: ReadingContext): Reading {
  const values = jsonValues(message).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const readings = values.map((value) => readingOf(objectOf(value), message.topic, context));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((reading) => reading !== null) ?? connectionState(message);
}

function readingOf(body: Json, topic: string | null, context: ReadingContext): Reading | null {
  const device = deviceOf(body, topic);
  const field = fieldsOf(body);
  const scenario = SCENARIO.exec(textOf(field('topic')) ?? '') ?? SCENARIO.exec(topic ?? '');
  if (!scenario) {
    const isState = typeof field('connected') === 'boolean' || /\/connection$/.test(topic ?? '');
    if (!isState) return null;
    return without('heartbeat', 'The camera reports its connection', device);
  }
  const data = objectOf(objectOf(body.message).data ?? body.data);
  const given = fieldsOf(data);
  const isFigure =
    Object.keys(data).some((key) => /^(?:total|count|occupancy)/i.test(key)) || scenario[2] !== '';
  if (isFigure) {
    return without('aggregate', FIGURES, device);
  }
  const classes = (textOf(given('classTypes', 'classType', 'reason', 'class', 'objectType')) ?? '')
    .split(/[,;|\s]+/)
    .filter((each) => each !== '');
  const kind = classes[0] ?? '';
  if (classes.length > 1) {
    return without('aggregate', 'The scenario was triggered by several objects at once', device);
  }
  if (!VEHICLE.test(kind.toLowerCase().replaceAll(/[_-]/g, ''))) {
    const what = kind === '' ? 'The message does not say what the object is' : `${kind} is not a vehicle`;
    return without('nothing', what, device);
  }
  const active = given('active', 'state');
  if (active === false || /^(?:0|false)$/i.test(textOf(active) ?? '')) {
    return without('nothing', 'The object has left the scenario', device);
  }
  return {
    reports: [reportOf({ body, data, kind, scenario: scenario[1] ?? '', device, context })],
    is: 'reports',
    note: null,
  };
}

interface Triggered {
  readonly body: Json;
  readonly data: Json;
  readonly kind: string;
  readonly scenario: string;
  readonly device: readonly string[];
  readonly context: ReadingContext;
}

function reportOf({ body, data, kind, scenario, device, context }: Triggered): Report {
  const given = fieldsOf(data);
  const object = textOf(given('objectId'));
  const trigger = textOf(given('triggerTime'));
  const moment = trigger ?? textOf(body.timestamp);
  // Device1ScenarioANY repeats the reports of each scenario, so the object and its time identify the report.
  const what = object ?? scenario;
  return {
    key: moment === null ? null : reportKey(device[0], what, moment),
    device,
    ...reportedTime(context.zone, ['triggerTime', trigger], ['timestamp', body.timestamp]),
    event: vehicleEvent({
      plate: null,
      vehicleType: kind,
      tags: ['axis', textOf(given('scenario'))],
      // The class Bike is bicycles and motorcycles.
      passage: /^bike$/i.test(kind) ? { vehicleClass: { scheme: 'BASIC', code: 'UNCLASSIFIED' } } : {},
      metadata: {
        vendor: 'axis-aoa',
        device: device[0],
        scenario: textOf(given('scenario')) ?? scenario,
        objectId: object,
        raw: body,
      },
    }),
  };
}

function deviceOf(body: Json, topic: string | null): string[] {
  return namesOf(fieldsOf(body)('serial', 'serialNumber'), /^axis\/([^/]+)\//.exec(topic ?? '')?.[1]);
}

function connectionState(message: DeviceMessage): Reading {
  const text = textsOf(message)[0] ?? '';
  return /^\s*(?:online|connected)\s*$/i.test(text)
    ? without('heartbeat', 'The camera reports its connection', deviceOf({}, message.topic))
    : notRead(message, 'an event of AXIS Object Analytics');
}

import { addressParts } from '../address-parts.ts';
import { fieldAt, fieldText, unreadableReason, valuesOf } from '../fields.ts';
import { type Format, type Reading, type ReadingContext, without } from '../format.ts';
import { namesOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { targetReports } from './tvt-targets.ts';

/** Devices keep a connection open, and send further messages, only after this answer. */
const ANSWER =
  '<?xml version="1.0" encoding="UTF-8"?>\n<config version="1.0" xmlns="http://www.ipc.com/ver10"><status>success</status></config>';

/** TVT and its brands (Viewtron and others): HTTP POST of cameras (1.x) and of recorders (2.0). */
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
      'Camera: open Network > HTTP POST, click Edit and then Add. Recorder: open Network > HTTP POST (under Integration), and select Enable.',
      `Protocol: ${protocol.toLowerCase()}. Domain/IP or Server Address: ${host}. Port: ${port}. Path: ${path}.`,
      `If the device keeps the path /API whatever you enter, clear Anonymous Login and enter the user name ${username} and the password ${password}; they identify the device. Otherwise leave the login anonymous.`,
      'Select Send heartbeat, with an interval of 60 seconds.',
      'Camera: under Smart Alarm Data, select Smart event data, Original picture and Target picture, and not Smart track data. Recorder: under Attaching Image, select Snap and Original.',
      'Under the alarm or event types, select license plate recognition, and Illegal Parking Detection or others with vehicles as targets, if you use them.',
      'Save. On a recorder, Test shows whether it reaches the address.',
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

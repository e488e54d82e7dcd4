import type { MessageStatus } from '@gantry/contract/connections';
import type { Reading } from '@gantry/device-formats/format';
import type { KnownSensors } from '../sensors/sensor-keys.ts';
import type { KnownConnection } from './store.ts';

/**
 * The sensor of a device by the names that the message contains; null when an NVR's device is not assigned to one.
 * A message without any name belongs to the sensor of the connection.
 */
function sensorOf(
  { sensorId, options: { sensors } }: Pick<KnownConnection, 'sensorId' | 'options'>,
  names: readonly string[],
): string | null {
  if (sensors === undefined || names.length === 0) return sensorId;
  const assigned = new Map(Object.entries(sensors).map(([name, id]) => [nameKey(name), id]));
  for (const name of names) {
    const found = assigned.get(nameKey(name));
    if (found !== undefined) return found;
  }
  return null;
}

/** The sensor of a device; null when the device is not assigned to one, or is assigned to one that was deleted. */
export async function assignedSensor(
  knownSensors: Pick<KnownSensors, 'find'>,
  connection: Pick<KnownConnection, 'sensorId' | 'options'>,
  names: readonly string[],
): Promise<string | null> {
  const sensorId = sensorOf(connection, names);
  if (sensorId === null || sensorId === connection.sensorId) return sensorId;
  return (await knownSensors.find(sensorId)) ? sensorId : null;
}

/** Names of devices are cut to this length in the list of discoveries, in characters. */
const DISCOVERED_MAX = 200;

/** The name under which a device that is not assigned to a sensor is listed, by the names that its message contains. */
export function discoveredName(names: readonly string[]): string {
  return (names[0] ?? '').replaceAll('\0', '').toWellFormed().slice(0, DISCOVERED_MAX);
}

/**
 * The sentence that says why a message of a device that is not assigned to a sensor becomes no event.
 * @param device its name in the list of discoveries (`discoveredName`)
 */
export function notAssigned(device: string): string {
  return `The device ${device} is not assigned to a sensor`;
}

/** The sentence about a device that is one of several of a connection whose events all belong to one sensor. */
export function oneOfSeveral(device: string): string {
  return `The device ${device} is not the only one of this connection: assign each to a sensor in options.sensors, otherwise all their events belong to one`;
}

/** The sentence about the counts of several devices on a connection whose messages all belong to one sensor. */
export function countsOfSeveral(devices: number): string {
  return `The counts are of ${devices} devices, and were not stored: assign each to a sensor in options.sensors`;
}

/** How many devices a sentence names. */
const MAX_NAMED = 5;

/** The sentence about counts of devices that are not assigned to a sensor. */
export function countsNotAssigned(devices: readonly string[]): string {
  const rest = devices.length - MAX_NAMED;
  const named = `${devices.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return `Counts were not stored because these devices are not assigned to a sensor: ${named}`;
}

/** The sentence about counts that were refused. */
export function countsRefused([first, ...others]: readonly string[]): string {
  return `${others.length + 1} counts were refused: ${first}`;
}

/** Devices vary the case of their names, and the blanks around them, between messages. */
function nameKey(name: string): string {
  return name.trim().toLowerCase();
}

/** The status of a message without reports. */
export function statusWithoutReports(is: Reading['is']): MessageStatus {
  switch (is) {
    case 'heartbeat':
    case 'status':
      return 'ALIVE';
    case 'aggregate':
      return 'AGGREGATE';
    case 'unreadable':
      return 'REFUSED';
    default:
      return 'IGNORED';
  }
}

const REASON_MAX = 1_000;

/** The last character of a reason that was cut. */
export const CUT = '…';

/** The sentences as one text of limited length; null if there are none. */
export function reasonOf(sentences: readonly (string | null)[]): string | null {
  const text = [...new Set(sentences.filter((each) => each))].join('; ').replaceAll('\0', '').toWellFormed();
  if (text === '') return null;
  return text.length <= REASON_MAX ? text : `${text.slice(0, REASON_MAX - CUT.length).toWellFormed()}${CUT}`;
}

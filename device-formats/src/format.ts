import type { ConnectionOptions } from '@gantry/contract/connections';
import type { CountPeriod } from '@gantry/contract/counts';
import type { passageFieldNames, ReportedEvent } from '@gantry/contract/events';
import type { deviceFormats } from '@gantry/contract/values';
import type { ReportedTime, Zone } from './device-time.ts';
import type { MapInput } from './mapper.ts';
import type { DeviceMessage } from './message.ts';

export type FormatName = (typeof deviceFormats)[number];

/** The fields of an event that a format finds in a message; absent ones are null or empty. */
export type ObservedEvent = Pick<ReportedEvent, 'eventType'> &
  Partial<
    Pick<
      ReportedEvent,
      | 'description'
      | 'location'
      | 'metadata'
      | 'images'
      | 'tags'
      | 'violationType'
      | 'licensePlateNumber'
      | 'vehicleType'
      | 'vehicleSpeed'
      | 'severity'
      | (typeof passageFieldNames)[number]
    >
  >;

/**
 * Marks a report as one of several about the same vehicle. They are held until the last one or a time limit, and
 * become one event: the one of the highest quality, at the earliest time, with the images of all.
 */
export interface PartOfPassage {
  /** The maker's identification of the vehicle's passage, unique within the device. */
  readonly id: string;
  /** Reports with a plate should precede those without; for equal quality, the later report counts. */
  readonly quality: number;
  /** Whether the device reports no more of this vehicle. */
  readonly isLast: boolean;
  /** For how long to wait for further reports, in seconds. */
  readonly waitSeconds: number;
  /**
   * Other ids under which the device may have reported this vehicle. Reports held under them become part of this
   * passage; reports that arrive under them later create no event.
   */
  readonly joins?: readonly string[];
}

/** One vehicle or incident in a message. */
export interface Report extends ReportedTime {
  /**
   * The maker's identification of the report, unique within the connection, at most 200 characters; null if there is
   * none. Reports with the same key are the same event, however often they arrive (for the reports of one message, see
   * `keysMayRepeat`).
   */
  readonly key: string | null;
  /** The names by which `options.sensors` may refer to the device, the most specific first: channel, MAC, serial, name. */
  readonly device: readonly string[];
  readonly event: ObservedEvent;
  readonly passage?: PartOfPassage;
}

/** What a detector counted in an interval, as `counts.ingest` takes it; `start` has an offset. */
export type ObservedPeriod = CountPeriod & {
  /** As in `Report.device`. */
  readonly device: readonly string[];
};

/** What a format read from a message. Without reports, `is` classifies the message. */
export interface Reading {
  readonly reports: readonly Report[];
  /** Counts of intervals; absent if there are none. Without reports, such a message is an `aggregate`. */
  readonly periods?: readonly ObservedPeriod[];
  readonly is: 'reports' | 'heartbeat' | 'status' | 'aggregate' | 'nothing' | 'unreadable';
  /** Why there are no reports, or which part of the message was left out, as a sentence; null otherwise. */
  readonly note: string | null;
  /** The names of the device that sends the heartbeat or status, as in `Report.device`. */
  readonly device?: readonly string[];
}

/** What a format is given in addition to the message. */
export interface ReadingContext {
  readonly options: ConnectionOptions;
  /** The time zone of the device's local times. */
  readonly zone: Zone;
  /** Evaluates mappings; without it, messages of the format `mapped` are unreadable. */
  readonly map?: MapInput;
}

/** The ways in which devices of a format can identify themselves, besides the token in the address. */
export type AuthenticationMethod = 'basic' | 'digest' | 'header' | 'hmac' | 'body' | 'mqtt';

/** The answer to a device. */
export interface DeviceAnswer {
  /** @default 200 */
  readonly status?: number;
  readonly contentType?: string;
  readonly body?: string;
  /** Whether the device expects the connection to be closed. */
  readonly close?: boolean;
}

/** The values that the instructions of a connection contain. */
export interface ConnectionValues {
  /** The whole address, at most 127 characters, such as `http://10.0.0.5:4000/gateway/hikvision/<token>`. */
  readonly url: string;
  readonly token: string;
  readonly username: string;
  readonly password: string;
}

/** A format in which devices report. Its functions are pure. */
export interface Format {
  readonly name: FormatName;
  /** The name that users read, such as `Hikvision (HTTP listening)`. */
  readonly label: string;
  readonly transports: readonly ('http' | 'mqtt')[];
  readonly authentication: readonly AuthenticationMethod[];
  /** Whether devices send a message again that was answered 503. Otherwise it is put on disk before the answer. */
  readonly repeats: boolean;
  /**
   * For how long after a report without a key another message with the same body is the same report, in milliseconds;
   * 0 for never.
   * @default 60,000
   */
  readonly repetitionMs?: number;
  /**
   * Whether devices use one number for several vehicles of a message. If so, different reports of one message are
   * different events, even with the same key; otherwise the same key is the same event within a message, too.
   */
  readonly keysMayRepeat?: boolean;
  /**
   * Whether the first name in `Report.device` is that of the camera, so that reports with different ones are of different
   * cameras. Two cameras on a connection without `options.sensors` are named with their messages, and as discoveries.
   */
  readonly namesCamera?: boolean;
  /**
   * For formats whose senders are programs that act on an error: why a message will not be read, as a sentence, with which
   * it is answered 400 after it was stored; null if it will. Cameras take any error for an outage, so for them only the
   * connection shows what was refused.
   */
  refusalOf?(message: DeviceMessage): string | null;
  /** Whether messages are read with their HTTP headers. */
  readonly readsHeaders?: boolean;
  /** Paths that devices of this format use regardless of the configured address; their credentials identify them. */
  readonly fixedPaths?: readonly string[];
  /**
   * Reads a message. One that the format does not understand is `unreadable` or `nothing`, with a note. The promise is
   * rejected only when the service cannot read the message at the moment, and should try again.
   * @throws TooManyVehicles, which `readMessage` converts to `unreadable` for all formats
   */
  read(message: DeviceMessage, context: ReadingContext): Reading | Promise<Reading>;
  /**
   * The answer that devices of this format expect. Without this function it is 200 with an empty body.
   * @param path as in `DeviceMessage`
   */
  answer?(path: string): DeviceAnswer;
  /** The steps and exact values for the web page or configuration of the device, in order. */
  instructions(values: ConnectionValues): readonly string[];
  /** The MQTT topics that a connection of this format subscribes to, unless its options name others. */
  readonly topics?: readonly string[];
}

/**
 * Maximum number of vehicles in a message, which no device exceeds. Formats for which no larger messages are known have a
 * lower limit (`itemsOf`).
 */
export const MAX_VEHICLES = 1_000;

/** A reading of a message that reports nothing. */
export function without(
  is: Exclude<Reading['is'], 'reports'>,
  note: string,
  device?: readonly string[],
): Reading {
  return { reports: [], is, note, ...(device && { device }) };
}

/** A message has more vehicles than any device reports. */
export class TooManyVehicles extends Error {
  override readonly name = 'TooManyVehicles';
  constructor(most = MAX_VEHICLES) {
    super(`The message contains more than ${most} vehicles`);
  }
}

/** An address, split into the fields of a device's web page. */
export interface AddressParts {
  readonly protocol: 'HTTP' | 'HTTPS';
  readonly host: string;
  readonly port: string;
  /** The path, including the query if there is one. */
  readonly path: string;
}

/**
 * Splits an absolute HTTP or HTTPS address. Without a port, the port is that of the protocol.
 * @throws TypeError if the address is not absolute
 */
export function addressParts(url: string): AddressParts {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const isSecure = protocol === 'https:';
  return {
    protocol: isSecure ? 'HTTPS' : 'HTTP',
    host: hostname,
    port: port || (isSecure ? '443' : '80'),
    path: `${pathname}${search}`,
  };
}

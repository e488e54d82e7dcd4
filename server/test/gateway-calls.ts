import { randomUUID } from 'node:crypto';
import { type Caller, eventually, type HttpAnswer } from './harness.ts';

/** What `connections.create` returns. */
export interface Created {
  readonly id: string;
  readonly sensorId: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly instructions: readonly string[];
}

/** A message as `connections.getMessages` shows it. */
export interface ShownMessage {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly eventIds: readonly string[];
  readonly path: string;
  readonly pictures: readonly string[];
}

/** Registers a sensor and returns its id. */
export const newSensor = async (gantry: Caller, fields: object = {}): Promise<string> => {
  const input = { name: 'Gantry 4', deviceId: randomUUID(), type: 'ANPR', ...fields };
  return (await gantry.ok('sensors.create', input, { token: await gantry.tokenFor('ADMIN') })).id;
};

/** Connects a new sensor, or the one that the input names. */
export const connect = async (
  gantry: Caller,
  format: string,
  input: { sensorId?: string; timeZone?: string; origin?: string; options?: object } = {},
): Promise<Created> => {
  const sensorId = input.sensorId ?? (await newSensor(gantry));
  return gantry.ok<Created>(
    'connections.create',
    { format, ...input, sensorId },
    { token: await gantry.tokenFor('ADMIN') },
  );
};

/** The path within an address of the service. */
export const pathOf = (url: string): string => new URL(url).pathname;

/** Sends a message as a device does, to a path of the service. */
export const send = (
  gantry: Caller,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<HttpAnswer> => gantry.fetch(path, { method, headers, body: body as string });

/** Sends a message in JSON. */
export const sendJson = (
  gantry: Caller,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  send(gantry, path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });

/** A message of the format `gantry`. */
export const event = (fields: object = {}) => ({
  eventType: 'PLATE_RECOGNITION',
  licensePlateNumber: 'B AB 1234',
  ...fields,
});

/** A message of the format `gantry` with a key and a time, so that its repetition is recognised. */
export const keyedEvent = (fields: object = {}) =>
  event({ idempotencyKey: randomUUID(), timestamp: '2026-03-01T10:00:00Z', ...fields });

/** All messages of a connection, newest first. */
export const messagesOf = async (gantry: Caller, connectionId: string): Promise<readonly ShownMessage[]> =>
  (
    await gantry.ok(
      'connections.getMessages',
      { connectionId, take: 100 },
      { token: await gantry.tokenFor('ADMIN') },
    )
  ).messages;

/** The messages of a connection, newest first, once there are at least `count` of them and all are processed. */
export const processed = (
  gantry: Caller,
  connectionId: string,
  count = 1,
): Promise<readonly ShownMessage[]> =>
  eventually(
    () => messagesOf(gantry, connectionId),
    (messages) => messages.length >= count && messages.every(({ status }) => status !== 'RECEIVED'),
  );

/** An event with all its fields. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
export const eventOf = async (gantry: Caller, id: string | undefined): Promise<any> =>
  gantry.ok('events.getById', { id }, { token: await gantry.tokenFor('ADMIN') });

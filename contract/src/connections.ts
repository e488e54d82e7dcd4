import { z } from 'zod';
import { isPeriodLength } from './counts.ts';
import { id } from './id.ts';
import { jsonObject } from './json.ts';
import { pageTotals, paging } from './page.ts';
import { showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { sensorName } from './sensors.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { deviceFormats, messageStatuses, topicsWarnings } from './values.ts';

export const deviceFormat = z.enum(deviceFormats);
export type DeviceFormat = z.infer<typeof deviceFormat>;

export const messageStatus = z.enum(messageStatuses);
export type MessageStatus = z.infer<typeof messageStatus>;

/** Maximum length of a mapping, in characters. */
export const MAPPING_MAX = 20_000;

const optionFields = {
  sensors: z
    .record(trimmedText(200, 1), id)
    .optional()
    .describe(
      'For an NVR with several cameras: the sensor for each channel, MAC address, serial number or camera name. Without it, all messages belong to the sensor of the connection.',
    ),
  speedUnit: z
    .enum(['km/h', 'mph'])
    .optional()
    .describe('The unit of speeds in messages that do not name it. Default: km/h.'),
  dayFirst: z
    .boolean()
    .optional()
    .describe(
      'The order of dates such as 05/11/2026, which may be the fifth of November (true) or the eleventh of May (false). Without it, such dates are not read, and the events have the time of receipt.',
    ),
  periodSeconds: z
    .number()
    .refine(isPeriodLength, 'Use a divisor of a day (86400) from 10 to 86400, such as 60, 300, 900 or 3600')
    .optional()
    .describe(
      'The length of the intervals of counts in messages that do not name it, in seconds. Without it, such counts are not read.',
    ),
  periodTime: z
    .enum(['START', 'END'])
    .optional()
    .describe(
      'Which end of its interval the time of a count is, in messages that do not say it. Default: the start, unless the interval would then not be over when it was published or received.',
    ),
  minConfidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      'Plates read with less confidence are left out of the event, from 0 to 1. Plates without a confidence are kept.',
    ),
  mapping: trimmedText(MAPPING_MAX, 1)
    .optional()
    .describe(
      'For the format `mapped`: a JSONata expression that makes one event or an array of events of a message.',
    ),
  topics: z
    .array(trimmedText(500, 1))
    .max(20)
    .optional()
    .describe('For formats over MQTT: the topics to subscribe to, instead of the usual ones of the format.'),
};

/** How the messages of a connection are read. */
export const connectionOptions = z.strictObject(optionFields, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `There is no option ${issue.keys.join(', ')}: use ${Object.keys(optionFields).join(', ')}`
      : undefined,
});
export type ConnectionOptions = z.infer<typeof connectionOptions>;

const timeZone = trimmedText(100, 1).describe(
  'IANA time zone of times that the device sends without an offset. Default: the time zone of the service.',
);

/** A connection of a sensor, without its secrets. */
export const connection = z.object({
  id: z.string(),
  sensorId: z.string(),
  format: deviceFormat,
  timeZone: z.string().nullable(),
  options: connectionOptions,
  username: z.string(),
  createdAt: z.date(),
  updatedAt: z.date(),
  lastMessageAt: z.date().nullable(),
  lastMessageStatus: messageStatus.nullable(),
  limitedMessages: z
    .number()
    .describe('How many messages were refused with 429, because the connection sent too many.'),
  lastLimitedAt: z.date().nullable(),
  lostMessages: z
    .number()
    .describe(
      'How many messages of a device that does not send again could neither be stored nor put on disk.',
    ),
  lastLostAt: z.date().nullable(),
  topicsWarning: z
    .enum(topicsWarnings)
    .nullable()
    .describe(
      'What the topics of the connection on the broker of `MQTT_URL` lead to. NO_TOPIC: no message arrives, because the device ID of its sensor contains `+` or `#`, which are wildcards. EVERY_DEVICE: the usual topics are those of every device of this kind on the broker, whose events all belong to its sensor. To correct it, set `options.topics`, or `options.sensors`. Null: neither, or no `MQTT_URL`.',
    ),
});
export type Connection = z.infer<typeof connection>;

/** The secrets of a connection, returned only when it is created or its secrets are replaced, and how to enter them in the device. */
export const connectionSecrets = z.object({
  url: z.string().describe('The address for the device, with its token.'),
  username: z.string(),
  password: z.string(),
  token: z.string(),
  instructions: z.array(z.string()).describe('What to enter in the device, step by step.'),
});

/** The address of the service as devices reach it, such as `http://10.0.0.5:4000`. */
export const deviceOrigin = trimmedText(60, 1)
  .refine((value) => {
    const written = URL.canParse(value) ? new URL(value) : null;
    return written !== null && /^https?:$/.test(written.protocol) && written.origin === value;
  }, 'Use an address such as http://10.0.0.5:4000, without a path or the default port')
  .describe(
    'The address of the service as the device reaches it, such as http://10.0.0.5:4000. Default: the setting GATEWAY_URL, or else HTTP and the host to which the request was sent.',
  );

export const deviceAddresses = z.object({
  addresses: z
    .array(
      z.object({
        origin: z.string(),
        isLoopback: z.boolean().describe('Only programs on the machine of the service reach it.'),
      }),
    )
    .describe(
      'The addresses under which devices may reach the service, the most likely first: only GATEWAY_URL if it is set; otherwise the host of the request, and the addresses of the machine of the service.',
    ),
  listensLocally: z
    .boolean()
    .describe(
      'The service listens only on the loopback address of its machine (setting HOST), so devices reach it only through a proxy.',
    ),
});
export type DeviceAddresses = z.infer<typeof deviceAddresses>;

export const instructionsInput = z.object({ id, origin: deviceOrigin.optional() });
export type InstructionsInput = z.infer<typeof instructionsInput>;

/** The steps for a device without the secrets of its connection, which the service does not know any more. */
export const connectionSteps = z.object({
  url: z.string().describe('The address for the device, with asterisks in place of the token.'),
  username: z.string(),
  instructions: z
    .array(z.string())
    .describe('What to enter in the device, step by step, with asterisks in place of the secrets.'),
});
export type ConnectionSteps = z.infer<typeof connectionSteps>;

/** The formats that the service reads, in the order in which they are offered. */
export const formatsList = z.object({
  formats: z.array(
    z.object({
      name: deviceFormat,
      label: z.string().describe('The name that users know.'),
      transports: z.array(z.enum(['http', 'mqtt'])),
    }),
  ),
});

export const createConnectionInput = z.object({
  sensorId: id,
  format: deviceFormat,
  timeZone: timeZone.optional(),
  options: connectionOptions.default({}),
  origin: deviceOrigin.optional(),
});
export type CreateConnectionInput = z.infer<typeof createConnectionInput>;

export const createdConnection = connection.extend(connectionSecrets.shape);
export type CreatedConnection = z.infer<typeof createdConnection>;

export const listConnectionsInput = z
  .object({ sensorId: id.optional(), format: deviceFormat.optional(), ...paging(50) })
  .prefault({});
export type ListConnectionsInput = z.infer<typeof listConnectionsInput>;
export const connectionsPage = z.object({ connections: z.array(connection), ...pageTotals });

export const updateConnectionInput = z.object({
  id,
  timeZone: timeZone.nullable().optional(),
  options: connectionOptions.optional().describe('Replaces all options.'),
  expectedUpdatedAt: timeInput
    .optional()
    .describe(
      'The `updatedAt` of the connection as you saw it. If somebody has changed the connection since, nothing changes (CONFLICT).',
    ),
});
export type UpdateConnectionInput = z.infer<typeof updateConnectionInput>;

/** A message that a device sent, and the result of processing it. */
export const deviceMessage = z.object({
  id: z.string(),
  connectionId: z.string(),
  receivedAt: z.date(),
  status: messageStatus,
  reason: showsPlate(
    'mappedValues',
    z.string().nullable().describe('Why it did not become an event, or what was left out of it.'),
  ),
  eventIds: z.array(z.string()),
  method: z.string(),
  path: showsPlate('digits', z.string()),
  contentType: z.string().nullable(),
  bytes: z.number().describe('Size in bytes.'),
  pictures: showsPlate('empty', z.array(z.string()).describe('The addresses of its images.')),
});
export type DeviceMessage = z.infer<typeof deviceMessage>;

export const listMessagesInput = z.object({
  connectionId: id,
  status: messageStatus.optional(),
  ...paging(20),
});
export type ListMessagesInput = z.infer<typeof listMessagesInput>;
export const messagesPage = z.object({ messages: z.array(deviceMessage), ...pageTotals });

/** A part of a multipart body, or the whole of any other body. */
export const messagePart = z.object({
  name: z.string().nullable(),
  fileName: z.string().nullable(),
  contentType: z.string().nullable(),
  text: showsPlate(
    'digits',
    z.string().nullable().describe('The text, in which images in base64 are replaced by their addresses.'),
  ),
  base64: showsPlate(
    'empty',
    z.string().nullable().describe('The bytes of a part that is neither text nor an image.'),
  ),
  picture: showsPlate('empty', z.string().nullable().describe('The address of the image.')),
});

/** A message with its body. */
export const messageDetail = deviceMessage.extend({ parts: z.array(messagePart) });
export type MessageDetail = z.infer<typeof messageDetail>;

export const followMessagesInput = z.object({ connectionId: id, ...resumable });
export const receivedMessage = messagesOf('message', deviceMessage);

export const replayInput = z.union([
  z.object({ messageId: id }),
  z.object({
    connectionId: id,
    status: messageStatus.optional(),
    before: id.optional().describe('Only messages that arrived before the message with this id.'),
  }),
]);
export type ReplayInput = z.infer<typeof replayInput>;
export const replayOutput = z.object({
  success: z.literal(true),
  count: z.number().describe('Number of items.'),
  oldestMessageId: z.string().nullable().describe('The oldest of these messages; null if there is none.'),
});
export type ReplayOutput = z.infer<typeof replayOutput>;

/** Reads a stored message with the format or the mapping, without storing the result. */
export const tryInput = z.object({
  id,
  options: connectionOptions.optional().describe('Instead of the options of the connection.'),
  messageId: id.optional().describe('Default: the last message of the connection.'),
});
export const tryOutput = z.object({
  messageId: z.string(),
  status: messageStatus,
  reason: showsPlate('mappedValues', z.string().nullable()),
  events: z.array(jsonObject),
});

/** A device of an NVR that is not assigned to a sensor. */
export const discovery = z.object({
  id: z.string(),
  connectionId: z.string(),
  device: z.string().describe('The channel, MAC address, serial number or camera name.'),
  firstSeen: z.date(),
  lastSeen: z.date(),
  messages: z.number().describe('Number of messages.'),
});
export type Discovery = z.infer<typeof discovery>;
export const listDiscoveriesInput = z.object({ connectionId: id.optional(), ...paging(50) }).prefault({});
export const discoveriesPage = z.object({ discoveries: z.array(discovery), ...pageTotals });

export const registerInput = z.object({
  id,
  sensorId: id.optional().describe('An existing sensor; otherwise one is created.'),
  name: sensorName
    .optional()
    .describe(
      'The name of the sensor to create. Default: the name of the sensor of the connection, and the device.',
    ),
  replay: z.boolean().default(true).describe('Whether messages received meanwhile become events.'),
});
export const registerOutput = z.object({
  success: z.literal(true),
  sensorId: z.string(),
  replayed: z.number().describe('Number of messages that are processed again.'),
});

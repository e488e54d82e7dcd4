import {
  connection,
  connectionSteps,
  connectionsPage,
  createConnectionInput,
  createdConnection,
  deviceAddresses,
  discoveriesPage,
  followMessagesInput,
  formatsList,
  instructionsInput,
  listConnectionsInput,
  listDiscoveriesInput,
  listMessagesInput,
  messageDetail,
  messagesPage,
  receivedMessage,
  registerInput,
  registerOutput,
  replayInput,
  replayOutput,
  tryInput,
  tryOutput,
  updateConnectionInput,
} from '@gantry/contract/connections';
import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import { formats } from '@gantry/device-formats';
import { z } from 'zod';
import { addressesForDevices } from '../devices/address.ts';
import { listDiscoveries } from '../devices/discoveries-store.ts';
import { followMessages } from '../devices/follow-messages.ts';
import { getMessage, listMessages } from '../devices/messages-view-store.ts';
import { registerDiscovery } from '../devices/register.ts';
import {
  connectionView,
  createConnection,
  deleteConnection,
  getInstructions,
  replay,
  rotateSecrets,
  updateConnection,
} from '../devices/service.ts';
import { getConnection, listConnections } from '../devices/store.ts';
import { tryReading } from '../devices/try-reading.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import { messagesOf } from '../rpc/messages.ts';
import { allowed, pageOf, router } from './procedures.ts';

const deleteOutput = z.object({ success: z.literal(true), id: z.string() });

export const connectionsRouter = router({
  getFormats: allowed('manageSensors')
    .meta({ summary: 'List the formats in which devices can report' })
    .output(formatsList)
    .query(() => ({
      formats: formats.map(({ name, label, transports }) => ({
        name,
        label,
        transports: [...transports],
      })),
    })),

  create: allowed('manageSensors')
    .meta({
      summary: 'Connect a device that speaks a format of its maker to a sensor',
      notes:
        'A sensor may have any number of connections. `url`, `username`, `password` and `token` are shown once and stored as hashes. `instructions` are the steps for the web page of the device. The device posts to `url`, or to `/gateway/<format>` or the fixed path of its format with Basic or Digest authentication, the header `x-api-key`, or `Authorization: Bearer <token>`. Every message is stored as it came before it is answered, and then read.',
    })
    .input(createConnectionInput)
    .output(createdConnection)
    .mutation(({ ctx, input }) => createConnection(ctx, input)),

  getAll: allowed('manageSensors')
    .meta({ summary: 'List connections, of all sensors or of one' })
    .input(listConnectionsInput)
    .output(connectionsPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listConnections(ctx.app.db, input);
      return {
        connections: items.map((each) => connectionView(ctx.app, each)),
        total,
        pageCount: pageCount(total, input.take),
      };
    }),

  getById: allowed('manageSensors')
    .meta({ summary: 'Get one connection, without its secrets' })
    .input(byId)
    .output(connection)
    .query(async ({ ctx, input }) => connectionView(ctx.app, await getConnection(ctx.app.db, input.id))),

  getAddresses: allowed('manageSensors')
    .meta({ summary: 'List the addresses under which devices may reach the service' })
    .output(deviceAddresses)
    .query(({ ctx }) => addressesForDevices(ctx.app.config, ctx.caller)),

  getInstructions: allowed('manageSensors')
    .meta({
      summary: 'Get the steps for the device of a connection again, without its secrets',
      notes: 'The secrets are shown once, when the connection is created or they are rotated.',
    })
    .input(instructionsInput)
    .output(connectionSteps)
    .query(({ ctx, input }) => getInstructions(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change how messages of a connection are read',
      notes:
        '`options` replaces all options. Earlier messages are not read again; `connections.replay` does that. With `expectedUpdatedAt`, a change by somebody else that you did not see is not overwritten (CONFLICT), be it the registration of a device.',
    })
    .input(updateConnectionInput)
    .output(connection)
    .mutation(({ ctx, input }) => updateConnection(ctx, input)),

  rotate: allowed('manageSensors')
    .meta({
      summary: 'Replace the token and the password of a connection',
      notes: 'The old ones are refused at once. The user name does not change.',
    })
    .input(byId)
    .output(createdConnection)
    .mutation(({ ctx, input }) => rotateSecrets(ctx, input.id)),

  delete: allowed('manageSensors')
    .meta({
      summary: 'Delete a connection and its messages',
      notes: 'Events that were made of its messages stay.',
    })
    .input(byId)
    .output(deleteOutput)
    .mutation(({ ctx, input }) => deleteConnection(ctx, input.id)),

  getMessages: allowed('manageSensors')
    .meta({
      question: true,
      summary: 'List the messages of a connection and what became of them, newest first',
      notes: 'Messages are kept for DEVICE_MESSAGE_DAYS (14 unless set otherwise).',
    })
    .input(listMessagesInput)
    .output(messagesPage)
    .query(async ({ ctx, input }) => {
      const { id } = await getConnection(ctx.app.db, input.connectionId);
      return pageOf(
        'messages',
        await listMessages(ctx.app.questions, { ...input, connectionId: id }),
        input.take,
      );
    }),

  getMessage: allowed('manageSensors')
    .meta({ summary: 'Get one message as it was received, with the parts of its body' })
    .input(byId)
    .output(messageDetail)
    .query(({ ctx, input }) => {
      requireSeesPlates(ctx);
      return getMessage(ctx.app.db, input.id);
    }),

  onMessage: allowed('manageSensors')
    .meta({
      summary: 'Stream the messages of a connection',
      notes:
        'Each message is sent when it arrives and again when its status changes. A client that resumes with `lastEventId` receives the present state of every message that changed meanwhile.',
      message: receivedMessage,
    })
    .input(followMessagesInput)
    .subscription(({ ctx, input, signal }) => messagesOf('message', followMessages(ctx, input, signal))),

  tryReading: allowed('manageSensors')
    .meta({
      question: true,
      alsoPost: true,
      summary: 'Show what a message of a connection would become, perhaps with other options',
      notes:
        'Nothing is stored. Without `messageId`, it is the last message. Of several reports about one vehicle, each is shown as an event. `reason` names keys of a mapping that are not known, values that cannot be used and paths without a value. Call it with POST if a mapping is too long for an address.',
    })
    .input(tryInput)
    .output(tryOutput)
    .query(({ ctx, input }) => {
      requireSeesPlates(ctx);
      return tryReading(ctx.app, input);
    }),

  getDiscoveries: allowed('manageSensors')
    .meta({
      summary: 'List devices of NVRs that are not assigned to a sensor',
      notes:
        'A connection with `options.sensors`, even empty, is that of an NVR: messages of devices that it does not name are kept as UNKNOWN_DEVICE.',
    })
    .input(listDiscoveriesInput)
    .output(discoveriesPage)
    .query(async ({ ctx, input }) =>
      pageOf('discoveries', await listDiscoveries(ctx.app.db, input), input.take),
    ),

  register: allowed('manageSensors')
    .meta({
      summary: 'Assign a discovered device to a sensor',
      notes:
        'Without `sensorId`, a sensor of type CAMERA is created at the location of the sensor of the connection. Messages that arrived meanwhile become events unless `replay` is false.',
    })
    .input(registerInput)
    .output(registerOutput)
    .mutation(({ ctx, input }) => registerDiscovery(ctx, input)),

  replay: allowed('manageSensors')
    .meta({
      summary: 'Process messages again: one, or those of a connection',
      notes:
        'After a connection was changed, for example. Events that exist are not stored twice. At most 10,000 messages at once, the newest ones; those before them follow with `oldestMessageId` of the answer as `before`. Messages of one status are selected with `status`.',
    })
    .input(replayInput)
    .output(replayOutput)
    .mutation(({ ctx, input }) => replay(ctx, input)),
});

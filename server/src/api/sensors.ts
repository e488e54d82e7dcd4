import {
  exportedFleet,
  exportFleetInput,
  fleetFileInput,
  importedSensors,
  restoreManyInput,
  restoreManyOutput,
  updateManyInput,
  updateManyOutput,
} from '@gantry/contract/fleet';
import { byId } from '@gantry/contract/id';
import {
  createdSensor,
  createSensorInput,
  deleteSensorOutput,
  fleetPage,
  followSensorsInput,
  heartbeatInput,
  heartbeatOutput,
  listSensorsInput,
  locatedSensor,
  modelsOutput,
  pingOutput,
  revealKeyOutput,
  rotateKeyInput,
  rotateKeyOutput,
  sensor,
  sensorClock,
  sensorKeyInfo,
  sensorsPage,
  signsOfLife,
  statusChangedMessage,
  statusHistoryInput,
  statusHistoryOutput,
  tagsOutput,
  updateSensorInput,
} from '@gantry/contract/sensors';
import { z } from 'zod';
import { messagesOf } from '../rpc/messages.ts';
import { exportSensors } from '../sensors/files/export.ts';
import { importSensors } from '../sensors/files/import.ts';
import { handleHeartbeat } from '../sensors/heartbeat.ts';
import { getKeyInfo } from '../sensors/keys-store.ts';
import { pingSensor } from '../sensors/ping.ts';
import { getClock } from '../sensors/sensor-clocks-store.ts';
import { createSensor, deleteSensor, revealKey, rotateKey, updateSensor } from '../sensors/service.ts';
import { getSignsOfLife, listStatusChanges } from '../sensors/status-store.ts';
import { getSensor, listModels, listTags } from '../sensors/store.ts';
import { restoreSensors, updateSensors } from '../sensors/update-many.ts';
import { followStatusChanges, viewAllSensors, viewFleet, viewSensor, viewSensors } from '../sensors/view.ts';
import { allowed, device, openUnlessPrivate, pageOf, router, signedIn } from './procedures.ts';

const KEY_NOTE =
  '`apiKey` is the key itself for callers with the permission Manage Sensors. All others see its SHA-256 fingerprint, which cannot be used to send anything. With `PUBLIC_SENSORS=false`, a token is required.';

export const sensorsRouter = router({
  getAll: openUnlessPrivate
    .meta({
      question: true,
      summary: 'List sensors, with search, filters and sorting',
      notes: KEY_NOTE,
    })
    .input(listSensorsInput)
    .output(sensorsPage)
    .query(async ({ ctx, input }) => pageOf('sensors', await viewSensors(ctx, input), input.take)),

  getAllSensors: openUnlessPrivate
    .meta({
      question: true,
      summary: 'List all sensors with their locations, newest first',
      notes: `${KEY_NOTE} For callers without it, the answer may be up to one second old, unless a sensor was changed since. A batch may contain five of these calls. If there are many sensors, page through \`sensors.getAll\` instead.`,
      weight: 20,
    })
    .output(z.array(locatedSensor))
    .query(({ ctx }) => viewAllSensors(ctx)),

  getById: openUnlessPrivate
    .meta({ summary: 'Get one sensor with all its fields', notes: KEY_NOTE })
    .input(byId)
    .output(sensor)
    .query(({ ctx, input }) => viewSensor(ctx, input.id)),

  getFleet: signedIn
    .meta({
      question: true,
      summary: 'List sensors with what those who maintain them need',
      notes:
        'As `sensors.getAll`, with the location, the last event and the open faults of each, and without keys. `sortBy: worst` begins with those that need somebody most.',
    })
    .input(listSensorsInput)
    .output(fleetPage)
    .query(async ({ ctx, input }) => pageOf('sensors', await viewFleet(ctx, input), input.take)),

  getModels: signedIn
    .meta({ question: true, summary: 'List the makes and models of all sensors' })
    .output(modelsOutput)
    .query(({ ctx }) => listModels(ctx.app.db)),

  getTags: signedIn
    .meta({ question: true, summary: 'List the tags of all sensors' })
    .output(tagsOutput)
    .query(({ ctx }) => listTags(ctx.app.db)),

  create: allowed('manageSensors')
    .meta({
      summary: 'Register a sensor',
      notes:
        'The sensor receives an API key and is OFFLINE until its first heartbeat or event; with `requiresHeartbeats`, until its first heartbeat. A `deviceId` that is already in use is refused.',
    })
    .input(createSensorInput)
    .output(createdSensor)
    .mutation(({ ctx, input }) => createSensor(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change a sensor, or set its status by hand',
      notes:
        'Only the given fields change; `null` clears a field. MAINTENANCE remains until another status is set by hand. A `reason` for the status is kept in its history.',
    })
    .input(updateSensorInput)
    .output(sensor)
    .mutation(({ ctx, input }) => updateSensor(ctx, input)),

  updateMany: allowed('manageSensors')
    .meta({
      summary: 'Change up to 5,000 sensors at once',
      notes:
        'All of them in one transaction, or none. Only the given fields change; `null` clears a field. Begin with `dryRun`, which says what would change. `sensors.restoreMany` undoes the change with `former` of the answer.',
      weight: 20,
    })
    .input(updateManyInput)
    .output(updateManyOutput)
    .mutation(({ ctx, input }) => updateSensors(ctx, input)),

  restoreMany: allowed('manageSensors')
    .meta({
      summary: 'Give many sensors back what they had before a change',
      notes:
        'All of them in one transaction, or none. CONFLICT, with the name of the first, if something changed one of them since.',
      weight: 20,
    })
    .input(restoreManyInput)
    .output(restoreManyOutput)
    .mutation(({ ctx, input }) => restoreSensors(ctx, input)),

  import: allowed('manageSensors')
    .meta({
      summary: 'Register and change sensors by a file',
      notes:
        'A table with a header (CSV or XLSX) of at most 5,000 sensors, as `sensors.export` writes it. Rows are recognised by `deviceId`. Columns: `deviceId`, `name`, `type`, `location` (the name of a location), `latitude`, `longitude`, `address`, `ipAddress`, `eventsPerMin`, `requiresHeartbeats` (yes, no), `lane`, `direction`, `make`, `model`, `serialNumber`, `warrantyUntil` (YYYY-MM-DD), `certificatePlace`, `tags` (separated by `;`), `description`. What has no column stays as it is, and so do sensors that the file does not contain. An empty cell clears its field; one that cannot be empty stays as it is. Begin with `dryRun`, which says what would change and what is wrong, by line. A file with an error changes nothing. The keys of new sensors are in the answer.',
      weight: 50,
    })
    .input(fleetFileInput)
    .output(importedSensors)
    .mutation(({ ctx, input }) => importSensors(ctx, input)),

  export: allowed('manageSensors')
    .meta({
      question: true,
      summary: 'Get all sensors as a file',
      notes: 'Without API keys. `sensors.import` reads it.',
    })
    .input(exportFleetInput)
    .output(exportedFleet)
    .query(({ ctx, input }) => exportSensors(ctx.app.db, input)),

  delete: allowed('manageSensors')
    .meta({
      summary: 'Delete a sensor',
      notes:
        'Its key becomes invalid and its `deviceId` can be used again. Its events are kept, with its id and name, and the traffic figures of its location do not change.',
    })
    .input(byId)
    .output(deleteSensorOutput)
    .mutation(({ ctx, input }) => deleteSensor(ctx, input.id)),

  rotateKey: allowed('manageSensors')
    .meta({
      summary: 'Give a sensor a new API key',
      notes:
        'The old key becomes invalid, at once or after `overlapMinutes`. Only the previous key is accepted during that time: rotating again makes an older one invalid.',
    })
    .input(rotateKeyInput)
    .output(rotateKeyOutput)
    .mutation(({ ctx, input }) => rotateKey(ctx, input)),

  revealKey: allowed('manageSensors')
    .meta({
      summary: 'Show the API key of a sensor',
      notes: 'Recorded in the activity log. A console should hide keys and use this procedure to show one.',
    })
    .input(byId)
    .output(revealKeyOutput)
    .mutation(({ ctx, input }) => revealKey(ctx, input.id)),

  getKeyInfo: allowed('manageSensors')
    .meta({
      summary: 'Get when the API key of a sensor was used and rotated',
      notes: 'Uses are written every two seconds.',
    })
    .input(byId)
    .output(sensorKeyInfo)
    .query(({ ctx, input }) => getKeyInfo(ctx.app.db, input.id)),

  heartbeat: device
    .meta({
      summary: 'Send a heartbeat of a device, with its state',
      notes:
        'OFFLINE and ERROR become ONLINE; a critical issue sets ERROR; MAINTENANCE does not change. An ONLINE sensor that sends neither a heartbeat nor an event within the timeout becomes OFFLINE; with `requiresHeartbeats`, events do not count.',
    })
    .input(heartbeatInput)
    .output(heartbeatOutput)
    .mutation(({ ctx, input }) => handleHeartbeat(ctx, input)),

  getSignsOfLife: signedIn
    .meta({
      summary: 'Get what the status of a sensor is based on',
      notes:
        'Every accepted event is a liveness signal, also one that arrived through a connection: it makes an OFFLINE sensor ONLINE and keeps it so. It does not end ERROR or MAINTENANCE, and does not change `lastHeartbeat`. After downtime of the service, no sensor becomes OFFLINE before the service has run for `timeoutSeconds`.',
    })
    .input(byId)
    .output(signsOfLife)
    .query(async ({ ctx: { app }, input }) => ({
      ...(await getSignsOfLife(app.db, input.id)),
      timeoutSeconds: app.config.HEARTBEAT_TIMEOUT_SECONDS,
    })),

  getClock: signedIn
    .meta({
      summary: 'Get how far the clock of a sensor is off',
      notes:
        'By the time from the events to the receipt of the latest reports that were sent at once, not in a backlog. Written every minute, and within seconds if the clock seems to be wrong.',
    })
    .input(byId)
    .output(sensorClock)
    .query(({ ctx: { app }, input }) => getClock(app.db, input.id)),

  getStatusHistory: signedIn
    .meta({ question: true, summary: 'List the status changes of a sensor, newest first' })
    .input(statusHistoryInput)
    .output(statusHistoryOutput)
    .query(async ({ ctx, input }) => {
      const { id: sensorId } = await getSensor(ctx.app.db, input.id);
      return {
        sensorId,
        ...pageOf('history', await listStatusChanges(ctx.app.db, sensorId, input), input.take),
      };
    }),

  onStatusChanged: signedIn
    .meta({ summary: 'Stream status changes of sensors', message: statusChangedMessage })
    .input(followSensorsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followStatusChanges(ctx, input, signal))),

  ping: allowed('manageSensors')
    .meta({
      summary: 'Check whether the address of a device answers',
      notes:
        'Opens a TCP connection to its `ipAddress` (`host`, `host:port` or `[v6]:port`; ports 80, 443 and 554 if none is given), which takes up to 5 seconds. A refused connection counts as an answer.',
    })
    .input(byId)
    .output(pingOutput)
    .mutation(({ ctx, input }) => pingSensor(ctx, input.id)),
});

import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  createdSensor,
  createSensorInput,
  deleteSensorOutput,
  followSensorsInput,
  heartbeatInput,
  heartbeatOutput,
  listSensorsInput,
  locatedSensor,
  pingOutput,
  rotateKeyOutput,
  sensor,
  sensorsPage,
  statusChangedMessage,
  statusHistoryInput,
  statusHistoryOutput,
  updateSensorInput,
} from '@gantry/contract/sensors';
import { z } from 'zod';
import { messagesOf } from '../rpc/messages.ts';
import { followStatusChanges } from '../sensors/follow.ts';
import { takeHeartbeat } from '../sensors/heartbeat.ts';
import { pingSensor } from '../sensors/ping.ts';
import { createSensor, deleteSensor, rotateKey, updateSensor } from '../sensors/service.ts';
import { listStatusChanges } from '../sensors/status-store.ts';
import { getSensor } from '../sensors/store.ts';
import { viewAllSensors, viewSensor, viewSensors } from '../sensors/view.ts';
import { allowed, device, open, router, signedIn } from './procedures.ts';

const KEY_NOTE =
  '`apiKey` is the key itself for callers with the permission Manage Sensors; everybody else sees its SHA-256 fingerprint, with which nothing can be sent.';

export const sensorsRouter = router({
  getAll: open
    .meta({
      question: true,
      summary: 'Sensors, page by page, searched, filtered and sorted',
      notes: KEY_NOTE,
    })
    .input(listSensorsInput)
    .output(sensorsPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await viewSensors(ctx, input);
      return { sensors: items, total, pageCount: pageCount(total, input.take) };
    }),

  getAllSensors: open
    .meta({
      question: true,
      summary: 'All sensors with the location they stand at, newest first',
      notes: `${KEY_NOTE} Those who do not hold it may be shown what was true up to a second ago, unless somebody changed a sensor since. A batch may carry five of these; page through \`sensors.getAll\` where there are many.`,
      weight: 20,
    })
    .output(z.array(locatedSensor))
    .query(({ ctx }) => viewAllSensors(ctx)),

  getById: open
    .meta({ summary: 'One sensor in full', notes: KEY_NOTE })
    .input(byId)
    .output(sensor)
    .query(({ ctx, input }) => viewSensor(ctx, input.id)),

  create: allowed('manageSensors')
    .meta({
      summary: 'Register a sensor',
      notes: 'It gets an API key and is OFFLINE until its first heartbeat. A `deviceId` in use is refused.',
    })
    .input(createSensorInput)
    .output(createdSensor)
    .mutation(({ ctx, input }) => createSensor(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change a sensor, or set its status by hand',
      notes:
        'Only the given fields change; `null` clears one. MAINTENANCE stays until another status is set by hand.',
    })
    .input(updateSensorInput)
    .output(sensor)
    .mutation(({ ctx, input }) => updateSensor(ctx, input)),

  delete: allowed('manageSensors')
    .meta({
      summary: 'Remove a sensor',
      notes: 'Its key dies and its `deviceId` becomes free. Its events stay, with its id and name.',
    })
    .input(byId)
    .output(deleteSensorOutput)
    .mutation(({ ctx, input }) => deleteSensor(ctx, input.id)),

  rotateKey: allowed('manageSensors')
    .meta({ summary: 'Give a sensor a new API key', notes: 'The old key dies.' })
    .input(byId)
    .output(rotateKeyOutput)
    .mutation(({ ctx, input }) => rotateKey(ctx, input.id)),

  heartbeat: device
    .meta({
      summary: 'Sign of life of a device, and what it says of itself',
      notes:
        'OFFLINE and ERROR become ONLINE; a critical issue makes it ERROR; MAINTENANCE stays. A sensor without a heartbeat for the time-out goes from ONLINE to OFFLINE.',
    })
    .input(heartbeatInput)
    .output(heartbeatOutput)
    .mutation(({ ctx, input }) => takeHeartbeat(ctx, input)),

  getStatusHistory: signedIn
    .meta({ question: true, summary: 'Every change of the status of a sensor, newest first' })
    .input(statusHistoryInput)
    .output(statusHistoryOutput)
    .query(async ({ ctx, input }) => {
      const { id: sensorId } = await getSensor(ctx.app.db, input.id);
      const { items, total } = await listStatusChanges(ctx.app.db, sensorId, input);
      return { sensorId, history: items, total, pageCount: pageCount(total, input.take) };
    }),

  onStatusChanged: signedIn
    .meta({ summary: 'Changes of the status of sensors, as they happen', message: statusChangedMessage })
    .input(followSensorsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followStatusChanges(ctx, input, signal))),

  ping: allowed('manageSensors')
    .meta({
      summary: 'Check whether the address of a device answers',
      notes:
        'Opens a TCP connection to its `ipAddress` (`host`, `host:port` or `[v6]:port`; ports 80, 443 and 554 when it names none) and takes up to 5 seconds. A refused connection counts as an answer.',
    })
    .input(byId)
    .output(pingOutput)
    .mutation(({ ctx, input }) => pingSensor(ctx, input.id)),
});

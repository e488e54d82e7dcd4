import { randomUUID } from 'node:crypto';
import { createSensorInput, type Sensor, type SensorType } from '@gantry/contract/sensors';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { createSensor } from '../sensors/service.ts';
import type { SensorServices } from '../sensors/start.ts';
import { getSensor } from '../sensors/store.ts';
import type { ConnectionServices } from './context.ts';
import { forgetDiscoveries, getDiscovery } from './discoveries-store.ts';
import { REPLAYED_AT_ONCE, replayMessages } from './messages-view-store.ts';
import { notAssigned } from './outcome.ts';
import { getConnection, lockConnection, updateConnectionRow } from './store.ts';

type RegisterContext = ActorContext<
  Core & ConnectionServices & SensorServices & Pick<RealtimeServices, 'outbox'>
>;

/** How to register a discovered device. */
export interface Registration {
  readonly id: string;
  readonly sensorId?: string | undefined;
  readonly name?: string | undefined;
  readonly replay: boolean;
}

/** The type of a sensor that is created for a discovered device. */
const TYPE: SensorType = 'CAMERA';

const MAX_NAME = 50;
/** Maximum length of the name of the device in a `deviceId`, in characters. A random part that makes it unique follows. */
const MAX_DEVICE_ID = 40;

/**
 * Assigns a discovered device to a sensor, which is created if none is named, and processes its messages again.
 * @throws AppError `notFound` for the sensor, and for the discovery, which somebody else may have registered meanwhile
 */
export async function registerDiscovery(
  ctx: RegisterContext,
  { id, sensorId, name, replay }: Registration,
): Promise<{ success: true; sensorId: string; replayed: number }> {
  const { app, actor, caller } = ctx;
  const { connectionId, device } = await getDiscovery(app.db, id);
  let listedNames: readonly string[] = [];
  const assign = async (tx: Transaction, sensor: Sensor): Promise<void> => {
    const connection = await lockConnection(tx, connectionId);
    listedNames = await forgetDiscoveries(tx, connectionId, device);
    if (listedNames.length === 0) throw notFound('Discovery');
    const sensors = { ...connection.options.sensors, [device]: sensor.id };
    await updateConnectionRow(tx, connectionId, {
      timeZone: connection.timeZone,
      options: { ...connection.options, sensors },
    });
    const details = { connectionId, device, sensorId: sensor.id };
    await recordActivity(tx, actor.id, caller, 'connections.register', details);
    await notify(tx, channels.connections, '');
  };
  const sensor =
    sensorId === undefined
      ? await createSensor(
          ctx,
          createSensorInput.parse({
            ...(await likeNvr(ctx, connectionId, device)),
            ...(name !== undefined && { name }),
            deviceId: `${device.slice(0, MAX_DEVICE_ID).toWellFormed()}-${randomUUID().slice(0, 8)}`,
            type: TYPE,
          }),
          assign,
        )
      : await inTransaction(app.db, async (tx) => {
          const known = await getSensor(tx, sensorId);
          await assign(tx, known);
          return known;
        });
  await app.connections.refresh();
  const replayed = replay ? await replayAllOf(app.db, connectionId, listedNames) : 0;
  return { success: true, sensorId: sensor.id, replayed };
}

/** Processes again all messages that were kept because one of these devices was not assigned. @returns their number */
async function replayAllOf(db: Database, connectionId: string, devices: readonly string[]): Promise<number> {
  const sentences = devices.map(notAssigned);
  let replayed = 0;
  let before: string | undefined;
  do {
    const portion = await inTransaction(db, (tx) =>
      replayMessages(tx, connectionId, { status: 'UNKNOWN_DEVICE', sentences, before }),
    );
    replayed += portion.count;
    before = portion.count < REPLAYED_AT_ONCE ? undefined : (portion.oldestId ?? undefined);
  } while (before !== undefined);
  return replayed;
}

/**
 * The name and the location of the sensor for a camera of an NVR. The name begins with that of the NVR, because
 * many NVRs only number their cameras. The location is that of the NVR's sensor, until users change it.
 */
async function likeNvr({ app }: RegisterContext, connectionId: string, device: string) {
  const { sensorId } = await getConnection(app.db, connectionId);
  const { name, locationId } = await getSensor(app.db, sensorId);
  return { name: `${name} ${device}`.slice(0, MAX_NAME).toWellFormed(), locationId };
}

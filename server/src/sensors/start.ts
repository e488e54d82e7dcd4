import { channels } from '../platform/database/notify.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { LastSeen, writeContacts } from './last-seen.ts';
import { countClocks, SensorClocks, writeClocks } from './sensor-clocks-store.ts';
import { KnownSensors, SensorKeys } from './sensor-keys.ts';
import { startSweeper } from './status.ts';
import { countSensorsByStatus } from './status-store.ts';
import { findKnownSensorById, findSensorByKey } from './store.ts';
import { createPublicList, type PublicList, publicKeyView } from './view.ts';

/** The services of sensors that the application context contains. */
export interface SensorServices {
  readonly sensorKeys: SensorKeys;
  readonly knownSensors: KnownSensors;
  readonly publicSensors: PublicList;
  readonly lastSeen: LastSeen;
  readonly sensorClocks: SensorClocks;
}

export function startSensors(
  { core, pools, listener, resources }: Foundation,
  { outbox }: Pick<RealtimeServices, 'outbox'>,
): SensorServices {
  const { config, db, devices, questions, log, clock, timings, metrics } = core;
  const timeoutSeconds = config.HEARTBEAT_TIMEOUT_SECONDS;
  const sensorKeys = new SensorKeys((apiKey) => findSensorByKey(devices, apiKey));
  const knownSensors = new KnownSensors((sensorId) => findKnownSensorById(devices, sensorId));
  const publicSensors = createPublicList(questions, publicKeyView(config.PUBLIC_SENSOR_KEYS));
  const forgetAll = () => {
    publicSensors.forget();
    sensorKeys.forgetAll();
    knownSensors.forgetAll();
  };
  listener.on(
    channels.sensors,
    (sensorId) => {
      if (sensorId === '*') return forgetAll();
      publicSensors.forget();
      sensorKeys.forget(sensorId);
      knownSensors.forget(sensorId);
    },
    forgetAll,
  );
  const lastSeen = resources.use(
    new LastSeen({
      store: (contacts) =>
        writeContacts({ devices, pool: pools.devices, outbox, publicSensors, timeoutSeconds }, contacts),
      log,
      now: clock.now,
      everyMs: timings.writeContactsMs,
    }),
  );
  const sensorClocks = resources.use(
    new SensorClocks({
      store: (notes) => writeClocks(devices, notes),
      log,
      everyMs: timings.writeContactsMs,
    }),
  );
  resources.use(startSweeper({ db, log, timings, outbox, publicSensors }, timeoutSeconds));
  const failure = 'the sensors cannot be counted for the metrics now';
  resources
    .use(
      startPeriodic({ everyMs: timings.countForMetricsMs, log, failure }, async () => {
        for (const [status, n] of await countSensorsByStatus(db)) metrics.sensors.set({ status }, n);
        for (const [state, n] of await countClocks(db)) metrics.sensorClocks.set({ state }, n);
      }),
    )
    .startNow();
  return { sensorKeys, knownSensors, publicSensors, lastSeen, sensorClocks };
}

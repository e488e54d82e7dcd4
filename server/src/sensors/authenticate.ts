import type { Core, RequestContext } from '../platform/context.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import type { KnownSensor } from './sensor-keys.ts';
import type { SensorServices } from './start.ts';

/** The context of a device's call: the request and the sensor of its key. */
export interface DeviceContext<App = Core> extends RequestContext<App> {
  readonly sensor: KnownSensor;
}

/**
 * The sensor of the `apiKey` in a device's input; the rest of the input is not checked. Returns synchronously if it
 * is cached. Every message is a liveness signal.
 * @throws AppError `badRequest` without a key; `unauthorized` for an unknown key; `unavailable` while the database is
 * unavailable and the key is not cached
 */
export function authenticateSensor(
  { app }: RequestContext<Core & Pick<SensorServices, 'sensorKeys' | 'lastSeen'>>,
  rawInput: unknown,
): KnownSensor | Promise<KnownSensor> {
  const admit = (sensor: KnownSensor | null): KnownSensor => {
    if (!sensor) throw new AppError('unauthorized', 'Invalid API key');
    if (sensor.previousKey) app.lastSeen.recordByPreviousKey(sensor.id);
    else app.lastSeen.record(sensor.id);
    return sensor;
  };
  const apiKey: unknown =
    typeof rawInput === 'object' && rawInput !== null ? Reflect.get(rawInput, 'apiKey') : undefined;
  if (typeof apiKey !== 'string' || apiKey === '') {
    throw invalidInput('apiKey', 'Send the API key of the sensor as apiKey');
  }
  const found = app.sensorKeys.find(apiKey);
  return found instanceof Promise ? found.then(admit) : admit(found);
}

import type { Core, RequestContext } from '../platform/context.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import type { KnownSensor } from './sensor-keys.ts';
import type { SensorServices } from './start.ts';

/** What a device calls with: the request and the sensor that its key belongs to. */
export interface DeviceContext<App = Core> extends RequestContext<App> {
  readonly sensor: KnownSensor;
}

/**
 * The sensor behind a device's input, by its `apiKey`; the rest of the input is not looked at. At once when it is known.
 * Whatever the message turns out to be, it is a sign of life.
 * @throws AppError `badRequest` without a key; `unauthorized` for a key that is no sensor's; `unavailable` while
 * the database is away and the key is not known
 */
export function authenticateSensor(
  { app }: RequestContext<Core & Pick<SensorServices, 'sensorKeys' | 'lastContacts'>>,
  rawInput: unknown,
): KnownSensor | Promise<KnownSensor> {
  const admit = (sensor: KnownSensor | null): KnownSensor => {
    if (!sensor) throw new AppError('unauthorized', 'Invalid API key');
    if (sensor.previousKey) app.lastContacts.recordByPreviousKey(sensor.id);
    else app.lastContacts.record(sensor.id);
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

import type { GantryClient } from '@gantry/client';
import { MAX_TAKE } from '@gantry/contract/page';
import type { RegisteredSensor } from '../device.ts';
import type { MakerName } from './makers.ts';

type Api = GantryClient['api'];

/** Number of concurrent calls. */
const AT_ONCE = 20;

/**
 * Creates a connection in the format of a maker for every sensor. An existing connection gets a new token, because its
 * present one was shown only once.
 * @returns the addresses for the devices, by device id
 */
export async function connectFleet(
  api: Api,
  sensors: readonly RegisteredSensor[],
  format: MakerName,
): Promise<ReadonlyMap<string, string>> {
  const addresses = new Map<string, string>();
  const queue = sensors.map(({ sensor }) => sensor.deviceId);
  const work = async (): Promise<void> => {
    for (let deviceId = queue.shift(); deviceId !== undefined; deviceId = queue.shift()) {
      addresses.set(deviceId, await connect(api, deviceId, format));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return addresses;
}

async function connect(api: Api, deviceId: string, format: MakerName): Promise<string> {
  const { sensors } = await api.sensors.getAll.query({ search: deviceId, take: MAX_TAKE });
  const sensor = sensors.find((each) => each.deviceId === deviceId);
  if (!sensor) throw new Error(`the sensor ${deviceId} was deleted meanwhile`);
  const { connections } = await api.connections.getAll.query({ sensorId: sensor.id, format, take: 1 });
  const [known] = connections;
  // The clocks of the simulated devices show UTC.
  const { url } = known
    ? await api.connections.rotate.mutate({ id: known.id })
    : await api.connections.create.mutate({ sensorId: sensor.id, format, timeZone: 'UTC' });
  return url;
}

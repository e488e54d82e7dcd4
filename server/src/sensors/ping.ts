import type { ActorContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { checkConnection, OwnAddress } from './check-connection.ts';
import { parseDeviceAddress } from './device-address.ts';
import { getSensor, setLastPing } from './store.ts';

export interface PingAnswer {
  readonly id: string;
  readonly reachable: boolean;
  /** Milliseconds until the device answered; null when it did not. */
  readonly latencyMs: number | null;
  readonly lastPing: Date | null;
}

/**
 * Checks whether the device's address answers; takes less than 5 seconds.
 * @throws AppError `notFound`; `badRequest` when the sensor has no address, or none that may be connected to
 */
export async function pingSensor({ app }: ActorContext, id: string): Promise<PingAnswer> {
  const sensor = await getSensor(app.db, id);
  if (sensor.ipAddress === null) {
    throw new AppError('badRequest', 'This sensor has no ipAddress: set one, then ping it');
  }
  const address = parseDeviceAddress(sensor.ipAddress);
  if (!address) {
    throw new AppError(
      'badRequest',
      `The sensor's ipAddress "${sensor.ipAddress}" cannot be connected to: set it to a host name or an IP address, followed by :port if necessary`,
    );
  }
  const latency = await checkConnection(address, app.config.PING_ALLOW_HOSTS).catch((error: unknown) => {
    if (!(error instanceof OwnAddress)) throw error;
    throw new AppError(
      'badRequest',
      `The sensor's ipAddress "${sensor.ipAddress}" leads to the machine of this service or its own link (loopback, link-local), and not to a device: set it to the address of the device. PING_ALLOW_HOSTS can make exceptions`,
    );
  });
  if (latency === null)
    return { id: sensor.id, reachable: false, latencyMs: null, lastPing: sensor.lastPing };
  const { lastPing } = await setLastPing(app.db, sensor.id);
  return { id: sensor.id, reachable: true, latencyMs: Math.round(latency * 10) / 10, lastPing };
}

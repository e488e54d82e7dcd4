import type { Core } from '../platform/context.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { takeReport } from './heartbeat.ts';
import type { SensorServices } from './start.ts';

/** Records a heartbeat that arrived through a gateway, with the same effects as one with an API key. */
export async function recordSignOfLife(
  app: Core & Pick<SensorServices, 'publicSensors'> & Pick<RealtimeServices, 'outbox'>,
  sensorId: string,
): Promise<void> {
  const outcome = await takeReport(app, {
    sensorId,
    apiKey: null,
    signal: 'heartbeat',
    reason: 'heartbeat',
    firmware: null,
    ipAddress: null,
    macAddress: null,
  });
  if (outcome && outcome.from !== outcome.to) app.publicSensors.forget();
}

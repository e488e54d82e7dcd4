import type { ReportedEvent } from '@gantry/contract/events';
import type { RequestContext } from '../context.ts';
import { AppError } from '../error.ts';
import { enrich } from './enrich.ts';
import type { KnownSensor } from './sensor-keys.ts';

/** What a device calls with: the request and the sensor that its key belongs to. */
export interface DeviceContext extends RequestContext {
  readonly sensor: KnownSensor;
}

/** An event that is durable, and whether it was so before this request. */
export interface Ingested {
  readonly eventId: string;
  readonly duplicate: boolean;
}

/**
 * Takes in one event that passed validation. It resolves after the commit.
 * @throws AppError `badRequest` for a timestamp out of bounds; `conflict` when its idempotency key was used for
 * other content at the same time; `unavailable` when it should be sent again
 */
export const ingestEvent = async (
  { app, sensor }: DeviceContext,
  event: ReportedEvent,
): Promise<Ingested> => {
  const row = enrich(event, sensor, app.settings.current().timezone, Date.now());
  const outcome = await app.eventWriter.write(row);
  if (outcome === 'conflict') {
    throw new AppError(
      'conflict',
      'This idempotencyKey was used for other content at the same timestamp: use a new key',
    );
  }
  return { eventId: row.id, duplicate: outcome === 'duplicate' };
};

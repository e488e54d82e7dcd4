import type { Page } from '@gantry/contract/page';
import type { FollowSensorsInput, ListSensorsInput, LocatedSensor, Sensor } from '@gantry/contract/sensors';
import type { AuthServices } from '../accounts/start.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { keyViewOf, seesKeys } from './api-key.ts';
import type { SensorServices } from './start.ts';
import { getSensor, listLocatedSensors, listSensors } from './store.ts';

// The public queries, which show API keys only as far as the caller may see them.

/** @throws AppError `notFound` */
export async function viewSensor(ctx: RequestContext<Core & AuthServices>, id: string): Promise<Sensor> {
  const view = await keyViewOf(ctx);
  const sensor = await getSensor(ctx.app.db, id);
  return { ...sensor, apiKey: view(sensor.apiKey) };
}

export async function viewSensors(
  ctx: RequestContext<Core & AuthServices>,
  input: ListSensorsInput,
): Promise<Page<Sensor>> {
  const view = await keyViewOf(ctx);
  const { items, total } = await listSensors(ctx.app.db, input);
  return { items: items.map((sensor) => ({ ...sensor, apiKey: view(sensor.apiKey) })), total };
}

export async function viewAllSensors(
  ctx: RequestContext<Core & AuthServices & Pick<SensorServices, 'publicSensors'>>,
): Promise<LocatedSensor[]> {
  return (await seesKeys(ctx)) ? listLocatedSensors(ctx.app.db) : ctx.app.publicSensors.read();
}

/**
 * Streams changes of status, of all sensors or of those that match the filter.
 * @throws AppError as `follow` does
 */
export function followStatusChanges(
  ctx: FollowContext,
  { sensorId, status, lastEventId }: FollowSensorsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'sensors'>> {
  const id = sensorId?.toLowerCase();
  const matches = (change: { sensorId: string; to: string }): boolean =>
    (id === undefined || change.sensorId === id) && (status === undefined || change.to === status);
  return follow(ctx, { topics: ['sensors'], matches, lastEventId }, signal);
}

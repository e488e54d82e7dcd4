import type { Page } from '@gantry/contract/page';
import type { ListSensorsInput, LocatedSensor, Sensor } from '@gantry/contract/sensors';
import type { AuthServices } from '../auth/start.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { keyViewOf, seesKeys } from './api-key.ts';
import { listLocatedSensors, listSensors } from './list-store.ts';
import type { SensorServices } from './start.ts';
import { getSensor } from './store.ts';

// The public answers. Each shows API keys only as the caller may see them.

/** @throws AppError `notFound` */
export const viewSensor = async (ctx: RequestContext<Core & AuthServices>, id: string): Promise<Sensor> => {
  const view = await keyViewOf(ctx);
  const sensor = await getSensor(ctx.app.db, id);
  return { ...sensor, apiKey: view(sensor.apiKey) };
};

export const viewSensors = async (
  ctx: RequestContext<Core & AuthServices>,
  input: ListSensorsInput,
): Promise<Page<Sensor>> => {
  const view = await keyViewOf(ctx);
  const { items, total } = await listSensors(ctx.app.db, input);
  return { items: items.map((sensor) => ({ ...sensor, apiKey: view(sensor.apiKey) })), total };
};

export const viewAllSensors = async (
  ctx: RequestContext<Core & AuthServices & Pick<SensorServices, 'publicSensors'>>,
): Promise<LocatedSensor[]> => {
  return (await seesKeys(ctx)) ? listLocatedSensors(ctx.app.db) : ctx.app.publicSensors.read();
};

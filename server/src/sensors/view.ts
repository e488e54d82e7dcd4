import { createHash } from 'node:crypto';
import type { Page } from '@gantry/contract/page';
import { mayDo } from '@gantry/contract/permissions';
import {
  type FleetSensor,
  type FollowSensorsInput,
  type ListSensorsInput,
  type LocatedSensor,
  locatedSensor,
  type Sensor,
} from '@gantry/contract/sensors';
import { z } from 'zod';
import { findActor } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import type { Database } from '../platform/database/pool.ts';
import { dayOf } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { writeAhead } from '../rpc/output.ts';
import { getSensor, listFleet, listLocatedSensors, listSensors } from './store.ts';

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
  const { items, total } = await listSensors(ctx.app.db, input, todayOf(ctx.app));
  return { items: items.map((sensor) => ({ ...sensor, apiKey: view(sensor.apiKey) })), total };
}

/** The sensors as those see them who maintain them, without keys. */
export function viewFleet(
  { app }: RequestContext<Core>,
  input: ListSensorsInput,
): Promise<Page<FleetSensor>> {
  return listFleet(app.db, input, todayOf(app));
}

/** The date in the time zone of the service. */
function todayOf({ clock, settings }: Pick<Core, 'clock' | 'settings'>): string {
  return dayOf(clock.now(), settings.current().timezone);
}

export async function viewAllSensors(
  ctx: RequestContext<Core & AuthServices & { readonly publicSensors: PublicList }>,
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

type List = z.input<typeof listOutput>;
const listOutput = z.array(locatedSensor);

/** The public list of all sensors. */
export interface PublicList {
  /** At most a second old, and never older than the last call of `forget`. */
  read(): Promise<List>;
  /** Call it after a change of a sensor or its location. */
  forget(): void;
}

const KEPT_MS = 1_000;

interface Loading {
  readonly list: Promise<List>;
  isStale: boolean;
}

/** Caches the result of `load` for a second, and runs one load at a time for all callers. */
export function keepList(load: () => Promise<List>): PublicList {
  let kept: { readonly list: List; readonly until: number } | null = null;
  let running: Loading | null = null;
  let next: Promise<List> | null = null;

  const start = (): Promise<List> => {
    const loading: Loading = { list: load(), isStale: false };
    running = loading;
    const finish = (list: List | null): void => {
      if (running === loading) running = null;
      if (list && !loading.isStale) kept = { list, until: performance.now() + KEPT_MS };
    };
    loading.list.then(finish, () => finish(null));
    return loading.list;
  };

  const startNext = async (after: Promise<List>): Promise<List> => {
    await after.catch(() => undefined);
    next = null;
    return start();
  };

  return {
    read() {
      if (kept && performance.now() < kept.until) return Promise.resolve(kept.list);
      kept = null;
      if (!running) return next ?? start();
      // A load that began before the last change may not include it, so callers share the one after it.
      if (!running.isStale) return running.list;
      next ??= startNext(running.list);
      return next;
    },
    forget() {
      kept = null;
      if (running) running.isStale = true;
    },
  };
}

/** @param view how API keys appear to the public */
export function createPublicList(db: Database, view: (apiKey: string) => string): PublicList {
  return keepList(async () => {
    const sensors = await listLocatedSensors(db);
    const shown = sensors.map((sensor) => ({ ...sensor, apiKey: view(sensor.apiKey) }));
    return writeAhead(listOutput.parse(shown));
  });
}

/** SHA-256 of the key's text in hexadecimal: identifies keys without revealing them. */
function fingerprintOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** How API keys appear to the public. @param areShown whether the settings show them in full */
export function publicKeyView(areShown: boolean): (apiKey: string) => string {
  return areShown ? asItIs : fingerprintOf;
}

/** Whether the caller sees API keys in full although the public does not. An invalid token counts as none. */
async function seesKeys(ctx: RequestContext<Core & AuthServices>): Promise<boolean> {
  if (ctx.app.config.PUBLIC_SENSOR_KEYS) return false;
  const actor = await findActor(ctx);
  return actor !== null && mayDo(actor.role, 'manageSensors');
}

/** How API keys appear to the caller of a public procedure. */
async function keyViewOf(ctx: RequestContext<Core & AuthServices>): Promise<(apiKey: string) => string> {
  return (await seesKeys(ctx)) ? asItIs : publicKeyView(ctx.app.config.PUBLIC_SENSOR_KEYS);
}

function asItIs(apiKey: string): string {
  return apiKey;
}

import { locatedSensor } from '@gantry/contract/sensors';
import { z } from 'zod';
import type { Database } from '../platform/database/pool.ts';
import { writeAhead } from '../rpc/output.ts';
import { listLocatedSensors } from './store.ts';

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

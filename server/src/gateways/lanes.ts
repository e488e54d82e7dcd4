import pLimit, { type LimitFunction } from 'p-limit';

/** Runs the work for each name in order, with a limit on how much of it runs at the same time. */
export type Lanes = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** @param width how many pieces of work for one name may run at the same time */
export function createLanes(width: number): Lanes {
  const lanes = new Map<string, { readonly limit: LimitFunction; waiting: number }>();
  return async (name, work) => {
    const lane = lanes.get(name) ?? { limit: pLimit(width), waiting: 0 };
    lanes.set(name, lane);
    lane.waiting++;
    try {
      return await lane.limit(work);
    } finally {
      if (--lane.waiting === 0) lanes.delete(name);
    }
  };
}

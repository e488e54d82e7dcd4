import pLimit, { type LimitFunction } from 'p-limit';

/** Does the work for each name in its order, and only so much of it at the same time. */
export type Lanes = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** @param width how much work for one name is done at the same time */
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

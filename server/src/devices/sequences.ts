import pLimit, { type LimitFunction } from 'p-limit';

/** Runs the work for each name in order, with a limit on how much of it runs at the same time. */
export type Lanes = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** @param width how many pieces of work for one name may run at the same time */
export function createSequences(width: number): Lanes {
  const sequences = new Map<string, { readonly limit: LimitFunction; waiting: number }>();
  return async (name, work) => {
    const sequence = sequences.get(name) ?? { limit: pLimit(width), waiting: 0 };
    sequences.set(name, sequence);
    sequence.waiting++;
    try {
      return await sequence.limit(work);
    } finally {
      if (--sequence.waiting === 0) sequences.delete(name);
    }
  };
}

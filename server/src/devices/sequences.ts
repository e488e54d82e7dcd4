import pLimit, { type LimitFunction } from 'p-limit';

/** Runs the work for each name in order, with a limit on how much of it runs at the same time. */
export class Sequences {
  readonly #width: number;
  readonly #byName = new Map<string, { readonly limit: LimitFunction; waiting: number }>();

  /** @param width how many pieces of work for one name may run at the same time */
  constructor(width: number) {
    this.#width = width;
  }

  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const sequence = this.#byName.get(name) ?? { limit: pLimit(this.#width), waiting: 0 };
    this.#byName.set(name, sequence);
    sequence.waiting++;
    try {
      return await sequence.limit(work);
    } finally {
      if (--sequence.waiting === 0) this.#byName.delete(name);
    }
  }
}

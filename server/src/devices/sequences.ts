interface Sequence {
  running: number;
  /** Each begins one piece of work. */
  readonly waiting: (() => void)[];
}

/** Runs the work for each name in order, with a limit on how much of it runs at the same time. */
export class Sequences {
  readonly #width: number;
  readonly #byName = new Map<string, Sequence>();

  /** @param width how many pieces of work for one name may run at the same time */
  constructor(width: number) {
    this.#width = width;
  }

  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const sequence = this.#byName.get(name) ?? { running: 0, waiting: [] };
    this.#byName.set(name, sequence);
    if (sequence.running < this.#width) sequence.running++;
    else await new Promise<void>((begin) => sequence.waiting.push(begin));
    try {
      return await work();
    } finally {
      // The next one takes the place of this one.
      const begin = sequence.waiting.shift();
      if (begin) begin();
      else if (--sequence.running === 0) this.#byName.delete(name);
    }
  }
}

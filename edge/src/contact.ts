/** Where messages come from. */
export type Input = 'stdin' | 'serial' | 'http';

/** How far the clock may move against the time that passed, in milliseconds. Beyond, it was set. */
const MAX_DRIFT_MS = 2_000;

/**
 * The time for which nothing that a device reported was missed: from one message until the next one, if its input was open
 * meanwhile. Only what is certain is claimed: nothing with several inputs, across a restart, or after the last message.
 */
export class Contact {
  readonly #maxSilenceMs: number | null;
  readonly #elapsed: () => number;
  readonly #inputs = new Set<Input>();
  #last: { readonly at: number; readonly elapsed: number } | null = null;
  #heardAt = 0;

  /**
   * @param maxSilenceMs the longest silence of a device that works, in milliseconds. If it is not known (null), an input that is open is
   * trusted; devices that report over HTTP have none.
   * @param elapsed milliseconds since any fixed moment, unaffected by changes of the clock
   */
  constructor(maxSilenceMs: number | null, elapsed: () => number = () => performance.now()) {
    this.#maxSilenceMs = maxSilenceMs;
    this.#elapsed = elapsed;
  }

  /** An input failed, or something that came in may be lost. */
  break(): void {
    this.#last = null;
  }

  /** The device says that it works, with or without a message. */
  heard(input: Input): void {
    this.#inputs.add(input);
    const now = this.#elapsed();
    const longest = this.#maxSilenceMs ?? (input === 'http' ? 0 : Number.POSITIVE_INFINITY);
    if (now - this.#heardAt > longest) this.#last = null;
    this.#heardAt = now;
  }

  /**
   * Notes a message.
   * @param at what the clock shows, in Unix milliseconds; null while it is not set
   * @returns for how many milliseconds before it nothing was missed; 0 if that is not known
   */
  received(input: Input, at: number | null): number {
    this.heard(input);
    const last = this.#last;
    this.#last = at === null ? null : { at, elapsed: this.#heardAt };
    if (!last || at === null || this.#inputs.size > 1) return 0;
    const span = at - last.at;
    return Math.abs(span - (this.#heardAt - last.elapsed)) > MAX_DRIFT_MS ? 0 : Math.max(0, span);
  }
}

/** Stops calls to something that fails repeatedly, and lets one at a time try whether it works again. */
export interface Breaker {
  /** Whether calls are refused at present. */
  isOpen(): boolean;
  /** Runs the work unless calls are refused, and records whether it failed. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface BreakerOptions {
  /** Number of consecutive failures after which calls are refused. */
  readonly failures: number;
  /** How long calls are refused before one may try, in milliseconds. */
  readonly openMs: number;
  /** The error for refused calls. */
  readonly refusal: () => Error;
}

export function createBreaker({ failures, openMs, refusal }: BreakerOptions): Breaker {
  let inARow = 0;
  /** By the monotonic clock. */
  let openUntil = Number.NEGATIVE_INFINITY;
  let isTrying = false;

  const isBroken = (): boolean => inARow >= failures;
  const isOpen = (): boolean => isBroken() && (isTrying || performance.now() < openUntil);

  return {
    isOpen,
    async run(work) {
      if (isOpen()) throw refusal();
      const tries = isBroken();
      if (tries) isTrying = true;
      try {
        const result = await work();
        inARow = 0;
        return result;
      } catch (error) {
        inARow++;
        openUntil = performance.now() + openMs;
        throw error;
      } finally {
        if (tries) isTrying = false;
      }
    },
  };
}

/** Keeps callers away from something that fails again and again, and lets one at a time try whether it works again. */
export interface Breaker {
  /** Whether everybody is refused at once just now. */
  isOpen(): boolean;
  /** Does the work unless everybody is refused, and remembers whether it failed. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface BreakerOptions {
  /** Failures in a row after which everybody is refused. */
  readonly failures: number;
  /** For how long before one may try, in milliseconds. */
  readonly openMs: number;
  /** What those are told who are refused. */
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

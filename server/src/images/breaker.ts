/** Stops calls to something that fails repeatedly, and lets one at a time try whether it works again. */
export interface Breaker {
  /** Whether calls are refused at present. */
  isOpen(): boolean;
  /** Runs the work and records whether it failed. @throws the result of `refusal` while calls are refused */
  run<Result>(work: () => Promise<Result>, refusal: () => Error): Promise<Result>;
}

export interface BreakerOptions {
  /** Number of consecutive failures after which calls are refused. */
  readonly failures: number;
  /** How long calls are refused before one may try, in milliseconds. */
  readonly openMs: number;
}

export function createBreaker({ failures, openMs }: BreakerOptions): Breaker {
  let inARow = 0;
  /** By the monotonic clock. */
  let openUntil = Number.NEGATIVE_INFINITY;
  let isTrying = false;

  const isBroken = (): boolean => inARow >= failures;
  const isOpen = (): boolean => isBroken() && (isTrying || performance.now() < openUntil);

  return {
    isOpen,
    async run(work, refusal) {
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

import type { Logger } from 'pino';

export interface PeriodicOptions {
  /** From one round to the next, in milliseconds. One that takes longer is not joined by another. */
  readonly everyMs: number;
  readonly log: Logger;
  /** What the log says when a round fails; the next one tries again. */
  readonly failure: string;
}

/** Work that is done again and again. */
export interface Rounds extends AsyncDisposable {
  /** Begins a round without waiting for its time, unless one is under way. */
  startNow(): void;
}

/**
 * Does work again and again until it is disposed of; disposing waits for the round under way.
 * @param work is told whether it is to come to its end
 */
export function startPeriodic(
  { everyMs, log, failure }: PeriodicOptions,
  work: (isOver: () => boolean) => Promise<unknown>,
): Rounds {
  let over = false;
  let round: Promise<void> | null = null;

  const doOne = async (): Promise<void> => {
    try {
      await work(() => over);
    } catch (err) {
      log.warn({ err }, failure);
    }
  };

  const startNow = (): void => {
    if (over) return;
    round ??= doOne().finally(() => {
      round = null;
    });
  };

  const timer = setInterval(startNow, everyMs);
  timer.unref();
  return {
    startNow,
    async [Symbol.asyncDispose]() {
      over = true;
      clearInterval(timer);
      await round;
    },
  };
}

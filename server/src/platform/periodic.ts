import type { Logger } from 'pino';

export interface PeriodicOptions {
  /** The interval between rounds, in milliseconds. Rounds do not overlap. */
  readonly everyMs: number;
  readonly log: Logger;
  /** The log message when a round fails; the next one tries again. */
  readonly failure: string;
}

/** Work that is repeated. */
export interface Rounds extends AsyncDisposable {
  /** Begins a round at once, unless one is in progress. */
  startNow(): void;
}

/**
 * Repeats work until it is disposed of; disposing waits for the round in progress.
 * @param work receives a function that says whether it should finish
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

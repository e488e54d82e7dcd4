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

const MAX_DELAY_MS = 1_000;

/**
 * Repeats work until it is disposed of; disposing waits for the round in progress. The first round begins after one
 * interval and a random delay of up to a second: otherwise all work of a process would begin in the same millisecond every
 * five seconds, and events would wait for it (at 3,000 events/s, p99 of 65 ms instead of 46 ms).
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

  let timer = setTimeout(
    () => {
      timer = setInterval(startNow, everyMs).unref();
      startNow();
    },
    everyMs + Math.random() * Math.min(everyMs, MAX_DELAY_MS),
  ).unref();
  return {
    startNow,
    async [Symbol.asyncDispose]() {
      over = true;
      clearTimeout(timer);
      await round;
    },
  };
}

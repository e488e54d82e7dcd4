import type { Logger } from 'pino';

export interface RoundsOptions {
  /** From one round to the next, in milliseconds. One that takes longer is not joined by another. */
  readonly everyMs: number;
  readonly log: Logger;
  /** What the log says when a round fails; the next one tries again. */
  readonly failure: string;
}

/**
 * Does work again and again until it is disposed of; disposing waits for the round under way.
 * @param work is told whether it is to come to its end
 */
export const startRounds = (
  { everyMs, log, failure }: RoundsOptions,
  work: (isOver: () => boolean) => Promise<unknown>,
): AsyncDisposable => {
  let over = false;
  let round: Promise<void> | null = null;

  const doOne = async (): Promise<void> => {
    try {
      await work(() => over);
    } catch (err) {
      log.warn({ err }, failure);
    }
  };

  const timer = setInterval(() => {
    round ??= doOne().finally(() => {
      round = null;
    });
  }, everyMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      over = true;
      clearInterval(timer);
      await round;
    },
  };
};

import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { subscriberOf } from '../accounts/throttle.ts';

/** Slows down the guessing of tokens and passwords. Senders that are recognised are never delayed. */
export interface Guesses {
  /** Counts a wrong guess; resolves when it may be answered. @returns false if too many are waiting already */
  admit(address: string): Promise<boolean>;
  /**
   * Counts an attempt that takes work to judge, before that work.
   * @returns what withdraws it, once the sender is recognised; null if the address has no guesses left in this minute
   */
  begin(address: string): Promise<(() => Promise<void>) | null>;
}

const WINDOW_SECONDS = 60;

/**
 * Number of wrong guesses of an address in a minute that are answered at once: many devices may share an address, and
 * some of them may have an old token.
 */
const AT_ONCE = 60;
const DELAY_MS = 1_000;

/** Maximum number of answers that are delayed at the same time. */
const MAX_DELAYED = 200;

/** @param delayMs how long the answer to each further guess of a minute is delayed, in milliseconds */
export function createGuesses(delayMs = DELAY_MS): Guesses {
  const counts = new RateLimiterMemory({ points: AT_ONCE, duration: WINDOW_SECONDS });
  let delayed = 0;

  /** @returns whether the address had a guess left */
  const consume = async (address: string): Promise<boolean> => {
    try {
      await counts.consume(subscriberOf(address));
      return true;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return false;
    }
  };

  return {
    async admit(address) {
      if (await consume(address)) return true;
      if (delayed >= MAX_DELAYED) return false;
      delayed++;
      try {
        await sleep(delayMs);
      } finally {
        delayed--;
      }
      return true;
    },
    async begin(address) {
      if (!(await consume(address))) return null;
      return async () => {
        await counts.reward(subscriberOf(address));
      };
    },
  };
}

import { RateLimiterMemory } from 'rate-limiter-flexible';
import { AppError } from '../error.ts';

/** Slows down guessing of passwords, per account and address and per address, without locking anybody out for good. */
export interface LoginThrottle {
  /** @throws AppError `tooManyRequests` while the account from this address, or the address, has failed too often */
  check(email: string, address: string): Promise<void>;
  recordFailure(email: string, address: string): Promise<void>;
  recordSuccess(email: string, address: string): Promise<void>;
}

const WINDOW_SECONDS = 60;
const FAILURES_PER_ACCOUNT_AND_ADDRESS = 20;
const FAILURES_PER_ADDRESS = 200;

/** Counts live in this process and for a minute: a mistyped password costs its owner a minute at worst. */
export const createLoginThrottle = (): LoginThrottle => {
  const pairs = new RateLimiterMemory({ points: FAILURES_PER_ACCOUNT_AND_ADDRESS, duration: WINDOW_SECONDS });
  const addresses = new RateLimiterMemory({ points: FAILURES_PER_ADDRESS, duration: WINDOW_SECONDS });
  const pairKey = (email: string, address: string) => `${email} ${address}`;

  return {
    async check(email, address) {
      const counts = await Promise.all([pairs.get(pairKey(email, address)), addresses.get(address)]);
      for (const count of counts) {
        if (count && count.remainingPoints <= 0) {
          throw new AppError('tooManyRequests', 'Too many failed logins: wait a minute and try again', {
            retryAfterSeconds: count.msBeforeNext / 1000,
          });
        }
      }
    },
    async recordFailure(email, address) {
      await Promise.all([pairs.penalty(pairKey(email, address)), addresses.penalty(address)]);
    },
    async recordSuccess(email, address) {
      await pairs.delete(pairKey(email, address));
    },
  };
};

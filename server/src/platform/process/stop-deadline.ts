import type { Config } from '../config.ts';

/** Time limit for a stop, in seconds. */
const MIN_SECONDS = 40;

/**
 * Time after draining that is always left, in seconds: requests in progress may take 18 s, and the rest is for closing
 * everything else. With the longest drain, the deadline is still less than the 60 s that the units and manifests in `deploy`
 * allow.
 */
const AFTER_DRAIN_SECONDS = 24;

/** The time within which a process ends after it was asked to stop, even if something has not finished, in milliseconds. */
export function stopDeadlineMs({ DRAIN_SECONDS }: Pick<Config, 'DRAIN_SECONDS'>): number {
  return Math.max(MIN_SECONDS, DRAIN_SECONDS + AFTER_DRAIN_SECONDS) * 1_000;
}

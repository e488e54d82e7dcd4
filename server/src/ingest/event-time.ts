import { DAY_MS } from '@gantry/contract/durations';
import { EARLIEST_EVENT, MAX_AHEAD_MS } from '../events/event-row.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { resolveTime } from '../platform/time.ts';

/** The rules for accepting the time of an event. */
export interface EventTimes {
  /** Maximum age in days; null accepts everything since the year 2000. */
  readonly oldestDays: number | null;
  /** Whether a refusal may be caused by the service's own clocks. */
  readonly mayBeWrong: (isRefused: (now: number) => boolean) => boolean;
}

/** Accepts everything since the year 2000, with a correct clock. */
export const ANY_TIME: EventTimes = { oldestDays: null, mayBeWrong: () => false };

/** The device should send the event again after this time, in seconds: by then the clocks have been compared again. */
const RETRY_SECONDS = 5;

/**
 * The time of an event in Unix milliseconds.
 * @param timestamp as reported by the device; without one, the event happened `now`
 * @param zone IANA time zone for a timestamp without an offset
 * @throws AppError `badRequest` when it is out of bounds; `unavailable` when that may be the fault of the service's
 * clocks
 */
export function timeOfEvent(
  timestamp: string | undefined,
  zone: string,
  now: number,
  times: EventTimes,
): number {
  if (timestamp === undefined) return now;
  const time = resolveTime(timestamp, zone);
  if (isAhead(time, now)) {
    throw refuseByClock(
      times,
      (other) => isAhead(time, other),
      'The timestamp is more than 5 minutes ahead: set the clock of the device',
    );
  }
  if (time < EARLIEST_EVENT) throw invalidInput('timestamp', 'The timestamp is before the year 2000');
  const { oldestDays } = times;
  if (oldestDays !== null && time < now - oldestDays * DAY_MS) {
    throw refuseByClock(
      times,
      (other) => time < other - oldestDays * DAY_MS,
      `The timestamp is more than ${oldestDays} days old, which is the maximum age that this service accepts`,
    );
  }
  return time;
}

function isAhead(time: number, now: number): boolean {
  return time > now + MAX_AHEAD_MS;
}

function refuseByClock(times: EventTimes, isRefused: (now: number) => boolean, message: string): AppError {
  return times.mayBeWrong(isRefused)
    ? new AppError('unavailable', 'The clocks of the service disagree: send the event again in a moment', {
        retryAfterSeconds: RETRY_SECONDS,
      })
    : invalidInput('timestamp', message);
}

import type { Logger } from 'pino';
import { machineTime } from './machine-time.ts';
import { startPeriodic } from './periodic.ts';

/** The time of the database, continued in this process by a time source that never jumps. */
export interface Clock {
  /** The time of the database in whole Unix milliseconds; the time of this process before the first measurement. */
  now(): number;
  /**
   * How far the clock of this process is ahead of the database's, in milliseconds; null before the first measurement.
   */
  skewMs(): number | null;
  /** Whether the skew is so large that an operator should check the clocks. */
  isSkewed(): boolean;
  /**
   * Whether a refusal because of the time may be the fault of a clock: there was no measurement yet, the clock of
   * this process has jumped since the last one, or the two clocks differ and only one of them refuses.
   */
  mayBeWrong(isRefused: (now: number) => boolean): boolean;
  /** Reads the database's time now. Concurrent calls share one query. */
  measure(): Promise<void>;
}

/** The time sources of a `Clock`. */
export interface ClockSources {
  /** Reads the clock of the database, in Unix milliseconds. */
  readonly readDatabaseTime: () => Promise<number>;
  /** What the clock of this process shows, in Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds since an arbitrary moment. Setting a clock does not change them. */
  readonly monotonic: () => number;
}

export interface ClockParts
  extends Pick<ClockSources, 'readDatabaseTime'>,
    Partial<Omit<ClockSources, 'readDatabaseTime'>> {
  readonly log: Logger;
  /** Called with the skew in milliseconds after each measurement. */
  readonly reportSkew?: (milliseconds: number) => void;
}

const MEASURE_EVERY_MS = 60_000;

/**
 * How often to check whether a measurement is due: every minute, or at once after the clock of this process has
 * jumped.
 */
const LOOK_MS = 5_000;

/** A skew above which the clocks need attention, in milliseconds. */
const SKEWED_MS = 5_000;

/** A change of the skew, in milliseconds, that is too large for drift between two measurements: the clock was set. */
const JUMP_MS = 3_000;

/** After a longer wait, in milliseconds, a measurement is discarded: it may be wrong by half of its duration. */
const MAX_ANSWER_MS = 4_000;

interface Measurement {
  /** The difference between the database's time and the monotonic source. */
  readonly offset: number;
  /** The measured skew. */
  readonly skew: number;
  /** The time of the measurement, by the monotonic source. */
  readonly at: number;
}

/** Creates a clock that has no measurement yet. `isDue` says whether it should be measured. */
export function createClock({
  readDatabaseTime,
  log,
  reportSkew,
  wall = machineTime,
  monotonic = () => performance.now(),
}: ClockParts): Clock & { readonly isDue: () => boolean } {
  let last: Measurement | null = null;
  let underway: Promise<void> | null = null;
  let hasWarned = false;

  const now = (): number => Math.round(last === null ? wall() : monotonic() + last.offset);
  const skewMs = (): number | null => (last === null ? null : wall() - (monotonic() + last.offset));
  const isSkewed = (): boolean => Math.abs(skewMs() ?? 0) > SKEWED_MS;
  const isTrusted = (): boolean => last !== null && Math.abs((skewMs() ?? 0) - last.skew) <= JUMP_MS;

  const warn = (): void => {
    const skew = skewMs() ?? 0;
    if (isSkewed() && !hasWarned) {
      const seconds = Math.round(skew / 1000);
      log.warn(
        { skewSeconds: seconds },
        'the clocks of this machine and of the database differ: the clock of the database is used; synchronise both with NTP',
      );
    }
    hasWarned = isSkewed();
  };

  const measureOnce = async (): Promise<void> => {
    const asked = monotonic();
    const time = await readDatabaseTime();
    const answered = monotonic();
    if (answered - asked > MAX_ANSWER_MS) throw new Error('The database took too long to return its time');
    const offset = time - (asked + answered) / 2;
    const skew = wall() - (answered + offset);
    last = { offset, skew, at: answered };
    reportSkew?.(skew);
    warn();
  };

  const measure = (): Promise<void> => {
    underway ??= measureOnce().finally(() => {
      underway = null;
    });
    return underway;
  };

  return {
    now,
    skewMs,
    isSkewed,
    measure,
    isDue: () => !isTrusted() || last === null || monotonic() - last.at >= MEASURE_EVERY_MS,
    mayBeWrong(isRefused) {
      if (isTrusted()) return isSkewed() && !isRefused(wall());
      measure().catch(() => undefined);
      return true;
    },
  };
}

/** Measures the clock every minute until it is disposed of. Resolves after the first attempt, even if it fails. */
export async function startClock(parts: ClockParts): Promise<Clock & AsyncDisposable> {
  const clock = createClock(parts);
  const failure = 'the time of the database could not be read; it is tried again';
  await clock.measure().catch((err: unknown) => parts.log.warn({ err }, failure));
  const rounds = startPeriodic({ everyMs: LOOK_MS, log: parts.log, failure }, async () => {
    if (clock.isDue()) await clock.measure();
  });
  return Object.assign(clock, { [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose]() });
}

import type { ClockSources } from '../src/platform/clock.ts';

/** The time of a service that a test advances; otherwise it passes normally. */
export interface ShiftedTime {
  /** For `overrides.clock` of a service: the clocks of its machine and of its database, both ahead by the same. */
  readonly sources: ClockSources;
  /** What it is now, in Unix milliseconds. */
  now(): number;
  advance(ms: number): void;
}

/** What SQL itself calls now() stays the time of the machine that runs the tests. */
export const createShiftedTime = (): ShiftedTime => {
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  return {
    sources: { wall: now, monotonic: () => performance.now() + ahead, readDatabaseTime: async () => now() },
    now,
    advance: (ms) => {
      ahead += ms;
    },
  };
};

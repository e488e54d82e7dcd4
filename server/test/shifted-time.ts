import type { ClockSources } from '../src/platform/clock.ts';

/** The time of a service, which a test can advance; otherwise it passes normally. */
export interface ShiftedTime {
  /** For `overrides.clock` of a service: the clocks of its machine and of its database, both ahead by the same. */
  readonly sources: ClockSources;
  /** The current time, in Unix milliseconds. */
  now(): number;
  advance(ms: number): void;
}

/** Creates a time that a test can advance. now() in SQL is not affected: it stays the time of the database server. */
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

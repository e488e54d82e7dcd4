import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type PeriodicOptions, startPeriodic } from '../src/platform/periodic.ts';

const log = pino({ level: 'silent' });

/** Rounds every second, whose times are recorded in seconds. */
const startRounds = (work: () => Promise<unknown>, options: Partial<PeriodicOptions> = {}) => {
  const times: number[] = [];
  const began = Date.now();
  const rounds = startPeriodic({ everyMs: 1_000, log, failure: 'failed', ...options }, async () => {
    times.push((Date.now() - began) / 1_000);
    return work();
  });
  return { rounds, times };
};

describe('work that is repeated', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('is done at its interval, whatever it returns', async () => {
    const { rounds, times } = startRounds(async () => false);
    await vi.advanceTimersByTimeAsync(5_500);
    expect(times).toEqual([1, 2, 3, 4, 5]);
    await rounds[Symbol.asyncDispose]();
  });

  it('rests step by step while it finds nothing, and no longer than stated', async () => {
    const { rounds, times } = startRounds(async () => false, { restMs: 4_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(pauses.slice(0, 5)).toEqual([1, 1.5, 2.25, 3.375, 4]);
    expect(new Set(pauses.slice(4))).toEqual(new Set([4]));
    await rounds[Symbol.asyncDispose]();
  });

  it.each([
    ['finds something', async () => true],
    ['says nothing', async () => undefined],
    ['fails', () => Promise.reject(new Error('away'))],
  ])('does not rest while it %s', async (_, work) => {
    const { rounds, times } = startRounds(work, { restMs: 10_000 });
    await vi.advanceTimersByTimeAsync(4_500);
    expect(times).toEqual([1, 2, 3, 4]);
    await rounds[Symbol.asyncDispose]();
  });

  it('is done within its interval after it was roused, and goes on at it', async () => {
    let found = false;
    const { rounds, times } = startRounds(async () => found, { restMs: 10_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    const before = times.length;
    found = true;
    for (let n = 0; n < 1_000; n++) rounds.rouse();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(times.slice(before)).toEqual([61, 62, 63]);
    await rounds[Symbol.asyncDispose]();
  });

  it('does not rest when it is roused during a round that finds nothing', async () => {
    let finish = (): void => undefined;
    const { rounds, times } = startRounds(
      () =>
        new Promise((resolve) => {
          finish = () => resolve(false);
        }),
      { restMs: 10_000 },
    );
    await vi.advanceTimersByTimeAsync(1_000);
    rounds.rouse();
    finish();
    await vi.advanceTimersByTimeAsync(1_000);
    finish();
    expect(times).toEqual([1, 2]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(times).toEqual([1, 2, 3]);
    finish();
    await rounds[Symbol.asyncDispose]();
  });

  it('begins at once on request, never twice at a time, and ends when it is disposed of', async () => {
    let underWay = 0;
    const { rounds, times } = startRounds(
      async () => {
        expect(++underWay).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 300));
        underWay--;
        return false;
      },
      { restMs: 10_000 },
    );
    rounds.startNow();
    rounds.startNow();
    expect(times).toEqual([0]);
    await vi.advanceTimersByTimeAsync(20_000);
    const disposed = rounds[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(400);
    await disposed;
    const before = times.length;
    rounds.rouse();
    rounds.startNow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(times).toHaveLength(before);
  });

  it('is told by a signal that it should finish, which what it waits for may follow', async () => {
    const rounds = startPeriodic(
      { everyMs: 1_000, log, failure: 'failed' },
      (isOver, ending) =>
        new Promise((resolve) =>
          ending.addEventListener('abort', () => resolve(expect(isOver()).toBe(true))),
        ),
    );
    rounds.startNow();
    await rounds[Symbol.asyncDispose]();
  });
});

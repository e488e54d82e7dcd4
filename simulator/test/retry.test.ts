import { GantryError } from '@gantry/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../src/random.ts';
import { isTemporary, keepTrying, pause, waitBefore } from '../src/retry.ts';

const error = (code: GantryError['code'], detail = {}) => new GantryError(code, 'said so', detail);

describe('waiting before the next attempt', () => {
  it('takes longer each time, up to a quarter of a minute, and varies', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 1_000 }), (seed, attempt) => {
        const wait = waitBefore(attempt, createRandom(seed));
        const doubled = Math.min(15_000, 250 * 2 ** Math.min(attempt, 16));
        expect(wait).toBeGreaterThanOrEqual(doubled / 2);
        expect(wait).toBeLessThanOrEqual(doubled);
      }),
    );
    const waits = new Set(Array.from({ length: 100 }, (_, seed) => waitBefore(5, createRandom(seed))));
    expect(waits.size).toBe(100);
  });

  it('is at least what the service requests', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 120 }), (seed, retryAfter) => {
        expect(waitBefore(0, createRandom(seed), retryAfter)).toBeGreaterThanOrEqual(retryAfter * 1000);
        expect(waitBefore(0, createRandom(seed), retryAfter)).toBeLessThanOrEqual(retryAfter * 1250 + 250);
      }),
    );
  });
});

describe('trying again', () => {
  it.each([
    ['UNREACHABLE', {}, true],
    ['SERVICE_UNAVAILABLE', {}, true],
    ['TOO_MANY_REQUESTS', {}, true],
    ['TIMEOUT', {}, true],
    ['INTERNAL_SERVER_ERROR', {}, true],
    ['INVALID_RESPONSE', { httpStatus: 502 }, true],
    ['INVALID_RESPONSE', { httpStatus: 200 }, false],
    ['UNAUTHORIZED', {}, false],
    ['BAD_REQUEST', {}, false],
    ['CONFLICT', {}, false],
  ] as const)('after %s %o: %s', (code, detail, expected) => {
    expect(isTemporary(error(code, detail))).toBe(expected);
  });

  it('continues until it succeeds', async () => {
    let attempts = 0;
    const heard: string[] = [];
    const answer = await keepTrying(
      async () => {
        attempts++;
        if (attempts < 3) throw error('SERVICE_UNAVAILABLE');
        return 'done';
      },
      {
        signal: new AbortController().signal,
        random: { ...createRandom(1), next: () => 0 },
        onRetry: ({ code }) => heard.push(code),
      },
    );
    expect(answer).toBe('done');
    expect(heard).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
  });

  it('stops at a refusal, and at the signal', async () => {
    const stopping = new AbortController();
    const persistence = { signal: stopping.signal, random: createRandom(1), onRetry: () => stopping.abort() };
    await expect(keepTrying(async () => Promise.reject(error('CONFLICT')), persistence)).rejects.toThrow(
      'said so',
    );
    expect(stopping.signal.aborted).toBe(false);
    const given = await keepTrying(async () => Promise.reject(error('UNREACHABLE')), persistence);
    expect(given).toBeUndefined();
    // Returns at once, because the signal is aborted; waiting would exceed the time limit of the test.
    await pause(600_000, stopping.signal);
  });
});

import { describe, expect, it } from 'vitest';
import { keepLatest } from '../src/platform/caches.ts';

/** Reads that complete when the test says so, in the order in which they began. */
const createReadings = () => {
  const readings: { answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  const read = () =>
    new Promise<string>((answer, fail) => {
      readings.push({ answer, fail });
    });
  const nth = (n: number) => {
    const reading = readings[n];
    if (!reading) throw new Error(`There is no reading ${n}`);
    return reading;
  };
  return { read, nth };
};

const begin = async () => {
  const { read, nth } = createReadings();
  const kept = keepLatest(read);
  nth(0).answer('first');
  return { latest: await kept, nth };
};

describe('a value that is kept', () => {
  it('is the result of the last read', async () => {
    const { latest, nth } = await begin();
    expect(latest.current()).toBe('first');
    const refreshed = latest.refresh();
    expect(latest.current()).toBe('first');
    nth(1).answer('second');
    await refreshed;
    expect(latest.current()).toBe('second');
  });

  it('is not replaced by a read that was overtaken', async () => {
    const { latest, nth } = await begin();
    const slow = latest.refresh();
    const quick = latest.refresh();
    nth(2).answer('new');
    await quick;
    nth(1).answer('old');
    await slow;
    expect(latest.current()).toBe('new');
  });

  it('stays as it was when it cannot be read, and can be read later', async () => {
    const { latest, nth } = await begin();
    const failed = latest.refresh();
    nth(1).fail(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    expect(latest.current()).toBe('first');
    const refreshed = latest.refresh();
    nth(2).answer('third');
    await refreshed;
    expect(latest.current()).toBe('third');
  });

  it('is replaced by an earlier read when a later one failed', async () => {
    const { latest, nth } = await begin();
    const earlier = latest.refresh();
    const later = latest.refresh();
    nth(2).fail(new Error('away'));
    await expect(later).rejects.toThrow('away');
    nth(1).answer('second');
    await earlier;
    expect(latest.current()).toBe('second');
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../src/rpc/deadline.ts';

const LIMIT_MS = 40;
const startDeadline = () => new Deadline(LIMIT_MS, () => new Error('too late'));
const never = () => new Promise<never>(() => undefined);

describe('a time limit for work in progress', () => {
  it('passes on results and errors of work that ends in time, in any order', async () => {
    const deadline = startDeadline();
    const given = [never(), sleep(10, 'second'), sleep(5, 'third'), Promise.reject(new Error('its own'))];
    const results = await Promise.allSettled(given.map((work) => deadline.within<string>(work)));
    expect(results.slice(1)).toMatchObject([
      { value: 'second' },
      { value: 'third' },
      { reason: { message: 'its own' } },
    ]);
    expect(results[0]).toMatchObject({ reason: { message: 'too late' } });
  });

  it('gives up each work that takes too long, the oldest first', async () => {
    const deadline = startDeadline();
    const givenUp: string[] = [];
    const start = (name: string, work: Promise<unknown>) =>
      deadline.within(work).catch(() => void givenUp.push(name));
    const first = start('first', never());
    await sleep(10);
    const others = [start('second', never()), start('in time', sleep(5)), start('third', never())];
    await first;
    expect(givenUp).toEqual(['first']);
    await Promise.all(others);
    expect(givenUp).toEqual(['first', 'second', 'third']);
  });

  it('goes on with older work after the latest has ended', async () => {
    const deadline = startDeadline();
    const older = deadline.within(never());
    const latest = deadline.within(sleep(5));
    await latest;
    void deadline.within(sleep(5));
    await expect(older).rejects.toThrow('too late');
  });

  it('ignores work that ends after it was given up', async () => {
    const deadline = startDeadline();
    await expect(deadline.within(sleep(LIMIT_MS + 40))).rejects.toThrow('too late');
    const following = deadline.within(sleep(LIMIT_MS - 10, 'in time'));
    await expect(following).resolves.toBe('in time');
    await sleep(80);
    await expect(deadline.within(never())).rejects.toThrow('too late');
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startPeriodic } from '../src/platform/periodic.ts';
import { eventually } from './harness.ts';

const logTo = (lines: string[]) => pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
const options = (lines: string[] = []) => ({ everyMs: 10, log: logTo(lines), failure: 'not this time' });

describe('periodic work', () => {
  it('continues after a round that failed, and logs it', async () => {
    const lines: string[] = [];
    let rounds = 0;
    const work = startPeriodic(options(lines), async () => {
      rounds++;
      if (rounds === 1) throw new Error('the database is away');
    });
    await eventually(
      async () => rounds,
      (count) => count >= 3,
    );
    await work[Symbol.asyncDispose]();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('not this time');
    expect(lines[0]).toContain('the database is away');
  });

  it('never overlaps', async () => {
    let underWay = 0;
    let most = 0;
    let rounds = 0;
    const work = startPeriodic(options(), async () => {
      most = Math.max(most, ++underWay);
      await sleep(40);
      underWay--;
      rounds++;
    });
    await eventually(
      async () => rounds,
      (count) => count >= 3,
    );
    await work[Symbol.asyncDispose]();
    expect(most).toBe(1);
  });

  it('receives a signal to finish, and disposing waits for it', async () => {
    let started = false;
    let ended = false;
    const work = startPeriodic(options(), async (isOver) => {
      started = true;
      while (!isOver()) await sleep(5);
      await sleep(30);
      ended = true;
    });
    await eventually(
      async () => started,
      (has) => has,
    );
    await work[Symbol.asyncDispose]();
    expect(ended).toBe(true);
  });
});

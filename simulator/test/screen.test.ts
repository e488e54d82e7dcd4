import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createScreen } from '../src/screen.ts';

/** A screen that writes to a terminal of 80 columns, or to another kind of output, and what it has written. */
const record = (isTTY: boolean) => {
  const written: string[] = [];
  const out = { isTTY, columns: 80, write: (text: string) => written.push(text) };
  return { written, screen: createScreen(out as unknown as NodeJS.WriteStream) };
};

const CLEAR = '\r\u001b[2K';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('the screen', () => {
  it('rewrites one line on a terminal, at a readable rate, and clears it for permanent lines', () => {
    const { written, screen } = record(true);
    screen.show('1');
    for (let step = 0; step < 1_000; step++) screen.show('2');
    vi.advanceTimersByTime(100);
    screen.show('x'.repeat(100));
    screen.say('News');
    screen.say('More news');
    vi.advanceTimersByTime(100);
    screen.show('4');
    screen.end();
    screen.end();
    expect(written).toEqual([
      `${CLEAR}1`,
      `${CLEAR}${'x'.repeat(79)}`,
      CLEAR,
      'News\n',
      'More news\n',
      `${CLEAR}4`,
      '\n',
    ]);
  });

  it('writes a line every few seconds elsewhere', () => {
    const { written, screen } = record(false);
    screen.show('1');
    vi.advanceTimersByTime(4_999);
    screen.show('2');
    screen.say('News');
    vi.advanceTimersByTime(1);
    screen.show('3');
    screen.end();
    expect(written).toEqual(['1\n', 'News\n', '3\n']);
  });
});

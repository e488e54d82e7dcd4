import { describe, expect, it } from 'vitest';
import { createClock } from '../src/clock.ts';
import { Contact } from '../src/contact.ts';
import { createStamp } from '../src/stamp.ts';

/** A machine whose clock shows 1970 when it is started, and can be set later. */
const machine = () => {
  const state = { elapsed: 10_000, aheadBy: 0 };
  const start = () =>
    createClock(
      () => state.aheadBy + state.elapsed,
      () => state.elapsed,
    );
  return { state, start, set: Date.parse('2026-07-01T10:00:00Z') - 60_000 };
};

describe('a clock that is not set', () => {
  it('gives messages their true times afterwards, and leaves other times as they are', () => {
    const { state, start, set } = machine();
    const clock = start();
    const stamp = createStamp(clock, new Contact(null));
    const line = stamp.line('a');
    const event = stamp.event({ eventType: 'VEHICLE_DETECTION' }, 'stdin');
    const timed = stamp.event({ timestamp: '2026-07-01T09:00:00Z', idempotencyKey: '1' }, 'stdin');
    expect([clock.isSet(), line.at]).toEqual([false, '1970-01-01T00:00:10.000Z']);
    Object.assign(state, { elapsed: 60_000, aheadBy: set });
    expect(clock.isSet()).toBe(true);
    state.elapsed = 90_000;
    const at = '2026-07-01T09:59:10.000Z';
    expect(stamp.corrected(line)).toEqual({ ...line, at });
    expect(stamp.corrected(event)).toEqual({ ...event, at, event: { ...event.event, timestamp: at } });
    expect(stamp.corrected(timed)).toEqual({ ...timed, at });
    const later = stamp.line('b');
    expect(later.at).toBe('2026-07-01T10:00:30.000Z');
    expect(stamp.corrected(later)).toBe(later);
  });

  it('gives messages from before a restart the time at which it was set', () => {
    const { state, start, set } = machine();
    const before = createStamp(start(), new Contact(null)).line('a');
    const stamp = createStamp(start(), new Contact(null));
    Object.assign(state, { elapsed: 60_000, aheadBy: set });
    const sent = stamp.corrected(before);
    state.elapsed = 90_000;
    expect(sent.at).toBe('2026-07-01T10:00:00.000Z');
    expect(stamp.corrected(before)).toEqual(sent);
  });
});

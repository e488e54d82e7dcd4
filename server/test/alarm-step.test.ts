import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesOf, isInForce, type StoredAlarm } from '../src/alarms/evaluate.ts';
import {
  type Effect,
  FLAPPING_MS,
  isFiring,
  type Machine,
  resume,
  type Sample,
  STALE_MS,
  step,
  type Timing,
} from '../src/alarms/step.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const timingOf = (forMinutes: number, more: Partial<Timing> = {}): Timing => ({
  forMs: forMinutes * MINUTE,
  noData: 'KEEP',
  isLowWorse: true,
  ...more,
});

/** A series of minutes: each is a value, or null for none. It holds below 40, and clears at 60 or more. */
type Series = readonly (number | null)[];
const sampleOf = (value: number | null, at: number): Sample | null =>
  value === null ? null : { at, value, holds: value < 40, clears: value >= 60 };

/** What the machine does with a series: whether it fires after each minute, and its effects. */
const run = (series: Series, timing: Timing) => {
  let machine: Machine | null = null;
  return series.map((value, n) => {
    const at = START + n * MINUTE;
    const next = step(machine, sampleOf(value, at), timing, at);
    machine = next.machine;
    return { fires: isFiring(machine), effects: next.effects, machine };
  });
};

/**
 * Whether the level is up after each minute, by the definition: up from the end of a time in which every known minute
 * held, which was long enough, until the end of a time in which every known minute cleared, which was as long.
 */
const levelsOf = (series: Series, forMinutes: number): boolean[] => {
  const known = series.flatMap((value, n) => (value === null ? [] : [{ n, value }]));
  /** Whether a run of known minutes, all with a property, that ends at this minute is long enough. */
  const lasted = (end: number, from: number, is: (value: number) => boolean): boolean =>
    known.some(
      ({ n: start }) =>
        start > from &&
        start <= end &&
        end - start >= forMinutes &&
        known.filter(({ n }) => n >= start && n <= end).every(({ value }) => is(value)),
    );
  let isUp = false;
  /** A run begins after the last change of the level. */
  let changedAt = -1;
  return series.map((value, n) => {
    if (value === null) return isUp;
    const is = isUp ? (each: number) => each >= 60 : (each: number) => each < 40;
    if (lasted(n, changedAt, is)) {
      isUp = !isUp;
      changedAt = n;
    }
    return isUp;
  });
};

/** Whether the alarm fires after each minute: at the level, except while it flaps. */
const firingOf = (levels: readonly boolean[]): boolean[] => {
  const changes = levels.flatMap((isUp, n) => (isUp === (levels[n - 1] ?? false) ? [] : [n]));
  let isFlapping = false;
  return levels.map((isUp, n) => {
    const recent = changes.filter((at) => at <= n && at > n - FLAPPING_MS / MINUTE).length;
    if (recent >= 4) isFlapping = true;
    if (recent === 0) isFlapping = false;
    return isUp || isFlapping;
  });
};

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(20, 30, 39) },
  { weight: 4, arbitrary: fc.constantFrom(60, 80) },
  { weight: 1, arbitrary: fc.constantFrom(40, 50, 59) },
  { weight: 1, arbitrary: fc.constant(null) },
);
/** Values last for some minutes, as in traffic. */
const series = fc
  .array(fc.tuple(value, fc.integer({ min: 1, max: 8 })), { minLength: 1, maxLength: 25 })
  .map((runs) => runs.flatMap(([each, length]) => Array.from({ length }, () => each)));

describe('the state machine of a rule and key', () => {
  it('fires as the definition says, for any series of minutes', () => {
    fc.assert(
      fc.property(series, fc.integer({ min: 0, max: 6 }), (given, forMinutes) => {
        const fired = run(given, timingOf(forMinutes)).map(({ fires }) => fires);
        expect(fired).toEqual(firingOf(levelsOf(given, forMinutes)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('begins and ends each alarm with one effect, and tells once that it flaps', () => {
    fc.assert(
      fc.property(series, fc.integer({ min: 0, max: 3 }), (given, forMinutes) => {
        let [fires, flaps] = [false, false];
        for (const now of run(given, timingOf(forMinutes))) {
          const has = (effect: Effect) => now.effects.includes(effect);
          expect(has('FIRED')).toBe(now.fires && !fires);
          expect(has('CLEARED')).toBe(!now.fires && fires);
          expect(has('FLAPPING')).toBe((now.machine?.isFlapping ?? false) && !flaps);
          expect(has('STEADY')).toBe(!(now.machine?.isFlapping ?? false) && flaps);
          fires = now.fires;
          flaps = now.machine?.isFlapping ?? false;
        }
      }),
    );
  });

  it('keeps the worst value, which is the smallest if small values are worse', () => {
    const worst = (isLowWorse: boolean) =>
      run([30, 20, 39], timingOf(0, { isLowWorse })).at(-1)?.machine?.worst;
    expect(worst(true)).toBe(20);
    expect(worst(false)).toBe(39);
  });

  it('never fires on a sample of more than 15 minutes ago, and does not end by one either', () => {
    const old = (holds: boolean): Sample => ({ at: START - STALE_MS, value: 1, holds, clears: !holds });
    expect(step(null, old(true), timingOf(0), START).machine).toBeNull();
    expect(step(null, { ...old(true), at: START - STALE_MS + 1 }, timingOf(0), START).effects).toEqual([
      'FIRED',
    ]);
    const { machine } = step(null, sampleOf(20, START), timingOf(0), START);
    expect(isFiring(step(machine, old(false), timingOf(0), START + MINUTE).machine)).toBe(true);
  });

  it('does as the rule says if nothing is known', () => {
    const after = (noData: Timing['noData']) =>
      run([20, null], timingOf(0, { noData })).map(({ fires }) => fires);
    expect(after('KEEP')).toEqual([true, true]);
    expect(after('CLEAR')).toEqual([true, false]);
    expect(run([80, null], timingOf(0, { noData: 'ALARM' })).map(({ fires }) => fires)).toEqual([
      false,
      true,
    ]);
  });

  it('begins anew after a break, and keeps what fires', () => {
    const rising = run([20, 20], timingOf(5)).at(-1)?.machine ?? null;
    expect(rising?.level).toBe('RISING');
    expect(rising && resume(rising)).toBeNull();
    const up = run([20, 20, 80], timingOf(1)).at(-1)?.machine ?? null;
    expect(up).toMatchObject({ level: 'UP', clearingSince: START + 2 * MINUTE });
    expect(up && resume(up)).toMatchObject({ level: 'UP', clearingSince: null });
  });
});

describe('the alarms of a rule', () => {
  const about = { text: 'It is wrong', place: null };
  const holding = (key: string) => ({
    key,
    about,
    sample: { at: START, value: null, holds: true, clears: false },
  });
  const keys = (n: number) => Array.from({ length: n }, (_, i) => holding(`k${i}`));

  it('are one for each key, and one for all of more than 200', () => {
    const opened = (n: number) =>
      changesOf(keys(n), [], timingOf(0), START, false).map((change) => 'key' in change && change.key);
    expect(opened(200)).toHaveLength(200);
    expect(opened(200)).not.toContain('*');
    expect(opened(201)).toEqual(['*']);
  });

  it('stay open when there are too many, and are no more in number', () => {
    const stored: StoredAlarm[] = ['k0', 'k1'].map((key) => {
      const { machine } = step(null, holding(key).sample, timingOf(0), START);
      return { id: key, key, state: 'FIRING', machine: machine as Machine, locationId: null };
    });
    const changes = changesOf(keys(300), stored, timingOf(0), START, false);
    expect(changes.map(({ kind }) => kind)).toEqual(['OPEN']);
  });

  it('end when their key is no longer observed', () => {
    const { machine } = step(null, holding('a').sample, timingOf(0), START);
    const stored: StoredAlarm[] = [
      { id: 'x', key: 'a', state: 'FIRING', machine: machine as Machine, locationId: null },
    ];
    expect(changesOf([], stored, timingOf(0), START + MINUTE, false)).toMatchObject([
      { kind: 'CHANGE', id: 'x', state: 'CLEARED', effects: ['CLEARED'] },
    ]);
  });

  it('never are two open ones of a key, whatever happens (N1)', () => {
    fc.assert(
      fc.property(series, fc.integer({ min: 0, max: 3 }), (given, forMinutes) => {
        let stored: StoredAlarm[] = [];
        let next = 0;
        for (const [n, value] of given.entries()) {
          const at = START + n * MINUTE;
          const observed = [{ key: 'a', about, sample: sampleOf(value, at) }];
          for (const change of changesOf(observed, stored, timingOf(forMinutes), at, false)) {
            if (change.kind === 'OPEN')
              stored.push({ ...change, id: `${next++}`, key: 'a', locationId: null });
            else if (change.kind === 'DROP') stored = stored.filter(({ id }) => id !== change.id);
            else stored = stored.map((alarm) => (alarm.id === change.id ? { ...alarm, ...change } : alarm));
          }
          expect(stored.filter(({ state }) => state !== 'CLEARED').length).toBeLessThan(2);
        }
        const fires = stored.some(({ state }) => state === 'FIRING');
        expect(fires).toBe(firingOf(levelsOf(given, forMinutes)).at(-1));
      }),
    );
  });
});

describe('the hours of a rule', () => {
  const zone = 'Europe/Berlin';
  const at = (iso: string) => Date.parse(iso);
  const workdays = { days: [1, 2, 3, 4, 5], from: '06:00', until: '22:00' };

  it('are local, on both sides of a change of the clocks', () => {
    // 2026-03-27 is a Friday; the clocks change on Sunday, 2026-03-29, and back on 2026-10-25.
    expect(isInForce(workdays, at('2026-03-27T04:59:00Z'), zone)).toBe(false);
    expect(isInForce(workdays, at('2026-03-27T05:00:00Z'), zone)).toBe(true);
    expect(isInForce(workdays, at('2026-03-30T03:59:00Z'), zone)).toBe(false);
    expect(isInForce(workdays, at('2026-03-30T04:00:00Z'), zone)).toBe(true);
    expect(isInForce(workdays, at('2026-10-26T04:59:00Z'), zone)).toBe(false);
    expect(isInForce(workdays, at('2026-03-28T12:00:00Z'), zone)).toBe(false);
  });

  it('may go past midnight, and then belong to the day on which they began', () => {
    const night = { days: [5], from: '22:00', until: '05:00' };
    expect(isInForce(night, at('2026-03-27T21:00:00Z'), zone)).toBe(true);
    expect(isInForce(night, at('2026-03-28T03:59:00Z'), zone)).toBe(true);
    expect(isInForce(night, at('2026-03-28T04:00:00Z'), zone)).toBe(false);
    expect(isInForce(night, at('2026-03-28T21:30:00Z'), zone)).toBe(false);
    const whole = { days: [6], from: '00:00', until: '00:00' };
    expect(isInForce(whole, at('2026-03-28T12:00:00Z'), zone)).toBe(true);
    expect(isInForce(whole, at('2026-03-27T12:00:00Z'), zone)).toBe(false);
  });
});

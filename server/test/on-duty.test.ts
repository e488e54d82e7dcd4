import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { describe, expect, it } from 'vitest';
import { type DutyRules, onDuty, shiftsOf } from '../src/notices/on-duty.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const time = fc
  // Most of them near those at which clocks change.
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.integer({ min: 0, max: 23 })),
    fc.constantFrom('00', '15', '30', '59'),
  )
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${minute}`);
const ZONES = [
  'Europe/Berlin',
  'Europe/Istanbul',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'UTC',
];
// Both changes of clocks, of several zones and years.
const moments = [
  '2026-03-29',
  '2026-10-25',
  '2026-03-08',
  '2026-11-01',
  '2026-04-05',
  '2026-10-04',
  '2026-07-15',
];
const changes = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Europe/Istanbul', '2026-03-29'],
] as const;
const rules = fc.record({
  timezone: fc.constantFrom(...ZONES),
  layers: fc.array(
    fc.record({
      start: fc.constantFrom(
        '2026-03-01',
        '2026-03-28',
        '2026-10-24',
        '2025-12-31',
        '2026-11-01',
        '2026-03-30',
      ),
      handover: time,
      days: fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 8 })),
      members: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 }),
      hours: fc.option(
        fc.record({
          from: time,
          until: time,
          weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        }),
        { nil: null },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  overrides: fc.array(
    fc
      .tuple(
        fc.constantFrom(...moments),
        fc.integer({ min: -1_440, max: 1_440 }),
        fc.integer({ min: 1, max: 600 }),
      )
      .chain(([day, offset, length]) =>
        fc.record({
          from: fc.constant(new Date(Date.parse(day) + offset * MINUTE).toISOString()),
          until: fc.constant(new Date(Date.parse(day) + (offset + length) * MINUTE).toISOString()),
          userId: fc.option(fc.constantFrom('x', 'y'), { nil: null }),
        }),
      ),
    { maxLength: 2 },
  ),
});

/**
 * A clock on a wall that is looked at every minute. It notes the first minute of each local day and at which the clock
 * shows a time, or has skipped it.
 */
class Wall {
  readonly #seen = new Map<string, number>();
  #days: string[] = [];

  constructor(zone: string, from: number, until: number) {
    const clock = IANAZone.create(zone);
    for (let at = from; at < until; at += MINUTE) {
      const key = new Date(at + clock.offset(at) * MINUTE).toISOString().slice(0, 16);
      const day = key.slice(0, 10);
      if (this.#days.at(-1) !== day) this.#days = [...this.#days, day];
      if (!this.#seen.has(key)) this.#seen.set(key, at);
    }
  }

  get days(): readonly string[] {
    return this.#days;
  }

  /** The first time at which the clock shows this; if it skips it, as much later as it is set forward. */
  at(day: string, timeOfDay: string): number {
    for (let back = 0; back <= 120; back++) {
      const earlier = new Date(Date.parse(`${day}T${timeOfDay}Z`) - back * MINUTE);
      const seen = this.#seen.get(earlier.toISOString().slice(0, 16));
      if (seen !== undefined) return seen + back * MINUTE;
    }
    throw new Error(`${day} ${timeOfDay} is not on the clock`);
  }
}

const walls = new Map<string, Wall>();
const wallOf = (zone: string, day: string): Wall => {
  const key = `${zone} ${day}`;
  const wall = walls.get(key) ?? new Wall(zone, Date.parse(day) - 6 * DAY, Date.parse(day) + 6 * DAY);
  walls.set(key, wall);
  return wall;
};

const after = (day: string, count: number): string =>
  new Date(Date.parse(day) + count * DAY).toISOString().slice(0, 10);

/** Who is on duty, by going through the days of a layer one after another. */
const naive = ({ layers, overrides }: DutyRules, wall: Wall, at: number): string | null => {
  for (const { from, until, userId } of [...overrides].reverse())
    if (Date.parse(from) <= at && at < Date.parse(until)) return userId;
  for (const { start, handover, days, members, hours } of [...layers].reverse()) {
    const isIn =
      !hours ||
      wall.days.slice(2, -2).some((day) => {
        if (!hours.weekdays.includes(new Date(day).getUTCDay() || 7)) return false;
        const end = hours.until > hours.from ? day : after(day, 1);
        const [from, until] = [wall.at(day, hours.from), wall.at(end, hours.until)];
        // Hours that clocks skip are kept, later.
        const length = Date.parse(`${end}T${hours.until}Z`) - Date.parse(`${day}T${hours.from}Z`);
        return from <= at && at < (until > from ? until : from + length);
      });
    if (!isIn) continue;
    let turn = -1;
    for (let day = start, n = 0; ; day = after(day, 1), n++) {
      if (day > (wall.days.at(-3) ?? '')) break;
      const begins = day < (wall.days[2] ?? '') ? Number.NEGATIVE_INFINITY : wall.at(day, handover);
      if (begins > at) break;
      if (n % days === 0) turn++;
    }
    const member = turn === -1 ? undefined : members[turn % members.length];
    if (member !== undefined) return member;
  }
  return null;
};

describe('who is on duty', () => {
  it('is somebody for as long as ever where clocks skip the hours', () => {
    const hours = { from: '02:00', until: '03:00', weekdays: [7] };
    const layer = { start: '2026-03-01', handover: '00:00', days: 1, members: ['a'], hours };
    const rota = { timezone: 'Europe/Berlin', layers: [layer], overrides: [] };
    const range = { from: Date.parse('2026-03-29T00:00Z'), until: Date.parse('2026-03-29T03:00Z') };
    const onIt = shiftsOf(rota, range).filter(({ userId }) => userId === 'a');
    expect(onIt.map(({ from, until }) => [from, until].map((at) => new Date(at).toISOString()))).toEqual([
      ['2026-03-29T01:00:00.000Z', '2026-03-29T02:00:00.000Z'],
    ]);
  });

  it('is as on a clock on a wall that is looked at every minute, across both changes of clocks', () => {
    fc.assert(
      fc.property(
        rules,
        fc.constantFrom(...changes),
        fc.integer({ min: -10, max: 10 }),
        (others, [timezone, day], hours) => {
          const rota = { ...others, timezone };
          const middle = Date.parse(day) + hours * 3_600_000;
          const wall = wallOf(rota.timezone, day);
          const shifts = shiftsOf(rota, { from: middle - 7 * 3_600_000, until: middle + 7 * 3_600_000 });
          for (let at = middle - 7 * 3_600_000; at < middle + 7 * 3_600_000; at += 7 * MINUTE) {
            const expected = naive(rota, wall, at);
            expect([at, onDuty(rota, at).userId]).toEqual([at, expected]);
            expect(shifts.find(({ from, until }) => from <= at && at < until)?.userId).toBe(expected);
          }
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);

  it('is one shift after another without a gap or an overlap', () => {
    fc.assert(
      fc.property(rules, fc.constantFrom(...moments), (rota, day) => {
        const range = { from: Date.parse(day) - 9 * DAY, until: Date.parse(day) + 9 * DAY };
        const shifts = shiftsOf(rota, range);
        expect(shifts[0]?.from).toBe(range.from);
        expect(shifts.at(-1)?.until).toBe(range.until);
        for (const [n, { until }] of shifts.slice(0, -1).entries()) expect(shifts[n + 1]?.from).toBe(until);
      }),
      { numRuns: 200 },
    );
  });

  const layer = { start: '2026-03-28', handover: '02:30', days: 1, members: ['a', 'b'], hours: null };
  it.each([
    // In Berlin, 02:30 does not exist on March 29, and occurs twice on October 25.
    ['2026-03-29T01:29:00Z', 'a'],
    ['2026-03-29T01:30:00Z', 'b'],
    ['2026-03-30T00:29:00Z', 'b'],
    ['2026-03-30T00:30:00Z', 'a'],
    ['2026-10-25T00:29:00Z', 'a'],
    ['2026-10-25T00:30:00Z', 'b'],
    ['2026-10-25T01:15:00Z', 'b'],
    ['2026-03-28T01:29:00Z', null],
  ])('at %s in Berlin: %s', (at, userId) => {
    const rota = { timezone: 'Europe/Berlin', layers: [layer], overrides: [] };
    expect(onDuty(rota, Date.parse(at)).userId).toBe(userId);
  });
});

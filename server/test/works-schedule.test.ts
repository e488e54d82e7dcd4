import { worksActions, worksStateAfter, worksStates, worksTransitions } from '@gantry/contract/work-states';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { placeOnMap, type Whereabouts } from '../src/works/place.ts';
import { firstOverlap, type Schedule, turnAt, windowAfter, windowsAfter } from '../src/works/schedule.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const at = (iso: string, zone: string): number => DateTime.fromISO(iso, { zone }).toMillis();
const nightly = (zone: string, first: string, last: string, hours = {}): Schedule => ({
  startsAt: at(`${first}T00:00`, zone),
  endsAt: at(`${last}T00:00`, zone),
  timezone: zone,
  recurrence: { from: '22:00', until: '05:00', weekdays: ALL_DAYS, ...hours },
});
const shown = (windows: Iterable<{ from: number; until: number }>, zone: string): string[] =>
  [...windows].map(({ from, until }) => {
    const local = (time: number) => DateTime.fromMillis(time, { zone }).toFormat('dd HH:mm');
    return `${local(from)} – ${local(until)} (${(until - from) / HOUR} h)`;
  });
const windowsOf = (schedule: Schedule) => shown(windowsAfter(schedule, 0), schedule.timezone);

describe('the windows of works', () => {
  it.each([
    ['Europe/Berlin', '2026-03-28', '2026-03-31', 6],
    ['Europe/Berlin', '2026-10-24', '2026-10-27', 8],
    ['Europe/Istanbul', '2026-03-28', '2026-03-31', 7],
    ['Europe/Istanbul', '2026-10-24', '2026-10-27', 7],
    ['America/New_York', '2026-03-07', '2026-03-10', 6],
    ['America/New_York', '2026-10-31', '2026-11-03', 8],
    ['Pacific/Chatham', '2026-04-04', '2026-04-07', 8],
    ['Pacific/Chatham', '2026-09-26', '2026-09-29', 6],
    ['UTC', '2026-03-28', '2026-03-31', 7],
  ])('of every night in %s from %s until %s are as long as the nights', (zone, first, last, changed) => {
    const windows = [...windowsAfter(nightly(zone, first, last), 0)];
    // The first and the last night are cut at the start and the end of the works.
    expect(windows.map(({ from, until }) => (until - from) / HOUR)).toEqual([5, changed, 7, 2]);
    for (const [n, { from, until }] of windows.slice(1, 3).entries()) {
      const evening = DateTime.fromISO(first, { zone }).plus({ days: n });
      expect(from).toBe(evening.set({ hour: 22 }).toMillis());
      expect(until).toBe(evening.plus({ days: 1 }).set({ hour: 5 }).toMillis());
    }
  });

  it('begin as much later as clocks are set forward, and at the first of two equal times', () => {
    const hours = (from: string, until: string) => ({ from, until });
    const spring = (from: string, until: string) =>
      windowsOf(nightly('Europe/Berlin', '2026-03-29', '2026-03-30', hours(from, until)));
    expect(spring('02:30', '05:00')).toEqual(['29 03:30 – 29 05:00 (1.5 h)']);
    expect(spring('01:00', '02:30')).toEqual(['29 01:00 – 29 03:30 (1.5 h)']);
    expect(spring('02:15', '02:45')).toEqual(['29 03:15 – 29 03:45 (0.5 h)']);
    // The end would be before the start: the window keeps its length.
    expect(spring('02:30', '03:15')).toEqual(['29 03:30 – 29 04:15 (0.75 h)']);
    const autumn = (from: string, until: string) =>
      windowsOf(nightly('Europe/Berlin', '2026-10-25', '2026-10-26', hours(from, until)));
    expect(autumn('02:30', '05:00')).toEqual(['25 02:30 – 25 05:00 (3.5 h)']);
    expect(autumn('01:00', '02:30')).toEqual(['25 01:00 – 25 02:30 (1.5 h)']);
    expect(autumn('02:15', '02:45')).toEqual(['25 02:15 – 25 02:45 (0.5 h)']);
  });

  it('begin on the chosen days, and are cut at the start and the end of the works', () => {
    const weekend = { weekdays: [5], from: '22:00', until: '05:00' };
    const schedule = nightly('Europe/Berlin', '2026-06-01', '2026-06-14', weekend);
    expect(windowsOf(schedule)).toEqual(['05 22:00 – 06 05:00 (7 h)', '12 22:00 – 13 05:00 (7 h)']);
    const cut = { ...schedule, startsAt: at('2026-06-05T23:00', 'Europe/Berlin') };
    expect(windowsOf({ ...cut, endsAt: at('2026-06-13T01:00', 'Europe/Berlin') })).toEqual([
      '05 23:00 – 06 05:00 (6 h)',
      '12 22:00 – 13 01:00 (3 h)',
    ]);
    expect(windowAfter({ ...schedule, endsAt: at('2026-06-05T00:00', 'Europe/Berlin') }, 0)).toBeNull();
  });

  it('without hours are one from start to end', () => {
    const schedule = { startsAt: 10, endsAt: 20, timezone: 'UTC', recurrence: null };
    expect([...windowsAfter(schedule, 0)]).toEqual([{ from: 10, until: 20 }]);
    expect(windowAfter(schedule, 19)).toEqual({ from: 10, until: 20 });
    expect(windowAfter(schedule, 20)).toBeNull();
  });
});

const minutes = fc.integer({ min: 0, max: 24 * 60 - 1 }).map((n) => {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(n / 60))}:${two(n % 60)}`;
});
const hours = fc.record({
  from: minutes,
  until: minutes,
  weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
});
const zones = ['Europe/Berlin', 'Europe/Istanbul', 'America/New_York', 'Pacific/Chatham', 'UTC'];
const starts = [
  '2026-03-06',
  '2026-03-27',
  '2026-04-03',
  '2026-09-25',
  '2026-10-23',
  '2026-10-30',
  '2026-07-01',
];
const schedules = fc
  .record({
    timezone: fc.constantFrom(...zones),
    start: fc.constantFrom(...starts),
    offset: fc.integer({ min: 0, max: 3 * 1_440 }),
    length: fc.integer({ min: 1, max: 12 * 1_440 }),
    recurrence: fc.option(hours, { nil: null }),
  })
  .map(({ timezone, start, offset, length, recurrence }): Schedule => {
    const startsAt = at(start, timezone) + offset * MINUTE;
    return { startsAt, endsAt: startsAt + length * MINUTE, timezone, recurrence };
  });

it('are in order, do not overlap, and are the same from wherever one asks', () => {
  fc.assert(
    fc.property(schedules, fc.integer({ min: -1_440, max: 14 * 1_440 }), (schedule, minute) => {
      const all = [...windowsAfter(schedule, 0)];
      for (const [n, { from, until }] of all.entries()) {
        expect(from).toBeLessThan(until);
        expect(from).toBeGreaterThanOrEqual(all[n - 1]?.until ?? schedule.startsAt);
        expect(until).toBeLessThanOrEqual(schedule.endsAt);
      }
      const after = schedule.startsAt + minute * MINUTE;
      expect([...windowsAfter(schedule, after)]).toEqual(all.filter(({ until }) => until > after));
    }),
    { numRuns: 2_000 },
  );
});

it('begin once on each chosen day whose hours are within the works, whatever the clocks do', () => {
  fc.assert(
    fc.property(schedules, (schedule) => {
      const { recurrence, timezone } = schedule;
      if (!recurrence) return;
      const found = [...windowsAfter(schedule, 0)];
      const first = DateTime.fromMillis(schedule.startsAt, { zone: timezone }).startOf('day');
      for (let day = first; day.toMillis() < schedule.endsAt; day = day.plus({ days: 1 })) {
        if (!recurrence.weekdays.includes(day.weekday)) continue;
        // An independent search: luxon finds the time of the day, moved ahead where clocks skip it.
        const from = day.set({
          hour: Number(recurrence.from.slice(0, 2)),
          minute: Number(recurrence.from.slice(3)),
        });
        if (from.toMillis() < schedule.startsAt || from.toMillis() >= schedule.endsAt) continue;
        const here = found.filter((window) => window.from === from.toMillis());
        expect(here).toHaveLength(1);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe('the turns of works', () => {
  it('follow the table of states: each window begins and ends once, or is missed, at whatever times the clock is read', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 200 }),
        (schedule, steps) => {
          const planned = [...windowsAfter(schedule, 0)];
          const [first] = planned;
          if (!first) return;
          let works: { state: string; window: typeof first | null } = { state: 'APPROVED', window: first };
          const done: string[] = [];
          let now = schedule.startsAt - HOUR;
          for (const step of [...steps, 40 * 1_440]) {
            now += step * MINUTE;
            for (;;) {
              const { state, window } = works;
              if ((state !== 'APPROVED' && state !== 'ACTIVE') || !window) break;
              const turn = turnAt({ ...schedule, state, window }, now);
              if (!turn) break;
              const to = worksStateAfter(turn.action, state);
              expect(to).not.toBeNull();
              for (const missed of turn.missed) {
                expect(missed.until).toBeLessThanOrEqual(now);
                done.push(`missed ${missed.from}`);
              }
              if (turn.action === 'begin') {
                expect(window.from <= now && now < window.until).toBe(true);
                done.push(`started ${window.from}`);
              } else if (state === 'ACTIVE') {
                expect(now).toBeGreaterThanOrEqual(window.until);
                done.push(`ended ${window.from}`);
              }
              works = { state: to ?? '', window: turn.next };
            }
          }
          expect(works.state).toBe('ENDED');
          expect(new Set(done).size).toBe(done.length);
          for (const { from } of planned) {
            const isMissed = done.includes(`missed ${from}`);
            expect(done.includes(`started ${from}`)).toBe(!isMissed);
            expect(done.includes(`ended ${from}`)).toBe(!isMissed);
          }
          expect(done).toHaveLength(
            planned.reduce((n, { from }) => n + (done.includes(`missed ${from}`) ? 1 : 2), 0),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('have a table in which nothing follows the end or a cancellation', () => {
    for (const action of worksActions)
      for (const state of worksStates) {
        const next = worksStateAfter(action, state);
        if (state === 'ENDED' || state === 'CANCELLED') expect(next).toBeNull();
        if (next) expect(worksStates).toContain(next);
      }
    // Only an approval leads from a draft to works of which the clock takes care.
    const toApproved = worksActions.filter((action) => worksStateAfter(action, 'DRAFT') === 'APPROVED');
    expect(toApproved).toEqual(['approve']);
    expect(Object.keys(worksTransitions)).toEqual([...worksActions]);
  });
});

describe('two works', () => {
  it('meet at the first time at which both are in force', () => {
    fc.assert(
      fc.property(schedules, schedules, (one, other) => {
        const common = firstOverlap(one, other, 0);
        const mine = [...windowsAfter(one, 0)];
        const theirs = [...windowsAfter(other, 0)];
        const all = mine
          .flatMap((a) =>
            theirs.map((b) => ({ from: Math.max(a.from, b.from), until: Math.min(a.until, b.until) })),
          )
          .filter(({ from, until }) => from < until)
          .sort((a, b) => a.from - b.from);
        expect(common).toEqual(all[0] ?? null);
        expect(firstOverlap(other, one, 0)).toEqual(common);
      }),
      { numRuns: 1_000 },
    );
  });

  it('that never meet are told apart without looking at years of windows', () => {
    const day = nightly('UTC', '2026-01-01', '2030-12-31', { from: '08:00', until: '17:00' });
    const night = nightly('UTC', '2026-01-01', '2030-12-31', { from: '17:00', until: '08:00' });
    expect(firstOverlap(day, night, 0)).toBeNull();
    expect(firstOverlap(day, night, day.startsAt + 400 * DAY)).toBeNull();
  });
});

describe('the place of works on a map', () => {
  const point = (
    name: string,
    kilometre: number,
    position: [number, number],
    direction: string | null = null,
  ) => ({
    ...{ name, kilometre, position, direction },
  });
  /** A road to the east along the equator: a kilometre is 0.009 degrees. */
  const ROAD = [point('West', 10, [0, 0]), point('Bend', 14, [0.036, 0]), point('East', 18, [0.036, 0.036])];
  const NOWHERE = {
    geometry: null,
    fromKilometre: null,
    toKilometre: null,
    direction: null,
    location: null,
    roadPoints: ROAD,
    sensorPositions: [],
  };
  const at = (given: Partial<Whereabouts>) => placeOnMap({ ...NOWHERE, ...given });
  const between = (fromKilometre: number, toKilometre: number | null = null, given = {}) =>
    at({ fromKilometre, toKilometre, ...given });

  it('is the line between its kilometres, through the locations in between', () => {
    expect(between(16, 12)).toEqual({
      geometry: {
        type: 'LineString',
        coordinates: [
          [0.018, 0],
          [0.036, 0],
          [0.036, 0.018],
        ],
      },
      basis: 'KILOMETRES',
      location: null,
    });
    expect(between(12)?.geometry).toEqual({ type: 'Point', coordinates: [0.018, 0] });
    expect(between(10, 10)?.geometry).toEqual({ type: 'Point', coordinates: [0, 0] });
  });

  it('is on its carriageway if enough locations are', () => {
    const other = [
      point('West opposite', 10, [0, 0.001], 'WB'),
      point('East opposite', 18, [0.036, 0.037], 'WB'),
    ];
    const roadPoints = [...ROAD.map((each) => ({ ...each, direction: 'EB' })), ...other];
    expect(between(10, 14, { direction: 'EB', roadPoints })?.geometry.coordinates[0]).toEqual([0, 0]);
    expect(between(10, 14, { direction: 'WB', roadPoints })?.geometry.coordinates[0]).toEqual([0, 0.001]);
    expect(between(10, 14, { direction: 'NB', roadPoints })?.basis).toBe('KILOMETRES');
  });

  it('is no line where the locations do not enclose it, lie far apart, or contradict their kilometres', () => {
    expect(between(16, 20)).toMatchObject({
      basis: 'NEAREST',
      location: 'East',
      geometry: { type: 'Point' },
    });
    expect(between(22)).toMatchObject({ basis: 'NEAREST', location: 'East' });
    expect(between(30)).toBeNull();
    expect(between(12, 16, { roadPoints: [] })).toBeNull();
    const far = [point('a', 0, [0, 0]), point('b', 20, [0.18, 0])];
    expect(between(8, 12, { roadPoints: far })).toBeNull();
    const moved = [point('a', 10, [0, 0]), point('b', 12, [0.09, 0])];
    expect(between(10, 11, { roadPoints: moved })).toMatchObject({ basis: 'NEAREST', location: 'a' });
  });

  it('is what was entered, a line of kilometres, the location or the sensors, in this order', () => {
    const line = {
      type: 'LineString' as const,
      coordinates: [
        [1, 1],
        [1, 2],
      ],
    };
    const spot = { type: 'Point' as const, coordinates: [1, 1] };
    const location = { name: 'Depot', position: [2, 2] as const };
    expect(between(12, 16, { geometry: line })).toMatchObject({ basis: 'GEOMETRY', geometry: line });
    expect(between(12, 16, { geometry: spot, location })?.basis).toBe('KILOMETRES');
    expect(between(12, null, { geometry: spot })).toMatchObject({ basis: 'GEOMETRY', geometry: spot });
    expect(between(22, null, { location })).toMatchObject({ basis: 'LOCATION', location: 'Depot' });
    expect(at({})).toBeNull();
    expect(
      at({
        sensorPositions: [
          [0, 0],
          [0, 0.001],
        ],
      }),
    ).toMatchObject({ basis: 'SENSORS' });
    expect(
      at({
        sensorPositions: [
          [0, 0],
          [0, 1],
        ],
      }),
    ).toBeNull();
  });

  it('always starts and ends between locations, with as many positions as a geometry may have', () => {
    const roadPoints = Array.from({ length: 3_000 }, (_, n) => point(`${n}`, n / 100, [n * 0.00009, 0]));
    const found = between(0.5, 29.5, { roadPoints });
    expect(found?.basis).toBe('KILOMETRES');
    expect(found?.geometry.coordinates.length).toBeLessThanOrEqual(1_000);
    fc.assert(
      fc.property(
        fc.double({ min: 10, max: 18, noNaN: true }),
        fc.double({ min: 10, max: 18, noNaN: true }),
        (a, b) => {
          const { geometry } = between(a, b) ?? {};
          const ends = geometry?.type === 'LineString' ? geometry.coordinates : [geometry?.coordinates ?? []];
          for (const [east = -1, north = -1] of ends)
            expect(east >= 0 && east <= 0.036 && north >= 0 && north <= 0.036).toBe(true);
        },
      ),
    );
  });
});

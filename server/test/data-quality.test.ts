import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const register = async (locationId: string | null = null): Promise<{ id: string; apiKey: string }> =>
  ask('sensors.create', { name: 'Loop', deviceId: randomUUID(), type: 'RADAR', locationId });
const locate = async (): Promise<{ id: string }> => ask('locations.create', { name: `Ring ${randomUUID()}` });

const DAY = '2026-03-10';
const at = (time: string, day = DAY): number => Date.parse(`${day}T${time}Z`);
const send = async (apiKey: string, periods: object[]) => {
  for (let n = 0; n < periods.length; n += 1_000) {
    const { success, results } = await gantry.ok('counts.ingest', {
      apiKey,
      periods: periods.slice(n, n + 1_000),
    });
    expect(success ? null : results).toBeNull();
  }
};
/** Successive periods from a time, of which each says something else. */
const periods = (from: number, seconds: number, parts: readonly object[]): object[] =>
  parts.map((part, n) => ({ start: new Date(from + n * seconds * 1_000).toISOString(), seconds, ...part }));
const times = <Part>(count: number, part: Part): Part[] => Array.from({ length: count }, () => part);

interface Flag {
  rule: string;
  severity: string;
  from: string;
  until: string;
  value: number;
  threshold: number;
}
const ofDay = (place: object, day = DAY) => ({ ...place, startDate: day, endDate: day });
const qualityOf = (place: object, day = DAY) => ask('traffic.getDataQuality', ofDay(place, day));
const flagsOf = async (place: object, rule: string, day = DAY): Promise<Flag[]> =>
  (await qualityOf(place, day)).flags.filter((flag: Flag) => flag.rule === rule);
const countsOf = async (place: object, more: object = {}) =>
  (await ask('traffic.getCounts', { ...ofDay(place), interval: '60min', ...more })).bins;

describe('R1, no hits', () => {
  const HALF_MINUTE = 30_000;

  it.each([-HALF_MINUTE, HALF_MINUTE])('of intervals, four hours and %i ms', async (more) => {
    const { id, apiKey } = await register();
    const count = (4 * HOUR_MS + more) / HALF_MINUTE;
    await send(
      apiKey,
      periods(at('06:00'), 30, [{ volume: 1 }, ...times(count, { volume: 0 }), { volume: 2 }]),
    );
    const flags = await flagsOf({ sensorId: id }, 'R1');
    const [first] = flags;
    // The last one lasts until now.
    expect(flags).toHaveLength(more > 0 ? 2 : 1);
    if (more < 0) return;
    expect(first).toMatchObject({
      rule: 'R1',
      severity: 'REJECT',
      from: '2026-03-10T06:00:30.000Z',
      until: '2026-03-10T10:01:00.000Z',
      value: 4.0083,
      threshold: 4,
    });
    const bins = await countsOf({ sensorId: id });
    expect(
      bins.slice(6, 11).map(({ status, volume }: { status: string; volume: number }) => [status, volume]),
    ).toEqual([
      ['PARTIAL', 1],
      ['EXCLUDED', null],
      ['EXCLUDED', null],
      ['EXCLUDED', null],
      ['PARTIAL', 2],
    ]);
    const kept = await countsOf({ sensorId: id }, { flags: 'include' });
    expect(kept[7]).toMatchObject({ status: 'VALID', volume: 0 });
  });

  it.each([-HALF_MINUTE, HALF_MINUTE])('of vehicles, four hours and %i ms', async (more) => {
    const { id, apiKey } = await register();
    const first = at('06:00:10');
    const events = [first, first + 4 * HOUR_MS + more, first + 5 * HOUR_MS].map((time) => ({
      eventType: 'VEHICLE_DETECTION',
      timestamp: new Date(time).toISOString(),
    }));
    const observed = { from: `${DAY}T06:00:00Z`, until: `${DAY}T12:00:00Z` };
    await gantry.ok('events.ingestBatch', { apiKey, events, observed });
    const flags = await flagsOf({ sensorId: id }, 'R1');
    expect(flags).toHaveLength(more > 0 ? 2 : 1);
    const bins = await countsOf({ sensorId: id });
    expect(bins[8].status).toBe(more > 0 ? 'EXCLUDED' : 'VALID');
    if (more > 0) expect(flags[0]).toMatchObject({ from: '2026-03-10T06:00:10.000Z', value: 4.0083 });
  });
});

/** Hours of a day, of which some say something else. */
const hours = (volumeOf: (hour: number) => number, more: object = {}): object[] =>
  Array.from({ length: 24 }, (_, hour) => ({ volume: volumeOf(hour), ...more }));
const rising = (hour: number): number => 100 + hour;

describe('hours and days', () => {
  const heavy = (cars: number, trucks: number) => ({
    volume: undefined,
    byClass: { scheme: 'BASIC', counts: { CAR: cars, TRUCK: trucks } },
  });
  it.each<[rule: string, what: string, below: object[], above: object[], flag: object]>([
    [
      'R11',
      'four equal hours',
      hours((hour) => (hour < 3 ? 90 : rising(hour))),
      hours((hour) => (hour < 4 ? 90 : rising(hour))),
      { severity: 'SUSPECT', value: 4, threshold: 4 },
    ],
    [
      'R11',
      'eight empty hours',
      hours((hour) => (hour < 7 ? 0 : rising(hour))),
      hours((hour) => (hour < 8 ? 0 : rising(hour))),
      { value: 8, threshold: 8 },
    ],
    [
      'R11',
      'more vehicles at night than at noon',
      hours((hour) => (hour === 1 ? 113 : rising(hour))),
      hours((hour) => (hour === 1 ? 114 : rising(hour))),
      { value: 114, threshold: 113 },
    ],
    ['R11', 'a missing hour', hours(rising), hours(rising).slice(0, 23), { value: 23, threshold: 24 }],
    [
      'R12',
      'more vehicles than a lane carries',
      hours((hour) => (hour === 8 ? 3_000 : rising(hour)), { lane: 1 }),
      hours((hour) => (hour === 8 ? 3_001 : rising(hour)), { lane: 1 }),
      { severity: 'SUSPECT', value: 3_001, threshold: 3_000 },
    ],
    [
      'R16',
      'an hour that is hardly known',
      hours(rising, { samples: 75, expectedSamples: 100 }),
      [{ volume: 100, samples: 74, expectedSamples: 100 }, ...hours(rising).slice(1)],
      { severity: 'REJECT', value: 0.74, threshold: 0.75 },
    ],
  ])('%s finds %s', async (rule, _, below, above, flag) => {
    const [first, second] = await Promise.all([register(), register()]);
    await send(first.apiKey, periods(at('00:00'), 3_600, below));
    await send(second.apiKey, periods(at('00:00'), 3_600, above));
    expect(await flagsOf({ sensorId: first.id }, rule)).toEqual([]);
    expect(await flagsOf({ sensorId: second.id }, rule)).toMatchObject([flag]);
  });

  it.each([
    [60, []],
    [61, [{ severity: 'SUSPECT', value: 0.61, threshold: 0.6 }]],
  ])('R12 judges a direction with %i %%', async (share, flags) => {
    const { id, apiKey } = await register();
    const both = [
      { volume: share, direction: 'NB' },
      { volume: 100 - share, direction: 'SB' },
    ];
    for (const direction of both)
      await send(
        apiKey,
        periods(
          at('00:00'),
          3_600,
          hours(() => 1, direction).map((each) => ({ ...each, ...direction })),
        ),
      );
    expect(await flagsOf({ sensorId: id }, 'R12')).toMatchObject(flags);
  });

  it.each([
    [130, []],
    [
      131,
      [{ value: 0.31, threshold: 0.3, from: '2026-02-01T00:00:00.000Z', until: '2026-03-01T00:00:00.000Z' }],
    ],
  ])('R12 compares a month with that of the year before, at %i %%', async (share, flags) => {
    const { id, apiKey } = await register();
    const month = (day: string, volume: number) =>
      periods(at('00:00', day), 3_600, times(28 * 24, { volume }));
    await send(apiKey, [...month('2025-02-01', 100), ...month('2026-02-01', share)]);
    expect(await flagsOf({ sensorId: id }, 'R12', '2026-02-10')).toMatchObject(flags);
  });

  it('R15 compares the shares of classes on working days with these, and those on weekends and holidays with these', async () => {
    const { id: locationId } = await locate();
    const { apiKey } = await register(locationId);
    // From a Monday on, five weeks; on one Tuesday, and on one Sunday, the traffic is that of the other kind of day.
    const monday = '2026-02-02';
    const share = (n: number): number => (n % 7 > 4 ? 2 : 20) + (n % 3) - 1;
    const days = Array.from({ length: 35 }, (_, n) => times(24, heavy(100 - share(n), share(n))));
    days[29] = times(24, heavy(98, 2));
    days[34] = times(24, heavy(80, 20));
    await send(apiKey, periods(at('00:00', monday), 3_600, days.flat()));
    const found = async () => {
      const range = { locationId, startDate: monday, endDate: '2026-03-08' };
      const { flags } = await ask('traffic.getDataQuality', range);
      return flags
        .filter(({ rule }: Flag) => rule === 'R15')
        .map(({ from, severity }: Flag) => [from.slice(0, 10), severity]);
    };
    expect(await found()).toEqual([
      ['2026-03-03', 'INFO'],
      ['2026-03-08', 'INFO'],
    ]);
    await ask('calendars.create', { date: '2026-03-03', kind: 'HOLIDAY', name: 'Spring', locationId });
    expect(await found()).toEqual([['2026-03-08', 'INFO']]);
  });

  it.each([
    ['Asia/Kolkata', DAY],
    ['Australia/Lord_Howe', '2026-06-10'],
  ])(
    'R2 knows the usual volume of the hours that clocks show in %s, and there is no K then',
    async (timezone, day) => {
      await ask('system.timezone.updateTimezoneSettings', { timezone });
      try {
        const { id, apiKey } = await register();
        const midnight = DateTime.fromISO(day, { zone: timezone }).toMillis();
        const ofDays = (count: number) =>
          times(count * 288, null).map((_, n) => ({ volume: Math.floor((n % 288) / 12) === 8 ? 170 : 10 }));
        const two = periods(midnight - DAY_MS, 300, ofDays(2));
        const gap = 288 + 8 * 12 + 2;
        await send(
          apiKey,
          two.filter((_, n) => n < gap || n >= gap + 2),
        );
        // 2,040 vehicles are usual from 08:00 to 09:00, but 1,080 from 08:30 to 09:30, where 10 minutes would do.
        expect(await flagsOf({ sensorId: id }, 'R2', day)).toMatchObject([{ value: 10, threshold: 5 }]);
        const { days } = await ask('traffic.getDailyVolumes', ofDay({ sensorId: id }, day));
        expect(days).toMatchObject([{ status: 'PARTIAL', reason: expect.stringContaining('R2') }]);
        const before = new Date(midnight - DAY_MS / 2).toISOString().slice(0, 10);
        const range = { sensorId: id, startDate: before, endDate: day, windows: ['PM'] };
        const peaks = await ask('traffic.getPeakHours', range);
        const ks = peaks.days.map(
          ({ windows: [window] }: { windows: { k: number | null }[] }) => window?.k ?? null,
        );
        expect(ks).toEqual([expect.any(Number), null]);
        const { figures } = await ask('studies.get', {
          id: (await ask('studies.create', { kind: 'VOLUME', title: 'Ring', ...range, windows: ['PM'] })).id,
        });
        expect(figures.days).toMatchObject([{ status: 'VALID' }, days[0]]);
      } finally {
        await ask('system.timezone.updateTimezoneSettings', { timezone: 'UTC' });
      }
    },
  );

  it('R2 compares a holiday with weekends', async () => {
    const { id: locationId } = await locate();
    const { apiKey } = await register(locationId);
    const day = (volume: number) => times(288, { volume });
    const four = periods(at('00:00', '2026-03-07'), 300, [3, 3, 170, 170].flatMap(day));
    const gap = 3 * 288 + 8 * 12;
    await send(
      apiKey,
      four.filter((_, n) => n < gap || n >= gap + 2),
    );
    expect(await flagsOf({ locationId }, 'R2')).toMatchObject([{ value: 10, threshold: 5 }]);
    await ask('calendars.create', { date: DAY, kind: 'HOLIDAY', name: 'Spring', locationId });
    expect(await flagsOf({ locationId }, 'R2')).toEqual([]);
  });

  it.each([
    [3, []],
    [4, [{ severity: 'REJECT', value: 20, threshold: 15, from: '2026-03-10T08:00:00.000Z' }]],
  ])('R2 judges a gap of %i slots by the usual volume of the hour', async (missing, flags) => {
    const { id, apiKey } = await register();
    const two = periods(at('00:00', '2026-03-09'), 300, times(2 * 288, { volume: 10 }));
    const gap = 288 + 8 * 12;
    await send(
      apiKey,
      two.filter((_, n) => n < gap || n >= gap + missing),
    );
    expect(await flagsOf({ sensorId: id }, 'R2')).toMatchObject(flags);
    // What was counted is still known, but in no mean.
    expect((await countsOf({ sensorId: id }))[8]).toMatchObject({
      status: 'PARTIAL',
      volume: 120 - 10 * missing,
    });
    const { adt } = await ask('traffic.getDailyVolumes', ofDay({ sensorId: id }));
    expect(adt.n).toBe(missing === 3 ? 1 : 0);
  });

  it('R2 finds the gaps of all hours of some days, which are read together', async () => {
    const { id, apiKey } = await register();
    // Ten minutes are missing of each hour of two days but for some between noon and the evening.
    const isThere = (n: number): boolean => n < 288 || n % 12 > 1 || (n % 288 >= 144 && n % 288 < 216);
    const slots = periods(at('00:00', '2026-03-09'), 300, times(3 * 288, { volume: 150 }));
    await send(
      apiKey,
      slots.filter((_, n) => isThere(n)),
    );
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    const { flags } = await ask('traffic.getDataQuality', {
      ...{ sensorId: id, startDate: '2026-03-10', endDate: '2026-03-11' },
    });
    expect(sent.mock.calls.length).toBeLessThan(90);
    sent.mockRestore();
    const found = flags.filter((flag: Flag) => flag.rule === 'R2').map(({ from }: Flag) => from);
    const hours = slots.flatMap(({ start }: { start?: string }, n) =>
      isThere(n) || n % 12 > 0 ? [] : [start],
    );
    expect(found).toEqual(hours);
    expect(hours).toHaveLength(2 * 18);
  });

  it('R2 does not take several short gaps for a long one', async () => {
    const { id, apiKey } = await register();
    const two = periods(at('00:00', '2026-03-09'), 300, times(2 * 288, { volume: 10 }));
    const gap = 288 + 8 * 12;
    await send(
      apiKey,
      two.filter((_, n) => n < gap || n >= gap + 12 || (n - gap) % 3 > 0),
    );
    expect((await countsOf({ sensorId: id }))[8]).toMatchObject({ volume: 80 });
    expect(await flagsOf({ sensorId: id }, 'R2')).toEqual([]);
  });

  it('R17 rejects the time in MAINTENANCE', async () => {
    const { id, apiKey } = await register();
    await send(apiKey, periods(at('00:00'), 3_600, hours(rising)));
    await gantry.pool.query(
      `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
      VALUES ($1, 'ONLINE', 'MAINTENANCE', '2026-03-10T06:00Z', 'MANUAL'), ($1, 'MAINTENANCE', 'ONLINE', '2026-03-10T08:00Z', 'MANUAL')`,
      [id],
    );
    expect(await flagsOf({ sensorId: id }, 'R17')).toMatchObject([
      { severity: 'REJECT', note: 'MAINTENANCE' },
    ]);
    const flow = await ask('traffic.getFlow', { ...ofDay({ sensorId: id }), interval: '60min' });
    expect(flow.points.slice(5, 9).map(({ volume }: { volume: number | null }) => volume)).toEqual([
      105,
      null,
      null,
      108,
    ]);
  });

  it('an empty night of a quiet road is a zero in the flow, and unknown in counts until it is accepted (R1)', async () => {
    const { id, apiKey } = await register();
    await send(
      apiKey,
      periods(
        at('00:00'),
        3_600,
        hours((hour) => (hour < 6 ? 0 : rising(hour))),
      ),
    );
    const flow = await ask('traffic.getFlow', { ...ofDay({ sensorId: id }), interval: '60min' });
    expect(flow.points[3]).toMatchObject({ volume: 0, status: 'VALID' });
    expect((await countsOf({ sensorId: id }))[3]).toMatchObject({ volume: null, status: 'EXCLUDED' });
    await ask('traffic.reviewData', {
      ...ofDay({ sensorId: id }),
      decision: 'ACCEPT',
      reason: 'A quiet road',
    });
    expect((await countsOf({ sensorId: id }))[3]).toMatchObject({ volume: 0, status: 'VALID' });
  });

  it('are listed of a deleted sensor by its location', async () => {
    const { id: locationId } = await locate();
    const { id, apiKey } = await register(locationId);
    await send(apiKey, periods(at('00:00'), 30, [{ volume: 40 }]));
    await ask('sensors.delete', { id });
    expect(await flagsOf({ locationId }, 'R3')).toMatchObject([{ sensorId: id, sensorName: null }]);
  });
});

describe('decisions', () => {
  it('win over rules, and the later one over the earlier one', async () => {
    const { id, apiKey } = await register();
    await send(apiKey, periods(at('00:00'), 900, times(96, { volume: 10 })));
    const place = { sensorId: id };
    const hour = { ...place, startDate: `${DAY}T08:00:00Z`, endDate: `${DAY}T08:59:59.999Z` };
    const review = (decision: string) =>
      ask('traffic.reviewData', { ...hour, decision, reason: 'Works on lane 1' });
    const eight = async () => (await countsOf(place))[8];
    expect(await eight()).toMatchObject({ status: 'VALID', volume: 40 });
    expect(await review('REJECT')).toMatchObject({ decision: 'REJECT', sensorId: id, locationId: null });
    expect(await eight()).toMatchObject({ status: 'EXCLUDED', volume: null, coverage: 0 });
    const { days, excluded } = await ask('traffic.getDailyVolumes', ofDay(place));
    expect(days).toMatchObject([{ status: 'PARTIAL', volume: 920 }]);
    expect(excluded).toHaveLength(1);
    await review('ACCEPT');
    expect(await eight()).toMatchObject({ status: 'VALID', volume: 40 });
    const { reviews } = await ask('traffic.getDataReviews', place);
    expect(reviews).toMatchObject([
      { decision: 'ACCEPT' },
      { decision: 'REJECT', reason: 'Works on lane 1' },
    ]);
  });
});

describe('the calendar', () => {
  it('takes holidays out of the average of working days', async () => {
    const { id: locationId } = await locate();
    const { apiKey } = await register(locationId);
    await send(
      apiKey,
      periods(at('00:00', '2026-03-09'), 3_600, [...times(24, { volume: 10 }), ...times(24, { volume: 20 })]),
    );
    const range = { locationId, startDate: '2026-03-09', endDate: '2026-03-10' };
    expect((await ask('traffic.getDailyVolumes', range)).awdt).toEqual({ value: 360, n: 2 });
    const day = { date: DAY, kind: 'HOLIDAY', name: 'Spring', locationId };
    const created = await ask('calendars.create', day);
    expect(created).toMatchObject(day);
    const { awdt, adt } = await ask('traffic.getDailyVolumes', range);
    expect([awdt, adt]).toEqual([
      { value: 240, n: 1 },
      { value: 360, n: 2 },
    ]);
    expect(await flagsOf({ locationId }, 'R18')).toMatchObject([
      { severity: 'INFO', note: 'HOLIDAY: Spring' },
    ]);
    expect((await ask('calendars.list', { locationId })).days).toEqual([created]);
    const before = await gantry.refusal('calendars.create', { ...day, date: '0000-12-31' }, { token });
    expect(before).toMatchObject({ status: 400, message: expect.stringContaining('Use a date') });
    await ask('calendars.delete', { id: created.id });
    expect((await ask('traffic.getDailyVolumes', range)).awdt.n).toBe(2);
  });
});

describe('days on which clocks change', () => {
  it.each([
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2025-11-02', 25],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ])('in %s, %s, are complete', async (timezone, day, length) => {
    await ask('system.timezone.updateTimezoneSettings', { timezone });
    try {
      const { id, apiKey } = await register();
      const start = DateTime.fromISO(day, { zone: timezone }).toMillis();
      await send(
        apiKey,
        periods(
          start,
          900,
          Array.from({ length: length * 4 }, (_, n) => ({ volume: 10 + n })),
        ),
      );
      const { days, flags } = await qualityOf({ sensorId: id }, day);
      expect(days).toMatchObject([{ date: day, status: 'VALID', coverage: 1 }]);
      expect(flags.filter(({ rule }: Flag) => ['R7', 'R16'].includes(rule))).toEqual([]);
    } finally {
      await ask('system.timezone.updateTimezoneSettings', { timezone: 'UTC' });
    }
  });
});

describe('outages', () => {
  it('of all sensors are those that do not work now', async () => {
    const { id, apiKey } = await register();
    await send(apiKey, periods(at('00:00'), 3_600, [{ volume: 10 }]));
    const { outages } = await ask('traffic.getOutages', { take: 100 });
    expect(outages).toContainEqual(
      expect.objectContaining({
        sensorId: id,
        kind: 'NO_DATA',
        until: null,
        from: '2026-03-10T01:00:00.000Z',
      }),
    );
  });

  it('are not cut at midnight, and say what was probably missed', async () => {
    const { id, apiKey } = await register();
    const start = at('00:00', '2026-02-01');
    const hours = Array.from({ length: 38 * 24 }, (_, n) => ({ volume: 10 + (n % 24) }));
    const gone = { from: 36 * 24 + 22, until: 37 * 24 + 7 };
    const all = periods(start, 3_600, hours).filter((_, n) => n < gone.from || n >= gone.until);
    await send(apiKey, all);
    const outages = await ask('traffic.getOutages', {
      sensorId: id,
      startDate: '2026-03-10T00:00:00Z',
      endDate: '2026-03-10T01:00:00Z',
    });
    expect(outages).toMatchObject({
      total: 1,
      outages: [
        {
          sensorId: id,
          kind: 'NO_DATA',
          lastData: '2026-03-09T22:00:00.000Z',
          from: '2026-03-09T22:00:00.000Z',
          until: '2026-03-10T07:00:00.000Z',
          minutes: 540,
          // Hours 22, 23 and 0 to 6 of five weeks.
          expectedVolume: { value: 32 + 33 + 91, n: 45, status: 'VALID', reason: null },
        },
      ],
    });
  });

  it('begin and end on quarter hours', async () => {
    const { id, apiKey } = await register();
    const quarters = periods(at('00:00'), 900, times(96, { volume: 10 }));
    const gone = { from: at('08:15'), until: at('10:45') };
    const [from, until] = [gone.from, gone.until].map((time) => (time - at('00:00')) / (15 * MINUTE_MS)) as [
      number,
      number,
    ];
    await send(
      apiKey,
      quarters.map((each, n) => (n >= from && n < until ? { ...each, volume: null } : each)),
    );
    const range = { startDate: new Date(at('00:00')), endDate: new Date(at('12:00')) };
    expect(await ask('traffic.getOutages', { sensorId: id, ...range })).toMatchObject({
      total: 1,
      outages: [
        {
          kind: 'NO_DATA',
          from: new Date(gone.from).toISOString(),
          until: new Date(gone.until).toISOString(),
          minutes: 150,
        },
      ],
    });
  });

  it('that last begin after the last count, also of whole hours', async () => {
    const { id, apiKey } = await register();
    const start = at('00:00', new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10));
    await send(apiKey, periods(start, 3_600, times(24, { volume: 10 })));
    const startDate = new Date(start).toISOString();
    expect(await ask('traffic.getOutages', { sensorId: id, startDate })).toMatchObject({
      total: 1,
      outages: [{ kind: 'NO_DATA', from: new Date(start + DAY_MS).toISOString(), until: null }],
    });
  });
});

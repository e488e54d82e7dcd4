import fc from 'fast-check';
import { DateTime } from 'luxon';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, createPool } from '../src/platform/database/pool.ts';
import { dayOf } from '../src/platform/time.ts';
import { lastRun, nextRun, periodBefore, type Recurrence } from '../src/reports/recurrence.ts';
import { runDueSchedules } from '../src/reports/run-schedules.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

// The program that writes reports is built before all tests (database-server.ts).

const log = pino({ level: 'silent' });
const VIENNA = 'Europe/Vienna';
const at = (iso: string): number => Date.parse(iso);
const iso = (moment: number, zone = VIENNA): string => DateTime.fromMillis(moment, { zone }).toISO() ?? '';
const rhythm = (fields: Partial<Recurrence>): Recurrence => ({
  every: 'DAILY',
  hour: 6,
  weekday: null,
  dayOfMonth: null,
  ...fields,
});

describe('the time at which a schedule runs', () => {
  it('is its hour by the local clocks, in winter and in summer', () => {
    expect(iso(nextRun(rhythm({}), VIENNA, at('2026-03-28T12:00:00Z')))).toBe(
      '2026-03-29T06:00:00.000+02:00',
    );
    expect(iso(nextRun(rhythm({}), VIENNA, at('2026-10-24T12:00:00Z')))).toBe(
      '2026-10-25T06:00:00.000+01:00',
    );
  });

  it('is the next hour when clocks skip its own', () => {
    expect(iso(nextRun(rhythm({ hour: 2 }), VIENNA, at('2026-03-28T12:00:00Z')))).toBe(
      '2026-03-29T03:00:00.000+02:00',
    );
  });

  it('occurs once when its hour occurs twice', () => {
    const first = nextRun(rhythm({ hour: 2 }), VIENNA, at('2026-10-24T12:00:00Z'));
    expect(iso(first)).toBe('2026-10-25T02:00:00.000+02:00');
    expect(iso(nextRun(rhythm({ hour: 2 }), VIENNA, first))).toBe('2026-10-26T02:00:00.000+01:00');
  });

  it('is on the last day of a month that is too short', () => {
    const monthly = rhythm({ every: 'MONTHLY', dayOfMonth: 31 });
    let moment = at('2027-12-31T12:00:00Z');
    const days: string[] = [];
    for (let n = 0; n < 5; n++) {
      moment = nextRun(monthly, VIENNA, moment);
      days.push(iso(moment).slice(0, 10));
    }
    expect(days).toEqual(['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31']);
  });

  it('never repeats or skips a run, in any zone', () => {
    const zones = [
      VIENNA,
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Beirut',
      'Pacific/Apia',
      'UTC',
      'Africa/Cairo',
    ];
    const rhythms = fc.oneof(
      fc.record({
        every: fc.constant('DAILY' as const),
        hour: fc.nat(23),
        weekday: fc.constant(null),
        dayOfMonth: fc.constant(null),
      }),
      fc.record({
        every: fc.constant('WEEKLY' as const),
        hour: fc.nat(23),
        weekday: fc.nat(6),
        dayOfMonth: fc.constant(null),
      }),
      fc.record({
        every: fc.constant('MONTHLY' as const),
        hour: fc.nat(23),
        weekday: fc.constant(null),
        dayOfMonth: fc.integer({ min: 1, max: 31 }),
      }),
    );
    const moments = fc.integer({ min: at('2010-01-01T00:00:00Z'), max: at('2035-01-01T00:00:00Z') });
    fc.assert(
      fc.property(rhythms, fc.constantFrom(...zones), moments, (given, zone, moment) => {
        const next = nextRun(given, zone, moment);
        expect(next).toBeGreaterThan(moment);
        // Before this time, it is the next run; from this time on, it is the last run.
        expect(lastRun(given, zone, next)).toBe(next);
        expect(lastRun(given, zone, next - 1)).toBeLessThanOrEqual(moment);
        expect(nextRun(given, zone, next - 1)).toBe(next);
        const local = DateTime.fromMillis(next, { zone });
        // Where the hour does not exist, wholly or, on Lord Howe, for its first half, the run is at the first moment after.
        const hourBegins = DateTime.fromObject(
          { year: local.year, month: local.month, day: local.day, hour: given.hour },
          { zone },
        );
        const isSkipped = hourBegins.hour !== given.hour || hourBegins.minute !== 0;
        if (!isSkipped && local.hour === given.hour) expect(local.minute).toBe(0);
        if (given.every === 'WEEKLY' && zone !== 'Pacific/Apia')
          expect(local.weekday % 7).toBe(given.weekday);
        if (given.every === 'MONTHLY' && zone !== 'Pacific/Apia')
          expect(local.day).toBe(Math.min(given.dayOfMonth ?? 0, local.daysInMonth ?? 0));
      }),
      {
        numRuns: 500,
        examples: [
          [
            { every: 'DAILY', hour: 2, weekday: null, dayOfMonth: null },
            'Australia/Lord_Howe',
            at('2022-09-30T15:30:00Z'),
          ],
        ],
      },
    );
  });
});

describe('the range of a scheduled report', () => {
  const before = (every: Recurrence['every'], due: string, firstDayOfWeek = 1): string[] => {
    const { from, until } = periodBefore(rhythm({ every }), at(due), { timezone: VIENNA, firstDayOfWeek });
    return [iso(from), iso(until)];
  };

  it('is the previous day with its actual length', () => {
    expect(before('DAILY', '2026-03-30T04:00:00Z')).toEqual([
      '2026-03-29T00:00:00.000+01:00',
      '2026-03-30T00:00:00.000+02:00',
    ]);
  });

  it('is the previous whole week, by its first day', () => {
    // 18 November 2026 is a Wednesday.
    expect(before('WEEKLY', '2026-11-18T05:00:00Z', 1).map((text) => text.slice(0, 10))).toEqual([
      '2026-11-09',
      '2026-11-16',
    ]);
    expect(before('WEEKLY', '2026-11-18T05:00:00Z', 0).map((text) => text.slice(0, 10))).toEqual([
      '2026-11-08',
      '2026-11-15',
    ]);
    expect(before('WEEKLY', '2026-11-18T05:00:00Z', 6).map((text) => text.slice(0, 10))).toEqual([
      '2026-11-07',
      '2026-11-14',
    ]);
  });

  it('is that of the day on which it was planned, if clocks skip its hour until midnight', () => {
    const [daily, weekly] = [rhythm({ hour: 23 }), rhythm({ every: 'WEEKLY', hour: 23, weekday: 6 })];
    const settings = { timezone: 'America/Nuuk', firstDayOfWeek: 0 };
    const due = nextRun(daily, settings.timezone, at('2026-03-28T12:00:00Z'));
    const daysOf = (recurrence: Recurrence, run: number): string[] => {
      const { from, until } = periodBefore(recurrence, run, settings);
      return [from, until].map((time) => dayOf(time, settings.timezone));
    };
    expect(dayOf(due, settings.timezone)).toBe('2026-03-29');
    expect(daysOf(daily, due)).toEqual(['2026-03-27', '2026-03-28']);
    expect(daysOf(daily, nextRun(daily, settings.timezone, due))).toEqual(['2026-03-28', '2026-03-29']);
    expect(daysOf(weekly, due)).toEqual(['2026-03-15', '2026-03-22']);
  });

  it('is the previous month', () => {
    expect(before('MONTHLY', '2026-03-31T04:00:00Z').map((text) => text.slice(0, 10))).toEqual([
      '2026-02-01',
      '2026-03-01',
    ]);
  });
});

describe('schedules', () => {
  let gantry: Gantry;
  let token: string;
  let others: pg.Pool[] = [];
  beforeAll(async () => {
    gantry = await startGantry({ overrides: { timings: { sweepReportsMs: 500 } } });
    token = await gantry.tokenFor('ADMIN');
    others = [1, 2].map(() => createPool(gantry.app.context.config.DATABASE_URL ?? '', 4, () => undefined));
  });
  afterAll(async () => {
    await Promise.all(others.map((pool) => pool.end()));
    await gantry?.stop();
  });

  const create = (input: object = {}) =>
    gantry.ok(
      'reports.createSchedule',
      { kind: 'DAILY_SUMMARY', format: 'CSV', every: 'DAILY', hour: 6, ...input },
      { token },
    );
  const reportsOf = async (scheduleId: string) => {
    const { reports } = await gantry.ok('reports.getReports', { take: 100 }, { token });
    return reports.filter((report: { scheduleId: string }) => report.scheduleId === scheduleId);
  };

  it('request their report once, though many processes look for due ones', async () => {
    const { id, nextRunAt } = await create();
    expect(Date.parse(nextRunAt)).toBeGreaterThan(Date.now());
    await gantry.pool.query(
      `UPDATE report_schedules SET next_run_at = now() - interval '3 days' WHERE id = $1`,
      [id],
    );
    const databases = others.map(createDatabase);
    await Promise.all([...databases, ...databases, ...databases].map((db) => runDueSchedules(db, log)));
    await Promise.all(databases.map((db) => runDueSchedules(db, log)));
    // Of the missed runs, only the last one is made up for.
    const [report, ...more] = await eventually(
      () => reportsOf(id),
      ([first]) => first?.status === 'DONE',
      20_000,
    );
    expect(more).toEqual([]);
    const yesterday = DateTime.fromMillis(nextRun(rhythm({}), 'UTC', Date.now()), { zone: 'UTC' })
      .minus({ days: 2 })
      .startOf('day');
    expect(report.range.startDate).toBe(yesterday.toISO());
    const { schedules } = await gantry.ok('reports.getSchedules', {}, { token });
    const [schedule] = schedules.filter((each: { id: string }) => each.id === id);
    expect(schedule).toMatchObject({
      nextRunAt,
      lastRunAt: expect.any(String),
      createdBy: { name: expect.any(String) },
    });
  });

  it('write CSV as they were told to', async () => {
    const csv = { separator: ';', hasMark: false, keepsTexts: false };
    const { id } = await create({ csv });
    await gantry.pool.query('UPDATE report_schedules SET next_run_at = now() WHERE id = $1', [id]);
    const [report] = await eventually(
      () => reportsOf(id),
      ([first]) => first?.status === 'DONE',
      20_000,
    );
    const file = await fetch(`${gantry.url}${report.url}`, { headers: { authorization: `Bearer ${token}` } });
    expect(Buffer.from(await file.arrayBuffer()).toString()).toMatch(/^[\w ]+;/);
    const changed = await gantry.ok('reports.updateSchedule', { id, hour: 7 }, { token });
    expect(changed).toMatchObject({ hour: 7, csv });
    expect(await gantry.ok('reports.updateSchedule', { id, csv: null }, { token })).toMatchObject({
      csv: null,
    });
    await gantry.ok('reports.deleteSchedule', { id }, { token });
  });

  it('continue when a run is due for the second time, as after a clock was set back', async () => {
    const [{ id }, other] = [await create(), await create()];
    const makeDue = (schedule: string, ago: string) =>
      gantry.pool.query('UPDATE report_schedules SET next_run_at = now() - $2::interval WHERE id = $1', [
        schedule,
        ago,
      ]);
    const database = createDatabase(gantry.pool);
    await makeDue(id, '3 days');
    await runDueSchedules(database, log);
    await makeDue(id, '2 days');
    await makeDue(other.id, '1 day');
    await runDueSchedules(database, log);
    expect(await reportsOf(id)).toHaveLength(1);
    expect(await reportsOf(other.id)).toHaveLength(1);
    const { schedules } = await gantry.ok('reports.getSchedules', {}, { token });
    for (const { nextRunAt } of schedules) expect(Date.parse(nextRunAt)).toBeGreaterThan(Date.now());
  });

  it('continue on the next day after a clock was ahead by a year', async () => {
    const { id, nextRunAt } = await create();
    await gantry.pool.query(
      `UPDATE report_schedules SET last_run_at = now() + interval '365 days', next_run_at = now() + interval '366 days'
       WHERE id = $1`,
      [id],
    );
    await runDueSchedules(createDatabase(gantry.pool), log);
    const { schedules } = await gantry.ok('reports.getSchedules', {}, { token });
    const schedule = schedules.find((each: { id: string }) => each.id === id);
    expect(schedule).toMatchObject({ nextRunAt, lastRunAt: null });
    expect(await reportsOf(id)).toEqual([]);
  });

  it('follow changes of the time zone', async () => {
    const { id } = await create();
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Tokyo' }, { token });
    const find = async () => {
      const { schedules } = await gantry.ok('reports.getSchedules', {}, { token });
      return schedules.find((each: { id: string }) => each.id === id);
    };
    const moved = await eventually(find, ({ timezone }) => timezone === 'Asia/Tokyo', 15_000);
    expect(new Date(moved.nextRunAt).toISOString().slice(11)).toBe('21:00:00.000Z');
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'UTC' }, { token });
  });

  it('lose no run when their hour has already passed in the new time zone', async () => {
    // Due at the next full hour in UTC. In Dubai, that hour of the day passed some hours ago.
    const next = DateTime.utc().startOf('hour').plus({ hours: 1 });
    const { id, nextRunAt } = await create({ hour: next.hour });
    expect(Date.parse(nextRunAt)).toBe(next.toMillis());
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Dubai' }, { token });
    const [report] = await eventually(
      () => reportsOf(id),
      (reports) => reports.length > 0,
    );
    const before = next.minus({ days: 1 }).setZone('Asia/Dubai', { keepLocalTime: true }).startOf('day');
    expect(Date.parse(report.range.startDate)).toBe(before.toMillis());
    // The report is not repeated either when the time zone is changed back and forth.
    const find = async () => {
      const { schedules } = await gantry.ok('reports.getSchedules', {}, { token });
      return schedules.find((each: { id: string }) => each.id === id);
    };
    for (const timezone of ['UTC', 'Asia/Dubai']) {
      await gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, { token });
      const moved = await eventually(find, (schedule) => schedule.timezone === timezone);
      expect(Date.parse(moved.nextRunAt)).toBeGreaterThan(Date.now());
    }
    expect(await reportsOf(id)).toHaveLength(1);
    await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'UTC' }, { token });
  });

  it('do not run while disabled, and can be changed and deleted', async () => {
    const { id } = await create({ every: 'WEEKLY', weekday: 1 });
    const changed = await gantry.ok('reports.updateSchedule', { id, enabled: false }, { token });
    expect(changed).toMatchObject({ enabled: false, nextRunAt: null, weekday: 1 });
    const monthly = { id, every: 'MONTHLY', dayOfMonth: 31, enabled: true, hour: 0 };
    expect(await gantry.ok('reports.updateSchedule', monthly, { token })).toMatchObject({
      every: 'MONTHLY',
      hour: 0,
    });
    expect(await gantry.ok('reports.deleteSchedule', { id }, { token })).toEqual({ success: true, id });
    expect((await gantry.call('reports.deleteSchedule', { id }, { token })).status).toBe(404);
    expect((await gantry.call('reports.updateSchedule', { id, hour: 1 }, { token })).status).toBe(404);
  });

  it.each([
    ['a week without its day', { every: 'WEEKLY' }, 'weekday'],
    ['a month without its day', { every: 'MONTHLY' }, 'dayOfMonth'],
    ['an hour that no clock shows', { hour: 24 }, 'hour'],
    ['an unknown separator', { csv: { separator: '|', hasMark: true, keepsTexts: false } }, 'separator'],
    ['a filter of another kind', { filters: { sensorType: 'RADAR' } }, 'sensorType'],
  ])('are refused with %s', async (_, input, field) => {
    const daily = { kind: 'DAILY_SUMMARY', format: 'CSV', every: 'DAILY', hour: 6 };
    const { status, body } = await gantry.call('reports.createSchedule', { ...daily, ...input }, { token });
    expect([status, body.error.json.message]).toEqual([400, expect.stringContaining(field)]);
  });

  it('cannot lose their day', async () => {
    const { id } = await create();
    const { status, body } = await gantry.call('reports.updateSchedule', { id, every: 'WEEKLY' }, { token });
    expect([status, body.error.json.message]).toEqual([400, 'Set weekday for WEEKLY']);
  });
});

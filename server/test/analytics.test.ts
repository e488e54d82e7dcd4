import { mayDo, role } from '@gantry/contract/permissions';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { rollUpCounts } from '../src/events/counts/roll-up.ts';
import { expectBetween, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { type Passage, REPEATED, simulateMonth, ZONE } from './simulated-month.ts';

const MONTH = { startDate: '2026-03-01', endDate: '2026-03-31' };

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ANALYST');
const month = await simulateMonth(gantry);

const ask = (input?: object) => gantry.ok('reports.getAnalytics', input, { token });

const VIOLATIONS = new Set(['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION']);
const isViolation = ({ eventType }: Passage): boolean => VIOLATIONS.has(eventType);
const within = (from: number, until: number): Passage[] =>
  month.passages.filter(({ time }) => time >= from && time < until);

/** The number of passages for each key, in descending order. */
const countBy = <Key>(passages: readonly Passage[], keyOf: (passage: Passage) => Key): Map<Key, number> => {
  const counts = new Map<Key, number>();
  for (const passage of passages) counts.set(keyOf(passage), (counts.get(keyOf(passage)) ?? 0) + 1);
  return counts;
};

const rollUpAll = async () => {
  while ((await rollUpCounts(gantry.app.context.db, 5_000)) > 0);
  await rollUpAllTraffic(gantry, 50);
};

describe('the analytics of a simulated month', () => {
  const checkMonth = async () => {
    const said = await ask(MONTH);
    const { passages } = month;
    expect(said).toMatchObject({ timezone: ZONE, interval: 'day', total: passages.length, archived: 0 });
    expect([Date.parse(said.start), Date.parse(said.end)]).toEqual([month.from, month.until]);
    const first = Math.min(...passages.map(({ time }) => time));
    expect(Date.parse(said.firstEventAt)).toBe(first);
    // The fields of events.getStats have always been part of the answer.
    const stats = await gantry.ok('events.getStats', MONTH, { token });
    expect(said).toMatchObject(stats);
    const types = said.byVehicleType.map((row: { vehicleType: string | null; count: number }) => [
      row.vehicleType,
      row.count,
    ]);
    expect(new Map(types)).toEqual(countBy(passages, ({ vehicleType }) => vehicleType));
    const bySeverity = await gantry.pool.query<{ severity: number; n: number }>(
      'SELECT coalesce(severity, 0) AS severity, count(*) AS n FROM events GROUP BY 1',
    );
    const ranks = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'];
    expect(
      said.bySeverity.map(({ severity, count }: { severity: string | null; count: number }) => [
        severity === null ? 0 : ranks.indexOf(severity) + 1,
        count,
      ]),
    ).toEqual(
      bySeverity.rows.sort((a, b) => b.severity - a.severity).map(({ severity, n }) => [severity, n]),
    );

    expect(said.series).toHaveLength(31);
    for (const { start, end, total, violations } of said.series) {
      const passed = within(Date.parse(start), Date.parse(end));
      expect([start, total, violations]).toEqual([start, passed.length, passed.filter(isViolation).length]);
    }
    const bySensor = countBy(passages, ({ sensor }) => sensor);
    expect(said.topSensors).toEqual([
      { sensorId: month.sensorIds[1], sensorName: 'South', count: bySensor.get(1) },
      { sensorId: month.sensorIds[0], sensorName: 'North', count: bySensor.get(0) },
    ]);
    expect(said.topLocations).toEqual([
      { locationId: month.locationId, locationName: 'Gürtel', count: passages.length },
    ]);
    const byHour = countBy(passages, ({ time }) => {
      const { weekday, hour } = DateTime.fromMillis(time, { zone: ZONE });
      return (weekday % 7) * 24 + hour;
    });
    for (const { weekday, hours } of said.hourOfWeek)
      expect(hours).toEqual(Array.from({ length: 24 }, (_, hour) => byHour.get(weekday * 24 + hour) ?? 0));
  };

  it('equal a recount before and after roll-up', async () => {
    await checkMonth();
    await rollUpAll();
    await checkMonth();
  });

  it('name repeated plates with their number and last time', async () => {
    const { repeatPlates } = await ask(MONTH);
    const expected = REPEATED.map(([plate, times]) => ({
      licensePlateNumber: plate,
      count: times,
      lastSeen: new Date(
        Math.max(...month.passages.filter((one) => one.plate === plate).map(({ time }) => time)),
      ).toISOString(),
    }));
    expect(repeatPlates).toEqual({ since: new Date(month.from).toISOString(), plates: expected });
    const often = await ask({ ...MONTH, repeatPlatesFrom: 7 });
    expect(often.repeatPlates.plates).toEqual(expected.slice(0, 1));
    expect((await ask({ ...MONTH, repeatPlates: false })).repeatPlates).toBeNull();
    const alone = await gantry.ok('reports.getRepeatPlates', { ...MONTH, from: 7 }, { token });
    expect(alone).toEqual(often.repeatPlates);
  });

  it('compare with the previous period of the same length', async () => {
    const week = { startDate: '2026-03-16T00:00:00+01:00', endDate: '2026-03-22T23:59:59.999+01:00' };
    const { totals, start, end, series } = await ask({ ...week, interval: 'hour' });
    const [from, until] = [Date.parse(start), Date.parse(end)];
    const [now, before] = [within(from, until), within(2 * from - until, from)];
    const compared = (value: number, previous: number) => ({
      value,
      previous,
      change: expect.closeTo((value - previous) / previous, 3),
    });
    expect(totals.events).toEqual(compared(now.length, before.length));
    expect(totals.violations).toEqual(
      compared(now.filter(isViolation).length, before.filter(isViolation).length),
    );
    expect(totals.processed).toEqual({ value: 0, previous: 0, change: null });
    expect(series).toHaveLength(7 * 24);
    for (const { start: hour, end: next, total } of series)
      expect(total).toBe(within(Date.parse(hour), Date.parse(next)).length);
  });

  it('have weeks that begin on the first day of the week, and days of 23 hours', async () => {
    const { series } = await ask({ ...MONTH, interval: 'week' });
    expect(
      series.map(({ start }: { start: string }) => DateTime.fromISO(start, { zone: ZONE }).weekday),
    ).toEqual([1, 1, 1, 1, 1, 1]);
    for (const { start, end, total } of series)
      expect(total).toBe(within(Date.parse(start), Date.parse(end)).length);
    expect(Date.parse(series[4].end) - Date.parse(series[4].start)).toBe((7 * 24 - 1) * 3_600_000);
  });

  it('count a range with partial hours exactly', async () => {
    const [first, last] = [month.passages[500]?.time ?? 0, month.passages[1_500]?.time ?? 0];
    const range = { startDate: new Date(first).toISOString(), endDate: new Date(last).toISOString() };
    const said = await ask(range);
    expect(said.total).toBe(within(first, last + 1).length);
    const sum = said.series.reduce((all: number, { total }: { total: number }) => all + total, 0);
    expect(sum).toBe(said.total);
  });
});

describe('the time until events are processed', () => {
  it('refers to those that were processed within the range', async () => {
    const operator = await gantry.tokenFor('OPERATOR');
    const { events } = await gantry.ok('events.getAll', { take: 5 }, { token });
    for (const { id } of events) await gantry.ok('events.markAsProcessed', { id }, { token: operator });
    const seconds = [10, 20, 30, 40, 1_000];
    for (const [n, { id }] of events.entries())
      await gantry.pool.query(
        'UPDATE events SET created_at = processed_at - make_interval(secs => $2) WHERE id = $1',
        [id, seconds[n]],
      );
    expect((await ask()).processingTime).toEqual({ count: 5, mean: 220, median: 30, p90: 616 });
    const none = { count: 0, mean: null, median: null, p90: null };
    expect((await ask(MONTH)).processingTime).toEqual(none);
    expect((await ask(MONTH)).totals.processed).toMatchObject({ value: 5 });
  });
});

describe('analytics without events', () => {
  it('are zeros and empty lists', async () => {
    const said = await ask({ startDate: '2020-01-01', endDate: '2020-01-10' });
    const nothing = { value: 0, previous: 0, change: null };
    expect(said).toMatchObject({
      total: 0,
      processed: 0,
      unprocessed: 0,
      archived: 0,
      byType: [],
      byViolationType: [],
      byVehicleType: [],
      bySeverity: [],
      topSensors: [],
      topLocations: [],
      repeatPlates: { plates: [] },
      totals: { events: nothing, violations: nothing, processed: nothing },
    });
    expect(said.series).toHaveLength(10);
    expect(new Set(said.series.map(({ total }: { total: number }) => total))).toEqual(new Set([0]));
  });

  it('cover the last 30 days without a range', async () => {
    const asked = Date.now();
    const { start, end, interval } = await ask();
    expect(Math.round((Date.parse(end) - Date.parse(start)) / 86_400_000)).toBe(30);
    expectBetween(end, asked, Date.now());
    expect(interval).toBe('day');
  });
});

describe('a caller of analytics', () => {
  it.each(role.options)('must have the permission for reports: %s', async (name) => {
    const { status } = await gantry.call('reports.getAnalytics', {}, { token: await gantry.tokenFor(name) });
    expect(status).toBe(mayDo(name, 'viewReports') ? 200 : 403);
  });

  it.each([
    [{ startDate: '2026-03-02', endDate: '2026-03-01' }, /end is before the start/],
    [{ startDate: '2020-01-01', endDate: '2026-03-01' }, /5 years/],
    [{ startDate: '2024-01-01', endDate: '2026-03-01', interval: 'hour' }, /10000 points/],
    [{ startDate: '0001-01-01' }, /1970/],
    [{ startDate: 'x' }, /ISO 8601/],
    [{ interval: 'year' }, /./],
    [{ repeatPlatesFrom: 1 }, /./],
  ])('receives a clear message for %j', async (input, message) => {
    const { status, body } = await gantry.call('reports.getAnalytics', input, { token });
    expect(status).toBe(400);
    const { message: said, data } = body.error.json;
    const issues = data.issues.map(({ message: text }: { message: string }) => text);
    expect([said, ...issues].join('; ')).toMatch(message);
  });
});

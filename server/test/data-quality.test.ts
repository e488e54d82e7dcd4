import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
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
    await ask('calendars.delete', { id: created.id });
    expect((await ask('traffic.getDailyVolumes', range)).awdt.n).toBe(2);
  });
});

describe('outages', () => {
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
        },
      ],
    });
  });
});

import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { locks } from '../src/platform/database/locks.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// The data: a sensor that was always ONLINE detected a vehicle in each hour of the months two and three months ago.

const RUN_MS = 60_000;

const now = new Date();
/** Midnight (UTC) of the first day of a month. */
const monthStart = (monthsAgo: number): number =>
  Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1);
const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
const [older, newer, next] = [monthStart(3), monthStart(2), monthStart(1)] as const;
const RANGE = { startDate: day(older), endDate: day(next - 1) };
/** Within the newer month, so that its first half is removed in batches and the older month as a whole. */
const CUTOFF = newer + 14 * DAY_MS;
const daysUntil = (cutoff: number): number =>
  (Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()) - cutoff) / DAY_MS;

let apiKey: string;
let sensorId: string;
let locationId: string;
let heldId: string;
const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  locationId = (await ask('locations.create', { name: 'North bridge', speedLimit: 50 })).id;
  const device = { name: 'Mast 7', deviceId: randomUUID(), type: 'RADAR', locationId };
  ({ id: sensorId, apiKey } = await ask('sensors.create', device));
  await gantry.ok('sensors.heartbeat', { apiKey });
  // As if the sensor had existed since the beginning of the older month.
  await gantry.pool.query(`UPDATE sensors SET created_at = $1`, [new Date(older)]);
  await gantry.pool.query(`UPDATE sensor_status_history SET at = $1`, [new Date(older)]);
});

const ask = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });
const rowsOf = async (statement: string) => (await gantry.pool.query(statement)).rows;

const fill = async (month: number, until: number): Promise<string[]> => {
  const events = Array.from({ length: Math.round((until - month) / HOUR_MS) }, (_, n) => ({
    eventType: n % 5 === 0 ? 'SPEED_DETECTION' : 'VEHICLE_DETECTION',
    violationType: n % 5 === 0 ? 'SPEEDING' : null,
    timestamp: new Date(month + n * HOUR_MS + 60_000).toISOString(),
    vehicleSpeed: 40 + (n % 30),
    vehicleType: n % 3 === 0 ? 'TRUCK' : 'CAR',
  }));
  const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
  return results.map(({ eventId }: { eventId: string }) => eventId);
};

const carryOut = async () => {
  const { id } = await ask('storage.runRetention');
  return eventually(
    async () => (await ask('storage.getRetentionRuns')).runs.find((run: { id: string }) => run.id === id),
    (run) => run.status !== 'RUNNING',
    RUN_MS,
  );
};

const readReport = async (): Promise<string[]> => {
  const { id } = await ask('reports.generate', { kind: 'TRAFFIC', format: 'CSV', ...RANGE });
  await eventually(
    () => ask('reports.getById', { id }),
    ({ status }) => status === 'DONE' || status === 'FAILED',
    RUN_MS,
  );
  const { body } = await gantry.fetch(`/reports/${id}/file`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return body.split(/\r?\n/).filter((line: string) => !line.startsWith('#'));
};

const readFigures = async () => ({
  flow: await ask('traffic.getFlow', { locationId, interval: 'day', ...RANGE }),
  hours: await ask('traffic.getFlow', { sensorId, interval: '60min', ...RANGE }),
  week: await ask('traffic.getHourOfWeek', { locationId, ...RANGE }),
  speeds: await ask('traffic.getSpeedDistribution', { locationId, ...RANGE }),
  top: await ask('traffic.getTopLocations', RANGE),
  report: await readReport(),
});

describe('traffic counts', () => {
  it('are kept when their events are removed: in batches, next to a hold, or with their month', async () => {
    // While this lock is held, the service rolls up nothing, so all events are removed before their counts are rolled up.
    const lock = await gantry.pool.connect();
    await lock.query('SELECT pg_advisory_lock($1)', [locks.traffic]);
    let before: Awaited<ReturnType<typeof readFigures>>;
    try {
      await fill(older, newer);
      const ids = await fill(newer, next);
      heldId = ids[30] ?? '';
      await ask('storage.setHold', { eventIds: [heldId], reason: 'Case 18' });
      before = await readFigures();
      expect(before.flow).toMatchObject({ volume: (next - older) / HOUR_MS, completeness: 1 });
      await ask('storage.setRetention', { events: { default: daysUntil(CUTOFF) } });
      const removals: { month: string; wholeMonth: boolean }[] = (await carryOut()).removals;
      expect(new Map(removals.map(({ month, wholeMonth }) => [month, wholeMonth]))).toEqual(
        new Map([
          [day(older).slice(0, 7), true],
          [day(newer).slice(0, 7), false],
        ]),
      );
      expect(await rowsOf('SELECT FROM events')).toHaveLength((next - CUTOFF) / HOUR_MS + 1);
      expect(await readFigures()).toEqual(before);
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [locks.traffic]);
      lock.release();
    }
    await rollUpAllTraffic(gantry, 50);
    expect(await readFigures()).toEqual(before);
  });

  it('differ from the counts of analytics, which state since when they are complete', async () => {
    const said = await ask('reports.getAnalytics', {
      startDate: day(newer),
      endDate: day(next - 1),
      interval: 'day',
    });
    expect(said.keptSince).toBe(new Date(CUTOFF).toISOString());
    for (const point of said.series) {
      const isGone = Date.parse(point.start) < CUTOFF;
      expect([point.total, point.violations]).toEqual(isGone ? [null, null] : [24, expect.any(Number)]);
    }
    expect(said.totals.events).toEqual({
      value: (next - CUTOFF) / HOUR_MS + 1,
      previous: null,
      change: null,
    });
    expect(said.totals.incidents).toEqual({ value: 0, previous: 0, change: null });
    const after = await ask('reports.getAnalytics', { startDate: day(CUTOFF), endDate: day(next - 1) });
    expect(after.keptSince).toBeNull();
  });

  it('are a gap and not zero once they are removed', async () => {
    const rules = { traffic: daysUntil(CUTOFF) };
    const days = (CUTOFF - older) / DAY_MS;
    expect((await ask('storage.previewRetention', rules)).totals.traffic).toBe(days);
    await ask('storage.setRetention', rules);
    const removals: { class: string; rows: number }[] = (await carryOut()).removals;
    const removed = removals.filter((each) => each.class === 'traffic').map(({ rows }) => rows);
    expect(removed.reduce((sum, rows) => sum + rows, 0)).toBe(days);
    expect(await rowsOf(`SELECT FROM traffic_bins WHERE slot < '${new Date(CUTOFF).toISOString()}'`)).toEqual(
      [],
    );

    const { flow, hours, report } = await readFigures();
    for (const point of [...flow.points, ...hours.points]) {
      const isGone = Date.parse(point.start) < CUTOFF;
      if (isGone) expect(point).toMatchObject({ volume: null, meanSpeed: null, completeness: 0 });
      else expect(point).toMatchObject({ volume: expect.any(Number), completeness: 1 });
    }
    expect(flow.volume).toBe((next - CUTOFF) / HOUR_MS);
    expect(report.filter((line) => line.includes('North bridge,0,'))).toEqual([]);
    const gone = { locationId, startDate: RANGE.startDate, endDate: day(CUTOFF - 1) };
    const { days: week } = await ask('traffic.getHourOfWeek', gone);
    for (const { hours: cells } of week)
      for (const cell of cells) expect(cell).toMatchObject({ hours: 0, meanVolume: null });
    expect(await ask('traffic.getSpeedDistribution', gone)).toMatchObject({ measured: 0, completeness: 0 });
  });

  it('take the history of a sensor that was deleted before with them, and of no other', async () => {
    const device = { name: 'Mast 8', type: 'RADAR', locationId };
    const deleted = await Promise.all(
      [CUTOFF - DAY_MS, CUTOFF + DAY_MS].map(async (at) => {
        const created = await ask('sensors.create', { ...device, deviceId: randomUUID() });
        await ask('sensors.delete', { id: created.id });
        await gantry.pool.query('UPDATE sensor_status_history SET at = $2 WHERE sensor_id = $1', [
          created.id,
          new Date(at),
        ]);
        return created.id;
      }),
    );
    await carryOut();
    const [gone, kept] = deleted;
    for (const table of ['sensor_status_history', 'sensor_places'])
      expect(
        await rowsOf(`SELECT DISTINCT sensor_id FROM ${table} WHERE sensor_id IN ('${gone}', '${kept}')`),
      ).toEqual([{ sensor_id: kept }]);
    expect(await gantry.count(`sensor_status_history WHERE sensor_id = '${sensorId}'`)).toBeGreaterThan(0);
  });

  it('stay removed when a late event arrives, or one of their events is deleted by a user', async () => {
    const late = { eventType: 'VEHICLE_DETECTION', timestamp: new Date(newer + DAY_MS).toISOString() };
    await gantry.ok('events.ingest', { apiKey, ...late });
    for (const { id } of (await ask('storage.getHolds', {})).holds) await ask('storage.releaseHold', { id });
    await ask('events.delete', { id: heldId });
    const isGap = async () => {
      const said = await ask('traffic.getFlow', {
        locationId,
        startDate: day(newer),
        endDate: day(CUTOFF - 1),
        interval: 'day',
      });
      expect(said).toMatchObject({ volume: null, completeness: 0 });
    };
    await isGap();
    await rollUpAllTraffic(gantry, 50);
    await isGap();
    expect(await rowsOf('SELECT FROM traffic_bins WHERE events < 0 OR 0 > ANY (sums)')).toEqual([]);
  });

  it('of local hours that no hour of UTC contains are removed, too', async () => {
    await ask('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Kolkata' });
    const addCounter = () =>
      ask('sensors.create', { name: 'Loop', deviceId: randomUUID(), type: 'RADAR', locationId });
    const [hourly, rare, daily] = [await addCounter(), await addCounter(), await addCounter()];
    // Half an hour before midnight in UTC, an hour begins that is in no day of UTC.
    const first = CUTOFF - HOUR_MS / 2 - DAY_MS;
    const send = (counter: { apiKey: string }, starts: readonly number[], more: object = {}) =>
      gantry.ok('counts.ingest', {
        apiKey: counter.apiKey,
        periods: starts.map((start) => ({
          ...{ start: new Date(start).toISOString(), seconds: 3_600, volume: 7 },
          ...more,
        })),
      });
    const hours = Array.from({ length: 48 }, (_, n) => first + n * HOUR_MS);
    await send(hourly, hours);
    for (const volume of [1, 2]) await send(rare, [first], { volume });
    await send(daily, [CUTOFF - 5.5 * HOUR_MS - 2 * DAY_MS, CUTOFF - 5.5 * HOUR_MS - DAY_MS], {
      seconds: 86_400,
    });
    await gantry.pool.query(
      `INSERT INTO traffic_flags (sensor_id, found_at, rule, lane, since, until, value, threshold)
       VALUES ($1, $2, 'R3', '', $2, $2::timestamptz + interval '1 day', 1, 1)`,
      [daily.id, new Date(CUTOFF - 5.5 * HOUR_MS - DAY_MS)],
    );
    // Two days of the first and one of the second detector, and those in which the two days of the third one begin.
    const { totals } = await ask('storage.previewRetention', {});
    expect(totals.traffic).toBe(5);
    const { removals } = await carryOut();
    expect(
      removals.reduce(
        (sum: number, each: { class: string; rows: number }) =>
          each.class === 'traffic' ? sum + each.rows : sum,
        0,
      ),
    ).toBe(5);
    expect((await ask('storage.previewRetention', {})).totals.traffic).toBe(0);
    expect(await gantry.count(`traffic_flags WHERE sensor_id = '${daily.id}'`)).toBe(0);
    const ids = [hourly, rare, daily].map(({ id }) => `'${id}'`).join();
    const left = (table: string) =>
      rowsOf(
        `SELECT sensor_id, min(start) AS start, count(*) AS n FROM ${table} WHERE sensor_id IN (${ids}) GROUP BY 1`,
      );
    expect(await left('traffic_periods')).toEqual([
      { sensor_id: hourly.id, start: new Date(CUTOFF + HOUR_MS / 2), n: 23 },
    ]);
    expect(await left('traffic_period_revisions')).toEqual([]);
    const { points } = await ask('traffic.getFlow', {
      ...{ sensorId: hourly.id, interval: '60min' },
      startDate: new Date(first).toISOString(),
      endDate: new Date(first + 2 * DAY_MS - 1).toISOString(),
    });
    expect(points.map(({ volume }: { volume: number | null }) => volume)).toEqual(
      hours.map((start) => (start < CUTOFF ? null : 7)),
    );
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeClock, lagOfBatch } from '../src/sensors/sensor-clocks-store.ts';
import { connect, newSensor, pathOf, processed, sendJson } from './gateway-calls.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

const HOUR = 3_600_000;
const reports = (lags: readonly number[], everyMs: number) =>
  lags.map((lagMs, index) => ({ arrivedAt: Date.UTC(2026, 10, 26) + index * everyMs, lagMs }));
const all = (lagMs: number, count = 21) => Array.from({ length: count }, () => lagMs);
/** Reports that waited: their events happened at intervals, and they arrive in quick succession. */
const backlog = (intervalMs: number, count = 21) =>
  Array.from({ length: count }, (_, index) => 2 * HOUR - index * intervalMs);

describe('the clock of a sensor', () => {
  it.each([
    ['is right', all(800), 2_000, 'OK', null],
    [
      'is right if most reports are late by a moment',
      [...all(200, 11), ...all(40_000, 10)],
      60_000,
      'OK',
      null,
    ],
    ['is not judged by few reports', all(HOUR, 4), 1_000, 'UNKNOWN', null],
    ['is 29 s behind', all(29_000), 1_000, 'OK', null],
    ['is 30 s behind', all(30_000), 1_000, 'WARNING', 'CLOCK'],
    ['is 31 s ahead', all(-31_000), 1_000, 'WARNING', 'CLOCK'],
    ['is 5 minutes behind', all(300_000), 1_000, 'ERROR', 'CLOCK'],
    ['is 7 minutes ahead', all(-420_000), 1_000, 'ERROR', 'CLOCK'],
    ['is an hour behind', all(HOUR + 1_500), 1_000, 'ERROR', 'TIME_ZONE'],
    ['is an hour ahead', all(-HOUR + 900), 1_000, 'ERROR', 'TIME_ZONE'],
    ['is in the zone of India instead of Berlin', all(-3.5 * HOUR), 1_000, 'ERROR', 'TIME_ZONE'],
    ['is years behind', all(20 * 365 * 24 * HOUR + 1_234_567), 1_000, 'ERROR', 'CLOCK'],
    [
      'is an hour behind, and sends every minute',
      [0, 20, 40, 55, 10, 30, 50].map((s) => HOUR + s * 1_000),
      60_000,
      'ERROR',
      'TIME_ZONE',
    ],
    ['is not known if the reports waited for hours', backlog(240_000), 10, 'UNKNOWN', 'LATE'],
    ['is not known if the reports waited, and are dense', backlog(1_000), 10, 'UNKNOWN', 'LATE'],
    [
      'is not known if the reports come in bulk',
      [0, 300, 600, 900, 1_200, 1_500].map((s) => s * 1_000),
      1_000,
      'UNKNOWN',
      'LATE',
    ],
  ] as const)('%s', (_, lags, everyMs, state, hint) => {
    expect(judgeClock(reports(lags, everyMs))).toMatchObject({ state, hint });
  });

  it('is judged by the newest event of a batch that a sensor sends regularly, and not by one that was offline', () => {
    expect(lagOfBatch(reports([60_000, 2_000, 30_000], 0))?.lagMs).toBe(2_000);
    expect(lagOfBatch(reports([HOUR, 2 * HOUR], 0))).toBeNull();
    expect(lagOfBatch([])).toBeNull();
  });
});

describe('a sensor', () => {
  let gantry: Gantry;
  let token: string;
  beforeAll(async () => {
    gantry = await startGantry({ overrides: { timings: { writeContactsMs: 20, countForMetricsMs: 100 } } });
    token = await gantry.tokenFor('ADMIN');
  });
  afterAll(() => gantry.stop());
  const newKey = async (fields: object) => {
    const id = await newSensor(gantry, fields);
    return { id, ...(await gantry.ok('sensors.revealKey', { id }, { token })) };
  };
  const event = (lagMs: number) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: new Date(Date.now() - lagMs).toISOString(),
  });
  /** Waits for the last write, in which all reports are. */
  const clockOf = (id: string, expected: object): Promise<Record<string, unknown>> =>
    eventually(
      () => gantry.ok('sensors.getClock', { id }, { token }),
      (clock) => Object.entries(expected).every(([name, value]) => clock[name] === value),
    );
  const finding = async (code: string) => {
    const { findings } = await gantry.ok('system.doctor', undefined, { token });
    return findings.find((each: { code: string }) => each.code === code);
  };

  it('whose clock is an hour behind is named, and not any more when it was set', async () => {
    const { id, apiKey } = await newKey({ name: 'An hour behind' });
    expect(await gantry.ok('sensors.getClock', { id }, { token })).toEqual({
      sensorId: id,
      state: 'UNKNOWN',
      hint: null,
      offsetSeconds: null,
      reports: 0,
      lastReportAt: null,
      unusableTimes: 0,
      lastUnusableAt: null,
    });
    for (const lag of all(HOUR, 6)) await gantry.ok('events.ingest', { apiKey, ...event(lag) });
    const { offsetSeconds } = await clockOf(id, { state: 'ERROR', hint: 'TIME_ZONE', reports: 6 });
    expect(offsetSeconds).toBeGreaterThanOrEqual(3_600);
    expect(await finding('wrongClocks')).toMatchObject({
      level: 'ADVICE',
      values: { wrong: 1, names: ['An hour behind (−60 min)'] },
    });
    await eventually(
      async () => (await gantry.fetch('/metrics')).body as string,
      (text) => /gantry_sensor_clocks\{state="ERROR"[^}]*\} 1/.test(text),
    );
    for (const lag of all(100, 21)) await gantry.ok('events.ingest', { apiKey, ...event(lag) });
    await clockOf(id, { state: 'OK', hint: null, reports: 21, offsetSeconds: 0 });
    expect(await finding('wrongClocks')).toBeUndefined();
  });

  it('whose clock is ahead is named, although its events are refused', async () => {
    const { id, apiKey } = await newKey({ name: 'Ahead' });
    for (const lag of all(-2 * HOUR, 5)) {
      expect(await gantry.refusal('events.ingest', { apiKey, ...event(lag) })).toMatchObject({ status: 400 });
    }
    await clockOf(id, { state: 'ERROR', hint: 'TIME_ZONE', offsetSeconds: -7_200, reports: 5 });
    await gantry.ok('sensors.delete', { id }, { token });
    expect(await gantry.count(`sensor_clocks WHERE sensor_id = '${id}'`)).toBe(0);
  });

  it('that was offline has no wrong clock, whether it sends its events at once or one by one', async () => {
    const { id, apiKey } = await newKey({ name: 'Offline for long' });
    const late = backlog(60_000, 30).map(event);
    for (let at = 0; at < 3; at++) {
      await gantry.ok('events.ingestBatch', { apiKey, events: late.slice(at * 10, at * 10 + 10) });
    }
    for (const each of backlog(70_000).map(event)) await gantry.ok('events.ingest', { apiKey, ...each });
    await clockOf(id, { state: 'UNKNOWN', hint: 'LATE' });
  });

  it('of a connection is judged by the times of its messages, and times that cannot be used are counted', async () => {
    const sensorId = await newSensor(gantry, { name: 'Of a connection' });
    const mapping = '{"plate": body.p, "time": body.t}';
    const { id, url } = await connect(gantry, 'mapped', { sensorId, options: { mapping } });
    const send = (t: unknown) => sendJson(gantry, pathOf(url), { p: randomUUID().slice(0, 8), t });
    for (let n = 0; n < 5; n++) await send(Date.now() - HOUR);
    await clockOf(sensorId, { state: 'ERROR', hint: 'TIME_ZONE', reports: 5, unusableTimes: 0 });
    for (const t of ['soon', 5, Date.now() + HOUR]) await send(t);
    await clockOf(sensorId, { unusableTimes: 3, reports: 6 });
    expect(await finding('unusableTimes')).toMatchObject({ values: { names: ['Of a connection'] } });
    await gantry.ok('connections.replay', { connectionId: id }, { token });
    await processed(gantry, id, 8);
    await clockOf(sensorId, { unusableTimes: 3, reports: 6 });
  });
});

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsualHours } from '../src/alarms/gather.ts';
import { doRound } from '../src/alarms/rounds.ts';
import type { Announcement } from '../src/notices/announce.ts';
import { sharedGantry } from './harness.ts';
import { noteStatements } from './noted-statements.ts';
import { processorMs } from './processor-time.ts';

// Hours of a city, in rounds that a test does one after another at times of its own.

const MINUTE = 60_000;
const ROUND = 30_000;
const gantry = await sharedGantry({
  overrides: { timings: { evaluateAlarmsMs: 86_400_000, sweepSensorsMs: 86_400_000 } },
});
const token = await gantry.tokenFor('ADMIN');
const { id: userId } = await gantry.ok('auth.me', undefined, { token });
const { pool } = gantry;

let now = 0;
const announced: Announcement[] = [];
const usual = new UsualHours();
const round = () => {
  now += ROUND;
  const { context } = gantry.app;
  return doRound({
    ...context,
    clock: { ...context.clock, now: () => now },
    announce: async (_, announcement) => {
      announced.push({ ...announcement, dueAt: new Date(now) });
      return { recipients: 1 };
    },
    usual,
    everyMs: ROUND,
  });
};
/** Rounds for some minutes. @returns the messages */
const pass = async (minutes: number): Promise<Announcement[]> => {
  const before = announced.length;
  for (const until = now + minutes * MINUTE; now < until; ) await round();
  return announced.slice(before);
};

const addCity = async (places: number, sensorsEach: number): Promise<void> => {
  await pool.query(
    `WITH place AS (INSERT INTO locations (name) SELECT 'Place ' || n FROM generate_series(1, $1::int) AS n RETURNING id)
    INSERT INTO sensors (name, device_id, type, status, api_key, location_id)
    SELECT 'Sensor ' || row_number() OVER (), gen_random_uuid(), 'RADAR', 'ONLINE',
      encode(sha256(gen_random_uuid()::text::bytea), 'hex'), id FROM place, generate_series(1, $2::int)`,
    [places, sensorsEach],
  );
};
const set = (status: string, where: string) =>
  pool.query(`UPDATE sensors SET status = $1 WHERE ${where}`, [status]);
const addRule = (name: string, fields: object) =>
  gantry.ok('alarmRules.create', { name, severity: 'MEDIUM', ...fields }, { token });
const addPolicy = async () =>
  (
    await gantry.ok(
      'policies.create',
      {
        name: 'Control room',
        steps: [
          { afterMinutes: 0, to: [{ userId }] },
          { afterMinutes: 15, to: [{ userId }] },
        ],
      },
      { token },
    )
  ).id as string;
const acknowledgeAll = async () => {
  const { alarms } = await gantry.ok(
    'alarms.getAll',
    { state: 'FIRING', acknowledged: false, take: 100 },
    { token },
  );
  for (const { id } of alarms) await gantry.ok('alarms.acknowledge', { id }, { token });
};

beforeEach(async () => {
  for (const table of [
    'alarm_rules',
    'policies',
    'alarms',
    'alarm_groups',
    'incidents',
    'watchlist_alerts',
    'sensors',
    'locations',
  ])
    await pool.query(`DELETE FROM ${table}`);
  await pool.query('UPDATE alarm_evaluation SET evaluated_at = NULL, minute_at = NULL');
  announced.length = 0;
  now = Math.floor(Date.now() / MINUTE) * MINUTE;
});

const OFFLINE = { source: 'SENSOR_STATUS', statuses: ['OFFLINE', 'ERROR'] };

describe('a night in a city of 300 sensors', () => {
  it('is few messages, each of which says what needs somebody to act', async () => {
    await addCity(60, 5);
    const policyId = await addPolicy();
    await addRule('Sensor offline', { condition: OFFLINE, forSeconds: 300, policyId });
    const unattended = { source: 'INCIDENT_UNATTENDED', minSeverity: 'CRITICAL', lacking: 'ACKNOWLEDGEMENT' };
    await addRule('Incident', { condition: unattended, forSeconds: 300, severity: 'CRITICAL', policyId });
    await addRule('Hit', { condition: { source: 'HIT' }, severity: 'HIGH', policyId });
    expect(await pass(5)).toEqual([]);

    // Dropouts, each shorter than the rule allows.
    for (let n = 0; n < 10; n++) {
      await set('OFFLINE', `name = 'Sensor ${7 * n + 1}'`);
      await pass(2);
      await set('ONLINE', 'true');
    }
    expect(announced).toEqual([]);

    // Two sensors that stay away.
    await set('OFFLINE', `name IN ('Sensor 3', 'Sensor 99')`);
    expect(await pass(8)).toMatchObject([
      { kind: 'FIRST', total: 2, alarms: [{ ruleName: 'Sensor offline' }, {}] },
    ]);
    await acknowledgeAll();

    // Two incidents, one of which somebody acknowledges in time.
    const incident = { title: 'Crash', type: 'COLLISION', severity: 'CRITICAL' };
    const { id: seen } = await gantry.ok('incidents.create', incident, { token });
    await gantry.ok('incidents.create', { ...incident, title: 'Second crash' }, { token });
    await pass(3);
    await gantry.ok('incidents.acknowledge', { id: seen }, { token });
    expect(await pass(4)).toMatchObject([
      { kind: 'FIRST', total: 1, severity: 'CRITICAL', alarms: [{ place: 'Second crash' }] },
    ]);
    expect(await pass(16)).toMatchObject([{ kind: 'ESCALATED', step: 1 }]);
    await acknowledgeAll();

    // Forty reads of ten watched vehicles: a read of a known vehicle is no alert of its own.
    for (let n = 0; n < 10; n++) {
      await pool.query(
        `INSERT INTO watchlist_alerts (entry_id, pattern, reason, priority, event_id, plate, read_at, created_at, sightings)
        VALUES ($1, 'X', 'Stolen', 3, $2, $3, $4, $4, 4)`,
        [randomUUID(), randomUUID(), `X ${n}`, new Date(now)],
      );
      await pass(1.5);
    }
    const hits = await pass(6);
    const ofHits = announced.filter(({ alarms }) => alarms.some(({ ruleName }) => ruleName === 'Hit'));
    expect(ofHits.map(({ kind }) => kind)).toEqual(['FIRST', 'CHANGED', 'CHANGED', 'CHANGED', 'ESCALATED']);
    expect(hits.filter(({ kind }) => kind === 'CHANGED').at(-1)?.total).toBe(10);
    await acknowledgeAll();
    const before = announced.length;

    // Mains failure of a district: 20 places with all of their sensors.
    const district = `location_id IN (SELECT id FROM locations WHERE substr(name, 7)::int <= 20)`;
    await set('OFFLINE', district);
    const [summary, ...others] = await pass(14);
    expect(summary).toMatchObject({ kind: 'SUMMARY', total: expect.any(Number) });
    expect(summary?.alarms).toHaveLength(5);
    expect(others).toEqual([]);
    const { alarms } = await gantry.ok(
      'alarms.getAll',
      { suppressed: true, state: 'FIRING', take: 1 },
      { token },
    );
    expect(alarms[0].inhibitedBy).toMatchObject({ cause: 'ALARM' });
    await acknowledgeAll();
    await pass(30);
    await set('ONLINE', district);
    await pass(20);
    expect(announced.length - before).toBeLessThanOrEqual(3);
    expect(announced.length).toBeLessThanOrEqual(12);
    expect(await gantry.count(`alarms WHERE state = 'FIRING'`)).toBe(12);
  });
});

describe('2,000 sensors that go offline', () => {
  it('are at most three messages for each recipient, and 201 alarms', async () => {
    await addCity(500, 4);
    const policyId = await addPolicy();
    await addRule('Sensor offline', { condition: OFFLINE, forSeconds: 60, policyId });
    await pass(2);
    await set('OFFLINE', 'true');
    const told = await pass(8);
    expect(told).toMatchObject([{ total: 1, alarms: [{ text: 'The condition holds in 2500 cases' }] }]);
    await acknowledgeAll();
    await set('ONLINE', 'true');
    await pass(30);
    expect(announced.map(({ kind }) => kind)).toEqual(['FIRST', 'CLEARED']);
    expect(Number(await gantry.count('alarms'))).toBeLessThanOrEqual(201);
    expect(await gantry.count(`alarms WHERE state = 'FIRING'`)).toBe(0);
  });
});

describe('200 rules about 2,000 sensors at 500 places', () => {
  it('take few statements and little processor time in each round', async () => {
    await addCity(500, 4);
    for (let n = 0; n < 160; n++)
      await addRule(`Offline ${n}`, {
        condition: { ...OFFLINE, of: n % 2 === 0 ? 'SENSOR' : 'PLACE' },
        forSeconds: 60,
      });
    const traffic = { source: 'TRAFFIC', measure: 'meanSpeed', comparison: 'BELOW', minutes: 5 };
    for (let n = 0; n < 40; n++) await addRule(`Slow ${n}`, { condition: { ...traffic, threshold: 10 + n } });
    await pool.query(
      `INSERT INTO traffic_places (location_id, sensor_id, first_slot, last_slot, detections)
      SELECT location_id, id, now(), now(), true FROM sensors`,
    );
    const slots = (at: number) =>
      pool.query(
        `INSERT INTO traffic_bins (minutes, sensor_id, location_id, source, slot, events, vehicles, measured, speed_sum)
        SELECT 1, id, location_id, 1, to_timestamp($1::float8 / 1000) + n * interval '1 minute', 20, 20, 20, 20 * 35000
        FROM sensors, generate_series(-10, 20) AS n`,
        [at],
      );
    await slots(now);
    await set('OFFLINE', `substr(name, 8)::int % 100 = 0`);
    await pass(4);
    expect(Number(await gantry.count(`alarms WHERE state = 'FIRING'`))).toBeGreaterThan(1_000);
    let statements = 0;
    noteStatements(pool, () => statements++);
    const spent = await processorMs(() => pass(5));

    // As many for two hundred rules as for one. A slow machine takes several times as long as a quick one.
    expect(statements / 10).toBeLessThan(20);
    expect(spent / 10).toBeLessThan(2_500);
  });
});

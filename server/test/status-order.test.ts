import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { lengthsOf, statusPeriodsOf } from '../src/reports/kinds/status-periods.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const gantry = await sharedGantry({ overrides: { timings: { writeContactsMs: 100 } } });
const token = await gantry.tokenFor('ADMIN');

const register = () =>
  gantry.ok('sensors.create', { name: 'Mast', deviceId: randomUUID(), type: 'CAMERA' }, { token });

describe('the status history', () => {
  it('is in the order of time after fifty concurrent changes', async () => {
    const { id, apiKey } = await register();
    const statuses = ['MAINTENANCE', 'ERROR', 'OFFLINE', 'ONLINE'];
    const issues = [{ code: 'LENS', message: 'dirty', severity: 'critical' }];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 3 === 0
          ? gantry.call('sensors.heartbeat', { apiKey, ...(n % 2 === 0 && { issues }) })
          : gantry.call('sensors.update', { id, status: statuses[n % 4] }, { token }),
      ),
    );
    const { rows } = await gantry.pool.query<{ at: Date | string; from_status: string; to_status: string }>(
      'SELECT at, from_status, to_status FROM sensor_status_history WHERE sensor_id = $1 ORDER BY id',
      [id],
    );
    expect(rows.length).toBeGreaterThan(10);
    const times = rows.map(({ at }) => new Date(at).getTime());
    expect(times.filter((at, n) => n > 0 && at < (times[n - 1] ?? 0))).toEqual([]);
    for (const [n, row] of rows.entries()) if (n > 0) expect(row.from_status).toBe(rows[n - 1]?.to_status);
    const { rows: sensors } = await gantry.pool.query('SELECT status_since FROM sensors WHERE id = $1', [id]);
    expect(new Date(sensors[0].status_since).getTime()).toBe(times.at(-1));
  });

  it('dates a change after its wait for the row, not before it', async () => {
    const { id, apiKey } = await register();
    const holder = await gantry.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM sensors WHERE id = $1 FOR NO KEY UPDATE', [id]);
    const waiting = gantry.ok('sensors.heartbeat', { apiKey });
    for (;;) {
      const { rows } = await gantry.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
      if (rows.length > 0) break;
    }
    const { rows: released } = await holder.query('SELECT clock_timestamp() AS at');
    await holder.query('COMMIT');
    holder.release();
    await waiting;
    const { rows } = await gantry.pool.query(
      `SELECT at FROM sensor_status_history WHERE sensor_id = $1 AND to_status = 'ONLINE'`,
      [id],
    );
    expect(new Date(rows[0].at).getTime()).toBeGreaterThanOrEqual(
      Math.floor(new Date(released[0].at).getTime()),
    );
  });
});

describe('a sensor before its first contact', () => {
  const day = { from: 0, until: 86_400_000 };
  const offline = { status: 'OFFLINE', createdAt: 0, before: null } as const;

  it('is not silent', () => {
    const never = { ...offline, firstContact: null, changes: [] };
    expect(statusPeriodsOf(never, day)).toEqual([]);
    const change = { from: 'OFFLINE', to: 'ONLINE', at: 3_600_000, reason: 'heartbeat' } as const;
    const back = { from: 'ONLINE', to: 'OFFLINE', at: 7_200_000, reason: 'no heartbeat' } as const;
    const lengths = lengthsOf(
      statusPeriodsOf({ ...offline, firstContact: change.at, changes: [change, back] }, day),
    );
    expect(lengths).toMatchObject({ ONLINE: 3_600_000, OFFLINE: day.until - back.at });
  });

  const reportOn = async (id: string): Promise<string> => {
    const range = { startDate: '2024-01-01', endDate: new Date().toISOString() };
    const report = await gantry.ok(
      'reports.generate',
      { kind: 'SENSOR_HEALTH', format: 'CSV', ...range, filters: { sensorId: id } },
      { token },
    );
    const headers = { authorization: `Bearer ${token}` };
    for (;;) {
      const { status } = await gantry.ok('reports.getById', { id: report.id }, { token });
      if (status === 'DONE') break;
      expect(status).not.toBe('FAILED');
    }
    const { body } = await gantry.fetch(`/reports/${report.id}/file`, { headers });
    return body;
  };

  it('is not silent in a report, either', async () => {
    const { id } = await register();
    const body = await reportOn(id);
    expect(body).toContain('AVAILABILITY,Mast');
    expect(body).not.toContain('SILENT');
  });

  const DAY = 86_400_000;

  const registerDaysAgo = async (days: number) => {
    const sensor = await register();
    await gantry.pool.query(`UPDATE sensors SET created_at = $2, status_since = $2 WHERE id = $1`, [
      sensor.id,
      new Date(Date.now() - days * DAY),
    ]);
    return sensor;
  };

  const reportVehicle = async (apiKey: string, daysAgo: number) => {
    const timestamp = new Date(Date.now() - daysAgo * DAY).toISOString();
    await gantry.ingest(apiKey, { timestamp, eventType: 'VEHICLE_DETECTION' });
    await rollUpAllTraffic(gantry, 100);
  };

  it.each([30, 2])('is not silent because it reports an event of %i days ago then', async (days) => {
    const { id, apiKey } = await registerDaysAgo(5);
    await reportVehicle(apiKey, days);
    await eventually(
      () => gantry.ok('sensors.getById', { id }, { token }),
      ({ status }) => status === 'ONLINE',
    );
    expect(await reportOn(id)).not.toContain('SILENT');
  });

  it('adds nothing to the duration of its availability but its maintenance', async () => {
    const { id } = await registerDaysAgo(5);
    const change = (from: string, to: string, daysAgo: number) =>
      gantry.pool.query(
        `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason) VALUES ($1, $2, $3, $4, 'test')`,
        [id, from, to, new Date(Date.now() - daysAgo * DAY)],
      );
    await gantry.pool.query('DELETE FROM sensor_status_history WHERE sensor_id = $1', [id]);
    await change('OFFLINE', 'MAINTENANCE', 4);
    await change('MAINTENANCE', 'OFFLINE', 3);
    await change('OFFLINE', 'ONLINE', 1);
    const [, seconds] = /^AVAILABILITY,(?:[^,]*,){6}(\d+),1,/m.exec(await reportOn(id)) ?? [];
    expect(Number(seconds) / 86_400).toBeCloseTo(2, 1);
  });

  it('that requires heartbeats is silent since its first vehicle after it was registered', async () => {
    const { id, apiKey } = await registerDaysAgo(5);
    await gantry.ok('sensors.update', { id, requiresHeartbeats: true }, { token });
    await reportVehicle(apiKey, 30);
    expect(await reportOn(id)).not.toContain('SILENT');
    const other = await registerDaysAgo(5);
    await gantry.ok('sensors.update', { id: other.id, requiresHeartbeats: true }, { token });
    await reportVehicle(other.apiKey, 2);
    const [, seconds] = /^SILENT,(?:[^,]*,){6}(\d+),/m.exec(await reportOn(other.id)) ?? [];
    expect(Number(seconds) / 86_400).toBeCloseTo(2, 1);
  });
});

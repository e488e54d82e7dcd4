import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { type Caller, createTestDatabase, eventually, startGantry } from '../harness.ts';
import { spawnWithTimings, untilItServes } from './service-process.ts';

const HOUR = 3_600_000;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('planned works', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-works-'));
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pool: ReturnType<typeof createPool>;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool(database.url, 2, () => undefined);
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
    await rm(scratch, { recursive: true, force: true });
  });

  const timings = { turnWorksMs: 50 };
  const start = () => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') };
    return untilItServes(spawnWithTimings(scratch, settings, timings));
  };
  /** Lets the time of works pass: the stored times become earlier. */
  const pass = (id: string, ms: number) =>
    pool.query(
      `UPDATE works SET starts_at = starts_at - $2::interval, ends_at = ends_at - $2::interval, window_from = window_from - $2::interval,
         window_until = window_until - $2::interval, next_at = next_at - $2::interval WHERE id = $1`,
      [id, `${ms} milliseconds`],
    );
  const stateOf = async (id: string): Promise<string> =>
    (await pool.query('SELECT state FROM works WHERE id = $1', [id])).rows[0].state;
  const untilState = (id: string, wanted: string) =>
    eventually(
      () => stateOf(id),
      (state) => state === wanted,
    );
  const statusOf = async (sensorId: string): Promise<string> =>
    (await pool.query('SELECT status FROM sensors WHERE id = $1', [sensorId])).rows[0].status;
  /** Everything that works have caused. */
  const effectsOf = async (id: string) =>
    (
      await pool.query(
        `SELECT (SELECT count(*)::int FROM works_windows WHERE works_id = $1) AS windows,
           (SELECT count(*)::int FROM incident_timeline WHERE details ->> 'worksId' = $1::text) AS entries,
           (SELECT count(*)::int FROM changes WHERE topic = 'works' AND body -> 'json' -> 'works' ->> 'id' = $1::text
             AND body -> 'json' ->> 'by' IS NULL) AS messages`,
        [id],
      )
    ).rows[0];
  const plan = async (service: Caller) => {
    const token = await service.tokenFor('ADMIN');
    await service.registerSensor();
    const sensors = await service.ok('sensors.getAllSensors', undefined, { token });
    const sensorId = sensors[0].id;
    await service.ok('sensors.update', { id: sensorId, status: 'ONLINE' }, { token });
    const times = { startsAt: away(HOUR), endsAt: away(2 * HOUR) };
    const fields = {
      title: 'New lens',
      kind: 'MAINTENANCE',
      sensorIds: [sensorId],
      opensIncident: true,
      ...times,
    };
    const { id } = await service.ok('works.create', fields, { token });
    await service.ok('works.approve', { id }, { token });
    return { id, sensorId };
  };

  it('begin and end once if a process is killed in the middle of either turn', async () => {
    const doomed = await start();
    const { id, sensorId } = await plan(doomed);
    const kill = async (service: typeof doomed, blocked: string, statement: string) => {
      const blocker = await pool.connect();
      await blocker.query('BEGIN');
      await blocker.query(`LOCK ${blocked} IN SHARE MODE`);
      await pass(id, HOUR);
      // The status of the sensor is set or lifted before, in the same transaction.
      await eventually(
        async () =>
          (
            await pool.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`,
              [`%${statement}%`],
            )
          ).rowCount,
        (rows) => rows === 1,
      );
      service.process.kill('SIGKILL');
      await service.ended;
      await blocker.query('ROLLBACK');
      blocker.release();
      await eventually(
        async () =>
          (
            await pool.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE $1 AND state <> 'idle' AND pid <> pg_backend_pid()`,
              [`%${statement}%`],
            )
          ).rowCount,
        (rows) => rows === 0,
      );
    };
    await kill(doomed, 'incidents', 'insert into "incidents"');
    expect([await stateOf(id), await statusOf(sensorId)]).toEqual(['APPROVED', 'ONLINE']);
    expect(await effectsOf(id)).toEqual({ windows: 0, entries: 0, messages: 0 });

    const next = await start();
    await untilState(id, 'ACTIVE');
    expect(await statusOf(sensorId)).toBe('MAINTENANCE');
    expect(await effectsOf(id)).toEqual({ windows: 1, entries: 1, messages: 1 });

    await kill(next, 'works_windows', 'update "works_windows"');
    expect([await stateOf(id), await statusOf(sensorId)]).toEqual(['ACTIVE', 'MAINTENANCE']);
    const overrides = { timings };
    await using _one = await startGantry({ config: { DATABASE_URL: database.url }, overrides });
    await using _other = await startGantry({ config: { DATABASE_URL: database.url }, overrides });
    await untilState(id, 'ENDED');
    expect(await statusOf(sensorId)).toBe('ONLINE');
    expect(await effectsOf(id)).toEqual({ windows: 1, entries: 2, messages: 2 });
  });

  it('after a stop say which they missed, and end late what had started', async () => {
    const first = await start();
    const [started, missed] = [await plan(first), await plan(first)];
    await pass(started.id, HOUR);
    await untilState(started.id, 'ACTIVE');
    expect(await first.stop()).toBe(0);
    await pass(started.id, HOUR);
    await pass(missed.id, 3 * HOUR);
    const second = await start();
    await untilState(started.id, 'ENDED');
    await untilState(missed.id, 'ENDED');
    const states = async (id: string) =>
      (await pool.query('SELECT state FROM works_windows WHERE works_id = $1', [id])).rows;
    expect(await states(started.id)).toEqual([{ state: 'ENDED' }]);
    expect(await states(missed.id)).toEqual([{ state: 'MISSED' }]);
    expect(await statusOf(missed.sensorId)).toBe('ONLINE');
    expect(await effectsOf(missed.id)).toEqual({ windows: 1, entries: 0, messages: 1 });
    expect(await second.stop()).toBe(0);
  });
});

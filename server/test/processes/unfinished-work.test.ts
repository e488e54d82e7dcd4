import { mkdtempSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { createTestDatabase, eventually, startGantry } from '../harness.ts';
import { storeViolations, VIOLATIONS } from '../march-violations.ts';
import { isLong } from '../test-length.ts';
import { type ServiceProcess, type StartedProcess, spawnService, untilItServes } from './service-process.ts';

// What a killed process leaves to others.

/** The rows of a report that is still being generated when its process is killed, even on a fast machine. */
const MANY = 100_000;

describe('a process that is killed before the follow-up of an event', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-follow-up-'));
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.drop();
    await rm(scratch, { recursive: true, force: true });
  });

  it('leaves it to the others, who do it once', async () => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(scratch, 'data') };
    const pool = createPool(database.url, 2, () => undefined);
    const doomed = await untilItServes(spawnService(scratch, settings));
    const apiKey = await doomed.registerSensor();
    const blocker = await pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK incidents IN ACCESS EXCLUSIVE MODE');
    const { eventId } = await doomed.ok('events.ingest', {
      apiKey,
      eventType: 'INCIDENT',
      description: 'Stopped vehicle',
    });
    doomed.process.kill('SIGKILL');
    await doomed.ended;
    await blocker.query('COMMIT');
    blocker.release();
    // As if it had had its time for the follow-up.
    await pool.query('UPDATE events_to_follow_up SET retry_at = now()');
    const overrides = { timings: { sweepFollowUpsMs: 200 } };
    const config = { DATABASE_URL: database.url };
    await using _one = await startGantry({ config, overrides });
    await using _other = await startGantry({ config, overrides });
    const events = () => pool.query<{ event_id: string }>('SELECT event_id FROM incident_events');
    await eventually(
      async () => (await events()).rowCount,
      (rows) => rows === 1,
    );
    expect((await events()).rows).toEqual([{ event_id: eventId }]);
    expect((await pool.query('SELECT 1 FROM incidents')).rowCount).toBe(1);
    expect((await pool.query('SELECT 1 FROM events_to_follow_up')).rowCount).toBe(0);
    await pool.end();
  });
});

// It must have so many rows that it is not complete before the process is killed: long runs only.
describe.runIf(isLong)('a report whose process is killed', () => {
  const running = new Set<StartedProcess>();
  let folder: string;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-report-crash-'));
    database = await createTestDatabase();
  });
  afterAll(async () => {
    for (const { process } of running) process.kill('SIGKILL');
    await Promise.all([...running].map(({ ended }) => ended));
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const start = (): Promise<ServiceProcess> => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data') };
    const started = spawnService(folder, settings);
    running.add(started);
    return untilItServes(started);
  };

  it('is started again and completed', async () => {
    const first = await start();
    const pool = createPool(database.url, 2, () => undefined);
    await storeViolations(pool, MANY);
    await pool.end();
    const token = await first.tokenFor('ADMIN');
    const { id } = await first.ok('reports.generate', VIOLATIONS, { token });
    const ask = (service: ServiceProcess) => service.ok('reports.getById', { id }, { token });
    await eventually(
      () => ask(first),
      ({ rowCount }) => rowCount > 0,
    );
    first.process.kill('SIGKILL');
    await first.ended;
    expect(await readdir(join(folder, 'data', 'reports'))).toEqual([expect.stringMatching(/\.part$/)]);

    const second = await start();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${second.url}/reports/${id}/file`, { headers })).status).toBe(409);
    const report = await eventually(
      () => ask(second),
      ({ status }) => status === 'DONE',
      90_000,
    );
    expect(report.rowCount).toBe(MANY);
    const response = await fetch(`${second.url}${report.url}`, { headers });
    let rows = 0;
    const reader = parse({ columns: true, bom: true, comment: '#', comment_no_infix: true });
    reader.on('data', () => rows++);
    for await (const chunk of response.body ?? []) reader.write(chunk);
    reader.end();
    await new Promise((resolve) => reader.once('end', resolve));
    expect(rows).toBe(MANY);
    expect(await second.stop()).toBe(0);
  }, 180_000);
});

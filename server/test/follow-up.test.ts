import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventRow } from '../src/ingest/enrich.ts';
import { startFollowUp } from '../src/ingest/follow-up.ts';
import { createTestDatabase, eventually, type Gantry, startGantry } from './harness.ts';
import { spawnService, untilItServes } from './service-process.ts';

const report = { eventType: 'INCIDENT', description: 'Stopped vehicle' };

describe('what follows from an event', () => {
  let gantry: Gantry;
  let apiKey: string;
  beforeAll(async () => {
    gantry = await startGantry();
    apiKey = await gantry.registerSensor();
  });
  afterAll(() => gantry.stop());

  const count = async (what: string): Promise<number> =>
    (await gantry.pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)).rows[0]?.n ?? 0;

  it('is there once the device is answered, and nothing is left to do', async () => {
    await gantry.ok('events.ingest', { apiKey, ...report });
    expect(await count('incidents')).toBe(1);
    expect(await count('events_to_follow_up')).toBe(0);
  });

  it('does not keep other events of the group, nor the device for long, when it has to wait', async () => {
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK incidents IN ACCESS EXCLUSIVE MODE');
    const started = performance.now();
    const answered: string[] = [];
    const incident = gantry.ok('events.ingest', { apiKey, ...report }).then(() => answered.push('incident'));
    await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    answered.push('vehicle');
    await incident;
    expect(answered).toEqual(['vehicle', 'incident']);
    expect(performance.now() - started).toBeLessThan(10_000);
    await blocker.query('COMMIT');
    blocker.release();
    await eventually(
      () => count('events_to_follow_up'),
      (left) => left === 0,
    );
    expect(await count('incident_events')).toBe(2);
  });

  it('happens once, though the event is sent again and again', async () => {
    const before = await count('incident_events');
    const retried = { ...report, idempotencyKey: randomUUID(), timestamp: new Date().toISOString() };
    await Promise.all(Array.from({ length: 8 }, () => gantry.ok('events.ingest', { apiKey, ...retried })));
    expect(await count('incident_events')).toBe(before + 1);
  });

  it('that the database refuses keeps nothing else back', async () => {
    const done: string[] = [];
    const ids = Array.from({ length: 10 }, () => randomUUID());
    await gantry.pool.query('INSERT INTO events_to_follow_up (event_id) SELECT unnest($1::uuid[])', [ids]);
    const followUp = startFollowUp({
      db: gantry.app.context.db,
      log: pino({ level: 'silent' }),
      bringAbout: async (tx, rows) => {
        if (rows.some(({ id }) => id === ids[6])) await tx.execute(`SELECT 'none'::uuid`);
        done.push(...rows.map(({ id }) => id));
      },
    });
    await followUp.add(ids.map((id) => ({ id }) as EventRow));
    await followUp[Symbol.asyncDispose]();
    expect(done.sort()).toEqual(ids.filter((_, n) => n !== 6).sort());
    expect(await count('events_to_follow_up')).toBe(0);
  });
});

describe('a process that is killed before it followed an event up', () => {
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
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    const doomed = await untilItServes(spawnService(scratch, settings));
    const apiKey = await doomed.registerSensor();
    const blocker = await pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK incidents IN ACCESS EXCLUSIVE MODE');
    const { eventId } = await doomed.ok('events.ingest', { apiKey, ...report });
    doomed.process.kill('SIGKILL');
    await doomed.ended;
    await blocker.query('COMMIT');
    blocker.release();
    const services = await Promise.all([1, 2].map(() => untilItServes(spawnService(scratch, settings))));
    const events = () => pool.query<{ event_id: string }>('SELECT event_id FROM incident_events');
    await eventually(
      async () => (await events()).rowCount,
      (rows) => rows === 1,
      20_000,
    );
    expect((await events()).rows).toEqual([{ event_id: eventId }]);
    expect((await pool.query('SELECT 1 FROM incidents')).rowCount).toBe(1);
    expect((await pool.query('SELECT 1 FROM events_to_follow_up')).rowCount).toBe(0);
    await Promise.all(services.map((service) => service.stop()));
    await pool.end();
  });
});

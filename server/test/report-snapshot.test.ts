import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPartitions } from '../src/events/partitions.ts';
import { createPool } from '../src/platform/database/pool.ts';
import { inLongSnapshot } from '../src/platform/database/transaction.ts';
import { eventually, sharedGantry } from './harness.ts';
import { readXlsx } from './report-reading.ts';

// The program that writes reports is built before all tests (database-server.ts).
const gantry = await sharedGantry();
beforeAll(async () => {
  await createPartitions(gantry.pool, Date.now).ensure(Date.UTC(2026, 2, 5));
});

/** Inserts violations into March 2026 directly: one event per second. */
const fill = (pool: pg.Pool, from: number, until: number) =>
  pool.query(
    `INSERT INTO events (id, event_type, plate, plate_key)
     SELECT (lpad(to_hex($1::bigint + n * 1000), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid,
       'TRAFFIC_VIOLATION', 'W ' || n, 'W' || n FROM generate_series($2::int, $3::int) AS n`,
    [Date.UTC(2026, 2, 2), from, until],
  );

const countEvents = (db: { execute: (text: string) => Promise<{ rows: unknown[] }> }) =>
  db.execute('SELECT count(*)::int AS n FROM events').then(({ rows }) => (rows[0] as { n: number }).n);

describe('a snapshot', () => {
  const name = 'snapshot of a test';
  const open = () =>
    createPool(gantry.app.context.pool.options.connectionString ?? '', 1, () => undefined, { name });

  it('is of one moment, holds no lock between its statements and cannot write', async () => {
    const pool = open();
    await inLongSnapshot(pool, async (db) => {
      const before = await countEvents(db);
      await fill(gantry.pool, 200_001, 200_010);
      expect(await Promise.all([countEvents(db), countEvents(db)])).toEqual([before, before]);
      const { rows } = await gantry.pool.query(
        `SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE application_name = $1 AND locktype = 'relation'
           AND relation IN (SELECT relid FROM pg_partition_tree('events'))`,
        [name],
      );
      expect(rows[0].n).toBe(0);
      await expect(db.execute('DELETE FROM events')).rejects.toThrow();
    });
    await pool.end();
  });

  it('leaves no connection behind, even when the work fails', async () => {
    const pool = open();
    await expect(inLongSnapshot(pool, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(pool.totalCount).toBe(0);
    expect(await inLongSnapshot(pool, countEvents)).toBeGreaterThan(0);
    await pool.end();
  });
});

describe('a report that is generated while events arrive', () => {
  it('has as many rows as its figures count', async () => {
    await fill(gantry.pool, 1, 20_000);
    const token = await gantry.tokenFor('ADMIN');
    const range = { startDate: '2026-03-01', endDate: '2026-03-31' };
    const { id } = await gantry.ok(
      'reports.generate',
      { kind: 'VIOLATIONS', format: 'XLSX', ...range },
      { token },
    );
    let made = false;
    const done = eventually(
      () => gantry.ok('reports.getById', { id }, { token }),
      ({ status }) => !['QUEUED', 'RUNNING'].includes(status),
      60_000,
    ).finally(() => {
      made = true;
    });
    for (let n = 20_001; !made && n < 60_000; n += 20) await fill(gantry.pool, n, n + 19);
    const { rowCount, url, status } = await done;
    expect(status).toBe('DONE');
    const response = await fetch(`${gantry.url}${url}`, { headers: { authorization: `Bearer ${token}` } });
    const [about = []] = readXlsx(new Uint8Array(await response.arrayBuffer()));
    const facts = Object.fromEntries(about.map(({ A, B }) => [A?.value ?? '', B?.value]));
    expect([facts.Rows, facts.Violations]).toEqual([String(rowCount), String(rowCount)]);
  }, 120_000);
});

import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();

/** Calls `work` while the server refuses connections, because the database has been renamed. */
const withoutDatabase = async (work: () => Promise<unknown>): Promise<void> => {
  const name = new URL(gantry.pool.options.connectionString ?? '').pathname.slice(1);
  const server = new pg.Client({ connectionString: inject('databaseServer') });
  await server.connect();
  const rename = async (from: string, to: string): Promise<void> => {
    await server.query(`ALTER DATABASE ${from} ALLOW_CONNECTIONS false`);
    await server.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [
      from,
    ]);
    await server.query(`ALTER DATABASE ${from} RENAME TO ${to}`);
    await server.query(`ALTER DATABASE ${to} ALLOW_CONNECTIONS true`);
  };
  await rename(name, `${name}_away`);
  try {
    await work();
  } finally {
    await rename(`${name}_away`, name);
    await server.end();
  }
};

describe('a database server that refuses connections', () => {
  it('is an outage, after which devices and users succeed', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const ask = async () => (await gantry.call('auth.me', undefined, { token })).status;
    const report = async () =>
      (await gantry.call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).status;
    expect([await ask(), await report()]).toEqual([200, 200]);
    await withoutDatabase(async () => {
      // These calls may use connections that were closed while idle, so their answers are not checked.
      await Promise.all([ask(), report()]);
      expect([await ask(), await report()]).toEqual([503, 503]);
    });
    await eventually(ask, (status) => status === 200);
    await eventually(report, (status) => status === 200);
  });
});

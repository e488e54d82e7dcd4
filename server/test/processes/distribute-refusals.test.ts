import { describe, expect, it } from 'vitest';
import { describeSchema } from '../../scripts/generate/describe-schema.ts';
import { locks } from '../../src/platform/database/locks.ts';
import { createPool } from '../../src/platform/database/pool.ts';
import { PretendedCluster } from '../citus-stand-in.ts';
import { createTestDatabase, eventually } from '../harness.ts';
import { runDistribution as run, runCommand } from './distribute-command.ts';

describe('distributing without a cluster', () => {
  it('is refused on a plain PostgreSQL, with what is missing, and changes nothing', async () => {
    const database = await createTestDatabase();
    const pool = createPool(database.url, 2, () => undefined);
    const before = await describeSchema(pool);
    const { code, output } = await runCommand({ DATABASE_URL: database.url });
    expect(code).toBe(1);
    expect(output).toContain('The citus extension is not installed');
    for (const step of ['shared_preload_libraries', 'CREATE EXTENSION citus', 'citus_set_coordinator_host'])
      expect(output).toContain(step);
    expect(output).not.toContain('    at ');
    expect(await describeSchema(pool)).toBe(before);
    await pool.end();
    await database.drop();
  });

  it('is refused for the embedded database, without starting it', async () => {
    const { code, output } = await runCommand({});
    expect(code).toBe(1);
    expect(output).toBe(
      'Not distributed. The embedded database is one server and cannot be distributed: set DATABASE_URL to the coordinator of a Citus cluster.\n',
    );
  });

  it('reports that the database is unreachable', async () => {
    const { code, output } = await runCommand({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    expect(code).toBe(1);
    expect(output).toMatch(/cannot be reached\n {2}because: connect ECONNREFUSED/);
  });

  it.each(['0', '-1', '2.5', 'many', '64001'])('is refused for %s shards', async (shards) => {
    const { code, output } = await runCommand({}, `--shards=${shards}`);
    expect(code).toBe(2);
    expect(output).toContain('Use a whole number from 1 to 64000.');
  });

  it('is refused for ingestion on every node, with the reason', async () => {
    const { code, output } = await runCommand({}, '--ingest-on-every-node');
    expect(code).toBe(1);
    expect(output).toContain('Citus makes none of partitioned tables');
  });
});

describe('distributing to a cluster that is not ready', () => {
  it.each([
    [
      'no node holds shards',
      'UPDATE pg_dist_node SET shouldhaveshards = false',
      /no node that holds shards.*citus_add_node/,
    ],
    [
      'the nodes are away',
      'UPDATE pg_dist_node SET isactive = false WHERE groupid > 0',
      /no node that holds shards/,
    ],
    [
      'a node does not answer',
      `UPDATE pg_dist_node SET nodename = 'silent' WHERE groupid = 2`,
      /The node silent:5432 does not answer the coordinator as the role \S+ \(failed to connect\): start it, or.*pg_dist_authinfo/,
    ],
    [
      'the coordinator is unknown',
      'DELETE FROM pg_dist_node WHERE groupid = 0',
      /citus_set_coordinator_host/,
    ],
    [
      'Citus is too old',
      `CREATE OR REPLACE FUNCTION citus_stand_in.citus_version() RETURNS text LANGUAGE sql AS $$ SELECT 'Citus 12.0.1 on' $$`,
      /Citus is too old: this is "Citus 12\.0\.1 on", and 12\.1 or newer/,
    ],
    ['the schema is missing', 'DROP FUNCTION event_hour(uuid)', /start the service on it once/],
    ['the schema is an older one', 'DROP FUNCTION gantry_fold(text) CASCADE', /start the service on it once/],
  ])('is refused when %s', async (_, change, message) => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query(change);
    await expect(run(cluster)).rejects.toThrow(message);
    expect(await cluster.calls()).toEqual([]);
  });

  it('is refused while a service is connected', async () => {
    await using cluster = await PretendedCluster.start(2);
    const service = createPool(cluster.url, 2, () => undefined);
    await service.query('SELECT 1');
    await expect(run(cluster)).rejects.toThrow(/A service is running.*\(connections: 1\)/);
    expect(await cluster.calls()).toEqual([]);
    await service.end();
  });

  it('waits for a migration in progress, as a migration would', async () => {
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query('SELECT pg_advisory_lock($1)', [locks.migration]);
    const running = run(cluster);
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted AND objid = ${locks.migration}`;
    await eventually(
      () => cluster.client.query(waiting),
      ({ rowCount }) => rowCount === 1,
    );
    expect(await cluster.calls()).toEqual([]);
    await cluster.client.query('SELECT pg_advisory_unlock($1)', [locks.migration]);
    await running;
    expect(await cluster.calls()).toHaveLength(5);
  });
});

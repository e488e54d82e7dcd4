import { describe, expect, it } from 'vitest';
import { describeSchema } from '../../scripts/generate/describe-schema.ts';
import { shardsFor } from '../../src/platform/database/distribute/steps.ts';
import { createPool } from '../../src/platform/database/pool.ts';
import { PretendedCluster } from '../citus-stand-in.ts';
import { runDistribution as run, runCommand } from './distribute-command.ts';

const STORE_EVENTS = `
  CREATE TABLE events_all PARTITION OF events DEFAULT;
  INSERT INTO events (id, event_type) SELECT gen_random_uuid(), 'VEHICLE_DETECTION' FROM generate_series(1, 250);
  INSERT INTO event_totals (hour, event_type, violation_type, vehicle_type, severity, n)
    VALUES ('2026-01-01', 'VEHICLE_DETECTION', '', '', 0, 250)`;

const withShards = (shards: number): string[] => [
  "SELECT create_distributed_function('event_time(uuid)')",
  "SELECT create_distributed_function('event_hour(uuid)')",
  "SELECT create_distributed_function('gantry_fold(text)')",
  "SELECT create_distributed_function('passage_events(uuid,text,timestamp with time zone,timestamp with time zone)')",
  `SELECT create_distributed_table('events', 'id', shard_count => ${shards}, colocate_with => 'none')`,
];
const AND_THEN = "SELECT truncate_local_data_after_distributing_table('events')";

const schemaOf = async ({ url }: PretendedCluster): Promise<string> => {
  const pool = createPool(url, 1, () => undefined);
  const schema = await describeSchema(pool);
  await pool.end();
  return schema;
};

describe('distributing', () => {
  it.each([
    [1, 2],
    [2, 2],
    [5, 5],
  ])('on %i nodes creates functions, tables and then events in %i shards', async (nodes, shards) => {
    await using cluster = await PretendedCluster.start(nodes);
    const output = await run(cluster);
    expect(await cluster.calls()).toEqual(withShards(shards));
    expect(output).toContain(`0 events will be moved, into ${shards} shards on ${nodes} node`);
    expect(output).toContain(`events are in ${shards} shards.`);
  });

  it('counts a coordinator that holds shards as a node', async () => {
    expect([1, 2, 3, 5].map(shardsFor)).toEqual([2, 2, 3, 5]);
    await using cluster = await PretendedCluster.start(2);
    await cluster.client.query('UPDATE pg_dist_node SET shouldhaveshards = true');
    await run(cluster);
    expect(await cluster.calls()).toEqual(withShards(3));
  });

  it('uses the given number of shards', async () => {
    await using cluster = await PretendedCluster.start(1);
    await run(cluster, { shards: 12 });
    expect(await cluster.calls()).toEqual(withShards(12));
  });

  it('leaves sensors, locations and the history of their status as they are', async () => {
    await using cluster = await PretendedCluster.start(1);
    const before = await schemaOf(cluster);
    await run(cluster);
    expect(await schemaOf(cluster)).toBe(before);
  });

  it('restores a database that was distributed with reference tables', async () => {
    await using cluster = await PretendedCluster.start(1);
    const { client } = cluster;
    const before = await schemaOf(cluster);
    await client.query(`INSERT INTO pg_dist_partition VALUES ('locations', 'n', 't'), ('sensors', 'n', 't')`);
    await run(cluster);
    expect(await cluster.calls()).toEqual([
      ...withShards(2).slice(0, -1),
      `SELECT undistribute_table('locations', cascade_via_foreign_keys => true)`,
      ...withShards(2).slice(-1),
    ]);
    expect(await schemaOf(cluster)).toBe(before);
  });

  it('reports how many events it moves, and then frees their space', async () => {
    await using cluster = await PretendedCluster.start(1);
    await cluster.client.query(STORE_EVENTS);
    expect(await run(cluster)).toContain('250 events will be moved');
    expect(await cluster.calls()).toEqual([...withShards(2), AND_THEN]);
  });

  it('keeps the events on the coordinator when the nodes do not hold all of them', async () => {
    await using cluster = await PretendedCluster.start(1);
    await cluster.client.query(STORE_EVENTS);
    await cluster.client.query(`UPDATE event_totals SET n = 251`);
    await expect(run(cluster)).rejects.toThrow(/do not hold as many events as event_totals counts/);
    expect(await cluster.calls()).toEqual(withShards(2));
    const { rows } = await cluster.client.query('SELECT count(*)::int AS n FROM events');
    expect(rows).toEqual([{ n: 250 }]);
  });

  it('finds everything in place the second time, whatever number of shards is given', async () => {
    await using cluster = await PretendedCluster.start(1);
    await cluster.client.query(STORE_EVENTS);
    await run(cluster);
    const calls = await cluster.calls();
    const output = await run(cluster, { shards: 8 });
    expect(output).toBe(
      'Events are in 2 shards already; --shards 8 does not change that.\nEverything is in place: events are in 2 shards. Nothing to do.',
    );
    expect(await cluster.calls()).toEqual(calls);
  });

  it('continues where an earlier run failed', async () => {
    await using cluster = await PretendedCluster.start(2);
    const { client } = cluster;
    await client.query(STORE_EVENTS);
    await client.query(`ALTER FUNCTION create_distributed_table RENAME TO hidden;
      CREATE FUNCTION citus_stand_in.create_distributed_table(regclass, text, shard_count int, colocate_with text)
      RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'node 2 is away'; END $$`);
    await expect(run(cluster)).rejects.toMatchObject({
      message: expect.stringContaining(
        'This step failed and changed nothing: events, distributed by hash of id',
      ),
      cause: expect.objectContaining({ message: 'node 2 is away' }),
    });
    expect(await cluster.calls()).toEqual(withShards(2).slice(0, -1));
    await client.query(
      `DROP FUNCTION create_distributed_table; ALTER FUNCTION hidden RENAME TO create_distributed_table`,
    );
    expect(await run(cluster)).toContain('1 of 2: events, distributed');
    expect(await cluster.calls()).toEqual([...withShards(2), AND_THEN]);
  });

  it('prints in a dry run exactly what a run sends, as SQL, and runs nothing', async () => {
    await using cluster = await PretendedCluster.start(5);
    await cluster.client.query(STORE_EVENTS);
    const printed = await runCommand({ DATABASE_URL: cluster.url }, '--dry-run');
    expect(printed.code).toBe(0);
    expect(await cluster.calls()).toEqual([]);
    const statements = printed.output.split('\n').filter((line) => line !== '' && !line.startsWith('--'));

    const real = await runCommand({ DATABASE_URL: cluster.url });
    expect(real.code).toBe(0);
    const sent = real.output
      .split('\n')
      .filter((line) => /^ {4}.*;$/.test(line))
      .map((line) => line.trim());
    expect(statements).toEqual(sent);
    expect(statements).toEqual((await cluster.calls()).map((call) => `${call};`));
  });
});

import pg from 'pg';
import { createTestDatabase } from './harness.ts';

// A stand-in for the parts of Citus that the distribution uses: functions of the same names that record the
// statements that call them, and tables with the contents that Citus would have.

const STAND_IN = `
  CREATE SCHEMA citus_stand_in;
  SET search_path = citus_stand_in, public;
  CREATE TABLE calls (id int GENERATED ALWAYS AS IDENTITY, statement text NOT NULL);
  CREATE TABLE pg_dist_node (nodeid int, groupid int, nodename text, nodeport int DEFAULT 5432, noderole text DEFAULT 'primary',
    isactive boolean DEFAULT true, shouldhaveshards boolean);
  CREATE TABLE pg_dist_object (classid oid, objid oid);
  CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char");
  CREATE TABLE pg_dist_shard (logicalrelid regclass, shardid int);
  CREATE FUNCTION citus_version() RETURNS text LANGUAGE sql AS $$ SELECT 'Citus 14.0.0 on a stand-in' $$;

  CREATE FUNCTION create_distributed_function(function_name regprocedure) RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls (statement) VALUES (current_query());
    INSERT INTO pg_dist_object VALUES ('pg_proc'::regclass, function_name) $$;

  -- A node whose name begins with "silent" does not answer.
  CREATE FUNCTION run_command_on_all_nodes(command text)
  RETURNS TABLE (nodeid int, success boolean, result text) LANGUAGE sql AS $$
    SELECT nodeid, nodename NOT LIKE 'silent%', CASE WHEN nodename LIKE 'silent%' THEN 'failed to connect'
      WHEN command LIKE '%pg_prepared_xacts%' THEN '' ELSE '1000' END
    FROM pg_dist_node WHERE isactive $$;

  CREATE FUNCTION citus_total_relation_size(relation regclass, fail_on_error boolean)
  RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'events'::regclass) THEN
      RAISE EXCEPTION 'cannot calculate the size because relation % is not distributed', relation;
    END IF;
    RETURN 4711;
  END $$;

  CREATE FUNCTION undistribute_table(table_name regclass, cascade_via_foreign_keys boolean)
  RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls (statement) VALUES (current_query());
    DELETE FROM pg_dist_partition WHERE partmethod = 'n' $$;

  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL)
  RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls (statement) VALUES (current_query());
    INSERT INTO pg_dist_partition VALUES (table_name, 'h', 's');
    INSERT INTO pg_dist_shard SELECT table_name, n FROM generate_series(1, shard_count) AS n $$;

  CREATE FUNCTION truncate_local_data_after_distributing_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO calls (statement) VALUES (current_query());
    EXECUTE format('TRUNCATE %s', table_name);
  END $$`;

/** A database of its own that acts as the coordinator of a cluster. */
export class PretendedCluster implements AsyncDisposable {
  readonly url: string;
  readonly client: pg.Client;
  readonly #drop: () => Promise<void>;

  private constructor(url: string, client: pg.Client, drop: () => Promise<void>) {
    this.url = url;
    this.client = client;
    this.#drop = drop;
  }

  /** @param workers nodes that hold shards, besides the coordinator, which holds none */
  static async start(workers: number): Promise<PretendedCluster> {
    const { url, drop } = await createTestDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(STAND_IN);
    const name = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`ALTER DATABASE ${name} SET search_path = public, citus_stand_in`);
    await client.query(`INSERT INTO pg_dist_node (nodeid, groupid, nodename, shouldhaveshards)
      SELECT n, n, 'node ' || n, n > 0 FROM generate_series(0, ${workers}) AS n`);
    return new PretendedCluster(url, client, drop);
  }

  /** The calls of Citus functions, in order. */
  async calls(): Promise<string[]> {
    const { rows } = await this.client.query<{ statement: string }>(
      'SELECT statement FROM calls ORDER BY id',
    );
    return rows.map(({ statement }) => statement);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end();
    await this.#drop();
  }
}

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually } from '../harness.ts';

/** The addresses of the servers, the coordinator first, as a superuser; empty when there is no cluster to test on. */
export const CITUS_SERVERS = (process.env.CITUS_SERVERS ?? '').split(/[\s,]+/).filter((url) => url !== '');

/**
 * A command that stops and starts servers: it is called with `kill` or `start` and the number of the server, from 0.
 * Without it, the database of a node is closed to connections instead.
 */
const { CITUS_CONTROL } = process.env;

/** A database of its own on every server, which form a cluster. */
export interface TestCluster extends AsyncDisposable {
  /** The coordinator's database, as an ordinary role that owns it. */
  readonly url: string;
  /** Runs a statement in the database of a server, as a superuser. */
  ask<Row extends pg.QueryResultRow>(server: number, statement: string): Promise<Row[]>;
  /** Kills a server, whatever it is doing. */
  kill(server: number): Promise<void>;
  /** Starts a server again, and waits until it answers. */
  start(server: number): Promise<void>;
  /**
   * Lets further servers hold shards (or the coordinator, if there are none), splits each shard into two, and moves
   * some to them.
   */
  rebalance(): Promise<void>;
}

/** The statements that split each shard of events into two on its node, as in docs/reference.md. */
const SPLITS = `
  SELECT format('SELECT citus_split_shard_by_split_points(%s, ARRAY[''%s''], ARRAY[%s, %s], ''block_writes'')',
    shardid, (shardminvalue::bigint + shardmaxvalue::bigint) / 2, nodeid, nodeid) AS split
  FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
  WHERE logicalrelid = 'events'::regclass AND noderole = 'primary'`;

const query = async <Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
};

const inDatabase = (server: string, database: string): string => {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
};

/** Creates the databases and the role, and joins the first three servers: a coordinator without shards, and two workers. */
export const startTestCluster = async (): Promise<TestCluster> => {
  const name = `gantry_test_${randomUUID().replaceAll('-', '')}`;
  const password = randomUUID();
  const servers = CITUS_SERVERS;
  const ask = <Row extends pg.QueryResultRow>(server: number, statement: string): Promise<Row[]> =>
    query<Row>(inDatabase(servers[server] ?? '', name), statement);
  const onServer = (server: number, statement: string) => query(servers[server] ?? '', statement);
  const control = (what: string, server: number) =>
    promisify(execFile)('/bin/sh', ['-c', `${CITUS_CONTROL} ${what} ${server}`]);

  for (const server of servers.keys()) {
    await onServer(server, `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
    await onServer(server, `CREATE DATABASE ${name} OWNER ${name}`);
    await ask(server, 'CREATE EXTENSION citus');
    await ask(server, `INSERT INTO pg_dist_authinfo VALUES (0, '${name}', 'password=${password}')`);
  }
  const addressOf = (server: number): string => {
    const { hostname, port } = new URL(servers[server] ?? '');
    return `'${hostname}', ${port || 5432}`;
  };
  await ask(0, `SELECT citus_set_coordinator_host(${addressOf(0)})`);
  for (const worker of [1, 2]) await ask(0, `SELECT citus_add_node(${addressOf(worker)})`);

  const url = new URL(inDatabase(servers[0] ?? '', name));
  url.username = name;
  url.password = password;
  return {
    url: url.href,
    ask,
    async kill(server) {
      if (CITUS_CONTROL) {
        await control('kill', server);
        return;
      }
      await onServer(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await onServer(
        server,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
    },
    async start(server) {
      if (CITUS_CONTROL) await control('start', server);
      else await onServer(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await eventually(
        () =>
          ask(server, 'SELECT 1').then(
            () => true,
            () => false,
          ),
        (answers) => answers,
      );
    },
    async rebalance() {
      // With only three servers, the coordinator becomes the third node that holds shards.
      if (servers.length > 3) {
        for (const server of [...servers.keys()].slice(3))
          await ask(0, `SELECT citus_add_node(${addressOf(server)})`);
      } else {
        await ask(0, `SELECT citus_set_node_property(${addressOf(0)}, 'shouldhaveshards', true)`);
      }
      for (const { split } of await ask<{ split: string }>(0, SPLITS)) await ask(0, split);
      await ask(0, `SELECT rebalance_table_shards('events', shard_transfer_mode => 'block_writes')`);
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers.keys()) {
        await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
        await onServer(server, `DROP ROLE ${name}`);
      }
    },
  };
};

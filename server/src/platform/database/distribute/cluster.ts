import type { Client } from 'pg';

/** The reason why a database cannot be distributed, with what to do about it. */
export class DistributionRefused extends Error {
  override readonly name = 'DistributionRefused';
}

/**
 * The oldest supported version of Citus. It was the first whose create_reference_table accepts tables with foreign keys to
 * others, which earlier forms of the distributed schema required.
 */
const OLDEST_CITUS = { major: 12, minor: 1 };

const HOW_TO_MAKE_A_CLUSTER = `
  As a superuser:
  1. On every node: install Citus ${OLDEST_CITUS.major}.${OLDEST_CITUS.minor} or newer, set shared_preload_libraries = 'citus', restart PostgreSQL.
  2. On every node, in the database of this name:  CREATE EXTENSION citus;
     If nodes do not trust each other:  INSERT INTO pg_dist_authinfo VALUES (0, '<role of the service>', 'password=<its password>');
  3. On this server, the coordinator:  SELECT citus_set_coordinator_host('<name of this server>', 5432);
  4. On this server, for each worker:  SELECT citus_add_node('<name of the worker>', 5432);`;

interface NodeRow {
  isCoordinator: boolean;
  holdsShards: boolean;
}

/**
 * The number of nodes of the cluster that hold shards.
 * @throws DistributionRefused when there is no such cluster
 */
export async function countNodes(client: Client): Promise<number> {
  await refuseWithoutCitus(client);
  await refuseOldCitus(client);
  await refuseUnansweringNodes(client);
  const { rows } = await client.query<NodeRow>(
    `SELECT groupid = 0 AS "isCoordinator", shouldhaveshards AS "holdsShards"
    FROM pg_dist_node WHERE isactive AND noderole = 'primary'`,
  );
  if (!rows.some(({ isCoordinator }) => isCoordinator)) {
    throw new DistributionRefused(
      "The cluster does not know its coordinator, which keeps the local tables. On this server:  SELECT citus_set_coordinator_host('<name of this server>', 5432);",
    );
  }
  const nodes = rows.filter(({ holdsShards }) => holdsShards).length;
  if (nodes > 0) return nodes;
  throw new DistributionRefused(
    "The cluster has no node that holds shards. On this server, for each worker:  SELECT citus_add_node('<name of the worker>', 5432);",
  );
}

/**
 * @throws DistributionRefused when the schema does not exist, is older than the steps require, or belongs to another
 * role
 */
export async function refuseWithoutSchema(client: Client): Promise<void> {
  const { rows } = await client.query<{ present: boolean; role: string; owner: string | null }>(
    `SELECT to_regclass('events') IS NOT NULL AND to_regprocedure('event_hour(uuid)') IS NOT NULL
      AND to_regprocedure('gantry_fold(text)') IS NOT NULL AS present, current_user AS role,
      (SELECT pg_get_userbyid(relowner) FROM pg_class
        WHERE oid = to_regclass('events') AND NOT pg_has_role(relowner, 'USAGE')) AS owner`,
  );
  const { present = false, role = '', owner = null } = rows[0] ?? {};
  if (!present) {
    throw new DistributionRefused(
      'This database does not have the schema of this version yet: start the service on it once, stop it, and run this again',
    );
  }
  if (owner !== null) {
    throw new DistributionRefused(
      `The role ${role} may not distribute the tables, which belong to the role ${owner}: name that role in DATABASE_URL`,
    );
  }
}

/**
 * Makes sure that no service runs. While events are moved they cannot be written, for longer than a request may wait.
 * @throws DistributionRefused when a service is connected
 */
export async function refuseWhileServed(client: Client): Promise<void> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'gantry%'
      AND application_name <> 'gantry distribution'`,
  );
  const connections = rows[0]?.n ?? 0;
  if (connections === 0) return;
  throw new DistributionRefused(
    `A service is running on this database (connections: ${connections}). Stop it first: events cannot be written while they are moved`,
  );
}

async function refuseWithoutCitus(client: Client): Promise<void> {
  // Checks the function instead of pg_extension, because this role must be able to see it.
  const { rows } = await client.query<{ present: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_proc
      WHERE proname = 'create_distributed_table' AND pg_function_is_visible(oid)) AS present`,
  );
  if (rows[0]?.present) return;
  throw new DistributionRefused(
    `The citus extension is not installed: this is a plain PostgreSQL server, on which Gantry runs unchanged. To make it a cluster:${HOW_TO_MAKE_A_CLUSTER}`,
  );
}

async function refuseOldCitus(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string }>('SELECT citus_version() AS version');
  const version = rows[0]?.version ?? '';
  const [, major, minor] = /^Citus (\d+)\.(\d+)/.exec(version) ?? [];
  const isNewEnough =
    Number(major) > OLDEST_CITUS.major ||
    (Number(major) === OLDEST_CITUS.major && Number(minor) >= OLDEST_CITUS.minor);
  if (isNewEnough) return;
  throw new DistributionRefused(
    `Citus is too old: this is "${version}", and ${OLDEST_CITUS.major}.${OLDEST_CITUS.minor} or newer is needed`,
  );
}

/** Refuses a cluster with a node that is down or refuses the role. The first step would fail with a message of libpq. */
async function refuseUnansweringNodes(client: Client): Promise<void> {
  const { rows } = await client.query<{ node: string; role: string; reason: string }>(
    `SELECT coalesce(nodename || ':' || nodeport, 'of the coordinator') AS node, current_user AS role, result AS reason
    FROM run_command_on_all_nodes('SELECT 1') LEFT JOIN pg_dist_node USING (nodeid) WHERE NOT success`,
  );
  const [away] = rows;
  if (!away) return;
  throw new DistributionRefused(
    `The node ${away.node} does not answer the coordinator as the role ${away.role} (${away.reason}): start it, or allow the role there. Its password for connections between nodes is in pg_dist_authinfo of every node, which only a superuser may change; without one, pg_hba.conf of the nodes must trust the other nodes`,
  );
}

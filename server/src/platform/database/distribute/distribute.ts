import type pg from 'pg';
import { Client, clientSettings } from '../address.ts';
import { locks } from '../locks.ts';
import { COUNT_EVENTS, COUNT_SHARDS, type Step, shardsFor, stepsTo } from './steps.ts';

/** The reason why a database cannot be distributed, with what to do about it. */
class DistributionRefused extends Error {
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
async function countNodes(client: pg.Client): Promise<number> {
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
async function refuseWithoutSchema(client: pg.Client): Promise<void> {
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
async function refuseWhileServed(client: pg.Client): Promise<void> {
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

async function refuseWithoutCitus(client: pg.Client): Promise<void> {
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

async function refuseOldCitus(client: pg.Client): Promise<void> {
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
async function refuseUnansweringNodes(client: pg.Client): Promise<void> {
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

interface DistributeOptions {
  readonly connectionString: string;
  /** The number of shards of events; null derives it from the number of nodes. */
  readonly shards: number | null;
  /** Prints the statements instead of running them. */
  readonly isDryRun: boolean;
  /** Receives a line of progress. In a dry run, all lines together are SQL. */
  readonly say: (line: string) => void;
}

/**
 * Converts the schema on the coordinator of a Citus cluster into its distributed form. Steps that are done already
 * are skipped.
 * @throws DistributionRefused when it is impossible, with what to do; nothing was changed
 * @throws Error when a step failed or may not run; the steps before it remain, and another run continues there
 */
export async function distribute(options: DistributeOptions): Promise<void> {
  const client = await connect(options.connectionString);
  try {
    await distributeOn(client, options);
  } finally {
    await client.end();
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new Client(
    clientSettings(connectionString, { application_name: 'gantry distribution', keepAlive: true }),
  );
  try {
    await client.connect();
  } catch (cause) {
    throw new Error('The database of DATABASE_URL cannot be reached', { cause });
  }
  // Moving events may take any length of time, whatever the server allows for ordinary statements.
  await client.query('SET statement_timeout = 0');
  await client.query('SET lock_timeout = 0');
  await client.query('SET idle_session_timeout = 0');
  return client;
}

async function isTrue(client: pg.Client, query: string): Promise<boolean> {
  const { rows } = await client.query<Record<string, boolean>>(query);
  return Object.values(rows[0] ?? {})[0] === true;
}

async function countBy(client: pg.Client, query: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(query);
  return rows[0]?.n ?? 0;
}

async function findDue(client: pg.Client, steps: readonly Step[]): Promise<Step[]> {
  const due: Step[] = [];
  for (const step of steps) if (!(await isTrue(client, step.isDone))) due.push(step);
  return due;
}

async function runStep(client: pg.Client, { name, statement, condition }: Step): Promise<void> {
  if (condition && !(await isTrue(client, condition.query))) throw new Error(condition.otherwise);
  try {
    await client.query(statement);
  } catch (cause) {
    throw new Error(
      `This step failed and changed nothing: ${name}. The steps before it remain; run this again to continue from here`,
      { cause },
    );
  }
}

function tellDryRun(due: readonly Step[], say: DistributeOptions['say']): void {
  for (const { name, why, statement } of due) say(`-- ${name}: ${why}\n${statement};`);
  if (due.length > 0) say('-- A dry run: nothing was changed.');
}

async function runAll(client: pg.Client, due: readonly Step[], say: DistributeOptions['say']): Promise<void> {
  client.on('notice', ({ message }) => say(`    ${message}`));
  for (const [index, step] of due.entries()) {
    say(`${index + 1} of ${due.length}: ${step.name}\n    ${step.statement};`);
    const started = performance.now();
    await runStep(client, step);
    say(`    done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
}

async function distributeOn(client: pg.Client, options: DistributeOptions): Promise<void> {
  const { shards, isDryRun } = options;
  const say = isDryRun ? (line: string) => options.say(`-- ${line}`) : options.say;
  const nodes = await countNodes(client);
  await refuseWithoutSchema(client);
  if (!isDryRun) {
    // The lock of migrations: a service that starts meanwhile waits for it before it uses the database.
    await client.query('SELECT pg_advisory_lock($1)', [locks.migration]);
    await refuseWhileServed(client);
  }
  const existing = await countBy(client, COUNT_SHARDS);
  const wanted = shards ?? shardsFor(nodes);
  const due = await findDue(client, stepsTo(wanted));

  if (existing > 0 && shards !== null && shards !== existing) {
    say(`Events are in ${existing} shards already; --shards ${shards} does not change that.`);
  }
  if (due.length > 0 && existing === 0) {
    const events = await countBy(client, COUNT_EVENTS);
    say(
      `${events} events will be moved, into ${wanted} shards on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}.`,
    );
  }
  if (isDryRun) tellDryRun(due, options.say);
  else await runAll(client, due, say);
  if (due.length === 0) say(`Everything is in place: events are in ${existing} shards. Nothing to do.`);
  else if (!isDryRun)
    say(
      `The schema is in its distributed form: events are in ${await countBy(client, COUNT_SHARDS)} shards.`,
    );
}

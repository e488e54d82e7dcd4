// The distributed form of the schema on a Citus cluster, as the statements that lead to it. What is not named here stays
// an ordinary table of the coordinator: people, settings, jobs, the status history of sensors, and all counts.

/** One step. It may be run when those before it are done. */
export interface Step {
  readonly name: string;
  readonly why: string;
  readonly statement: string;
  /** A query for one boolean named `done`: whether nothing is left to do. */
  readonly isDone: string;
  /** What must hold before the statement may run: a query for one boolean named `holds`. */
  readonly condition?: { readonly query: string; readonly otherwise: string };
}

/** Fewest shards of events. More cost every commit that touches several of them; fewer leave no room to add nodes. */
const FEWEST_SHARDS = 4;

/** Most shards that Citus takes. */
export const MOST_SHARDS = 64_000;

/** Two shards for each node that holds any, so that one node more can take over a part of every other. */
export function shardsFor(nodes: number): number {
  return Math.max(FEWEST_SHARDS, 2 * nodes);
}

// A foreign key to a reference table would make the history a table that Citus manages, and into such a one, with an
// identity column, it cannot INSERT … SELECT (citusdata/citus issue 7887), which is how heartbeats write it.
const freeHistory: Step = {
  name: 'sensor_status_history without its foreign key',
  why: 'It stays an ordinary table of the coordinator.',
  statement: 'ALTER TABLE sensor_status_history DROP CONSTRAINT sensor_status_history_sensor_id_fkey',
  isDone: `SELECT NOT EXISTS (SELECT FROM pg_constraint
    WHERE conrelid = 'sensor_status_history'::regclass AND conname = 'sensor_status_history_sensor_id_fkey') AS done`,
};

// Only events: the truncation reaches every table that refers to the one that is named, and none refers to events. What
// remains of the few sensors and locations is harmless.
const forgetLocalEvents: Step = {
  name: 'what the coordinator keeps of events since before',
  why: 'It cannot be seen any more, but takes room and slows down new indexes.',
  statement: `SELECT truncate_local_data_after_distributing_table('events')`,
  isDone: `SELECT coalesce(sum(pg_relation_size(relid)), 0) = 0 AS done FROM pg_partition_tree('events')`,
  condition: {
    query: `WITH stored AS MATERIALIZED (SELECT count(*) AS n FROM events),
      counted AS MATERIALIZED (SELECT coalesce(sum(n), 0) AS n FROM event_totals)
      SELECT stored.n = counted.n AS holds FROM stored, counted`,
    otherwise:
      'The nodes do not hold as many events as event_totals counts, so the copy that was left here is kept',
  },
};

/** All of it, in order. */
export function stepsTo(shards: number): readonly Step[] {
  return [
    functionStep('event_time(uuid)'),
    functionStep('event_hour(uuid)'),
    functionStep('gantry_fold(text)', 'The nodes search their copies of sensors and locations by it.'),
    freeHistory,
    referenceStep('locations', 'Every node has a copy.'),
    referenceStep('sensors', 'Every node has a copy. It refers to locations, which is one already.'),
    distributeEvents(shards),
    forgetLocalEvents,
  ];
}

/** How many events there are to be moved, and in how many shards they are; 0 while they are not distributed. */
export const COUNT_EVENTS = 'SELECT count(*)::float8 AS n FROM events';
export const COUNT_SHARDS = `SELECT count(*)::int AS n FROM pg_dist_shard WHERE logicalrelid = 'events'::regclass`;

function functionStep(signature: string, why = 'The nodes count events by it.'): Step {
  return {
    name: `function ${signature}`,
    why,
    statement: `SELECT create_distributed_function('${signature}')`,
    isDone: `SELECT EXISTS (SELECT FROM pg_dist_object
    WHERE classid = 'pg_proc'::regclass AND objid = '${signature}'::regprocedure) AS done`,
  };
}

function referenceStep(table: string, why: string): Step {
  return {
    name: `reference table ${table}`,
    why,
    statement: `SELECT create_reference_table('${table}')`,
    isDone: `SELECT EXISTS (SELECT FROM pg_dist_partition
    WHERE logicalrelid = '${table}'::regclass AND partmethod = 'n' AND repmodel = 't') AS done`,
  };
}

function distributeEvents(shards: number): Step {
  return {
    name: `events, distributed by hash of id into ${shards} shards`,
    why: 'The partitions by month stay, each of them distributed. What is stored is copied to the nodes.',
    statement: `SELECT create_distributed_table('events', 'id', shard_count => ${shards}, colocate_with => 'none')`,
    isDone: `SELECT EXISTS (SELECT FROM pg_dist_partition
    WHERE logicalrelid = 'events'::regclass AND partmethod = 'h') AS done`,
  };
}

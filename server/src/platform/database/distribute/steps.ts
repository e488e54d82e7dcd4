// The distributed form of the schema on a Citus cluster, as a list of statements. Only events are distributed. All other
// tables remain ordinary tables of the coordinator: sensors, locations, users, settings, jobs, and all counts.

/** One step, which requires those before it. */
export interface Step {
  readonly name: string;
  readonly why: string;
  readonly statement: string;
  /** A query for one boolean named `done`: whether the step is complete. */
  readonly isDone: string;
  /** A condition for running the statement: a query for one boolean named `holds`. */
  readonly condition?: { readonly query: string; readonly otherwise: string };
}

/** Minimum number of shards of events, so that the second node can take over one from the first. */
const MIN_SHARDS = 2;

/** Maximum number of shards in Citus. */
export const MAX_SHARDS = 64_000;

/**
 * The default number of shards of events: one for each node that holds shards, and at least two. A group of events is sent
 * to one shard after the other, which takes three round trips each. For more nodes, shards can be split. With two shards on
 * two nodes, single events reached 0.57 of the rate of one server, and 0.42 with four shards (medians,
 * bench/results/2026-11-24-citus.md).
 */
export function shardsFor(nodes: number): number {
  return Math.max(MIN_SHARDS, nodes);
}

// Earlier versions made reference tables of sensors and locations. Statements that lock rows of sensors, or take the time
// of a change from the server, fail on reference tables.
const bringBack: Step = {
  name: 'sensors and locations as ordinary tables',
  why: 'An earlier version made reference tables of them, on which heartbeats fail.',
  statement: `SELECT undistribute_table('locations', cascade_via_foreign_keys => true)`,
  isDone: `SELECT NOT EXISTS (SELECT FROM pg_dist_partition
    WHERE logicalrelid IN ('sensors'::regclass, 'locations'::regclass)) AS done`,
};

// Shards take over the parameters of their partitions, and the service maintains partitions of a single server only.
const giveBack: Step = {
  name: 'partitions of events in the charge of autovacuum',
  why: 'On a cluster, the service does not vacuum them.',
  statement: `DO $$ DECLARE part regclass; BEGIN
    FOR part IN SELECT relid FROM pg_partition_tree('events') WHERE isleaf LOOP
      EXECUTE format('ALTER TABLE %s RESET (autovacuum_vacuum_insert_threshold, autovacuum_analyze_scale_factor)', part);
    END LOOP; END $$`,
  isDone: `SELECT NOT EXISTS (SELECT FROM pg_partition_tree('events') JOIN pg_class ON oid = relid
    WHERE reloptions @> '{autovacuum_vacuum_insert_threshold=-1}') AS done`,
};

// Truncation cascades to tables that refer to the named one, and none refers to events.
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

/** All steps, in order. */
export function stepsTo(shards: number): readonly Step[] {
  return [
    functionStep('event_time(uuid)'),
    functionStep('event_hour(uuid)'),
    functionStep('gantry_fold(text)', 'Every function of the schema is on every node.'),
    functionStep(
      'passage_events(uuid,text,timestamp with time zone,timestamp with time zone)',
      'Every function of the schema is on every node.',
    ),
    bringBack,
    giveBack,
    distributeEvents(shards),
    forgetLocalEvents,
  ];
}

/** Queries for the number of events to move and for the number of their shards, which is 0 until they are distributed. */
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

function distributeEvents(shards: number): Step {
  return {
    name: `events, distributed by hash of id into ${shards} shards`,
    why: 'The partitions by month stay, each of them distributed. What is stored is copied to the nodes.',
    statement: `SELECT create_distributed_table('events', 'id', shard_count => ${shards}, colocate_with => 'none')`,
    isDone: `SELECT EXISTS (SELECT FROM pg_dist_partition
    WHERE logicalrelid = 'events'::regclass AND partmethod = 'h') AS done`,
  };
}

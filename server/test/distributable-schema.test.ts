import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepsTo } from '../src/platform/database/distribute/steps.ts';
import { createTestDatabase } from './harness.ts';

// The migrations together must produce a schema that Citus can distribute (docs/reference.md).

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const ask = async (query: string): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(query);
  return rows.map(({ name }) => name);
};

const SPREAD = `('events'::regclass)`;

const TRIGGERS = `SELECT tgname AS name FROM pg_trigger WHERE tgrelid IN ${SPREAD} AND NOT tgisinternal`;
const FOREIGN_KEYS = `SELECT conrelid::regclass || ' to ' || confrelid::regclass AS name FROM pg_constraint
  WHERE contype = 'f' AND (conrelid IN ${SPREAD} OR confrelid IN ${SPREAD}) ORDER BY 1`;
const SEQUENCES = `SELECT attrelid::regclass || '.' || attname AS name
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid IN ${SPREAD} AND attnum > 0
    AND (attidentity <> '' OR pg_get_expr(adbin, adrelid) LIKE '%nextval%')`;
const UNIQUE_WITHOUT_ID = `SELECT indexrelid::regclass::text AS name FROM pg_index
  WHERE indrelid = 'events'::regclass AND indisunique
    AND NOT (SELECT attnum FROM pg_attribute WHERE attrelid = indrelid AND attname = 'id') = ANY (indkey)`;

describe('the schema, for a cluster', () => {
  it('has no trigger on events', async () => {
    expect(await ask(TRIGGERS)).toEqual([]);
  });

  it('has no foreign key to or from events', async () => {
    expect(await ask(FOREIGN_KEYS)).toEqual([]);
  });

  it('takes no id of events from a sequence', async () => {
    expect(await ask(SEQUENCES)).toEqual([]);
  });

  it('includes the id in every unique constraint of events, and partitions them on one level', async () => {
    expect(await ask(UNIQUE_WITHOUT_ID)).toEqual([]);
    expect(await ask(`SELECT pg_get_partkeydef('events'::regclass) AS name`)).toEqual(['RANGE (id)']);
  });

  it('does not compute the id of events from other columns', async () => {
    expect(
      await ask(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'events'::regclass AND attgenerated <> ''`,
      ),
    ).toEqual(['location_key']);
  });

  it('is checked by queries that find such things', async () => {
    await client.query('BEGIN');
    await client.query(`
      CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER afterwards AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION nothing();
      ALTER TABLE events ADD FOREIGN KEY (sensor_id) REFERENCES sensors (id);
      CREATE SEQUENCE numbers;
      ALTER TABLE events ADD COLUMN number bigint DEFAULT nextval('numbers')`);
    expect(await ask(TRIGGERS)).toEqual(['afterwards']);
    expect(await ask(FOREIGN_KEYS)).toContain('events to sensors');
    expect(await ask(SEQUENCES)).toEqual(['events.number']);
    await client.query('ROLLBACK');
  });
});

describe('the steps to a cluster', () => {
  const statements = stepsTo(4)
    .map(({ statement }) => statement)
    .join('\n');

  it('create every function of the schema on the nodes, except those of triggers', async () => {
    const functions = await ask(
      `SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
         AND prorettype <> 'trigger'::regtype ORDER BY 1`,
    );
    expect(functions.length).toBeGreaterThan(0);
    for (const name of functions) expect(statements).toContain(`create_distributed_function('${name}')`);
  });

  it('leave these tables on the coordinator; add a new one here or to the steps', async () => {
    const tables = await ask(`SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`);
    const local = tables.filter(
      (name) => !new RegExp(`create_distributed_table\\('${name}'`).test(statements),
    );
    expect(local).toEqual([
      'activity',
      'activity_forwarding',
      'agencies',
      'alarm_evaluation',
      'alarm_groups',
      'alarm_rules',
      'alarms',
      'api_tokens',
      'audit_entries',
      'audit_judgements',
      'audit_samples',
      'backups',
      'calendar_days',
      'case_exports',
      'case_items',
      'case_log',
      'case_numbers',
      'case_requests',
      'case_rules',
      'cases',
      'certificates',
      'changes',
      'channels',
      'connections',
      'contacts',
      'damaged_images',
      'deleted_events',
      'detector_assignments',
      'device_discoveries',
      'device_message_images',
      'device_messages',
      'device_passages',
      'device_reports',
      'digest_nonces',
      'erased_records',
      'erasures',
      'event_arrivals',
      'event_hour_totals',
      'event_images',
      'event_period_totals',
      'event_reviews',
      'event_totals',
      'events_to_follow_up',
      'external_identities',
      'failed_logins',
      'fault_changes',
      'fault_images',
      'faults',
      'former_timezones',
      'former_users',
      'held_events',
      'hit_decisions',
      'hotlist_entries',
      'hotlist_imports',
      'hotlist_look_backs',
      'hotlist_near',
      'hotlist_staged',
      'hotlists',
      'image_checks',
      'image_segments',
      'images',
      'incident_agencies',
      'incident_events',
      'incident_images',
      'incident_steps',
      'incident_timeline',
      'incident_work',
      'incidents',
      'lane_states',
      'legal_holds',
      'location_limits',
      'locations',
      'log_entries',
      'measuring_points',
      'notices',
      'oidc_logins',
      'password_resets',
      'plan_versions',
      'plans',
      'plate_keys',
      'policies',
      'recovery_codes',
      'removed_case_log',
      'report_dispatches',
      'report_schedules',
      'reports',
      'retention_removals',
      'retention_runs',
      'retention_settings',
      'revoked_tokens',
      'rotas',
      'saved_views',
      'schema_migrations',
      'seal_check',
      'seal_keys',
      'seal_progress',
      'seals',
      'second_factors',
      'sensor_clocks',
      'sensor_places',
      'sensor_status_history',
      'sensor_watch',
      'sensor_watch_gaps',
      'sensors',
      'sessions',
      'settings',
      'shifts',
      'silences',
      'situation_reports',
      'studies',
      'traffic_bins',
      'traffic_cells',
      'traffic_flags',
      'traffic_kept',
      'traffic_observed',
      'traffic_period_revisions',
      'traffic_periods',
      'traffic_places',
      'traffic_reviews',
      'traffic_rollups',
      'traffic_unfolded',
      'traffic_unjudged',
      'traffic_year_changes',
      'traffic_year_failures',
      'traffic_years',
      'users',
      'watchlist_alerts',
      'watchlist_entries',
      'watchlist_sightings',
      'webhook_deliveries',
      'webhooks',
      'works',
      'works_sensors',
      'works_windows',
    ]);
  });
});

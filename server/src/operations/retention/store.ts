import type { Page } from '@gantry/contract/page';
import type {
  RetentionClass,
  RetentionInput,
  RetentionRules,
  RetentionRun,
  RetentionSettings,
} from '@gantry/contract/storage';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../../accounts/names-store.ts';
import { locks } from '../../platform/database/locks.ts';
import { timeOfUpdate } from '../../platform/database/moment.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Executor, inTransaction, type Transaction } from '../../platform/database/transaction.ts';

interface SettingsRow extends Record<string, unknown> {
  events_days: number | null;
  events_by_type: RetentionRules['events']['byType'];
  events_without_hit: RetentionRules['events']['withoutHit'] | null;
  images_days: number | null;
  reports_days: number | null;
  activity_days: number | null;
  traffic_days: number | null;
  log_days: number | null;
  cases_days: number | null;
  updated_at: string | null;
  updated_by: string | null;
}

/** The retention rule of each class. */
export async function getRules(db: Executor): Promise<RetentionRules> {
  return rulesOf(await read(db));
}

/** The same, locked until the transaction ends. */
export async function lockRules(tx: Executor): Promise<RetentionRules> {
  return rulesOf(await read(tx, sql`FOR UPDATE`));
}

/** The retention rule of each class, and who set it. */
export async function getRetentionSettings(db: Executor): Promise<RetentionSettings> {
  const row = await read(db);
  const nameOf = await findNames(db, [row.updated_by]);
  return {
    ...rulesOf(row),
    updatedAt: row.updated_at === null ? null : new Date(row.updated_at),
    updatedBy: nameOf(row.updated_by),
  };
}

/** The rules after a change of the given classes. */
export function changedRules(rules: RetentionRules, input: RetentionInput): RetentionRules {
  return {
    events: input.events ?? rules.events,
    images: input.images === undefined ? rules.images : input.images,
    reports: input.reports === undefined ? rules.reports : input.reports,
    activity: input.activity === undefined ? rules.activity : input.activity,
    traffic: input.traffic === undefined ? rules.traffic : input.traffic,
    log: input.log === undefined ? rules.log : input.log,
    cases: input.cases === undefined ? rules.cases : input.cases,
  };
}

/** Replaces all rules. */
export async function storeRules(tx: Executor, rules: RetentionRules, userId: string): Promise<void> {
  await tx.execute(sql`
    UPDATE retention_settings SET events_days = ${rules.events.default}::integer,
      events_by_type = ${JSON.stringify(rules.events.byType)}::jsonb,
      events_without_hit = ${JSON.stringify(rules.events.withoutHit)}::jsonb, images_days = ${rules.images}::integer,
      reports_days = ${rules.reports}::integer, activity_days = ${rules.activity}::integer,
      traffic_days = ${rules.traffic}::integer, log_days = ${rules.log}::integer,
      cases_days = ${rules.cases}::integer,
      updated_at = ${timeOfUpdate()}, updated_by = ${userId}::uuid`);
}

async function read(db: Executor, lock = sql``): Promise<SettingsRow> {
  const { rows } = await db.execute<SettingsRow>(sql`SELECT * FROM retention_settings ${lock}`);
  if (!rows[0]) throw new Error('The row of the retention settings is missing');
  return rows[0];
}

function rulesOf(row: SettingsRow): RetentionRules {
  return {
    events: {
      default: row.events_days,
      byType: row.events_by_type,
      withoutHit: row.events_without_hit ?? {},
    },
    images: row.images_days,
    reports: row.reports_days,
    activity: row.activity_days,
    traffic: row.traffic_days,
    log: row.log_days,
    cases: row.cases_days,
  };
}

/** A run without a liveness signal for this long is considered dead. */
const SILENT_MINUTES = 5;

/** Whether a run in progress is dead. A time in the future comes from a clock that was wrong at that time. */
const IS_SILENT = sql.raw(
  `status = 'RUNNING' AND abs(extract(epoch FROM now() - beat_at)) > ${SILENT_MINUTES * 60}`,
);

/** Records that a run removed. */
export interface Removal {
  readonly class: RetentionClass;
  /** The type of the events; none for other classes. */
  readonly eventType?: string | null;
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
  readonly bytes?: number;
  /** Whether the whole partition was dropped. */
  readonly whole?: boolean;
  /** For events: the cutoff (Unix milliseconds) of the type in this month. */
  readonly until?: number;
}

/** Another process has declared the run dead. */
class RunLost extends Error {
  override readonly name = 'RunLost';
}

/**
 * Starts a run, unless one is in progress.
 * @param record what else to write in the same transaction
 * @returns its id, or null
 */
export function beginRun(
  db: Database,
  startedBy: string | null,
  record?: (tx: Transaction, runId: string) => Promise<void>,
): Promise<string | null> {
  return inTransaction(db, async (tx) => {
    await tx.execute(
      sql`UPDATE retention_runs SET status = 'STOPPED', finished_at = now() WHERE ${IS_SILENT}`,
    );
    const { rows } = await tx.execute<{ id: string }>(sql`
      INSERT INTO retention_runs (started_by) VALUES (${startedBy}::uuid) ON CONFLICT DO NOTHING RETURNING id`);
    const id = rows[0]?.id ?? null;
    if (id !== null) await record?.(tx, id);
    return id;
  });
}

/** Excludes backups until the transaction ends, unless one is in progress. @returns whether it does */
export async function tryToExcludeBackups(tx: Executor): Promise<boolean> {
  const { rows } = await tx.execute<{ got: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock_shared(${locks.removal}) AS got`,
  );
  return rows[0]?.got === true;
}

/**
 * Records what a transaction of the run removes, and that the run is alive.
 * @throws RunLost when it is no longer in progress
 */
export async function recordRemovals(
  tx: Executor,
  runId: string,
  removals: readonly Removal[],
): Promise<void> {
  const { rowCount } = await tx.execute(
    sql`UPDATE retention_runs SET beat_at = now() WHERE id = ${runId}::uuid AND status = 'RUNNING'`,
  );
  if (rowCount === 0) throw new RunLost('Another process has taken over');
  if (removals.length === 0) return;
  await tx.execute(sql`
    INSERT INTO retention_removals AS known (run_id, class, event_type, month, rows, bytes, whole, until)
    SELECT ${runId}::uuid, class, coalesce("eventType", ''), (month || '-01')::date, sum(rows), coalesce(sum(bytes), 0),
      coalesce(bool_or(whole), false),
      least(to_timestamp(max(until) / 1000), ((month || '-01')::date + interval '1 month') AT TIME ZONE 'UTC')
    FROM jsonb_to_recordset(${JSON.stringify(removals)}::jsonb)
      AS one (class text, "eventType" text, month text, rows bigint, bytes bigint, whole boolean, until double precision)
    GROUP BY 1, 2, 3, 4, month
    ON CONFLICT (run_id, class, event_type, month) DO UPDATE
    SET rows = known.rows + excluded.rows, bytes = known.bytes + excluded.bytes, whole = known.whole OR excluded.whole,
      until = greatest(known.until, excluded.until)`);
}

/** Records the end of a run that is still recorded as RUNNING. @param error null unless it failed */
export async function finishRun(
  db: Executor,
  runId: string,
  status: 'COMPLETED' | 'STOPPED' | 'FAILED',
  error: string | null,
): Promise<void> {
  await db.execute(sql`
    UPDATE retention_runs SET status = ${status}, finished_at = now(), error = ${error}
    WHERE id = ${runId}::uuid AND status = 'RUNNING'`);
}

/** Ends a run that removed nothing because it would have removed too much at once. */
export async function refuseStep(db: Executor, runId: string, error: string): Promise<void> {
  await db.execute(sql`UPDATE retention_runs SET step_refused = true WHERE id = ${runId}::uuid`);
  await finishRun(db, runId, 'FAILED', error);
}

/** The start of the last completed run (Unix milliseconds); null when there was none. */
export function lastCompletedStart(db: Executor): Promise<number | null> {
  return lastStart(db, sql`status = 'COMPLETED'`);
}

/**
 * The same for the last run that was completed, or removed something before it failed. Others say nothing about how much
 * became due since then: they may have been refused as too large, or have failed before that was checked.
 */
export function lastRemovingStart(db: Executor): Promise<number | null> {
  return lastStart(
    db,
    sql`(status = 'COMPLETED' OR EXISTS (SELECT FROM retention_removals WHERE run_id = retention_runs.id))`,
  );
}

/** The same for the last run that completed the day: it was completed, or refused as too large. */
export function lastSettledStart(db: Executor): Promise<number | null> {
  return lastStart(db, sql`(status = 'COMPLETED' OR step_refused)`);
}

interface RunRow extends Record<string, unknown> {
  id: string;
  status: RetentionRun['status'];
  is_silent: boolean;
  started_at: string;
  beat_at: string;
  finished_at: string | null;
  started_by: string | null;
  error: string | null;
  removals: Required<Omit<Removal, 'until'>>[];
}

/** One page of the runs, newest first. A dead one is shown as stopped, at its last liveness signal. */
export async function listRuns(
  db: Executor,
  { skip, take, id }: { skip: number; take: number; id?: string },
): Promise<Page<RetentionRun>> {
  const { rows } = await db.execute<RunRow>(sql`
    SELECT retention_runs.*, (${IS_SILENT}) AS is_silent, coalesce((
      SELECT jsonb_agg(jsonb_build_object('class', class, 'eventType', nullif(event_type, ''),
        'month', to_char(month, 'YYYY-MM'), 'rows', rows, 'bytes', bytes, 'whole', whole)
        ORDER BY class, month, event_type)
      FROM retention_removals WHERE run_id = retention_runs.id
    ), '[]') AS removals
    FROM retention_runs WHERE ${id === undefined ? sql`true` : sql`id = ${id}::uuid`}
    ORDER BY started_at DESC, id DESC LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM retention_runs`,
  );
  const nameOf = await findNames(
    db,
    rows.map((row) => row.started_by),
  );
  const items = rows.map((row) => ({
    id: row.id,
    status: row.is_silent ? ('STOPPED' as const) : row.status,
    startedAt: new Date(row.started_at),
    finishedAt: timeOf(row.is_silent ? row.beat_at : row.finished_at),
    startedBy: nameOf(row.started_by),
    error: row.error,
    removals: row.removals.map(({ eventType, bytes, whole, ...removal }) => ({
      ...removal,
      eventType: eventType as RetentionRun['removals'][number]['eventType'],
      // Removing rows frees space within tables, but not on disk.
      bytes: removal.class === 'images' || removal.class === 'reports' || whole ? bytes : null,
      wholeMonth: whole,
    })),
  }));
  return { items, total: counted[0]?.total ?? 0 };
}

function timeOf(at: string | null): Date | null {
  return at === null ? null : new Date(at);
}

/**
 * The start of the last run that meets a condition. Runs in the future are left out: the clock was wrong when they
 * began.
 */
async function lastStart(db: Executor, condition: SQL): Promise<number | null> {
  const { rows } = await db.execute<{ at: string | null }>(
    sql`SELECT max(started_at) AS at FROM retention_runs WHERE started_at <= now() AND ${condition}`,
  );
  return rows[0]?.at ? new Date(rows[0].at).getTime() : null;
}

import type { Backup, BackupOrigin, BackupStatus } from '@gantry/contract/backups';
import type { Page } from '@gantry/contract/page';
import { sql } from 'drizzle-orm';
import { findNames } from '../../accounts/names-store.ts';
import { locks } from '../../platform/database/locks.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { BackupResult } from './make.ts';

/**
 * A backup without a liveness signal for this long, in seconds, has lost its process; so has one whose last sign is this far
 * in the future, given while the clock was wrong. Without the lock that a backup holds from its beginning, as after its
 * process was killed, a few missing signs suffice.
 */
const SILENT_SECONDS = 120;
export const SILENT_SECONDS_WITHOUT_LOCK = 20;

const IS_LOCKED = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${locks.backup}
  AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/** Whether a backup in progress has lost its process. */
const IS_SILENT = sql.raw(
  `status = 'RUNNING' AND abs(extract(epoch FROM now() - alive_at)) >
    CASE WHEN ${IS_LOCKED} THEN ${SILENT_SECONDS} ELSE ${SILENT_SECONDS_WITHOUT_LOCK} END`,
);

/** Whether no process holds the lock of a backup: the one in progress is beginning, or has lost its process. */
export async function mayBeOver(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ over: boolean }>(sql.raw(`SELECT NOT ${IS_LOCKED} AS over`));
  return rows[0]?.over === true;
}

const ERROR_MAX = 500;

/** Whether the schema has the table of backups. It does not yet if a newer version makes a backup before it migrates. */
export async function hasRuns(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ there: boolean }>(
    sql`SELECT to_regclass('backups') IS NOT NULL AS there`,
  );
  return rows[0]?.there === true;
}

/** Records that a backup begins. @returns its id; null when one is in progress */
export async function beginBackup(
  db: Executor,
  { origin, folder, startedBy }: { origin: BackupOrigin; folder: string; startedBy: string | null },
): Promise<string | null> {
  await db.execute(sql`UPDATE backups SET status = 'STOPPED', finished_at = now() WHERE ${IS_SILENT}`);
  const { rows } = await db.execute<{ id: string }>(sql`
    INSERT INTO backups (origin, folder, started_by) VALUES (${origin}, ${folder}, ${startedBy}::uuid)
    ON CONFLICT DO NOTHING RETURNING id`);
  return rows[0]?.id ?? null;
}

/** Records how far a backup is, and that its process is alive. */
export async function noteProgress(db: Executor, id: string, progress: number): Promise<void> {
  await db.execute(sql`
    UPDATE backups SET progress = ${progress}, alive_at = now() WHERE id = ${id}::uuid AND status = 'RUNNING'`);
}

/** Records a finished backup. */
export async function noteCompleted(db: Executor, id: string, made: BackupResult): Promise<void> {
  // A newer version may make a backup before it migrates, so the column may not be there yet.
  const { rows } = await db.execute(sql`
    SELECT FROM pg_attribute WHERE attrelid = 'backups'::regclass AND attname = 'recipients'`);
  const recipients = rows.length > 0 ? sql`, recipients = ${sql.param([...made.recipients])}::text[]` : sql``;
  await db.execute(sql`
    UPDATE backups SET status = 'COMPLETED', finished_at = now(), progress = 1, name = ${made.name}, rows = ${made.rows},
      events = ${made.events}, bytes = ${made.bytes}, pictures = ${made.pictures.count},
      new_picture_bytes = ${made.pictures.copiedBytes}, lacking_pictures = ${made.pictures.lacking}${recipients}
    WHERE id = ${id}::uuid`);
}

/** Records a backup that was not finished. */
export async function noteEnded(
  db: Executor,
  id: string,
  status: Extract<BackupStatus, 'STOPPED' | 'FAILED'>,
  error: string | null,
): Promise<void> {
  await db.execute(sql`
    UPDATE backups SET status = ${status}, finished_at = now(), error = ${error?.slice(0, ERROR_MAX).toWellFormed() ?? null}
    WHERE id = ${id}::uuid AND status = 'RUNNING'`);
}

interface BackupRow extends Record<string, unknown> {
  id: string;
  status: BackupStatus;
  is_silent: boolean;
  alive_at: string;
  origin: BackupOrigin;
  started_by: string | null;
  started_at: string;
  finished_at: string | null;
  progress: number;
  folder: string;
  name: string | null;
  rows: number | null;
  events: number | null;
  bytes: number | null;
  pictures: number | null;
  new_picture_bytes: number | null;
  lacking_pictures: number | null;
  recipients?: string[] | null;
  error: string | null;
}

/** One page of the backups, newest first. One that has lost its process is shown as stopped, at its last liveness signal. */
export async function listBackupRuns(
  db: Executor,
  { skip, take, id }: { skip: number; take: number; id?: string },
): Promise<Page<Backup>> {
  const { rows } = await db.execute<BackupRow>(sql`
    SELECT *, (${IS_SILENT}) AS is_silent FROM backups WHERE ${id === undefined ? sql`true` : sql`id = ${id}::uuid`}
    ORDER BY started_at DESC, id DESC LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(sql`SELECT count(*) AS total FROM backups`);
  const nameOf = await findNames(
    db,
    rows.map((row) => row.started_by),
  );
  const items = rows.map(
    (row): Backup => ({
      id: row.id,
      status: row.is_silent ? 'STOPPED' : row.status,
      origin: row.origin,
      startedBy: nameOf(row.started_by),
      startedAt: new Date(row.started_at),
      finishedAt: timeOf(row.is_silent ? row.alive_at : row.finished_at),
      progress: row.progress,
      folder: row.folder,
      name: row.name,
      events: row.events,
      rows: row.rows,
      bytes: row.bytes,
      pictures: row.pictures,
      newPictureBytes: row.new_picture_bytes,
      lackingPictures: row.lacking_pictures,
      recipients: row.recipients ?? null,
      error: row.error,
    }),
  );
  return { items, total: counted[0]?.total ?? 0 };
}

function timeOf(at: string | null): Date | null {
  return at === null ? null : new Date(at);
}

/** What is known of the backups of this database. Times are Unix milliseconds by the clock of the database. */
export interface BackupsSoFar {
  readonly now: number;
  readonly installedAt: number;
  readonly lastStart: number | null;
  readonly lastStatus: BackupStatus | null;
  readonly lastEnd: number | null;
  readonly lastFailure: number | null;
  /** The last complete one. */
  readonly completed: { readonly start: number; readonly end: number; readonly bytes: number } | null;
}

/**
 * A condition on `backups`: whether one counts for a service with this `BACKUP_DIR`. A command that failed for another
 * folder does not, because the user who entered it has read why.
 */
export function countsFor(backupDir: string | undefined) {
  if (backupDir === undefined) return sql`true`;
  return sql`NOT (status = 'FAILED' AND origin = 'COMMAND' AND folder <> ${backupDir})`;
}

/**
 * Reads the state of the backups that count for a service with this `BACKUP_DIR`. Backups that were recorded while the
 * clock was ahead do not count before the recorded time.
 */
export async function readBackupsSoFar(db: Executor, backupDir: string | undefined): Promise<BackupsSoFar> {
  const { rows } = await db.execute<Record<string, number | string | null>>(sql`
    WITH past AS (SELECT * FROM backups
      WHERE started_at <= now() AND (finished_at IS NULL OR finished_at <= now()) AND ${countsFor(backupDir)})
    SELECT ${ms(sql`now()`)} AS now, (SELECT ${ms(sql`installed_at`)} FROM settings) AS installed,
      ${ms(sql`last.started_at`)} AS last_start, last.status AS last_status, ${ms(sql`last.finished_at`)} AS last_end,
      (SELECT ${ms(sql`max(finished_at)`)} FROM past WHERE status = 'FAILED') AS failure,
      ${ms(sql`done.started_at`)} AS done_start, ${ms(sql`done.finished_at`)} AS done_end,
      done.bytes + done.new_picture_bytes AS bytes
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (SELECT * FROM past ORDER BY started_at DESC, id DESC LIMIT 1) AS last ON true
    LEFT JOIN LATERAL (
      SELECT * FROM past WHERE status = 'COMPLETED' ORDER BY started_at DESC, id DESC LIMIT 1
    ) AS done ON true`);
  const [row] = rows;
  const timeAt = (name: string): number | null => (row?.[name] == null ? null : Number(row[name]));
  const [start, end] = [timeAt('done_start'), timeAt('done_end')];
  return {
    now: timeAt('now') ?? 0,
    installedAt: timeAt('installed') ?? 0,
    lastStart: timeAt('last_start'),
    lastStatus: (row?.last_status ?? null) as BackupStatus | null,
    lastEnd: timeAt('last_end'),
    lastFailure: timeAt('failure'),
    completed: start === null || end === null ? null : { start, end, bytes: timeAt('bytes') ?? 0 },
  };
}

function ms(time: ReturnType<typeof sql>) {
  return sql`(extract(epoch FROM ${time}) * 1000)::float8`;
}

/** The finished backups that ended at a time (Unix milliseconds) or later, the first ones first. */
export async function listCompletedSince(
  db: Executor,
  since: number,
): Promise<{ readonly folder: string; readonly name: string }[]> {
  const { rows } = await db.execute<{ folder: string; name: string }>(sql`
    SELECT folder, name FROM backups
    WHERE status = 'COMPLETED' AND name IS NOT NULL AND finished_at >= to_timestamp(${since}::float8 / 1000)
    ORDER BY started_at, id`);
  return rows;
}

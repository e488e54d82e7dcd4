import type { DispatchKind, LastSent, SendTo } from '@gantry/contract/reports';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { claimableIds } from '../platform/database/jobs.ts';
import { channels, notify } from '../platform/database/notify.ts';
import {
  reportDispatches,
  reportSchedules,
  reports,
  situationReportRows,
  users,
} from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { LeasedAttempt } from '../platform/deliverer.ts';

type ReportRow = typeof reports.$inferSelect;

/** Where the reports of a schedule are sent, one entry for each dispatch. */
function recipientsOf({ emails, userIds, folder }: SendTo): { kind: DispatchKind; recipient: string }[] {
  return [
    ...emails.map((recipient) => ({ kind: 'EMAIL' as const, recipient })),
    ...userIds.map((recipient) => ({ kind: 'USER' as const, recipient })),
    ...(folder === null ? [] : [{ kind: 'FOLDER' as const, recipient: folder }]),
  ];
}

/** Has a report that is DONE sent, when the transaction commits, to the recipients that its schedule has now. */
export async function insertDispatches(tx: Transaction, reportId: string, scheduleId: string): Promise<void> {
  const [schedule] = await tx
    .select({ sendTo: reportSchedules.sendTo })
    .from(reportSchedules)
    .where(eq(reportSchedules.id, scheduleId))
    .for('share');
  if (!schedule?.sendTo) return;
  await insertRows(
    tx,
    recipientsOf(schedule.sendTo).map((each) => ({ ...each, reportId, scheduleId })),
  );
}

/** Has a situation report that is DONE sent to its recipients, when the transaction commits. */
export async function insertSituationDispatches(
  tx: Transaction,
  reportId: string,
  recipients: readonly string[],
): Promise<void> {
  await insertRows(
    tx,
    recipients.map((recipient) => ({ kind: 'EMAIL', recipient, reportId })),
  );
}

async function insertRows(tx: Transaction, rows: (typeof reportDispatches.$inferInsert)[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.insert(reportDispatches).values(rows).onConflictDoNothing();
  for (const kind of new Set(rows.map((row) => row.kind))) await notify(tx, channels.reportDispatches, kind);
}

/** Removes what waits for recipients that a schedule has no longer. @param sendTo null for none */
export async function dropDispatches(
  tx: Transaction,
  scheduleId: string,
  sendTo: SendTo | null,
): Promise<void> {
  const kept = sendTo === null ? [] : recipientsOf(sendTo);
  await tx.execute(sql`
    DELETE FROM report_dispatches
    WHERE schedule_id = ${scheduleId} AND status = 'PENDING' AND NOT EXISTS (
      SELECT FROM unnest(${sql.param(kept.map(({ kind }) => kind))}::text[],
        ${sql.param(kept.map(({ recipient }) => recipient))}::text[]) AS kept (kind, recipient)
      WHERE kept.kind = report_dispatches.kind AND kept.recipient = report_dispatches.recipient)`);
}

/** A dispatch that this process is attempting. */
export interface DispatchAttempt extends LeasedAttempt {
  readonly reportId: string;
  /** null for a situation report. */
  readonly scheduleId: string | null;
  readonly kind: DispatchKind;
  readonly recipient: string;
}

/** Claims the dispatches of a kind that have been due for longest, for `leaseMs` milliseconds. */
export async function claimDispatches(
  db: Executor,
  kind: string,
  most: number,
  leaseMs: number,
): Promise<DispatchAttempt[]> {
  const due = claimableIds(reportDispatches, {
    due: sql`kind = ${kind} AND status = 'PENDING' AND due_at <= now()`,
    order: sql`due_at`,
    most,
  });
  const { rows } = await db.execute<{ [Field in keyof DispatchAttempt]: DispatchAttempt[Field] }>(sql`
    UPDATE report_dispatches SET attempts = attempts + 1, due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    WHERE id = ANY (${due})
    RETURNING id, attempts AS number, 0 AS "byHand", report_id AS "reportId", schedule_id AS "scheduleId", kind, recipient`);
  return rows;
}

/** What a dispatch is about; null for what was deleted meanwhile. */
export interface Dispatched {
  readonly report: ReportRow | null;
  /** Where its schedule sends reports now. */
  readonly sendTo: SendTo | null;
  /** Of a situation report: the message. */
  readonly letter: { readonly subject: string; readonly text: string } | null;
}

export async function findDispatched(
  db: Executor,
  { reportId, scheduleId }: DispatchAttempt,
): Promise<Dispatched> {
  const [report = null] = await db.select().from(reports).where(eq(reports.id, reportId));
  if (scheduleId === null) return { report, sendTo: null, letter: await findLetter(db, reportId) };
  const [schedule] = await db
    .select({ sendTo: reportSchedules.sendTo })
    .from(reportSchedules)
    .where(eq(reportSchedules.id, scheduleId));
  return { report, sendTo: schedule?.sendTo ?? null, letter: null };
}

async function findLetter(db: Executor, reportId: string): Promise<Dispatched['letter']> {
  const [row] = await db
    .select({ subject: situationReportRows.subject, text: situationReportRows.message })
    .from(situationReportRows)
    .where(eq(situationReportRows.reportId, reportId));
  return row ? { subject: row.subject ?? '', text: row.text ?? '' } : null;
}

/** The active ones of the users. */
export function findRecipients(db: Executor, ids: readonly string[]) {
  const { id, email, role } = users;
  return db
    .select({ id, email, role })
    .from(users)
    .where(and(inArray(users.id, [...ids]), eq(users.isActive, true)));
}

export async function markDispatchSent(db: Executor, { id }: LeasedAttempt): Promise<void> {
  await db.execute(sql`
    UPDATE report_dispatches SET status = 'SENT', sent_at = now(), last_error = NULL
    WHERE id = ${id} AND status = 'PENDING'`);
}

/** Records that an attempt failed. @param waitMs milliseconds until it is due again; null for never */
export async function markDispatchFailed(
  db: Executor,
  { id, number }: LeasedAttempt,
  error: string | null,
  waitMs: number | null,
): Promise<void> {
  await db.execute(sql`
    UPDATE report_dispatches SET status = ${waitMs === null ? 'FAILED' : 'PENDING'}, last_error = ${error},
      due_at = now() + ${waitMs ?? 0} * interval '1 millisecond'
    WHERE id = ${id} AND status = 'PENDING' AND attempts = ${number}`);
}

/** Returns a dispatch to the process on whose machine the file is, without counting the attempt. */
export async function passDispatchOn(
  db: Executor,
  { id, number }: LeasedAttempt,
  error: string,
  waitMs: number,
): Promise<void> {
  await db.execute(sql`
    UPDATE report_dispatches SET attempts = attempts - 1, last_error = ${error},
      due_at = now() + ${waitMs} * interval '1 millisecond',
      status = CASE WHEN created_at < now() - interval '1 day' THEN 'FAILED' ELSE 'PENDING' END
    WHERE id = ${id} AND status = 'PENDING' AND attempts = ${number}`);
}

/** The kinds of the dispatches that are due, and whether any waits. */
export async function findDueKinds(db: Executor): Promise<{ kinds: DispatchKind[]; waits: boolean }> {
  const { rows } = await db.execute<{ kinds: DispatchKind[] | null; waits: boolean }>(sql`
    SELECT array_agg(DISTINCT kind) FILTER (WHERE due_at <= now()) AS kinds, count(*) > 0 AS waits
    FROM report_dispatches WHERE status = 'PENDING'`);
  return { kinds: rows[0]?.kinds ?? [], waits: rows[0]?.waits === true };
}

/** Removes the dispatches of reports that do not exist any more, unless they wait. */
export async function removeOrphanDispatches(db: Executor): Promise<void> {
  await db.execute(sql`
    DELETE FROM report_dispatches WHERE status <> 'PENDING'
      AND NOT EXISTS (SELECT FROM reports WHERE reports.id = report_dispatches.report_id)`);
}

/** The last run of each of the schedules, and what became of sending its report. */
export async function findLastSent(
  db: Executor,
  scheduleIds: readonly string[],
): Promise<ReadonlyMap<string, LastSent>> {
  if (scheduleIds.length === 0) return new Map();
  const { rows: last } = await db.execute<{ id: string; scheduleId: string }>(sql`
    SELECT last.id, wanted.id AS "scheduleId" FROM unnest(${sql.param([...scheduleIds])}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (SELECT id FROM reports WHERE schedule_id = wanted.id ORDER BY due_at DESC LIMIT 1) AS last`);
  const ids = last.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const { id, scheduleId, status, error, dueAt } = reports;
  const runs = await db
    .select({ id, scheduleId, status, error, dueAt })
    .from(reports)
    .where(inArray(reports.id, ids));
  const sent = await db
    .select()
    .from(reportDispatches)
    .where(inArray(reportDispatches.reportId, ids))
    .orderBy(reportDispatches.kind, reportDispatches.recipient);
  const nameOf = await findNames(
    db,
    sent.map(({ kind, recipient }) => (kind === 'USER' ? recipient : null)),
  );
  return new Map(
    runs.flatMap((run) => {
      if (run.scheduleId === null || run.dueAt === null) return [];
      const recipients = sent
        .filter(({ reportId }) => reportId === run.id)
        .map(({ kind, recipient, attempts, lastError, dueAt: next, sentAt, ...row }) => ({
          kind,
          recipient: kind === 'USER' ? (nameOf(recipient)?.name ?? recipient) : recipient,
          ...{ status: row.status, attempts, error: lastError, sentAt },
          dueAt: row.status === 'PENDING' ? next : null,
        }));
      const { status: of, error: why, dueAt: at } = run;
      return [[run.scheduleId, { reportId: run.id, status: of, error: why, dueAt: at, recipients }]];
    }),
  );
}

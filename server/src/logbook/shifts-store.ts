import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { ListShiftsInput, Shift, ShiftState, ShiftSummary } from '@gantry/contract/shifts';
import { type SQL, sql } from 'drizzle-orm';
import superjson, { type SuperJSONResult } from 'superjson';
import { findNames } from '../accounts/names-store.ts';
import { caseFolded } from '../platform/database/case-folded.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';

// Shifts. A desk has at most one that has not ended: the index shifts_open decides between those who start one.

interface ShiftRow extends Record<string, unknown> {
  readonly id: string;
  readonly desk: string;
  readonly leadId: string;
  readonly memberIds: string[];
  readonly startedAt: string;
  readonly handedOverAt: string | null;
  readonly handedOverBy: string | null;
  readonly remarks: string | null;
  readonly endedAt: string | null;
  readonly acceptedBy: string | null;
  readonly closedBy: string | null;
  readonly closeReason: string | null;
  readonly previousId: string | null;
}

const COLUMNS = sql.raw(`
  id, desk, lead_id AS "leadId", member_ids AS "memberIds", started_at AS "startedAt", handed_over_at AS "handedOverAt",
  handed_over_by AS "handedOverBy", remarks, ended_at AS "endedAt", accepted_by AS "acceptedBy", closed_by AS "closedBy",
  close_reason AS "closeReason", previous_id AS "previousId"`);

const IS_IN: Readonly<Record<ShiftState, SQL>> = {
  OPEN: sql.raw('(ended_at IS NULL AND handed_over_at IS NULL)'),
  HANDED_OVER: sql.raw('(ended_at IS NULL AND handed_over_at IS NOT NULL)'),
  ENDED: sql.raw('ended_at IS NOT NULL'),
};

function stateOf({ endedAt, handedOverAt }: Pick<ShiftRow, 'endedAt' | 'handedOverAt'>): ShiftState {
  if (endedAt !== null) return 'ENDED';
  return handedOverAt === null ? 'OPEN' : 'HANDED_OVER';
}

function timeOf(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}

async function toShifts(db: Executor, rows: readonly ShiftRow[]): Promise<Shift[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap((row) => [row.leadId, ...row.memberIds, row.handedOverBy, row.acceptedBy, row.closedBy]),
  );
  const personOf = (id: string) => nameOf(id) ?? { id, name: 'a former user' };
  return rows.map(({ leadId, memberIds, ...row }) => ({
    ...row,
    state: stateOf(row),
    lead: personOf(leadId),
    members: memberIds.map(personOf),
    startedAt: new Date(row.startedAt),
    handedOverAt: timeOf(row.handedOverAt),
    handedOverBy: nameOf(row.handedOverBy),
    endedAt: timeOf(row.endedAt),
    acceptedBy: nameOf(row.acceptedBy),
    closedBy: nameOf(row.closedBy),
  }));
}

/** The shifts, the newest first. */
export async function listShifts(
  db: Executor,
  { skip, take, desk, state }: ListShiftsInput,
): Promise<Page<Shift>> {
  const wanted = sql`${state === undefined ? sql`true` : IS_IN[state]} AND ${desk === undefined ? sql`true` : isOfDesk(desk)}`;
  const { rows } = await db.execute<ShiftRow>(sql`
    SELECT ${COLUMNS} FROM shifts WHERE ${wanted} ORDER BY started_at DESC, id DESC LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM shifts WHERE ${wanted}`,
  );
  return { items: await toShifts(db, rows), total: counted[0]?.total ?? 0 };
}

function isOfDesk(desk: string): SQL {
  return sql`${caseFolded(sql`desk`)} = ${caseFolded(desk)}`;
}

/** @param lock whether to lock it until the transaction ends @throws AppError `notFound` */
export async function getShift(db: Executor, id: string, lock: 'lock' | 'read' = 'read'): Promise<Shift> {
  const { rows } = isUuid(id)
    ? await db.execute<ShiftRow>(
        sql`SELECT ${COLUMNS} FROM shifts WHERE id = ${id}::uuid ${lock === 'lock' ? sql`FOR UPDATE` : sql``}`,
      )
    : { rows: [] };
  const [shift] = await toShifts(db, rows);
  if (!shift) throw notFound('Shift');
  return shift;
}

/** What a shift handed over, and the number of its entries in the log. */
export async function readSummary(
  db: Executor,
  id: string,
): Promise<{ readonly summary: ShiftSummary | null; readonly entries: number }> {
  const { rows } = await db.execute<{ summary: SuperJSONResult | null; entries: number }>(sql`
    SELECT summary, (SELECT count(*)::int FROM log_entries WHERE shift_id = shifts.id) AS entries
    FROM shifts WHERE id = ${id}::uuid`);
  const [row] = rows;
  return {
    summary: row?.summary ? superjson.deserialize<ShiftSummary>(row.summary) : null,
    entries: row?.entries ?? 0,
  };
}

/** The shifts that have not ended; of one desk, if one is named. */
export async function findOpenShifts(db: Executor, desk?: string): Promise<Shift[]> {
  const { rows } = await db.execute<ShiftRow>(sql`
    SELECT ${COLUMNS} FROM shifts
    WHERE ended_at IS NULL AND ${desk === undefined ? sql`true` : isOfDesk(desk)} ORDER BY started_at`);
  return toShifts(db, rows);
}

/** Starts a shift. @returns its id; null while another one of the desk has not ended */
export async function insertShift(
  tx: Transaction,
  given: {
    readonly desk: string;
    readonly leadId: string;
    readonly memberIds: readonly string[];
    readonly previousId: string | null;
  },
): Promise<string | null> {
  const { desk, leadId, memberIds, previousId } = given;
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO shifts (desk, lead_id, member_ids, previous_id)
    VALUES (${desk}, ${leadId}::uuid, ${sql.param([...memberIds])}::uuid[], ${previousId}::uuid)
    ON CONFLICT DO NOTHING RETURNING id`);
  return rows[0]?.id ?? null;
}

/** Stores what a shift hands over. It never changes afterwards. */
export async function storeSummary(
  tx: Transaction,
  id: string,
  given: { readonly userId: string; readonly remarks: string | null; readonly summary: ShiftSummary },
): Promise<void> {
  const { userId, remarks, summary } = given;
  await tx.execute(sql`
    UPDATE shifts SET handed_over_at = now(), handed_over_by = ${userId}::uuid, remarks = ${remarks},
      summary = ${JSON.stringify(superjson.serialize(summary))}::jsonb
    WHERE id = ${id}::uuid`);
}

/** Ends a shift, because somebody took over, or for a reason. */
export async function endShiftRow(
  tx: Transaction,
  id: string,
  by: { readonly acceptedBy: string } | { readonly closedBy: string; readonly reason: string },
): Promise<void> {
  await tx.execute(
    'acceptedBy' in by
      ? sql`UPDATE shifts SET ended_at = now(), accepted_by = ${by.acceptedBy}::uuid WHERE id = ${id}::uuid`
      : sql`UPDATE shifts SET ended_at = now(), closed_by = ${by.closedBy}::uuid, close_reason = ${by.reason} WHERE id = ${id}::uuid`,
  );
}

/** Those of the ids that belong to no active user. */
export async function findInactive(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM users WHERE is_active AND id = ANY (${sql.param(ids.filter(isUuid))}::uuid[])`,
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id.toLowerCase()));
}

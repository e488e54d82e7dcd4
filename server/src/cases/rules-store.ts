import type { CaseRules, UpdateCaseRulesInput } from '@gantry/contract/cases';
import { sql } from 'drizzle-orm';
import { timeOfUpdate } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

// The rules of cases, and the events for which a rule wants a case.

export type StoredRules = Omit<CaseRules, 'retentionDays'>;

const RULES = sql.raw(`second_person AS "secondPerson", open_for AS "openFor", open_on AS "openOn"`);

export async function readCaseRules(db: Executor): Promise<StoredRules> {
  const { rows } = await db.execute<StoredRules & Record<string, unknown>>(
    sql`SELECT ${RULES} FROM case_rules`,
  );
  if (!rows[0]) throw new Error('The row of the rules of cases is missing');
  return rows[0];
}

/** Locks the rules until the transaction ends. */
export async function lockCaseRules(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT FROM case_rules FOR UPDATE`);
}

/** Replaces the given rules. */
export async function storeCaseRules(
  tx: Transaction,
  { secondPerson, openFor, openOn }: Omit<UpdateCaseRulesInput, 'retentionDays'>,
): Promise<void> {
  await tx.execute(sql`
    UPDATE case_rules SET
      second_person = coalesce(${secondPerson === undefined ? null : JSON.stringify(secondPerson)}::jsonb, second_person),
      open_for = coalesce(${sql.param(openFor ?? null)}::text[], open_for),
      open_on = coalesce(${openOn ?? null}::text, open_on)`);
}

/** An event for which a rule wants a case. */
export interface CaseRequest extends Record<string, unknown> {
  readonly eventId: string;
  /** Who confirmed it; null if it just arrived. */
  readonly userId: string | null;
}

/** Claims the oldest requests; others take different ones. */
export async function claimRequests(tx: Transaction, limit: number): Promise<CaseRequest[]> {
  // Plan: case_requests_by_time.
  const { rows } = await tx.execute<CaseRequest>(sql`
    DELETE FROM case_requests WHERE event_id IN (
      SELECT event_id FROM case_requests ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) RETURNING event_id AS "eventId", user_id AS "userId"`);
  return rows;
}

/** Whether any event waits for its case. */
export async function hasRequests(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ has: boolean }>(sql`SELECT EXISTS (SELECT FROM case_requests) AS has`);
  return rows[0]?.has === true;
}

/** For how many days a case is kept after it was closed; null: indefinitely. */
export async function readRetentionDays(db: Executor): Promise<number | null> {
  const { rows } = await db.execute<{ days: number | null }>(
    sql`SELECT cases_days AS days FROM retention_settings`,
  );
  return rows[0]?.days ?? null;
}

/** Changes that number in the rules of retention. */
export async function storeRetentionDays(
  tx: Transaction,
  days: number | null,
  userId: string,
): Promise<void> {
  await tx.execute(sql`
    UPDATE retention_settings SET cases_days = ${days}::integer, updated_at = ${timeOfUpdate()}, updated_by = ${userId}::uuid
    WHERE cases_days IS DISTINCT FROM ${days}::integer`);
}

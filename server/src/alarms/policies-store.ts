import {
  type CreatePolicyInput,
  type ListPoliciesInput,
  type ListSilencesInput,
  MAX_POLICIES,
  type Policy,
  type Silence,
  type SilenceMatcher,
} from '@gantry/contract/alarms';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';

// Policies and silences.

interface PolicyRow extends Record<string, unknown> {
  readonly createdAt: string;
  readonly updatedAt: string;
}

function selectPolicies(condition: SQL, rest: SQL = sql``): SQL {
  return sql`
    SELECT id, name, steps, group_wait_s AS "groupWaitSeconds", group_interval_s AS "groupIntervalSeconds",
      repeat_minutes AS "repeatMinutes", notify_clear AS "notifyClear", created_at AS "createdAt", updated_at AS "updatedAt",
      (SELECT count(*) FROM alarm_rules WHERE policy_id = policies.id)::int AS rules
    FROM policies WHERE ${condition} ${rest}`;
}

function toPolicy(row: PolicyRow): Policy {
  return {
    ...row,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  } as unknown as Policy;
}

export async function listPolicies(db: Executor, { skip, take }: ListPoliciesInput): Promise<Page<Policy>> {
  const order = sql`ORDER BY created_at, id LIMIT ${take} OFFSET ${skip}`;
  const { rows } = await db.execute<PolicyRow>(selectPolicies(sql`true`, order));
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM policies`,
  );
  return { items: rows.map(toPolicy), total: counted[0]?.total ?? 0 };
}

/** @throws AppError `notFound` */
export async function getPolicy(db: Executor, id: string): Promise<Policy> {
  const { rows } = isUuid(id)
    ? await db.execute<PolicyRow>(selectPolicies(sql`id = ${id}::uuid`))
    : { rows: [] };
  if (!rows[0]) throw notFound('Policy');
  return toPolicy(rows[0]);
}

/** Adds a policy. @throws AppError `badRequest` when there are too many */
export async function insertPolicy(tx: Transaction, policy: CreatePolicyInput): Promise<string> {
  await lockAdditions(tx, 'policies');
  const { rows: counted } = await tx.execute<{ n: number }>(sql`SELECT count(*)::int AS n FROM policies`);
  if ((counted[0]?.n ?? 0) >= MAX_POLICIES)
    throw new AppError('badRequest', `There are ${MAX_POLICIES} policies already: delete one first`);
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO policies (name, steps, group_wait_s, group_interval_s, repeat_minutes, notify_clear)
    VALUES (${policy.name}, ${JSON.stringify(policy.steps)}::jsonb, ${policy.groupWaitSeconds}, ${policy.groupIntervalSeconds},
      ${policy.repeatMinutes}, ${policy.notifyClear}) RETURNING id`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted policy');
  return rows[0].id;
}

/** Replaces a policy. */
export async function replacePolicy(tx: Transaction, id: string, policy: CreatePolicyInput): Promise<void> {
  await tx.execute(sql`
    UPDATE policies SET name = ${policy.name}, steps = ${JSON.stringify(policy.steps)}::jsonb,
      group_wait_s = ${policy.groupWaitSeconds}, group_interval_s = ${policy.groupIntervalSeconds},
      repeat_minutes = ${policy.repeatMinutes}, notify_clear = ${policy.notifyClear}, updated_at = now()
    WHERE id = ${id}::uuid`);
}

/** Deletes a policy that no rule uses, and closes its groups. */
export async function deletePolicyRow(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.execute(sql`
    UPDATE alarm_groups SET closed_at = ${moment(now)} WHERE policy_id = ${id}::uuid AND closed_at IS NULL`);
  await tx.execute(sql`DELETE FROM policies WHERE id = ${id}::uuid`);
}

interface SilenceRow extends Record<string, unknown> {
  readonly id: string;
  readonly matchers: SilenceMatcher[];
  readonly startsAt: string;
  readonly endsAt: string;
  readonly reason: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly isActive: boolean;
  readonly alarms: number;
}

function selectSilences(now: number, condition: SQL, rest: SQL = sql``): SQL {
  return sql`
    SELECT id, matchers, starts_at AS "startsAt", ends_at AS "endsAt", reason, user_id AS "userId", created_at AS "createdAt",
      ${isActiveAt(now)} AS "isActive",
      (SELECT count(*) FROM alarms WHERE silenced_by = silences.id AND state = 'FIRING')::int AS alarms
    FROM silences WHERE ${condition} ${rest}`;
}

function isActiveAt(now: number): SQL {
  return sql`(starts_at <= ${moment(now)} AND ends_at > ${moment(now)})`;
}

async function toSilences(db: Executor, rows: readonly SilenceRow[]): Promise<Silence[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  return rows.map(({ userId, ...row }) => ({
    ...row,
    startsAt: new Date(row.startsAt),
    endsAt: new Date(row.endsAt),
    createdAt: new Date(row.createdAt),
    by: nameOf(userId) ?? { id: userId, name: 'a former user' },
  }));
}

export async function listSilences(
  db: Executor,
  { skip, take, active }: ListSilencesInput,
  now: number,
): Promise<Page<Silence>> {
  const wanted = active === undefined ? sql`true` : sql`${isActiveAt(now)} = ${active}`;
  const order = sql`ORDER BY ends_at DESC, id LIMIT ${take} OFFSET ${skip}`;
  const { rows } = await db.execute<SilenceRow>(selectSilences(now, wanted, order));
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM silences WHERE ${wanted}`,
  );
  return { items: await toSilences(db, rows), total: counted[0]?.total ?? 0 };
}

/** @throws AppError `notFound` */
export async function getSilence(db: Executor, id: string, now: number): Promise<Silence> {
  const { rows } = isUuid(id)
    ? await db.execute<SilenceRow>(selectSilences(now, sql`id = ${id}::uuid`))
    : { rows: [] };
  const [silence] = await toSilences(db, rows);
  if (!silence) throw notFound('Silence');
  return silence;
}

export interface NewSilence {
  readonly matchers: readonly SilenceMatcher[];
  /** Unix milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly reason: string;
  readonly userId: string;
}

export async function insertSilence(tx: Transaction, silence: NewSilence): Promise<string> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO silences (matchers, starts_at, ends_at, reason, user_id)
    VALUES (${JSON.stringify(silence.matchers)}::jsonb, ${moment(silence.from)}, ${moment(silence.until)}, ${silence.reason},
      ${silence.userId}::uuid) RETURNING id`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted silence');
  return rows[0].id;
}

/** Ends a silence; one that lies ahead is removed. */
export async function endSilenceRow(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.execute(sql`DELETE FROM silences WHERE id = ${id}::uuid AND starts_at >= ${moment(now)}`);
  await tx.execute(
    sql`UPDATE silences SET ends_at = ${moment(now)} WHERE id = ${id}::uuid AND ends_at > ${moment(now)}`,
  );
}

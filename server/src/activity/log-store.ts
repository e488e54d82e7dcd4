import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { ActivityLogInput } from '@gantry/contract/users';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

/** An entry of the activity log as it is read. */
export interface ActivityRow {
  readonly id: number;
  readonly userId: string;
  readonly action: string;
  readonly at: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly details: Record<string, unknown> | null;
}

const COLUMNS = sql.raw(
  'id, user_id AS "userId", action, at, ip_address AS "ipAddress", user_agent AS "userAgent", details',
);

/** Ids are numbers of at most 18 digits. */
const ID = /^[1-9]\d{0,17}$/;

/** One entry; null when there is none. */
export async function findActivity(db: Executor, id: string): Promise<ActivityRow | null> {
  if (!ID.test(id)) return null;
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM activity WHERE id = ${id}::bigint`,
  );
  return rows[0] ?? null;
}

/** One page of what all users did, newest first, and how much there is of it. */
export async function listActivityLog(
  db: Executor,
  input: ActivityLogInput,
  interval: Interval,
): Promise<Page<ActivityRow>> {
  const wanted = conditions(input, interval);
  // Plan: activity_pkey from its end, or activity_of_user.
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(sql`
    SELECT ${COLUMNS} FROM activity WHERE ${wanted} ORDER BY id DESC LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM activity WHERE ${wanted}`,
  );
  return { items: rows, total: counted[0]?.total ?? 0 };
}

function conditions({ userId, action, about }: ActivityLogInput, { from, until }: Interval): SQL {
  const wanted = [sql`true`];
  if (userId !== undefined) wanted.push(isUuid(userId) ? sql`user_id = ${userId}::uuid` : sql`false`);
  if (action !== undefined) {
    wanted.push(action.endsWith('.') ? sql`starts_with(action, ${action})` : sql`action = ${action}`);
  }
  if (about !== undefined) {
    wanted.push(
      sql`EXISTS (SELECT FROM jsonb_each_text(details) AS detail WHERE lower(detail.value) = lower(${about}))`,
    );
  }
  if (from !== Number.NEGATIVE_INFINITY) wanted.push(sql`at >= ${moment(from)}`);
  if (until !== Number.POSITIVE_INFINITY) wanted.push(sql`at < ${moment(until)}`);
  return sql.join(wanted, sql` AND `);
}

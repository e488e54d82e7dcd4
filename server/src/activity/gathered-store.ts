import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Caller } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type ActivityAction, NOBODY, USER_AGENT_MAX } from './store.ts';

/** What may happen many times in a short while, so that one row stands for all of it. */
interface Gathered {
  readonly userId: string;
  readonly action: ActivityAction;
  /** Tells the row from others of the same user and action. */
  readonly about: string;
  /** For how long one row is used, in seconds. */
  readonly seconds: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The row of this while, if there is none yet; else what `onMore` does with it. */
const gather = async (
  db: Executor,
  { address, userAgent }: Caller,
  { userId, action, about, seconds, details }: Gathered,
  onMore = sql`NOTHING`,
): Promise<void> => {
  await db.execute(sql`
    INSERT INTO activity (user_id, action, ip_address, user_agent, details, gathered)
    VALUES (${userId}::uuid, ${action}, ${address}, ${userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null},
      ${JSON.stringify(details ?? {})}::jsonb,
      concat_ws(' ', ${action}::text, ${userId}::text, ${about}::text, floor(extract(epoch FROM now()) / ${seconds}::integer)))
    ON CONFLICT (gathered) WHERE gathered IS NOT NULL DO ${onMore}`);
};

const COUNT_ONE_MORE = sql`UPDATE SET details = activity.details
  || jsonb_build_object('count', (activity.details ->> 'count')::integer + 1)
  || CASE WHEN activity.ip_address IS DISTINCT FROM excluded.ip_address THEN '{"otherAddresses": true}' ELSE '{}' END::jsonb`;

/** Rows that the failed logins of one account make in a minute at most, from however many addresses they come. */
const ADDRESS_GROUPS = 16;

/**
 * Writes down that a login failed: a row a minute for each account and address, with a count. Many addresses share
 * rows, so that a flood cannot fill the log.
 * @param userId null when nobody has the e-mail; it is not kept, because people type passwords there too
 */
export const recordFailedLogin = (db: Executor, userId: string | null, caller: Caller): Promise<void> => {
  const group = Number.parseInt(hash('sha256', caller.address, 'hex').slice(0, 8), 16) % ADDRESS_GROUPS;
  const failed: Gathered = {
    userId: userId ?? NOBODY,
    action: 'auth.loginFailed',
    about: String(group),
    seconds: 60,
    details: { count: 1 },
  };
  return gather(db, caller, failed, COUNT_ONE_MORE);
};

/** Writes down that the file of a report was fetched: a row a minute for each user and report, with a count. */
export const recordReportDownload = (
  db: Executor,
  userId: string,
  caller: Caller,
  details: { readonly reportId: string; readonly kind: string; readonly format: string },
): Promise<void> => {
  const about = details.reportId;
  const download: Gathered = {
    userId,
    action: 'reports.download',
    about,
    seconds: 60,
    details: { ...details, count: 1 },
  };
  return gather(db, caller, download, COUNT_ONE_MORE);
};

/** Writes down that a picture was looked at: at most one row in ten minutes for each user and picture. */
export const recordImageView = (
  db: Executor,
  userId: string,
  caller: Caller,
  sha256: string,
): Promise<void> =>
  gather(db, caller, { userId, action: 'images.view', about: sha256, seconds: 600, details: { sha256 } });

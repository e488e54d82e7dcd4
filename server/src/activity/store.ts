import type { Page } from '@gantry/contract/page';
import type { Activity } from '@gantry/contract/users';
import { count, desc, eq } from 'drizzle-orm';
import type { Caller } from '../platform/context.ts';
import { activity } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** What people do that is worth remembering, as `noun.verb`. */
export type ActivityAction =
  | `auth.${'login' | 'logout' | 'loginFailed' | 'passwordChanged' | 'sessionRevoked'}`
  | `users.${'create' | 'update' | 'delete' | 'updateRole' | 'resetPassword'}`
  | `sensors.${'create' | 'update' | 'delete' | 'rotateKey'}`
  | `locations.${'create' | 'update' | 'delete'}`
  | `events.${'markAsProcessed' | 'markAsArchived' | 'delete' | 'lookUpPlate'}`
  | `incidents.${'create' | 'update' | 'acknowledge' | 'assign' | 'start' | 'resolve' | 'reopen' | 'close' | 'addNote' | 'attachEvent'}`
  | `watchlist.${'create' | 'update' | 'delete' | 'acknowledgeAlert'}`
  | `webhooks.${'create' | 'update' | 'delete' | 'test' | 'redeliver'}`
  | `reports.${'generate' | 'download' | 'cancel' | 'delete' | 'createSchedule' | 'updateSchedule' | 'deleteSchedule'}`
  | `storage.${'setRetention' | 'runRetention' | 'setHold' | 'releaseHold'}`
  | 'images.view'
  | 'system.updateTimezoneSettings';

/** Whose activity it is when an unknown e-mail was used: no user has this id. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Longest user agent that is kept, in characters. */
export const USER_AGENT_MAX = 300;

/** Writes down who did what, in the transaction that does it. */
export const recordActivity = async (
  db: Executor,
  userId: string,
  caller: Caller,
  action: ActivityAction,
  details?: Record<string, unknown>,
): Promise<void> => {
  await db.insert(activity).values({
    userId,
    action,
    ipAddress: caller.address,
    userAgent: caller.userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null,
    details: details ?? null,
  });
};

/** What a user did, newest first. */
export const listActivity = async (
  db: Executor,
  userId: string,
  { skip, take }: { skip: number; take: number },
): Promise<Page<Activity>> => {
  const ofUser = eq(activity.userId, userId);
  const [rows, [counted]] = await Promise.all([
    db.select().from(activity).where(ofUser).orderBy(desc(activity.id)).limit(take).offset(skip),
    db.select({ total: count() }).from(activity).where(ofUser),
  ]);
  const items = rows.map((row) => ({
    action: row.action,
    timestamp: row.at,
    ...(row.ipAddress !== null && { ipAddress: row.ipAddress }),
    ...(row.userAgent !== null && { userAgent: row.userAgent }),
    ...(row.details !== null && { details: row.details }),
  }));
  return { items, total: counted?.total ?? 0 };
};

import { pageCount } from '@gantry/contract/page';
import type { ActivityLog, ActivityLogEntry, ActivityLogInput } from '@gantry/contract/users';
import { type ActivityRow, findActivity, listActivityLog, NOBODY } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { resolveInterval } from '../platform/time.ts';
import { findNames } from './names-store.ts';

/** A page of the actions of all users, newest first, with the names of the users, including deleted ones. */
export async function viewActivityLog({ app }: ActorContext, input: ActivityLogInput): Promise<ActivityLog> {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listActivityLog(app.db, input, interval);
  return { activities: await withNames(app.db, items), total, pageCount: pageCount(total, input.take) };
}

/** @throws AppError `notFound` */
export async function viewActivity({ app }: ActorContext, id: string): Promise<ActivityLogEntry> {
  const row = await findActivity(app.db, id);
  const [entry] = row ? await withNames(app.db, [row]) : [];
  if (!entry) throw notFound('Entry of the activity log');
  return entry;
}

async function withNames(db: Executor, rows: readonly ActivityRow[]): Promise<ActivityLogEntry[]> {
  const personOf = (userId: string) => (userId === NOBODY ? null : userId);
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => personOf(userId)),
  );
  return rows.map(({ id, userId, at, ...rest }) => ({
    id: String(id),
    by: nameOf(personOf(userId)),
    timestamp: new Date(at),
    ...rest,
  }));
}

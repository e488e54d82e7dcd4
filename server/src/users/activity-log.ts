import { pageCount } from '@gantry/contract/page';
import type { ActivityLog, ActivityLogInput } from '@gantry/contract/users';
import { listActivityLog } from '../activity/log-store.ts';
import { NOBODY } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { resolveInterval } from '../platform/time.ts';
import { findNames } from './names-store.ts';

/** What all users did, newest first, with their names, also of those who were deleted. */
export async function viewActivityLog({ app }: ActorContext, input: ActivityLogInput): Promise<ActivityLog> {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listActivityLog(app.db, input, interval);
  const personOf = (userId: string) => (userId === NOBODY ? null : userId);
  const nameOf = await findNames(
    app.db,
    items.map(({ userId }) => personOf(userId)),
  );
  const activities = items.map(({ id, userId, at, ...rest }) => ({
    id: String(id),
    by: nameOf(personOf(userId)),
    timestamp: new Date(at),
    ...rest,
  }));
  return { activities, total, pageCount: pageCount(total, input.take) };
}

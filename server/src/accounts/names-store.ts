import { inArray } from 'drizzle-orm';
import { formerUsers, users } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** A user as the API names them. */
export interface NamedPerson {
  readonly id: string;
  readonly name: string;
}

/** The name for a user id; null for null. */
export type NameOf = (userId: string | null) => NamedPerson | null;

/** The names of users, including deleted ones. A user whose name is not stored is "a former user". */
export async function findNames(db: Executor, userIds: readonly (string | null)[]): Promise<NameOf> {
  const ids = [...new Set(userIds.filter((userId) => userId !== null))];
  const rows = ids.length === 0 ? [] : await ofAll(db, ids);
  const names = new Map(rows.map(({ id, firstName, lastName }) => [id, `${firstName} ${lastName}`]));
  return (userId) => (userId === null ? null : { id: userId, name: names.get(userId) ?? 'a former user' });
}

function ofAll(db: Executor, ids: string[]) {
  const { id, firstName, lastName } = users;
  const former = { id: formerUsers.id, firstName: formerUsers.firstName, lastName: formerUsers.lastName };
  return db
    .select({ id, firstName, lastName })
    .from(users)
    .where(inArray(users.id, ids))
    .unionAll(db.select(former).from(formerUsers).where(inArray(formerUsers.id, ids)));
}

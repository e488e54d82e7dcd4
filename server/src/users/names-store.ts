import { inArray } from 'drizzle-orm';
import { users } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';

/** A person as answers name them. */
export interface NamedPerson {
  readonly id: string;
  readonly name: string;
}

/** Says who is meant by a user id; null stays null. */
export type NameOf = (userId: string | null) => NamedPerson | null;

/** The names of users; one who is gone is "a former user". */
export const findNames = async (db: Executor, userIds: readonly (string | null)[]): Promise<NameOf> => {
  const ids = [...new Set(userIds.filter((userId) => userId !== null))];
  const rows =
    ids.length === 0
      ? []
      : await db
          .select({ id: users.id, firstName: users.firstName, lastName: users.lastName })
          .from(users)
          .where(inArray(users.id, ids));
  const names = new Map(rows.map(({ id, firstName, lastName }) => [id, `${firstName} ${lastName}`]));
  return (userId) => (userId === null ? null : { id: userId, name: names.get(userId) ?? 'a former user' });
};

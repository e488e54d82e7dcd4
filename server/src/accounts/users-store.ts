import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { Role } from '@gantry/contract/permissions';
import type { ListUsersInput, User } from '@gantry/contract/users';
import { and, count, eq, or, type SQL, sql } from 'drizzle-orm';
import { caseFolded, contains, sortedName } from '../platform/database/case-folded.ts';
import { formerUsers, users } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { found, notFound } from '../platform/error.ts';

const columns = {
  id: users.id,
  email: users.email,
  firstName: users.firstName,
  lastName: users.lastName,
  role: users.role,
  phone: users.phone,
  avatar: users.avatar,
  department: users.department,
  isActive: users.isActive,
  lastLogin: users.lastLogin,
  createdAt: users.createdAt,
  updatedAt: users.updatedAt,
};

/** A user as stored; unknown fields are null. */
export type UserRow = Pick<typeof users.$inferSelect, keyof typeof columns>;

/** A user as the API returns them; unknown fields are omitted. */
export function userOf({ phone, avatar, department, lastLogin, ...known }: UserRow): User {
  return {
    ...known,
    ...(phone !== null && { phone }),
    ...(avatar !== null && { avatar }),
    ...(department !== null && { department }),
    ...(lastLogin !== null && { lastLogin }),
  };
}

/** @throws AppError `notFound` */
export async function getUser(db: Executor, id: string): Promise<User> {
  if (!isUuid(id)) throw notFound('User');
  const row = found(await db.select(columns).from(users).where(eq(users.id, id)), 'User');
  return userOf(row);
}

/** The id of the user with the e-mail address (lower case), active or not; null if there is none. */
export async function findUserId(db: Executor, email: string): Promise<string | null> {
  const [row] = await db.select({ id: users.id }).from(users).where(eq(users.email, email));
  return row?.id ?? null;
}

const sortExpressions = {
  firstName: sortedName(users.firstName),
  email: users.email,
  role: users.role,
  lastLogin: users.lastLogin,
  createdAt: users.createdAt,
} as const;

/** The users that match; `search` applies to the e-mail address and "first name last name". */
export async function listUsers(db: Executor, input: ListUsersInput): Promise<Page<User>> {
  const where = matching(input);
  const direction = input.sortOrder === 'asc' ? sql`asc nulls last` : sql`desc nulls last`;
  const [rows, [counted]] = await Promise.all([
    db
      .select(columns)
      .from(users)
      .where(where)
      .orderBy(sql`${sortExpressions[input.sortBy]} ${direction}`, sql`${users.id} ${direction}`)
      .limit(input.take)
      .offset(input.skip),
    db.select({ total: count() }).from(users).where(where),
  ]);
  return { items: rows.map(userOf), total: counted?.total ?? 0 };
}

/**
 * Locks a user and all active administrators until the transaction ends. One statement locks them in the order of
 * ids, so that such transactions cannot deadlock.
 * @throws AppError `notFound`
 */
export async function lockUser(
  tx: Transaction,
  id: string,
): Promise<{ user: UserRow; isLastAdministrator: boolean }> {
  if (!isUuid(id)) throw notFound('User');
  const isAdministrator = and(eq(users.role, 'ADMIN'), eq(users.isActive, true));
  const rows = await tx
    .select(columns)
    .from(users)
    .where(or(eq(users.id, id), isAdministrator))
    .orderBy(users.id)
    .for('update');
  const user = rows.find((row) => row.id === id.toLowerCase());
  if (!user) throw notFound('User');
  const administrators = rows.filter((row) => row.role === 'ADMIN' && row.isActive);
  return { user, isLastAdministrator: administrators.length === 1 && administrators[0] === user };
}

type NewUser = Pick<UserRow, 'email' | 'firstName' | 'lastName' | 'role' | 'phone' | 'department'> & {
  passwordHash: string;
};

/** Fails with a unique violation when the e-mail address (lower case) is in use. */
export async function insertUser(db: Executor, values: NewUser): Promise<User> {
  const [row] = await db.insert(users).values(values).returning(columns);
  if (!row) throw new Error('INSERT returned no row');
  return userOf(row);
}

/** Changes a locked user. Ending the sessions invalidates every token issued so far. */
export async function updateLockedUser(
  tx: Transaction,
  id: string,
  values: Changes & { readonly passwordHash?: string },
  { endSessions }: { endSessions: boolean },
): Promise<User> {
  const row = found(
    await tx
      .update(users)
      .set({
        ...values,
        ...(endSessions && { sessionEpoch: sql`${users.sessionEpoch} + 1` }),
        // Increases even for two changes in the same millisecond, and never decreases.
        updatedAt: sql`greatest(clock_timestamp(), ${users.updatedAt} + interval '1 millisecond')`,
      })
      .where(eq(users.id, id))
      .returning(columns),
    'User',
  );
  return userOf(row);
}

/** Deletes a user, which invalidates their tokens. Only the name is kept, for the activity log. */
export async function deleteLockedUser(
  tx: Transaction,
  { id, firstName, lastName }: Pick<UserRow, 'id' | 'firstName' | 'lastName'>,
): Promise<void> {
  await tx.delete(users).where(eq(users.id, id));
  const name = { firstName, lastName };
  await tx
    .insert(formerUsers)
    .values({ id, ...name })
    .onConflictDoUpdate({ target: formerUsers.id, set: name });
}

/** The id, as stored, of a user or a deleted one. @throws AppError `notFound` */
export async function getUserOrFormerId(db: Executor, id: string): Promise<string> {
  if (!isUuid(id)) throw notFound('User');
  const row = found(
    await db
      .select({ id: users.id })
      .from(users)
      .where(eq(users.id, id))
      .unionAll(db.select({ id: formerUsers.id }).from(formerUsers).where(eq(formerUsers.id, id))),
    'User',
  );
  return row.id;
}

export async function hasUsers(db: Executor): Promise<boolean> {
  return (await db.select({ id: users.id }).from(users).limit(1)).length > 0;
}

/** Prevents other transactions from adding or changing users until this one ends. */
export async function lockUsersTable(tx: Transaction): Promise<void> {
  await tx.execute(sql`LOCK TABLE ${users} IN SHARE ROW EXCLUSIVE MODE`);
}

function matching({ search, role, department, isActive }: ListUsersInput): SQL | undefined {
  return and(
    search === undefined
      ? undefined
      : or(
          contains(users.email, search),
          contains(sql`${users.firstName} || ' ' || ${users.lastName}`, search),
        ),
    role === undefined ? undefined : eq(users.role, role),
    department === undefined ? undefined : sql`${caseFolded(users.department)} = ${caseFolded(department)}`,
    isActive === undefined ? undefined : eq(users.isActive, isActive),
  );
}

/** The fields of a user that can be changed; `null` for unknown. */
export interface UserFields {
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly phone: string | null;
  readonly avatar: string | null;
  readonly department: string | null;
  readonly isActive: boolean;
}

/** The fields that a caller wants to set; undefined ones stay unchanged. */
export type WantedFields = { readonly [Field in keyof UserFields]?: UserFields[Field] | undefined };

/** The fields that change, with their new values. */
export type Changes = Partial<UserFields>;

/** Those of the wanted fields that differ from the present ones. */
export function changesOf(user: UserFields, wanted: WantedFields): Changes {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && value !== user[field as keyof UserFields],
    ),
  );
}

/** Whether the user must log in again, because their tokens are no longer correct. */
export function endsSessions(changes: Changes): boolean {
  return changes.role !== undefined || changes.isActive === false;
}

/** Whether the changes make an active administrator lose that role or become inactive. */
export function endsAdministration(changes: Changes): boolean {
  return (changes.role !== undefined && changes.role !== 'ADMIN') || changes.isActive === false;
}

/** The changes for the activity log, with old and new values. Avatars are too large to be included. */
export function describeChanges(user: UserFields, changes: Changes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(changes).map(([field, to]) => [
      field,
      field === 'avatar' ? (to === null ? 'removed' : 'set') : { from: user[field as keyof UserFields], to },
    ]),
  );
}

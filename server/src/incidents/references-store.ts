import { isUuid } from '@gantry/contract/id';
import type { Role } from '@gantry/contract/permissions';
import { and, eq, inArray } from 'drizzle-orm';
import { sortedName } from '../platform/database/case-folded.ts';
import { locations, sensors, users } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

export async function hasLocation(db: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await db.$count(locations, eq(locations.id, id))) > 0;
}

export async function hasSensor(db: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await db.$count(sensors, eq(sensors.id, id))) > 0;
}

/** The active users of these roles, by name. @param only the id of the only user wanted; null for all */
export async function listCandidates(
  db: Executor,
  roles: readonly Role[],
  only: string | null,
): Promise<{ id: string; name: string; role: Role }[]> {
  const rows = await db
    .select({ id: users.id, firstName: users.firstName, lastName: users.lastName, role: users.role })
    .from(users)
    .where(
      and(users.isActive, inArray(users.role, [...roles]), only === null ? undefined : eq(users.id, only)),
    )
    .orderBy(sortedName(users.firstName), sortedName(users.lastName), users.id);
  return rows.map(({ id, firstName, lastName, role }) => ({ id, name: `${firstName} ${lastName}`, role }));
}

/** A user to whom an incident may be assigned. */
export interface Candidate {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly isActive: boolean;
}

/** The user with the id, whatever their role; null when there is none. */
export async function findCandidate(db: Executor, id: string): Promise<Candidate | null> {
  if (!isUuid(id)) return null;
  const { firstName, lastName, role, isActive } = users;
  const [row] = await db
    .select({ id: users.id, firstName, lastName, role, isActive })
    .from(users)
    .where(eq(users.id, id));
  return row ?? null;
}

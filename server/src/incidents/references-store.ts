import { isUuid } from '@gantry/contract/id';
import type { Role } from '@gantry/contract/permissions';
import { eq } from 'drizzle-orm';
import { locations, sensors, users } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

export async function hasLocation(db: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await db.$count(locations, eq(locations.id, id))) > 0;
}

export async function hasSensor(db: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await db.$count(sensors, eq(sensors.id, id))) > 0;
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

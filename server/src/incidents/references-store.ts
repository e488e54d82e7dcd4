import { isUuid } from '@gantry/contract/id';
import { mayDo, type Role } from '@gantry/contract/permissions';
import { and, eq, inArray } from 'drizzle-orm';
import { findEvents } from '../events/store.ts';
import { sortedName } from '../platform/database/case-folded.ts';
import { locations, sensors, users } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';

async function hasLocation(db: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await db.$count(locations, eq(locations.id, id))) > 0;
}

async function hasSensor(db: Executor, id: string): Promise<boolean> {
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
interface Candidate {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly isActive: boolean;
}

/** The user with the id, whatever their role; null when there is none. */
async function findCandidate(db: Executor, id: string): Promise<Candidate | null> {
  if (!isUuid(id)) return null;
  const { firstName, lastName, role, isActive } = users;
  const [row] = await db
    .select({ id: users.id, firstName, lastName, role, isActive })
    .from(users)
    .where(eq(users.id, id));
  return row ?? null;
}

// Objects that an incident refers to must exist when it is entered. They may be deleted later.

/** @throws AppError `badRequest` for a location or sensor that does not exist; null and undefined refer to none */
export async function requirePlaces(
  db: Executor,
  { locationId, sensorId }: { locationId?: string | null | undefined; sensorId?: string | null | undefined },
): Promise<void> {
  if (locationId && !(await hasLocation(db, locationId)))
    throw invalidInput('locationId', 'No location has this locationId: use the id of an existing one');
  if (sensorId && !(await hasSensor(db, sensorId)))
    throw invalidInput('sensorId', 'No sensor has this sensorId: use the id of an existing one');
}

/**
 * Requires a user to whom an incident can be assigned: an active one who may manage incidents.
 * @param field the field of the input with the user's id
 * @returns the id as stored
 * @throws AppError `badRequest` when there is no such user, or they are inactive or may not manage incidents
 */
export async function requireAssignee(db: Executor, field: string, userId: string): Promise<string> {
  const user = await findCandidate(db, userId);
  if (!user) throw invalidInput(field, 'No user has this id: use the id of an existing one');
  if (!user.isActive || !mayDo(user.role, 'manageIncidents')) {
    const reason = user.isActive ? `is ${user.role}` : 'is not active';
    throw invalidInput(
      field,
      `${user.firstName} ${user.lastName} ${reason}: choose an active user who may manage incidents`,
    );
  }
  return user.id;
}

/**
 * Requires that events exist.
 * @param pathOf returns the path in the input of the event at a position
 * @returns the ids as stored, each once
 * @throws AppError `badRequest` for an event that does not exist
 */
export async function requireEvents(
  db: Executor,
  eventIds: readonly string[],
  pathOf: (position: number) => string,
): Promise<string[]> {
  const wanted = eventIds.map((eventId) => eventId.toLowerCase());
  const known = wanted.length === 0 ? new Map() : await findEvents(db, wanted.filter(isUuid));
  const unknown = wanted.findIndex((eventId) => !known.has(eventId));
  if (unknown >= 0)
    throw invalidInput(pathOf(unknown), 'No event has this id: use the id of an existing one');
  return [...new Set(wanted)];
}

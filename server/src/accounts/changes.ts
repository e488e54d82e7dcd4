import type { Role } from '@gantry/contract/permissions';

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

import type { Role } from '@gantry/contract/permissions';

/** What of a user can be changed; `null` is "unknown". */
export interface UserFields {
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly phone: string | null;
  readonly avatar: string | null;
  readonly department: string | null;
  readonly isActive: boolean;
}

/** The fields a caller wants to set; those that are undefined stay as they are. */
export type WantedFields = { readonly [Field in keyof UserFields]?: UserFields[Field] | undefined };

/** The fields that become something else, with what they become. */
export type Changes = Partial<UserFields>;

/** What of the wanted fields is not so already. */
export function changesOf(user: UserFields, wanted: WantedFields): Changes {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && value !== user[field as keyof UserFields],
    ),
  );
}

/** Whether the user must log in again: their tokens speak of what they are no longer. */
export function endsSessions(changes: Changes): boolean {
  return changes.role !== undefined || changes.isActive === false;
}

/** Whether an active administrator is none after the changes. */
export function endsAdministration(changes: Changes): boolean {
  return (changes.role !== undefined && changes.role !== 'ADMIN') || changes.isActive === false;
}

/** The changes as the activity log tells them: from what to what. Pictures are too large to be told. */
export function describeChanges(user: UserFields, changes: Changes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(changes).map(([field, to]) => [
      field,
      field === 'avatar' ? (to === null ? 'removed' : 'set') : { from: user[field as keyof UserFields], to },
    ]),
  );
}

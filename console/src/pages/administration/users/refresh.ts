import { queryClient } from '../../../shared/service/queries.ts';
import { service } from '../../../shared/service/service.ts';

/** Invalidates all queries of `users`. */
export function refreshUsers(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: service.users.pathKey() });
}

export function nameOf({
  firstName,
  lastName,
}: {
  readonly firstName: string;
  readonly lastName: string;
}): string {
  return `${firstName} ${lastName}`;
}

import { queryClient } from '../../shared/service/queries.ts';
import { service } from '../../shared/service/service.ts';

export interface Person {
  readonly id: string;
  readonly name: string;
}

/** How long the list of assignees is cached, in milliseconds. */
const FRESH_MS = 60_000;

/** Finds the users to whom incidents can be assigned, by a part of their name. */
export async function findAssignees(part: string): Promise<readonly Person[]> {
  const { assignees } = await queryClient.fetchQuery({
    ...service.incidents.getAssignees.queryOptions(),
    staleTime: FRESH_MS,
  });
  const wanted = part.toLocaleLowerCase();
  return assignees.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
}

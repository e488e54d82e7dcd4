import type { RetentionClass } from '@gantry/contract/storage';
import { queryClient } from '../../service/queries.ts';
import { service } from '../../service/service.ts';

/** Asks again for everything that is known of what is stored. */
export function refreshStorage(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: service.storage.pathKey() });
}

/** What can be kept for a time of its own. */
export const retentionClasses = [
  'events',
  'images',
  'reports',
  'activity',
  'traffic',
] as const satisfies readonly RetentionClass[];

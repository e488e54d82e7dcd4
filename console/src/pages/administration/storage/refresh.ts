import type { RetentionClass } from '@gantry/contract/storage';
import { queryClient } from '../../../shared/service/queries.ts';
import { service } from '../../../shared/service/service.ts';

/** Invalidates all queries of `storage`. */
export function refreshStorage(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: service.storage.pathKey() });
}

/** The classes of data that retention removes, in the order of display. */
export const retentionClasses = [
  'events',
  'images',
  'reports',
  'activity',
  'traffic',
  'hits',
  'log',
  'cases',
] as const satisfies readonly RetentionClass[];

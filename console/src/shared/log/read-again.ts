import { queryClient } from '../service/queries.ts';
import { service } from '../service/service.ts';

/** Reads the log and the shifts again. */
export function readLogAgain(): void {
  void queryClient.invalidateQueries({ queryKey: service.log.pathKey() });
  void queryClient.invalidateQueries({ queryKey: service.shifts.pathKey() });
}

import { listRemovedEvents, type RemovedEvents } from '../../events/remove-store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Figure, ReportScope } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
import { untilNow } from './slices.ts';

/**
 * A figure with the time before which retention removed events of the range; none if it removed none.
 * @param concerns which of the removed events the report would include
 */
export async function removedFigure(
  db: Executor,
  scope: ReportScope,
  concerns: (removed: RemovedEvents) => boolean = () => true,
): Promise<Figure[]> {
  const removed = (await listRemovedEvents(db, untilNow(scope))).filter(concerns);
  if (removed.length === 0) return [];
  const until = Math.max(...removed.map((span) => span.until));
  // Shown with the time of day, because retention removes whole days in UTC.
  const value = `events before ${createLocalTime(scope.settings).show(until)}`;
  return [{ name: 'Removed by retention', value }];
}

import { channels } from '../platform/database/notify.ts';
import { startPeriodicIfNeeded } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { hasTurns } from './store.ts';
import { takeTurns } from './turns.ts';

/** Begins and ends planned works by the clock of the database. Any number of processes may do so at the same time. */
export function startWorks(
  { core: { db, log, timings }, listener, resources }: Foundation,
  { outbox }: Pick<RealtimeServices, 'outbox'>,
): void {
  const failure = 'planned works cannot begin or end now; the next round will try again';
  const isNeeded = () => hasTurns(db);
  const { rouse } = resources.use(
    startPeriodicIfNeeded({ everyMs: timings.turnWorksMs, log, failure, isNeeded }, (isOver) =>
      takeTurns({ db, log, outbox }, isOver),
    ),
  );
  listener.on(channels.works, rouse, rouse);
}

import { caseFold } from '@gantry/contract/case-fold';
import { lockOutRemovals } from '../events/holds-store.ts';
import { keepLatest } from '../platform/caches.ts';
import type { Core } from '../platform/context.ts';
import { channels } from '../platform/database/notify.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { startPeriodicIfNeeded } from '../platform/periodic.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { type OpeningParts, openForEvent } from './open.ts';
import { claimRequests, hasRequests, readCaseRules, type StoredRules } from './rules-store.ts';
import { roomForCases } from './store.ts';

/** The services of cases that the application context contains. */
export interface CaseServices {
  /** Whether a rule wants a case about an event with this type of violation as soon as it arrives. */
  readonly opensCase: (violationType: string | null) => boolean;
}

/** Maximum number of cases that are opened in one transaction. */
const AT_ONCE = 20;

/** Opens the cases that rules ask for. Any number of processes may do so at the same time. */
export async function startCases(
  foundation: Foundation,
  { outbox }: Pick<RealtimeServices, 'outbox'>,
): Promise<CaseServices> {
  const { core, listener, resources } = foundation;
  const { db, log, timings } = core;
  const opening = await keepLatest(async () => openedOnArrival(await readCaseRules(db)));
  keepFresh(foundation, channels.caseRules, opening.refresh, 'the rules of cases could not be reloaded');
  const failure = 'cases cannot be opened now; the next round will try again';
  const isNeeded = () => hasRequests(db);
  const { rouse } = resources.use(
    startPeriodicIfNeeded({ everyMs: timings.openCasesMs, log, failure, isNeeded }, (isOver) =>
      openRequested({ ...core, outbox }, isOver),
    ),
  );
  listener.on(channels.cases, rouse, rouse);
  return {
    opensCase: (violationType) =>
      violationType !== null && violationType !== '' && opening.current().has(caseFold(violationType)),
  };
}

function openedOnArrival({ openFor, openOn }: StoredRules): ReadonlySet<string> {
  return new Set(openOn === 'ARRIVAL' ? openFor.map(caseFold) : []);
}

/** Opens all cases that are asked for, until too many are open. Events that are gone are forgotten. */
async function openRequested(
  core: Pick<Core, 'db' | 'log'> & OpeningParts,
  isOver: () => boolean,
): Promise<void> {
  for (let more = true; more && !isOver(); ) {
    more = await inTransaction(core.db, async (tx) => {
      await lockOutRemovals(tx);
      const room = await roomForCases(tx);
      if (room <= 0) {
        core.log.warn('rules ask for more cases than may be open: close some, and the others are opened');
        return false;
      }
      const requests = await claimRequests(tx, Math.min(room, AT_ONCE));
      for (const { eventId, userId } of requests) await openForEvent(core, tx, eventId, userId);
      return requests.length > 0;
    });
  }
}

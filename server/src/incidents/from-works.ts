import type { IncidentAction, IncidentChange } from '@gantry/contract/incidents';
import { findNames } from '../accounts/names-store.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import { choosePlans } from './plans-store.ts';
import {
  type IncidentRow,
  incidentOf,
  insertIncidents,
  lockIncidentIfAny,
  type NewIncident,
  resolveOpen,
} from './store.ts';
import { recordTimeline } from './timeline-store.ts';
import { listLinked } from './work-store.ts';

// Incidents that are open while planned works are in force.

type App = { readonly outbox: Outbox };

/**
 * Opens the incident of works that begin. It is IN_PROGRESS, because they were approved and nobody has to attend to it. Its texts are
 * those of a person, who counts as having reported it: texts of devices are hidden from some users.
 * @returns its id
 */
export async function openForWorks(
  app: App,
  tx: Transaction,
  worksId: string,
  fields: Pick<
    NewIncident,
    'title' | 'description' | 'type' | 'severity' | 'location' | 'locationId' | 'lanesBlocked' | 'reportedBy'
  >,
): Promise<string> {
  const [row] = await insertIncidents(tx, [{ ...fields, status: 'IN_PROGRESS' }]);
  if (!row) throw new Error('PostgreSQL did not return the inserted incident');
  await choosePlans(tx, [row.id]);
  await tell(app, tx, row, 'create', null, { worksId });
  return row.id;
}

/**
 * Resolves the incident of works that are over, unless it was resolved, closed, merged or deleted before, or another one was merged
 * into it, which goes on without the works.
 */
export async function resolveForWorks(
  app: App,
  tx: Transaction,
  worksId: string,
  incidentId: string,
): Promise<void> {
  const before = await lockIncidentIfAny(tx, incidentId);
  if ((await listLinked(tx, incidentId, 'mergedInto')).length > 0) return;
  const after = before && (await resolveOpen(tx, incidentId));
  if (after) await tell(app, tx, after, 'resolve', before.status, { worksId, reason: 'worksOver' });
}

async function tell(
  app: App,
  tx: Transaction,
  row: IncidentRow,
  action: IncidentAction | 'create',
  fromStatus: IncidentRow['status'] | null,
  details: Record<string, unknown>,
): Promise<void> {
  const at = row.updatedAt;
  await recordTimeline(tx, [
    { incidentId: row.id, at, userId: null, action, fromStatus, toStatus: row.status, note: null, details },
  ]);
  const nameOf = await findNames(tx, [row.reportedBy, row.assignedTo]);
  const body: IncidentChange = { action, incident: incidentOf(row, nameOf), by: null, note: null, at };
  await publish(app, tx, [{ topic: 'incidents', body }]);
}

import { GantryError } from '@gantry/client';
import { type Incident, incidentStatus } from '@gantry/contract/incidents';
import { MAX_TAKE } from '@gantry/contract/page';
import { count } from '../screen.ts';
import { inBatches } from './in-batches.ts';
import { courseOf, type Step } from './incident-course.ts';
import type { Part, Staff } from './staff.ts';

/** Maximum number of incidents that are processed in one run, the newest first. */
const MAX_INCIDENTS = 500;

const UNFINISHED = incidentStatus.options.filter((status) => status !== 'CLOSED');

/**
 * Performs the actions of a control room on incidents that events opened until `now` (Unix milliseconds). Incidents that
 * people opened or reopened, or that are assigned to other users, are not changed.
 */
export async function dealWithIncidents(staff: Staff, now: number, signal: AbortSignal): Promise<void> {
  const unfinished = await listUnfinished(staff, new Date(now));
  await inBatches(unfinished, signal, async (incident) => {
    const assigned = assigneeOf(staff, incident);
    const isReopened = incident.status === 'OPEN' && incident.acknowledgedAt !== null;
    if (assigned === undefined || incident.reportedBy !== null || isReopened) return;
    for (const step of courseOf(incident, assigned, now)) {
      if (signal.aborted) return;
      await carryOut(staff, incident.id, step).catch((error: unknown) => {
        // Somebody else has changed it meanwhile.
        if (!(error instanceof GantryError) || error.code !== 'CONFLICT') throw error;
      });
    }
  });
}

/** The state of the incidents as one line. */
export async function describeIncidents({ operator }: Staff): Promise<string> {
  const { total, byStatus } = await operator.client.api.incidents.getStats.query();
  const parts = byStatus
    .filter((one) => one.count > 0)
    .map((one) => `${count(one.count)} ${one.status.toLowerCase().replaceAll('_', ' ')}`);
  return `Incidents: ${count(total)}${parts.length > 0 ? `, of which ${parts.join(', ')}` : ''}`;
}

async function listUnfinished({ operator }: Staff, until: Date): Promise<Incident[]> {
  const { incidents } = operator.client.api;
  const found: Incident[] = [];
  for (let skip = 0; skip < MAX_INCIDENTS; skip += MAX_TAKE) {
    const page = await incidents.getAll.query({ status: UNFINISHED, endDate: until, skip, take: MAX_TAKE });
    found.push(...page.incidents);
    if (skip + MAX_TAKE >= page.total) break;
  }
  return found;
}

/** The member of the staff to whom the incident is assigned; null for none, undefined for another user. */
function assigneeOf(staff: Staff, { assignedTo }: Incident): Part | null | undefined {
  if (assignedTo === null) return null;
  return (['operator', 'field'] as const).find((part) => staff[part].id === assignedTo.id);
}

function carryOut(staff: Staff, id: string, step: Step): Promise<unknown> {
  const { incidents } = staff[step.by].client.api;
  if (step.action === 'assign') return incidents.assign.mutate({ id, userId: staff[step.to].id });
  return incidents[step.action].mutate({ id, note: step.note });
}

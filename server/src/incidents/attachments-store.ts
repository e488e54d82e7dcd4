import type { Event } from '@gantry/contract/events';
import { MAX_INCIDENT_EVENTS } from '@gantry/contract/incidents';
import { desc, eq } from 'drizzle-orm';
import { findEvents } from '../events/store.ts';
import { incidentEvents } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** An event that belongs to an incident. */
export interface Attachment {
  readonly incidentId: string;
  readonly eventId: string;
}

/** Notes which events belong to which incidents; what is noted already stays. */
export const attachEvents = async (tx: Executor, attachments: readonly Attachment[]): Promise<void> => {
  if (attachments.length > 0)
    await tx
      .insert(incidentEvents)
      .values([...attachments])
      .onConflictDoNothing();
};

/** The newest events of an incident, and how many were attached. */
export const findEventsOf = async (
  db: Executor,
  incidentId: string,
): Promise<{ events: Event[]; eventCount: number }> => {
  const ofIncident = eq(incidentEvents.incidentId, incidentId);
  const newest = await db
    .select({ eventId: incidentEvents.eventId })
    .from(incidentEvents)
    .where(ofIncident)
    .orderBy(desc(incidentEvents.eventId))
    .limit(MAX_INCIDENT_EVENTS);
  const ids = newest.map(({ eventId }) => eventId);
  // Two statements, for one that joins cannot be sent to the nodes that have the events.
  const found = await findEvents(db, ids);
  const events = ids.flatMap((id) => found.get(id) ?? []);
  if (ids.length < MAX_INCIDENT_EVENTS) return { events, eventCount: ids.length };
  return { events, eventCount: await db.$count(incidentEvents, ofIncident) };
};

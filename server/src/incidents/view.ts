import type {
  FollowIncidentsInput,
  Incident,
  IncidentChange,
  IncidentDetail,
  ListIncidentsInput,
} from '@gantry/contract/incidents';
import type { Page } from '@gantry/contract/page';
import { findNames } from '../accounts/names-store.ts';
import type { ActorContext } from '../platform/context.ts';
import { resolveInterval } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { listIncidents } from './list-store.ts';
import { findEventsOf, getIncidentRow, incidentOf } from './store.ts';
import { listTimeline, timelineEntryOf } from './timeline-store.ts';

// Queries of the API, which add the names of users to the stored rows.

/** @throws AppError `notFound` */
export async function viewIncident({ app: { db } }: ActorContext, id: string): Promise<IncidentDetail> {
  const row = await getIncidentRow(db, id);
  const [attached, timeline] = await Promise.all([findEventsOf(db, row.id), listTimeline(db, row.id)]);
  const people = timeline.map(({ userId }) => userId);
  const nameOf = await findNames(db, [row.reportedBy, row.assignedTo, ...people]);
  return {
    ...incidentOf(row, nameOf),
    ...attached,
    timeline: timeline.map((entry) => timelineEntryOf(entry, nameOf)),
  };
}

/** A page of incidents, with names of people. @throws AppError `badRequest` when the range ends before it starts */
export async function viewIncidents(
  { app, actor }: ActorContext,
  input: ListIncidentsInput,
): Promise<Page<Incident>> {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listIncidents(app.db, input, interval, actor);
  const people = items.flatMap(({ reportedBy, assignedTo }) => [reportedBy, assignedTo]);
  const nameOf = await findNames(app.db, people);
  return { items: items.map((row) => incidentOf(row, nameOf)), total };
}

/** Streams changes of all incidents, or of those that match the filter. @throws AppError as `follow` does */
export function followIncidents(
  ctx: FollowContext,
  { lastEventId, ...wanted }: FollowIncidentsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'incidents'>> {
  const { type, severity } = wanted;
  const [id, sensorId, locationId] = [wanted.id, wanted.sensorId, wanted.locationId].map((each) =>
    each?.toLowerCase(),
  );
  const matches = ({ incident }: IncidentChange): boolean =>
    (id === undefined || incident.id === id) &&
    (type === undefined || incident.type === type) &&
    (severity === undefined || incident.severity === severity) &&
    (sensorId === undefined || incident.sensorId === sensorId) &&
    (locationId === undefined || incident.locationId === locationId);
  return follow(ctx, { topics: ['incidents'], matches, lastEventId }, signal);
}

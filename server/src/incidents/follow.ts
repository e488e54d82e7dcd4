import type { FollowIncidentsInput, IncidentChange } from '@gantry/contract/incidents';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';

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

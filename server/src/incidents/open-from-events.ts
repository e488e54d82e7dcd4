import { randomUUID } from 'node:crypto';
import type { Coordinates } from '@gantry/contract/coordinates';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { AppContext } from '../context.ts';
import type { Executor } from '../database/transaction.ts';
import { rankOf } from '../events/severity.ts';
import type { EventRow } from '../ingest/enrich.ts';
import { publish } from '../realtime/publish.ts';
import { findNames } from '../users/names-store.ts';
import { attachEvents } from './attachments-store.ts';
import { incidentTypeOf, titleOf } from './from-event.ts';
import { groupByIncident } from './grouping.ts';
import {
  findSensorCoordinates,
  lockIncidentsOf,
  lockOpenIncidents,
  touchIncidents,
} from './opening-store.ts';
import { type IncidentRow, incidentOf, insertIncidents } from './store.ts';
import { recordTimeline } from './timeline-store.ts';

type Assigned = { readonly incidentId: string; readonly row: EventRow };

const coordinatesOf = (
  row: EventRow,
  ofSensors: ReadonlyMap<string, Coordinates | null>,
): Coordinates | null =>
  row.locationJson === null ? (ofSensors.get(row.sensorId) ?? null) : JSON.parse(row.locationJson);

const openedBy = async (tx: Executor, opening: readonly Assigned[]): Promise<IncidentRow[]> => {
  const placeless = opening.flatMap(({ row }) => (row.locationJson === null ? [row.sensorId] : []));
  const ofSensors = await findSensorCoordinates(tx, [...new Set(placeless)]);
  return insertIncidents(
    tx,
    opening.map(({ incidentId, row }) => {
      const type = incidentTypeOf(row);
      return {
        id: incidentId,
        title: titleOf(type, row.locationName ?? row.sensorName),
        description: row.description,
        type,
        severity: row.severity ?? rankOf('MEDIUM'),
        location: coordinatesOf(row, ofSensors),
        locationId: row.locationId,
        sensorId: row.sensorId,
        openedAt: new Date(row.time),
      };
    }),
  );
};

const noted = (action: 'create' | 'attachEvent', incident: IncidentRow, eventId: string) => ({
  incidentId: incident.id,
  at: incident.updatedAt,
  userId: null,
  action,
  fromStatus: action === 'create' ? null : incident.status,
  toStatus: incident.status,
  note: null,
  details: { eventId },
});

/**
 * Opens incidents for those of the freshly stored events that are of type INCIDENT, in the transaction that stores them.
 * An event of a sensor with an open incident of the same quarter of an hour is attached to that one instead. Transactions
 * that concern the same sensor take turns here, so at most one incident comes of what they say together.
 */
export const openIncidents = async (
  app: Pick<AppContext, 'webhooks'>,
  tx: Executor,
  rows: readonly EventRow[],
): Promise<void> => {
  const reports = rows.filter(({ eventType }) => eventType === 'INCIDENT');
  if (reports.length === 0) return;
  const sensorIds = [...new Set(reports.map(({ sensorId }) => sensorId))];
  await lockIncidentsOf(tx, sensorIds);
  const times = reports.map(({ time }) => time);
  const open = await lockOpenIncidents(tx, sensorIds, Math.min(...times), Math.max(...times));
  const { opening, attached } = groupByIncident(reports, open, randomUUID);

  const opened = await openedBy(tx, opening);
  const known = new Map(opened.map((row) => [row.id, row]));
  const grown = new Set(attached.map(({ incidentId }) => incidentId));
  const touched = await touchIncidents(
    tx,
    [...grown].filter((id) => !known.has(id)),
  );
  for (const row of touched) known.set(row.id, row);

  const attachments = [...opening, ...attached];
  await attachEvents(
    tx,
    attachments.map(({ incidentId, row }) => ({ incidentId, eventId: row.id })),
  );
  const entries = (action: 'create' | 'attachEvent', of: readonly Assigned[]) =>
    of.flatMap(({ incidentId, row }) => {
      const incident = known.get(incidentId);
      return incident ? [noted(action, incident, row.id)] : [];
    });
  await recordTimeline(tx, [...entries('create', opening), ...entries('attachEvent', attached)]);

  const nameOf = await findNames(
    tx,
    touched.flatMap(({ reportedBy, assignedTo }) => [reportedBy, assignedTo]),
  );
  const changed = (action: IncidentChange['action'], row: IncidentRow): IncidentChange => ({
    action,
    incident: incidentOf(row, nameOf),
    by: null,
    note: null,
    at: row.updatedAt,
  });
  // However many events an incident takes in at once, it is told of once.
  const told = [
    ...opened.map((row) => changed('create', row)),
    ...[...known.values()].filter(({ id }) => grown.has(id)).map((row) => changed('attachEvent', row)),
  ];
  await publish(
    app,
    tx,
    told.map((body) => ({ topic: 'incidents' as const, body })),
  );
};

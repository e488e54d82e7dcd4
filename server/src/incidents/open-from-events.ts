import { randomUUID } from 'node:crypto';
import type { Coordinates } from '@gantry/contract/coordinates';
import type { IncidentChange, IncidentType } from '@gantry/contract/incidents';
import { findNames } from '../accounts/names-store.ts';
import type { EventRow } from '../events/event-row.ts';
import { rankOf } from '../events/severity.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import { incidentTypeOf, nameOf as nameOfEvent, type Source, sourceOf, titleOf } from './from-event.ts';
import { groupByIncident } from './grouping.ts';
import {
  attachToOpenIncidents,
  findSensorCoordinates,
  type JoiningEvent,
  lockIncidentsOf,
  lockOpenIncidents,
} from './opening-store.ts';
import { choosePlans } from './plans-store.ts';
import {
  type Attachment,
  attachEvents,
  type IncidentRow,
  incidentOf,
  insertIncidents,
  type NewIncident,
} from './store.ts';
import { recordTimeline } from './timeline-store.ts';

type Report = EventRow & Source & { readonly type: IncidentType };
type Assigned = { readonly incidentId: string; readonly row: Report };

/**
 * Opens incidents for new events of type INCIDENT, in the transaction that follows them up. An event joins an open
 * incident of its sensor and type that is close enough in time (`groupByIncident`), and raises its severity if it is
 * more severe. An event with the key of a source joins the open incident of that key alone, and resolves it if the source
 * says that it is over. A later version that is less severe does not lower the severity, because what was sent out for the
 * incident may still be needed; the timeline says so. Transactions that concern the same sensor run one after another
 * here, so that together they open at most one incident of a type.
 */
export async function openIncidents(
  app: { readonly outbox: Outbox },
  tx: Executor,
  rows: readonly EventRow[],
): Promise<void> {
  const reports = rows
    .filter(({ eventType }) => eventType === 'INCIDENT')
    .map((row): Report => ({ ...row, ...sourceOf(row), type: incidentTypeOf(row) }));
  if (reports.length === 0) return;
  const sensorIds = [...new Set(reports.map(({ sensorId }) => sensorId))];
  await lockIncidentsOf(tx, sensorIds);
  const known = await lockOpenIncidents(tx, sensorIds, reports);
  const { opening, attached } = groupByIncident(reports, known, randomUUID);

  const opened = await open(tx, opening);
  const joined = await attachToOpenIncidents(tx, attached.map(joiningEventOf));

  const nameOf = await findNames(
    tx,
    joined.flatMap(({ row }) => [row.reportedBy, row.assignedTo]),
  );
  const changed = (action: IncidentChange['action'], row: IncidentRow): IncidentChange => ({
    action,
    incident: incidentOf(row, nameOf),
    by: null,
    note: null,
    at: row.updatedAt,
  });
  // An incident that receives several events at once is published once.
  const changes = [
    ...opened.map((row) => changed('create', row)),
    ...joined.map(({ row, isChanged }) =>
      changed(row.status === 'RESOLVED' ? 'resolve' : isChanged ? 'update' : 'attachEvent', row),
    ),
  ];
  await publish(
    app,
    tx,
    changes.map((body) => ({ topic: 'incidents' as const, body })),
  );
}

function coordinatesOf(
  row: EventRow,
  ofSensors: ReadonlyMap<string, Coordinates | null>,
): Coordinates | null {
  return row.locationJson === null ? (ofSensors.get(row.sensorId) ?? null) : JSON.parse(row.locationJson);
}

async function incidentsOf(tx: Executor, opening: readonly Assigned[]): Promise<NewIncident[]> {
  const placeless = opening.flatMap(({ row }) => (row.locationJson === null ? [row.sensorId] : []));
  const ofSensors = await findSensorCoordinates(tx, [...new Set(placeless)]);
  return opening.map(({ incidentId, row }) => {
    const { type } = row;
    return {
      id: incidentId,
      title: titleOf(type, row, row.locationName ?? row.sensorName),
      description: row.description,
      type,
      severity: severityOf(row),
      reportedType: type,
      reportedSeverity: severityOf(row),
      sourceKey: row.sourceKey,
      location: coordinatesOf(row, ofSensors),
      locationId: row.locationId,
      sensorId: row.sensorId,
      openedAt: new Date(row.time),
    };
  });
}

/** An event without a severity counts as MEDIUM. */
function severityOf({ severity }: EventRow): number {
  return severity ?? rankOf('MEDIUM');
}

function joiningEventOf({
  incidentId,
  row,
  resolves,
}: Assigned & { readonly resolves: boolean }): JoiningEvent {
  const { id: eventId, type, description, isVersion, ending } = row;
  const title =
    nameOfEvent(type, row) === null ? null : titleOf(type, row, row.locationName ?? row.sensorName);
  return {
    incidentId,
    eventId,
    type,
    severity: severityOf(row),
    title,
    description,
    isVersion,
    ending: resolves ? ending : null,
  };
}

function attachmentsOf(assigned: readonly Assigned[]): Attachment[] {
  return assigned.map(({ incidentId, row }) => ({ incidentId, eventId: row.id }));
}

/** Opens the incidents, each with its event. */
async function open(tx: Executor, opening: readonly Assigned[]): Promise<IncidentRow[]> {
  if (opening.length === 0) return [];
  const opened = await insertIncidents(tx, await incidentsOf(tx, opening));
  await attachEvents(tx, attachmentsOf(opening));
  await choosePlans(
    tx,
    opened.map(({ id }) => id),
  );
  const eventOf = new Map(opening.map(({ incidentId, row }) => [incidentId, row.id]));
  await recordTimeline(
    tx,
    opened.map(({ id, updatedAt, status }) => ({
      incidentId: id,
      at: updatedAt,
      userId: null,
      action: 'create',
      fromStatus: null,
      toStatus: status,
      note: null,
      details: { eventId: eventOf.get(id) },
    })),
  );
  return opened;
}

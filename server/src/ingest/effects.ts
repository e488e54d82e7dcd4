import type { Event } from '@gantry/contract/events';
import type { CaseServices } from '../cases/start.ts';
import type { EventRow, StoredRow } from '../events/event-row.ts';
import { requestCases } from '../events/reviews-store.ts';
import { severityOfRank } from '../events/severity.ts';
import { openIncidents } from '../incidents/open-from-events.ts';
import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Outbox } from '../realtime/publish.ts';
import { findHits } from '../watchlist/find-hits.ts';
import { raiseAlerts } from '../watchlist/raise-alerts.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import { occurrencesOf } from '../webhooks/matching.ts';
import type { WebhookServices } from '../webhooks/start.ts';

/** The services that decide on the effects of an event. */
export type EffectServices = Pick<Core, 'config'> &
  WatchlistServices &
  CaseServices &
  Pick<WebhookServices, 'webhooks'> & { readonly outbox: Outbox };

/** Whether storing an event has effects: an incident, an alert, a case, or a message to a webhook. */
export function hasEffects(parts: EffectServices, row: EventRow): boolean {
  return (
    opensIncident(parts, row) ||
    entriesFor(parts, row).length > 0 ||
    mayBeListed(parts, row) ||
    parts.opensCase(row.violationType) ||
    concernsWebhooks(parts, row)
  );
}

/** Applies the effects of events in the transaction, without reading the events again. */
export async function applyEffects(
  parts: EffectServices,
  tx: Executor,
  rows: readonly StoredRow[],
): Promise<void> {
  await openIncidents(
    parts,
    tx,
    rows.filter((row) => opensIncident(parts, row)),
  );
  const watched = rows.flatMap((row) => entriesFor(parts, row).map((entry) => ({ entry, row })));
  const listed = rows.filter((row) => mayBeListed(parts, row));
  await raiseAlerts(parts, tx, [...watched, ...(await findHits(parts.hotlists, tx, listed))]);
  await requestCases(
    tx,
    rows.filter(({ violationType }) => parts.opensCase(violationType)),
    'ARRIVAL',
    null,
  );
  const { webhooks } = parts;
  if (webhooks.wantsEvents()) await webhooks.enqueue(tx, rows.map(asListed).flatMap(occurrencesOf));
}

function asListed(row: StoredRow): Event {
  return {
    id: row.id,
    eventType: row.eventType,
    description: row.description,
    timestamp: new Date(row.time),
    sensorId: row.sensorId,
    sensorName: row.sensorName,
    processed: row.processed,
    archived: row.archived,
    violationType: row.violationType,
    licensePlateNumber: row.plate,
    vehicleType: row.vehicleType,
    vehicleSpeed: row.vehicleSpeed,
    locationName: row.locationName,
    severity: row.severity === null ? null : severityOfRank(row.severity),
    createdAt: row.createdAt,
    ...row.passage,
  };
}

/** The row as it will be stored. Filters do not use the time at which it is stored. */
function asIfStored(row: EventRow): StoredRow {
  return {
    ...row,
    createdAt: new Date(row.time),
    processed: false,
    archived: false,
  };
}

function opensIncident({ config }: EffectServices, row: EventRow): boolean {
  return row.eventType === 'INCIDENT' && config.FEATURES.includes('incidents');
}

function entriesFor({ config, watchlist }: EffectServices, row: EventRow) {
  return row.plateKey !== null && config.FEATURES.includes('watchlist') ? watchlist.match(row) : [];
}

function mayBeListed({ config, hotlists }: EffectServices, row: EventRow): boolean {
  return config.FEATURES.includes('watchlist') && hotlists.mayList(row);
}

function concernsWebhooks({ webhooks }: EffectServices, row: EventRow): boolean {
  return webhooks.wantsEvents() && webhooks.wantsEvent(asListed(asIfStored(row)));
}

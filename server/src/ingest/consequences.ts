import type { Event } from '@gantry/contract/events';
import type { AppContext } from '../context.ts';
import type { Executor } from '../database/transaction.ts';
import { severityOfRank } from '../events/severity.ts';
import { findEvents } from '../events/store.ts';
import { openIncidents } from '../incidents/open-from-events.ts';
import { raiseAlerts } from '../watchlist/raise-alerts.ts';
import type { EventRow } from './enrich.ts';

/** What is needed to tell what follows from an event. */
export type ConsequenceParts = Pick<AppContext, 'config' | 'watchlist' | 'webhooks'>;

/**
 * Brings about what follows from the events that are new, in the transaction that stores them.
 * @param fresh the ids of those that were not stored before
 */
export type BringAbout = (tx: Executor, fresh: ReadonlySet<string>) => Promise<void>;

/** The event as lists will show it, before it is stored. */
const asListed = (row: EventRow): Event => ({
  id: row.id,
  eventType: row.eventType,
  description: row.description,
  timestamp: new Date(row.time),
  sensorId: row.sensorId,
  sensorName: row.sensorName,
  processed: false,
  archived: false,
  violationType: row.violationType,
  licensePlateNumber: row.plate,
  vehicleType: row.vehicleType,
  vehicleSpeed: row.vehicleSpeed,
  locationName: row.locationName,
  severity: row.severity === null ? null : severityOfRank(row.severity),
  createdAt: new Date(),
});

/** The ids of the events that webhooks are to be told of. */
const idsOfTold = ({ config, webhooks }: ConsequenceParts, rows: readonly EventRow[]): string[] =>
  config.FEATURES.includes('webhooks') && webhooks.wantsEvents()
    ? rows.filter((row) => webhooks.occurrencesOf([asListed(row)]).length > 0).map(({ id }) => id)
    : [];

/**
 * What follows from a group of events besides their being stored: incidents are opened, alerts raised, webhooks told.
 * @returns null when nothing does, as is so for nearly all groups
 */
export const consequencesOf = (parts: ConsequenceParts, rows: readonly EventRow[]): BringAbout | null => {
  const { FEATURES } = parts.config;
  const incidents = FEATURES.includes('incidents')
    ? rows.filter(({ eventType }) => eventType === 'INCIDENT')
    : [];
  const hits = FEATURES.includes('watchlist')
    ? rows.flatMap((row) => parts.watchlist.match(row).map((entry) => ({ entry, row })))
    : [];
  const told = idsOfTold(parts, rows);
  if (incidents.length + hits.length + told.length === 0) return null;

  return async (tx, fresh) => {
    const freshIncidents = incidents.filter(({ id }) => fresh.has(id));
    if (freshIncidents.length > 0) await openIncidents(parts, tx, freshIncidents);
    const freshHits = hits.filter(({ row }) => fresh.has(row.id));
    if (freshHits.length > 0) await raiseAlerts(parts, tx, freshHits);
    const freshIds = told.filter((id) => fresh.has(id));
    if (freshIds.length > 0) {
      const events = await findEvents(tx, freshIds);
      await parts.webhooks.enqueue(tx, parts.webhooks.occurrencesOf([...events.values()]));
    }
  };
};

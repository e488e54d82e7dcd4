import { sql } from 'drizzle-orm';
import { findStoredRows } from '../../events/store.ts';
import { openIncidents } from '../../incidents/open-from-events.ts';
import { locks } from '../../platform/database/locks.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import type { Check } from './check.ts';

// An event of type INCIDENT belongs to an incident, unless it is still to be followed up or reports an end, which opens none.
// This takes several statements, because events may be on other nodes than the other tables.
const INCIDENT_EVENTS = sql`
  SELECT id, created_at FROM events WHERE event_type = 'INCIDENT' AND metadata ->> 'incidentEnd' IS NULL`;
const AT_ONCE = 5_000;

async function pageOfIncidentEvents(db: Executor, after: string | null): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM (${INCIDENT_EVENTS}) AS reported
    WHERE ${after === null ? sql`true` : sql`id > ${after}::uuid`} ORDER BY id LIMIT ${AT_ONCE}`);
  return rows.map(({ id }) => id);
}

async function withoutIncident(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM unnest(${sql.param(ids)}::uuid[]) AS reported (id)
    WHERE NOT EXISTS (SELECT FROM incident_events WHERE event_id = id)
      AND NOT EXISTS (SELECT FROM events_to_follow_up WHERE event_id = id)`);
  return rows.map(({ id }) => id);
}

async function findWithoutIncident(db: Executor, limit: number): Promise<{ eventId: string }[]> {
  const found: { eventId: string }[] = [];
  let after: string | null = null;
  do {
    const ids: string[] = await pageOfIncidentEvents(db, after);
    if (ids.length > 0) for (const eventId of await withoutIncident(db, ids)) found.push({ eventId });
    after = ids.at(-1) ?? null;
  } while (after !== null && found.length < limit);
  return found.slice(0, limit);
}

/** Maximum number of events whose incidents are opened by one statement. */
const OPENED_AT_ONCE = 1_000;

/**
 * Attaches events to the incidents whose timelines name them. Webhooks were notified when these entries were made.
 * @returns the ids of the events that no timeline names
 */
async function attachAgain(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const wanted = sql`${sql.param(ids)}::uuid[]`;
  // Plan: incident_timeline as a whole.
  const { rows } = await tx.execute<{ id: string }>(sql`
    WITH attached AS (
      INSERT INTO incident_events (incident_id, event_id)
      SELECT DISTINCT incident_id, (details ->> 'eventId')::uuid FROM incident_timeline
      WHERE action IN ('create', 'attachEvent') AND (details ->> 'eventId')::uuid = ANY (${wanted})
      ON CONFLICT DO NOTHING RETURNING event_id
    )
    SELECT id FROM unnest(${wanted}) AS given (id) WHERE id NOT IN (SELECT event_id FROM attached)`);
  return rows.map(({ id }) => id);
}

/**
 * Attaches the events to incidents, and opens incidents where there are none. The events are not followed up again, because
 * that would send them to webhooks a second time.
 */
async function openMissing(tx: Transaction, outbox: Outbox): Promise<number> {
  // Two repairs at once would open two incidents for an event.
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.repair})`);
  const wrong = (await findWithoutIncident(tx, Number.POSITIVE_INFINITY)).map(({ eventId }) => eventId);
  const ids = await attachAgain(tx, wrong);
  for (let at = 0; at < ids.length; at += OPENED_AT_ONCE)
    await openIncidents({ outbox }, tx, await findStoredRows(tx, ids.slice(at, at + OPENED_AT_ONCE)));
  return wrong.length;
}

const STATUSES = sql`
  SELECT incidents.id AS "incidentId", incidents.status AS kept, latest.to_status AS counted
  FROM incidents CROSS JOIN LATERAL (
    SELECT to_status FROM incident_timeline WHERE incident_id = incidents.id ORDER BY id DESC LIMIT 1
  ) AS latest WHERE incidents.status <> latest.to_status`;

const SENSOR_STATUSES = sql`
  SELECT sensors.id AS "sensorId", sensors.status AS kept, latest.to_status AS counted
  FROM sensors CROSS JOIN LATERAL (
    SELECT to_status FROM sensor_status_history WHERE sensor_id = sensors.id ORDER BY id DESC LIMIT 1
  ) AS latest WHERE sensors.status <> latest.to_status`;

export const effectsChecks: readonly Check[] = [
  {
    name: 'events without their incident',
    feature: 'incidents',
    compares: 'events of type INCIDENT with the events of incidents and those still to be followed up',
    find: findWithoutIncident,
    repair: openMissing,
  },
  {
    name: 'status of incidents',
    compares: 'the status of an incident with the last entry of its timeline',
    find: async (db, limit) => (await db.execute(sql`${STATUSES} LIMIT ${limit}`)).rows,
    repair: async (tx) =>
      (
        await tx.execute(sql`
          UPDATE incidents SET status = wrong.counted FROM (${STATUSES}) AS wrong WHERE id = wrong."incidentId"`)
      ).rowCount ?? 0,
  },
  {
    name: 'status of sensors',
    compares: 'the status of a sensor with the last entry of its status history',
    find: async (db, limit) => (await db.execute(sql`${SENSOR_STATUSES} LIMIT ${limit}`)).rows,
    repair: async (tx) =>
      (
        await tx.execute(sql`
          UPDATE sensors SET status = wrong.counted FROM (${SENSOR_STATUSES}) AS wrong WHERE id = wrong."sensorId"`)
      ).rowCount ?? 0,
  },
];

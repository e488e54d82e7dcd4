import { sql } from 'drizzle-orm';
import { findStoredRows } from '../../events/store.ts';
import { openIncidents } from '../../incidents/open-from-events.ts';
import { uuidArray } from '../../platform/database/arrays.ts';
import { locks } from '../../platform/database/locks.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import type { Check, Rebuild } from './check.ts';

// An event of type INCIDENT belongs to an incident, unless it is still to be followed up. An end of what its source
// reported (`incidents/from-event`) opens none, and belongs to one only if the timeline says so.
// This takes several statements, because events may be on other nodes than the other tables.
const ENDS = sql`coalesce(metadata ->> 'incidentEnd' IN ('ended', 'cancelled')
  AND jsonb_typeof(metadata -> 'incidentKey') = 'string' AND metadata ->> 'incidentKey' <> '', false)`;
const AT_ONCE = 5_000;

interface IncidentEvent extends Record<string, unknown> {
  readonly id: string;
  readonly ends: boolean;
}

async function pageOfIncidentEvents(db: Executor, after: string | null): Promise<IncidentEvent[]> {
  const { rows } = await db.execute<IncidentEvent>(sql`
    SELECT id, ${ENDS} AS ends FROM events
    WHERE event_type = 'INCIDENT' AND ${after === null ? sql`true` : sql`id > ${after}::uuid`}
    ORDER BY id LIMIT ${AT_ONCE}`);
  return rows;
}

async function withoutIncident(db: Executor, page: readonly IncidentEvent[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM unnest(${uuidArray(page, ({ id }) => id)}::uuid[]) AS reported (id)
    WHERE NOT EXISTS (SELECT FROM incident_events WHERE event_id = id)
      AND NOT EXISTS (SELECT FROM events_to_follow_up WHERE event_id = id)`);
  const isEnd = new Map(page.map(({ id, ends }) => [id, ends]));
  const ends = rows.filter(({ id }) => isEnd.get(id));
  const named = ends.length === 0 ? new Set() : await namedByTimeline(db, ends);
  return rows.flatMap(({ id }) => (isEnd.get(id) && !named.has(id) ? [] : [id]));
}

/** Which of the events a timeline names. Plan: incident_timeline as a whole. */
async function namedByTimeline(db: Executor, events: readonly { id: string }[]): Promise<Set<string>> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT details ->> 'eventId' AS id FROM incident_timeline
    WHERE action IN ('create', 'attachEvent')
      AND (details ->> 'eventId')::uuid = ANY (${uuidArray(events, ({ id }) => id)}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

async function findWithoutIncident(db: Executor, limit: number): Promise<{ eventId: string }[]> {
  const found: { eventId: string }[] = [];
  let after: string | null = null;
  do {
    const page: IncidentEvent[] = await pageOfIncidentEvents(db, after);
    if (page.length > 0) for (const eventId of await withoutIncident(db, page)) found.push({ eventId });
    after = page.at(-1)?.id ?? null;
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
  // Two of these at once would open two incidents for an event.
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.rebuild})`);
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

export const rebuildIncidents: Rebuild = ({ change, outboxOf }) =>
  change(async (tx) => openMissing(tx, await outboxOf(tx)));

/** Sets each status to what the last entry of its history says. */
export const rebuildStatuses: Rebuild = ({ change }) =>
  change(async (tx) => {
    const incidents = await tx.execute(sql`
      UPDATE incidents SET status = wrong.counted FROM (${STATUSES}) AS wrong WHERE id = wrong."incidentId"`);
    const sensors = await tx.execute(sql`
      UPDATE sensors SET status = wrong.counted FROM (${SENSOR_STATUSES}) AS wrong WHERE id = wrong."sensorId"`);
    return (incidents.rowCount ?? 0) + (sensors.rowCount ?? 0);
  });

export const effectsChecks: readonly Check[] = [
  {
    name: 'events without their incident',
    feature: 'incidents',
    compares: 'events of type INCIDENT with the events of incidents and those still to be followed up',
    find: findWithoutIncident,
    rebuild: 'incidents',
  },
  {
    name: 'status of incidents',
    compares: 'the status of an incident with the last entry of its timeline',
    find: async (db, limit) => (await db.execute(sql`${STATUSES} LIMIT ${limit}`)).rows,
    rebuild: 'statuses',
  },
  {
    name: 'status of sensors',
    compares: 'the status of a sensor with the last entry of its status history',
    find: async (db, limit) => (await db.execute(sql`${SENSOR_STATUSES} LIMIT ${limit}`)).rows,
    rebuild: 'statuses',
  },
];

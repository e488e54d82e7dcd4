import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { timeOfId } from '../../events/id.ts';
import { findEvents, findStoredRows } from '../../events/store.ts';
import { openIncidents } from '../../incidents/open-from-events.ts';
import { uuidArray } from '../../platform/database/arrays.ts';
import { locks } from '../../platform/database/locks.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import { findRaised, nameOfMatch } from '../../watchlist/alerts-store.ts';
import { createPlateMatcher, isValidAt, type WatchedEntry } from '../../watchlist/matching.ts';
import { raiseAlerts } from '../../watchlist/raise-alerts.ts';
import { loadActiveEntries } from '../../watchlist/store.ts';
import { insertDeliveries } from '../../webhooks/deliveries-store.ts';
import { bodyOf } from '../../webhooks/dispatch.ts';
import { matchesKind, occurrencesOf } from '../../webhooks/matching.ts';
import { listEnabledWebhooks } from '../../webhooks/store.ts';
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
      SELECT DISTINCT coalesce(merged_into, incident_id), (details ->> 'eventId')::uuid
      FROM incident_timeline LEFT JOIN incident_work USING (incident_id)
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

const EVENTS_AT_ONCE = 5_000;

/** Time after a change within which another process may not know of it yet, in milliseconds. */
export const HEARD_AFTER_MS = 2_000;

interface CameIn extends Record<string, unknown> {
  readonly id: string;
  readonly plateKey: string | null;
  /** Unix milliseconds. */
  readonly cameAt: number;
}

/** Events stored after a time (Unix milliseconds) that are not waiting to be followed up, page by page. */
export async function* pagesOfEvents(db: Executor, since: number): AsyncGenerator<readonly CameIn[]> {
  let after: string | null = null;
  for (;;) {
    const { rows }: { rows: CameIn[] } = await db.execute<CameIn>(sql`
      SELECT id, plate_key AS "plateKey", (extract(epoch FROM created_at) * 1000)::float8 AS "cameAt" FROM events
      WHERE created_at > to_timestamp(${since / 1000}::float8) AND ${after === null ? sql`true` : sql`id > ${after}::uuid`}
      ORDER BY id LIMIT ${EVENTS_AT_ONCE}`);
    const waiting = await db.execute<{ id: string }>(sql`
      SELECT event_id AS id FROM events_to_follow_up WHERE event_id = ANY (${uuidArray(rows, ({ id }) => id)})`);
    const isWaiting = new Set(waiting.rows.map(({ id }) => id));
    yield rows.filter(({ id }) => !isWaiting.has(id));
    after = rows.at(-1)?.id ?? null;
    if (rows.length < EVENTS_AT_ONCE) return;
  }
}

async function changedAt(
  db: Executor,
  table: 'watchlist_entries' | 'webhooks',
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.execute<{ id: string; at: number }>(sql`
    SELECT id, (extract(epoch FROM updated_at) * 1000)::float8 AS at FROM ${sql.raw(table)}`);
  return new Map(rows.map(({ id, at }) => [id, at + HEARD_AFTER_MS]));
}

interface MissingAlert extends Readonly<Record<string, unknown>> {
  readonly entryId: string;
  readonly eventId: string;
}

async function missingAlerts(
  db: Executor,
  entries: readonly WatchedEntry[],
  limit: number,
): Promise<MissingAlert[]> {
  const changed = await changedAt(db, 'watchlist_entries');
  const since = Math.min(...changed.values());
  if (!Number.isFinite(since)) return [];
  const matching = createPlateMatcher(entries);
  const missing: MissingAlert[] = [];
  for await (const page of pagesOfEvents(db, since)) {
    const due = page.flatMap(({ id, plateKey, cameAt }) =>
      (plateKey === null ? [] : matching(plateKey))
        .filter((entry) => isValidAt(entry, timeOfId(id)) && (changed.get(entry.id) ?? cameAt) < cameAt)
        .map((entry) => ({ entryId: entry.id, eventId: id })),
    );
    const raised = await findRaised(db, due);
    missing.push(...due.filter((match) => !raised.has(nameOfMatch(match))));
    if (missing.length >= limit) break;
  }
  return missing.slice(0, limit);
}

/** Maximum number of alerts that are raised by one statement. */
const RAISED_AT_ONCE = 1_000;

async function raiseMissing(tx: Transaction, outbox: Outbox): Promise<number> {
  const entries = await loadActiveEntries(tx);
  const missing = await missingAlerts(tx, entries, Number.POSITIVE_INFINITY);
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]));
  const rows = await findStoredRows(
    tx,
    missing.map(({ eventId }) => eventId),
  );
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const hits = missing.flatMap(({ entryId, eventId }) => {
    const entry = entryOf.get(entryId);
    const row = rowOf.get(eventId);
    return entry && row ? [{ entry, row }] : [];
  });
  for (let at = 0; at < hits.length; at += RAISED_AT_ONCE)
    await raiseAlerts({ outbox }, tx, hits.slice(at, at + RAISED_AT_ONCE));
  return hits.length;
}

interface MissingDelivery extends Readonly<Record<string, unknown>> {
  readonly webhookId: string;
  readonly kind: 'event.ingested' | 'event.violation';
  readonly eventId: string;
}

async function missingDeliveries(db: Executor, limit: number): Promise<MissingDelivery[]> {
  const hooks = await listEnabledWebhooks(db);
  const changed = await changedAt(db, 'webhooks');
  const { rows: clock } = await db.execute<{ now: number }>(
    sql`SELECT (extract(epoch FROM now()) * 1000)::float8 AS now`,
  );
  // Deliveries are attempted for a day, so older events do not matter.
  const since = Math.max((clock[0]?.now ?? 0) - DAY_MS, Math.min(...changed.values()));
  if (!Number.isFinite(since)) return [];
  const { rows } = await db.execute<{ delivery: string }>(sql`
    SELECT concat_ws(' ', webhook_id, kind, body::jsonb #>> '{data,id}') AS delivery FROM webhook_deliveries
    WHERE kind IN ('event.ingested', 'event.violation') AND created_at > to_timestamp(${since / 1000}::float8)`);
  const delivered = new Set(rows.map(({ delivery }) => delivery));
  const missing: MissingDelivery[] = [];
  for await (const page of pagesOfEvents(db, since)) {
    const events = await findEvents(
      db,
      page.map(({ id }) => id),
    );
    for (const { id, cameAt } of page) {
      const event = events.get(id);
      if (!event) continue;
      for (const { kind } of occurrencesOf(event))
        for (const hook of hooks) {
          const isDue = hook.kinds.includes(kind) && (changed.get(hook.id) ?? cameAt) < cameAt;
          if (isDue && matchesKind(kind, hook.filter)(event) && !delivered.has(`${hook.id} ${kind} ${id}`))
            missing.push({ webhookId: hook.id, kind, eventId: id });
        }
    }
    if (missing.length >= limit) break;
  }
  return missing.slice(0, limit);
}

async function deliverMissing(tx: Transaction): Promise<number> {
  const missing = await missingDeliveries(tx, Number.POSITIVE_INFINITY);
  const events = await findEvents(
    tx,
    missing.map(({ eventId }) => eventId),
  );
  const at = new Date(await readDatabaseTime(tx));
  const deliveries = missing.map(({ webhookId, kind, eventId }) => {
    const id = randomUUID();
    return { id, webhookId, kind, body: bodyOf(id, kind, at, JSON.stringify(events.get(eventId))) };
  });
  if (deliveries.length > 0) await insertDeliveries(tx, deliveries);
  return deliveries.length;
}

export const rebuildAlerts: Rebuild = ({ change, outboxOf }) =>
  change(async (tx) => raiseMissing(tx, await outboxOf(tx)));

export const rebuildDeliveries: Rebuild = ({ change }) => change(deliverMissing);

export const feedChecks: readonly Check[] = [
  {
    name: 'alerts of the watchlist',
    feature: 'watchlist',
    compares: 'watchlist_alerts with the events that entries match which did not change since',
    find: async (db, limit) => missingAlerts(db, await loadActiveEntries(db), limit),
    rebuild: 'alerts',
  },
  {
    name: 'deliveries of webhooks',
    feature: 'webhooks',
    compares: 'deliveries with the events of the last day that webhooks want which did not change since',
    find: missingDeliveries,
    rebuild: 'deliveries',
  },
];

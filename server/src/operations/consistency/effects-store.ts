import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Check, Difference } from './check.ts';

// An event of type INCIDENT belongs to an incident, unless it is still to be followed up. Several statements, because
// events may be on other nodes than the other tables.
const INCIDENT_EVENTS = sql`SELECT id, created_at FROM events WHERE event_type = 'INCIDENT'`;
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

async function findWithoutIncident(db: Executor, limit: number): Promise<Difference[]> {
  const found: Difference[] = [];
  let after: string | null = null;
  do {
    const ids: string[] = await pageOfIncidentEvents(db, after);
    if (ids.length > 0) for (const eventId of await withoutIncident(db, ids)) found.push({ eventId });
    after = ids.at(-1) ?? null;
  } while (after !== null && found.length < limit);
  return found.slice(0, limit);
}

async function followUpAgain(tx: Transaction): Promise<number> {
  const found = await findWithoutIncident(tx, Number.POSITIVE_INFINITY);
  if (found.length === 0) return 0;
  await tx.execute(sql`
    INSERT INTO events_to_follow_up (event_id)
    SELECT unnest(${sql.param(found.map(({ eventId }) => eventId))}::uuid[])`);
  return found.length;
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
    repair: followUpAgain,
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

import { HOUR_MS } from '@gantry/contract/durations';
import type { Severity } from '@gantry/contract/events';
import type { IncidentStatus, IncidentType } from '@gantry/contract/incidents';
import { MAX_HANDED_OVER, type ShiftSummary, WORKS_AHEAD_HOURS } from '@gantry/contract/shifts';
import { sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { listAlarms } from '../alarms/store.ts';
import { severityOfRank } from '../events/severity.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { ENDLESS } from '../platform/time.ts';
import { hasFault, listOpenFaults, worstRank } from '../sensors/faults-store.ts';
import { listWindows } from '../works/windows-store.ts';
import { listInstructions } from './store.ts';

// What a shift hands over: what is open now, in the words that everybody of the next shift may read, without plates.

/** What is to be handed over now. @param now Unix milliseconds */
export async function takeSnapshot(db: Executor, now: number): Promise<ShiftSummary> {
  return {
    at: new Date(now),
    incidents: await readIncidents(db),
    hits: await readHits(db),
    alarms: await readAlarms(db),
    sensors: await readSensors(db),
    works: await readWorks(db, now),
    instructions: await listInstructions(db, now, MAX_HANDED_OVER),
  };
}

async function readIncidents(db: Executor): Promise<ShiftSummary['incidents']> {
  const { rows } = await db.execute<{
    id: string;
    title: string;
    type: IncidentType;
    severity: number;
    status: IncidentStatus;
    openedAt: string;
    place: string | null;
    assignedTo: string | null;
    note: string | null;
    noteBy: string | null;
    noteAt: string | null;
    total: number;
  }>(sql`
    SELECT incident.id, title, incident.type, severity, incident.status, opened_at AS "openedAt",
      coalesce(locations.name, sensors.name) AS place, assigned_to AS "assignedTo",
      last.note, last.user_id AS "noteBy", last.at AS "noteAt", count(*) OVER ()::int AS total
    FROM incidents AS incident
      LEFT JOIN locations ON locations.id = incident.location_id LEFT JOIN sensors ON sensors.id = incident.sensor_id
      LEFT JOIN LATERAL (
        SELECT note, user_id, at FROM incident_timeline
        WHERE incident_id = incident.id AND note IS NOT NULL ORDER BY id DESC LIMIT 1
      ) AS last ON true
    WHERE incident.status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS')
    ORDER BY severity DESC, opened_at, incident.id LIMIT ${MAX_HANDED_OVER}`);
  const nameOf = await findNames(
    db,
    rows.flatMap(({ assignedTo, noteBy }) => [assignedTo, noteBy]),
  );
  const items = rows.map(({ severity, openedAt, assignedTo, note, noteBy, noteAt, total: _, ...row }) => ({
    ...row,
    severity: severityOfRank(severity) as Severity,
    openedAt: new Date(openedAt),
    assignedTo: nameOf(assignedTo),
    note: note === null ? null : { text: note, by: nameOf(noteBy), at: new Date(noteAt ?? openedAt) },
  }));
  return { total: rows[0]?.total ?? 0, items };
}

async function readHits(db: Executor): Promise<ShiftSummary['hits']> {
  const { rows } = await db.execute<{ hotlistId: string; name: string; count: number; oldestAt: string }>(sql`
    SELECT hotlists.id AS "hotlistId", hotlists.name, count(*)::int AS count, min(hits.created_at) AS "oldestAt"
    FROM watchlist_alerts AS hits JOIN hotlists ON hotlists.id = hits.hotlist_id
    WHERE hits.state = 'NEW' AND NOT hotlists.covert
    GROUP BY hotlists.id ORDER BY max(hits.priority) DESC, min(hits.created_at)`);
  const items = rows.slice(0, MAX_HANDED_OVER);
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    items: items.map((row) => ({ ...row, oldestAt: new Date(row.oldestAt) })),
  };
}

async function readAlarms(db: Executor): Promise<ShiftSummary['alarms']> {
  const { items, total } = await listAlarms(
    db,
    { state: 'FIRING', sortBy: 'severity', sortOrder: 'desc', skip: 0, take: MAX_HANDED_OVER },
    ENDLESS,
  );
  return {
    total,
    items: items.map(
      ({ id, ruleName, source, severity, text, place, firedAt, since, acknowledgedBy, silencedBy }) => ({
        ...{ id, ruleName, source, severity, text, place, acknowledgedBy },
        firedAt: firedAt ?? since,
        isSilenced: silencedBy !== null,
      }),
    ),
  };
}

async function readWorks(db: Executor, now: number): Promise<NonNullable<ShiftSummary['works']>> {
  const range = { from: now, until: now + WORKS_AHEAD_HOURS * HOUR_MS };
  const { windows } = await listWindows(db, range, { drafts: false }, now);
  const items = windows.filter(({ state }) => state === 'ACTIVE' || state === 'PLANNED');
  return { total: items.length, items: items.slice(0, MAX_HANDED_OVER) };
}

async function readSensors(db: Executor): Promise<ShiftSummary['sensors']> {
  const { rows } = await db.execute<{
    id: string;
    name: string;
    status: ShiftSummary['sensors']['items'][number]['status'];
    since: string;
    place: string | null;
    total: number;
  }>(sql`
    SELECT sensors.id, sensors.name, status, status_since AS since, locations.name AS place, count(*) OVER ()::int AS total
    FROM sensors LEFT JOIN locations ON locations.id = location_id
    WHERE status <> 'ONLINE' OR ${hasFault(sql`sensors.id`)}
    ORDER BY ${worstRank(sql`status`, sql`sensors.id`)}, status_since, sensors.id LIMIT ${MAX_HANDED_OVER}`);
  const faults = await listOpenFaults(
    db,
    rows.map(({ id }) => id),
  );
  return {
    total: rows[0]?.total ?? 0,
    items: rows.map(({ total: _, ...row }) => {
      const [fault] = faults.get(row.id) ?? [];
      const { state, since, text, code, ticket } = fault ?? {};
      return {
        ...row,
        since: new Date(row.since),
        fault:
          state && since && text !== undefined
            ? { state, since, text, code: code ?? null, ticket: ticket ?? null }
            : null,
      };
    }),
  };
}

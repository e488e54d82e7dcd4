import type { Coordinates } from '@gantry/contract/coordinates';
import { severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { inArray, type SQL, sql } from 'drizzle-orm';
import { smallintArray, textArray, uuidArray } from '../platform/database/arrays.ts';
import { locks } from '../platform/database/locks.ts';
import { incidents, sensors } from '../platform/database/tables.ts';
import { type Executor, prepare } from '../platform/database/transaction.ts';
import type { Source } from './from-event.ts';
import { type OpenIncident, type Report, SAME_INCIDENT_MS } from './grouping.ts';
import { type Attachment, type IncidentRow, moment, readIncident } from './store.ts';

const LOCK_SENSORS = prepare(
  'lock-incidents-of-sensors',
  sql`
    SELECT pg_advisory_xact_lock(${sql.raw(String(locks.incidentsOfSensor))}, number)
    FROM (
      SELECT DISTINCT hashtext(sensor_id::text) AS number FROM unnest(${sql.placeholder('sensorIds')}::uuid[]) AS sensor_id
      ORDER BY number
    ) AS numbers`,
);

/**
 * Makes other transactions that call this for one of the sensors wait until this one ends. The locks are taken in the
 * order of their numbers, so that transactions with several sensors in common cannot deadlock.
 */
export async function lockIncidentsOf(tx: Executor, sensorIds: readonly string[]): Promise<void> {
  await LOCK_SENSORS(tx, { sensorIds: uuidArray(sensorIds, (id) => id) });
}

// Plan: incidents_open_of_sensor and incidents_open_of_source, which contain only open incidents.
const LOCK_OPEN = prepare<OpenIncident & Record<string, unknown>>(
  'lock-open-incidents',
  sql`
    SELECT id, sensor_id AS "sensorId", type, reported_type AS "reportedType",
      source_key AS "sourceKey",
      (extract(epoch FROM opened_at) * 1000)::double precision AS "openedAt",
      (extract(epoch FROM coalesce(last_event_at, opened_at)) * 1000)::double precision AS "lastEventAt"
    FROM incidents
    WHERE sensor_id = ANY (${sql.placeholder('sensorIds')})
      AND (source_key IS NULL AND coalesce(last_event_at, opened_at) >= ${sql.placeholder('first')}::timestamptz
          AND opened_at <= ${sql.placeholder('last')}::timestamptz
        OR source_key = ANY (${sql.placeholder('sourceKeys')}::text[]))
      AND status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS')
    ORDER BY id
    FOR NO KEY UPDATE`,
);

/** A time before any event and one after: an interval from the second to the first contains none. */
const NEVER = { first: 'infinity', last: '-infinity' };

/**
 * Locks those incidents of the sensors that are neither resolved nor closed and may accept one of the events. Their
 * status cannot change until the transaction ends.
 */
export function lockOpenIncidents(
  tx: Executor,
  sensorIds: readonly string[],
  events: readonly Pick<Report, 'sourceKey' | 'time'>[],
): Promise<OpenIncident[]> {
  const times = events.flatMap(({ sourceKey, time }) => (sourceKey === null ? time : []));
  const keys = [...new Set(events.flatMap(({ sourceKey }) => sourceKey ?? []))];
  return LOCK_OPEN(tx, {
    sensorIds: uuidArray(sensorIds, (id) => id),
    ...(times.length === 0 ? NEVER : intervalAround(times)),
    sourceKeys: textArray(keys, (key) => key),
  });
}

/** When an incident that accepts events of these times can have had its latest event at first, and been opened at last. */
function intervalAround(times: readonly number[]): { first: string; last: string } {
  return {
    first: new Date(Math.min(...times) - SAME_INCIDENT_MS).toISOString(),
    last: new Date(Math.max(...times) + SAME_INCIDENT_MS).toISOString(),
  };
}

/** The coordinates of the sensors by id, null for a sensor without any. Sensors that do not exist are left out. */
export async function findSensorCoordinates(
  tx: Executor,
  sensorIds: readonly string[],
): Promise<ReadonlyMap<string, Coordinates | null>> {
  if (sensorIds.length === 0) return new Map();
  const rows = await tx
    .select({ id: sensors.id, coordinates: sensors.coordinates })
    .from(sensors)
    .where(inArray(sensors.id, [...sensorIds]));
  return new Map(rows.map(({ id, coordinates }) => [id, coordinates]));
}

/** An event of type INCIDENT that is attached to an open incident, and what it would be called if it opened one. */
export interface JoiningEvent extends Attachment {
  readonly type: IncidentType;
  /** The rank, from 1 LOW to 4 CRITICAL. */
  readonly severity: number;
  /** null: the event does not say what happened. */
  readonly title: string | null;
  readonly description: string | null;
  /** Whether its description replaces that of the incident, however severe it is. */
  readonly isVersion: boolean;
  /** If it resolves the incident, why; at most one event of an incident does. */
  readonly ending: Source['ending'];
}

const SEVERITIES = sql.raw(`ARRAY[${severity.options.map((value) => `'${value}'`).join(', ')}]`);

/** The condition that no person has set a field of an incident. */
function isUntouched(field: 'title' | 'description'): SQL {
  return sql`before.reported_by IS NULL AND NOT EXISTS (
      SELECT FROM incident_timeline WHERE incident_id = before.id AND user_id IS NOT NULL AND action = 'update'
        AND details ? ${sql.raw(`'${field}'`)})`;
}

// One statement with parameters: with every third event an INCIDENT, 5,800 events/s were stored, compared with 4,850
// for three statements with values in the text.
const ATTACH = prepare(
  'attach-events',
  sql`
    WITH given AS (
      SELECT * FROM unnest(${sql.placeholder('incidentIds')}::uuid[], ${sql.placeholder('eventIds')}::uuid[],
          ${sql.placeholder('types')}::text[], ${sql.placeholder('severities')}::smallint[],
          ${sql.placeholder('titles')}::text[], ${sql.placeholder('descriptions')}::text[],
          ${sql.placeholder('versions')}::text[]::boolean[], ${sql.placeholder('endings')}::text[])
        WITH ORDINALITY
        AS given (incident_id, event_id, type, severity, title, description, is_version, ending, position)
    ), worst AS (
      SELECT DISTINCT ON (incident_id) * FROM given ORDER BY incident_id, severity DESC, position
    ), judged AS MATERIALIZED (
      SELECT before.id, before.severity, before.title, before.description, worst.event_id, worst.type AS of_events,
        worst.severity AS of_worst, raises, is_newest_version, before.status,
        raises OR new_description IS DISTINCT FROM before.description AS is_changed, new_description,
        before.reported_severity, ended.ending, ended.event_id AS of_end,
        CASE WHEN raises AND worst.title IS NOT NULL AND ${isUntouched('title')}
          THEN worst.title ELSE before.title END AS new_title
      FROM worst JOIN ${incidents} AS before ON before.id = worst.incident_id
        LEFT JOIN given AS ended ON ended.incident_id = before.id AND ended.ending IS NOT NULL
        CROSS JOIN LATERAL (
          SELECT worst.is_version AND event_time(worst.event_id) >= coalesce(before.last_event_at, before.opened_at)
            AS is_newest_version
        ) AS version
        CROSS JOIN LATERAL (
          SELECT worst.severity > before.severity AND worst.severity > coalesce(before.reported_severity, 0) AS raises
        ) AS judgement
        CROSS JOIN LATERAL (
          SELECT CASE WHEN (raises OR is_newest_version) AND worst.description IS NOT NULL AND ${isUntouched('description')}
            THEN worst.description ELSE before.description END AS new_description
        ) AS described
    ), grown AS (
      UPDATE ${incidents} SET updated_at = ${moment}, last_event_at = greatest(last_event_at, opened_at, latest),
        severity = CASE WHEN raises THEN of_worst ELSE incidents.severity END, title = new_title,
        description = new_description, reported_type = coalesce(reported_type, of_events),
        reported_severity =
          CASE WHEN is_newest_version THEN of_worst ELSE greatest(incidents.reported_severity, of_worst) END,
        status = CASE WHEN ending IS NULL THEN incidents.status ELSE 'RESOLVED' END,
        resolved_at = CASE WHEN ending IS NULL THEN resolved_at ELSE ${moment} END
      FROM judged JOIN (SELECT incident_id, max(event_time(event_id)) AS latest FROM given GROUP BY incident_id) AS taken
        ON taken.incident_id = judged.id
      WHERE incidents.id = judged.id
      RETURNING incidents.*, is_changed, judged.status AS old_status
    ), attached AS (
      INSERT INTO incident_events (incident_id, event_id) SELECT incident_id, event_id FROM given
      ON CONFLICT DO NOTHING
    ), noted AS (
      INSERT INTO incident_timeline (incident_id, at, action, from_status, to_status, details)
      SELECT id, updated_at, action, old_status, CASE action WHEN 'resolve' THEN status ELSE old_status END, details
      FROM (
        SELECT incident_id, position, 'attachEvent' AS action, jsonb_build_object('eventId', given.event_id)
          || CASE WHEN is_version AND is_newest_version AND given.severity < reported_severity
            THEN ${change('reportedSeverity', nameOfSeverity(sql`reported_severity`), nameOfSeverity(sql`given.severity`))}
            ELSE '{}' END AS details
        FROM given JOIN judged ON judged.id = incident_id
        UNION ALL
        SELECT id, NULL, 'update', jsonb_build_object('eventId', event_id)
          || ${fromTo('severity', nameOfSeverity(sql`severity`), nameOfSeverity(sql`CASE WHEN raises THEN of_worst ELSE severity END`))}
          || ${fromTo('title', sql`title`, sql`new_title`)}
          || ${fromTo('description', sql`description`, sql`new_description`)}
        FROM judged WHERE is_changed
        UNION ALL
        SELECT id, NULL, 'resolve', jsonb_build_object('eventId', of_end, 'reason', ending)
        FROM judged WHERE ending IS NOT NULL
      ) AS entries JOIN grown ON grown.id = incident_id
      ORDER BY position NULLS LAST, action DESC
    )
    SELECT * FROM grown`,
);

/** The details of a change of a field in the timeline; an empty object if it did not change. */
function fromTo(field: string, from: SQL, to: SQL): SQL {
  return sql`CASE WHEN ${from} IS DISTINCT FROM ${to} THEN ${change(field, from, to)} ELSE '{}' END`;
}

function change(field: string, from: SQL, to: SQL): SQL {
  return sql`jsonb_build_object(${sql.raw(`'${field}'`)}, jsonb_build_object('from', ${from}, 'to', ${to}))`;
}

function nameOfSeverity(rank: SQL): SQL {
  return sql`(${SEVERITIES})[${rank}]`;
}

/** An incident to which events were attached. */
export interface JoinedIncident {
  /** After the change. */
  readonly row: IncidentRow;
  /** Whether an event raised its severity or, as a later version of a report, changed its description. */
  readonly isChanged: boolean;
}

/**
 * Attaches events to open incidents, which are locked, and records it. An event that is more severe than the incident
 * and all its events before raises the severity of the incident and gives it its title and description, except for what
 * a person has written. So does the description of a later version of a report, which may also end it: then the incident
 * is resolved. That such a version is less severe than the one before is noted, and changes nothing else.
 */
export async function attachToOpenIncidents(
  tx: Executor,
  events: readonly JoiningEvent[],
): Promise<JoinedIncident[]> {
  if (events.length === 0) return [];
  const grown = await ATTACH(tx, {
    incidentIds: uuidArray(events, ({ incidentId }) => incidentId),
    eventIds: uuidArray(events, ({ eventId }) => eventId),
    types: textArray(events, ({ type }) => type),
    severities: smallintArray(events, ({ severity }) => severity),
    titles: textArray(events, ({ title }) => title),
    descriptions: textArray(events, ({ description }) => description),
    versions: textArray(events, ({ isVersion }) => String(isVersion)),
    endings: textArray(events, ({ ending }) => ending),
  });
  return grown.map((row) => ({ row: readIncident(row), isChanged: row.is_changed === true }));
}

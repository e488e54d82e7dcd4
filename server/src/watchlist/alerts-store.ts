import type { Severity } from '@gantry/contract/events';
import type { HitKind } from '@gantry/contract/hits';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { ListAlertsInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { and, asc, count, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import type { EventRow } from '../events/event-row.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import { doubleArray, textArray, uuidArray } from '../platform/database/arrays.ts';
import { locks } from '../platform/database/locks.ts';
import { isWithin } from '../platform/database/moment.ts';
import { type ListedByHotlist, watchlistAlerts } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';
import type { WatchedEntry } from './matching.ts';

/** An event that matches an entry of the watchlist, or of a hotlist. */
export interface Hit {
  readonly entry: Omit<WatchedEntry, 'validFrom' | 'validUntil'>;
  readonly row: EventRow;
  /** What the hotlist says; undefined for the watchlist. */
  readonly listed?: ListedHit;
}

/** How a read hits an entry of a hotlist. */
export interface ListedHit {
  readonly hotlistId: string;
  readonly covert: boolean;
  readonly repeatMinutes: number;
  readonly says: ListedByHotlist;
  readonly kind: HitKind;
  readonly differences: number;
  readonly plateRegion: string | null;
  /** In per cent. */
  readonly confidence: number | null;
  /** Whether others than verifiers see it at once. */
  readonly isReleased: boolean;
}

/** The range of time in which a further read of a vehicle belongs to an alert; Unix milliseconds. */
export interface KnownAlert {
  readonly id: string;
  readonly entryId: string;
  readonly sensorId: string;
  readonly vehicleKey: string;
  readonly readAt: number;
  readonly lastReadAt: number;
  readonly backlog: boolean;
}

/**
 * Makes other transactions that call this for one of the sensors, or of the entries of hotlists, wait until this one ends. The
 * locks are taken in the order of their numbers, so that transactions with several of them in common cannot deadlock.
 * @returns the time afterwards, Unix milliseconds
 */
export async function lockAlertsOf(tx: Executor, ids: readonly string[]): Promise<number> {
  const { rows } = await tx.execute<{ at: number }>(sql`
    SELECT pg_advisory_xact_lock(${sql.raw(String(locks.alertsOfSensor))}, number),
      (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS at
    FROM (
      SELECT DISTINCT hashtext(id::text) AS number FROM unnest(${uuidArray(ids, (id) => id)}::uuid[]) AS id
      ORDER BY number
    ) AS numbers`);
  return Math.max(...rows.map(({ at }) => at));
}

/** A pair of an entry and an event that matches it. */
export interface Match {
  readonly entryId: string;
  readonly eventId: string;
}

/** Those of the pairs that have an alert or belong to one, as `nameOfMatch` names them. */
export async function findRaised(db: Executor, matches: readonly Match[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<Match & Record<string, unknown>>(sql`
    WITH pairs AS (
      SELECT * FROM unnest(${uuidArray(matches, ({ entryId }) => entryId)}::uuid[],
        ${uuidArray(matches, ({ eventId }) => eventId)}::uuid[]) AS pairs (entry_id, event_id)
    )
    SELECT entry_id AS "entryId", event_id AS "eventId" FROM pairs JOIN watchlist_alerts USING (entry_id, event_id)
    UNION ALL
    SELECT entry_id, event_id FROM pairs JOIN watchlist_sightings USING (entry_id, event_id)`);
  return new Set(rows.map(nameOfMatch));
}

/** The alerts of these entries and vehicles to which a read between the times (Unix milliseconds) may belong. */
export async function findAlertsOfVehicles(
  tx: Executor,
  vehicles: readonly Pick<KnownAlert, 'entryId' | 'sensorId' | 'vehicleKey'>[],
  from: number,
  until: number,
): Promise<KnownAlert[]> {
  // Plan: watchlist_alerts_of_vehicle.
  const { rows } = await tx.execute<KnownAlert & Record<string, unknown>>(sql`
    SELECT id, entry_id AS "entryId", sensor_id AS "sensorId", vehicle_key AS "vehicleKey", backlog,
      (extract(epoch FROM read_at) * 1000)::double precision AS "readAt",
      (extract(epoch FROM last_read_at) * 1000)::double precision AS "lastReadAt"
    FROM watchlist_alerts JOIN unnest(${uuidArray(vehicles, ({ entryId }) => entryId)}::uuid[],
        ${uuidArray(vehicles, ({ sensorId }) => sensorId)}::uuid[],
        ${textArray(vehicles, ({ vehicleKey }) => vehicleKey)}::text[]) AS wanted (entry_id, sensor_id, vehicle_key)
      USING (entry_id, sensor_id, vehicle_key)
    WHERE last_read_at >= ${new Date(from).toISOString()}::timestamptz
      AND read_at <= ${new Date(until).toISOString()}::timestamptz`);
  return rows;
}

/** The hits of these entries of hotlists, unless they were decided against, to which a read between the times may belong. */
export async function findHitsOfEntries(
  tx: Executor,
  entryIds: readonly string[],
  from: number,
  until: number,
): Promise<KnownAlert[]> {
  if (entryIds.length === 0) return [];
  // Plan: watchlist_alerts_entry_id_event_id_key.
  const { rows } = await tx.execute<KnownAlert & Record<string, unknown>>(sql`
    SELECT id, entry_id AS "entryId", '' AS "sensorId", '' AS "vehicleKey", backlog,
      (extract(epoch FROM read_at) * 1000)::double precision AS "readAt",
      (extract(epoch FROM last_read_at) * 1000)::double precision AS "lastReadAt"
    FROM watchlist_alerts
    WHERE entry_id = ANY (${uuidArray(entryIds, (id) => id)}::uuid[]) AND state IN ('NEW', 'CONFIRMED')
      AND last_read_at >= ${new Date(from).toISOString()}::timestamptz
      AND read_at <= ${new Date(until).toISOString()}::timestamptz`);
  return rows;
}

/** An alert with its first read, as it is stored. */
export interface NewAlert extends KnownAlert {
  readonly hit: Hit;
  readonly sightings: number;
}

/** Stores alerts, in one statement. */
export async function insertAlerts(tx: Executor, alerts: readonly NewAlert[]): Promise<void> {
  if (alerts.length === 0) return;
  const rows = alerts.map(
    ({ id, hit: { entry, row, listed }, vehicleKey, backlog, sightings, lastReadAt }) => ({
      id,
      entry_id: entry.id,
      pattern: entry.pattern,
      reason: entry.reason,
      priority: rankOf(entry.priority),
      event_id: row.id,
      plate: row.plate ?? '',
      sensor_id: row.sensorId,
      sensor_name: row.sensorName,
      location_name: row.locationName,
      read_at: new Date(row.time),
      vehicle_key: listed ? null : vehicleKey,
      backlog,
      sightings,
      last_read_at: new Date(lastReadAt),
      ...(listed && {
        hotlist_id: listed.hotlistId,
        listed: listed.says,
        kind: listed.kind,
        differences: listed.differences,
        plate_region: listed.plateRegion,
        confidence: listed.confidence,
        state: 'NEW',
        is_released: listed.isReleased,
      }),
    }),
  );
  await tx.execute(sql`
    INSERT INTO watchlist_alerts (id, entry_id, pattern, reason, priority, event_id, plate, sensor_id, sensor_name,
      location_name, read_at, vehicle_key, backlog, sightings, last_read_at, hotlist_id, listed, kind, differences,
      plate_region, confidence, state, released_at)
    SELECT id, entry_id, pattern, reason, priority, event_id, plate, sensor_id, sensor_name, location_name, read_at,
      vehicle_key, backlog, sightings, last_read_at, hotlist_id, listed, kind, differences, plate_region, confidence, state,
      CASE WHEN is_released THEN now() END
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS hit (id uuid, entry_id uuid, pattern text, reason text,
      priority smallint, event_id uuid, plate text, sensor_id uuid, sensor_name text, location_name text,
      read_at timestamptz, vehicle_key text, backlog boolean, sightings integer, last_read_at timestamptz,
      hotlist_id uuid, listed jsonb, kind text, differences smallint, plate_region text, confidence smallint, state text,
      is_released boolean)`);
}

/** Further reads that belong to a stored alert. */
export interface Repeats {
  readonly alertId: string;
  readonly count: number;
  /** The time of the latest, Unix milliseconds. */
  readonly lastReadAt: number;
}

/** Counts further reads of alerts. */
export async function countRepeats(tx: Executor, repeats: readonly Repeats[]): Promise<void> {
  if (repeats.length === 0) return;
  await tx.execute(sql`
    UPDATE watchlist_alerts SET sightings = sightings + more.count, last_read_at = greatest(last_read_at, more.last)
    FROM unnest(${uuidArray(repeats, ({ alertId }) => alertId)}::uuid[],
        ${doubleArray(repeats, ({ count }) => count)}::double precision[]::integer[],
        ${textArray(repeats, ({ lastReadAt }) => new Date(lastReadAt).toISOString())}::text[]::timestamptz[])
      AS more (alert_id, count, last)
    WHERE id = alert_id`);
}

/** A read that belongs to an alert that another read raised. */
export interface Sighting extends Match {
  readonly alertId: string;
}

/** Records which alerts further reads belong to. */
export async function insertSightings(tx: Executor, sightings: readonly Sighting[]): Promise<void> {
  if (sightings.length === 0) return;
  await tx.execute(sql`
    INSERT INTO watchlist_sightings (entry_id, event_id, alert_id)
    SELECT * FROM unnest(${uuidArray(sightings, ({ entryId }) => entryId)}::uuid[],
      ${uuidArray(sightings, ({ eventId }) => eventId)}::uuid[], ${uuidArray(sightings, ({ alertId }) => alertId)}::uuid[])`);
}

type AlertRow = typeof watchlistAlerts.$inferSelect;

/** Those of the watchlist, and the hits of hotlists that everybody may see who may see alerts. */
const isPublic = sql`(${watchlistAlerts.hotlistId} IS NULL OR (${watchlistAlerts.releasedAt} IS NOT NULL
  AND ${watchlistAlerts.hotlistId} NOT IN (SELECT id FROM hotlists WHERE covert)))`;

/** @throws AppError `notFound` */
export async function getAlert(db: Executor, id: string): Promise<WatchlistAlert> {
  const rows = isUuid(id)
    ? await db
        .select()
        .from(watchlistAlerts)
        .where(and(eq(watchlistAlerts.id, id), isPublic))
    : [];
  const [alert] = await toAlerts(db, rows);
  if (!alert) throw notFound('Watchlist alert');
  return alert;
}

/** Those of the alerts with these ids that are not hidden, in their order. */
export async function findAlerts(db: Executor, ids: readonly string[]): Promise<WatchlistAlert[]> {
  if (ids.length === 0) return [];
  const wanted = and(sql`${watchlistAlerts.id} = ANY (${uuidArray(ids, (id) => id)}::uuid[])`, isPublic);
  const found = await toAlerts(db, await db.select().from(watchlistAlerts).where(wanted));
  const byId = new Map(found.map((alert) => [alert.id, alert]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Alerts that were raised in the interval. */
export async function listAlerts(
  db: Executor,
  { skip, take, acknowledged, entryId, priority, backlog, sortBy, sortOrder }: ListAlertsInput,
  interval: Interval,
): Promise<Page<WatchlistAlert>> {
  if (entryId !== undefined && !isUuid(entryId)) return { items: [], total: 0 };
  const { createdAt, acknowledgedAt } = watchlistAlerts;
  const wanted = and(
    isPublic,
    isWithin(createdAt, interval),
    acknowledged === undefined
      ? undefined
      : acknowledged
        ? isNotNull(acknowledgedAt)
        : isNull(acknowledgedAt),
    entryId === undefined ? undefined : eq(watchlistAlerts.entryId, entryId),
    priority && eq(watchlistAlerts.priority, rankOf(priority)),
    backlog === undefined ? undefined : eq(watchlistAlerts.backlog, backlog),
  );
  const [direction, opposite] = sortOrder === 'asc' ? [asc, desc] : [desc, asc];
  // Plan: watchlist_alerts_open or watchlist_alerts_by_creation; by priority, watchlist_alerts_by_urgency for open alerts,
  // whose order must not name the acknowledgement then.
  const order =
    sortBy === 'createdAt'
      ? [direction(createdAt), direction(watchlistAlerts.id)]
      : [
          direction(watchlistAlerts.priority),
          ...(acknowledged === undefined ? [opposite(isNotNull(acknowledgedAt))] : []),
          opposite(createdAt),
          opposite(watchlistAlerts.id),
        ];
  const rows = await db
    .select()
    .from(watchlistAlerts)
    .where(wanted)
    .orderBy(...order)
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(watchlistAlerts).where(wanted);
  return { items: await toAlerts(db, rows), total: counted?.total ?? 0 };
}

/**
 * Acknowledges an alert that is not acknowledged yet.
 * @returns null if it was acknowledged before, or does not exist
 */
export async function setAcknowledged(
  db: Executor,
  id: string,
  userId: string,
  note: string | null,
): Promise<WatchlistAlert | null> {
  if (!isUuid(id)) return null;
  const rows = await db
    .update(watchlistAlerts)
    .set({ acknowledgedAt: sql`now()`, acknowledgedBy: userId, note })
    .where(and(eq(watchlistAlerts.id, id), isPublic, isNull(watchlistAlerts.acknowledgedAt)))
    .returning();
  const [alert] = await toAlerts(db, rows);
  return alert ?? null;
}

/**
 * Reopens an alert that the user acknowledged at most `minutes` minutes ago.
 * @returns null if the user did not acknowledge it, or did so earlier, or its list has become covert since
 */
export async function setOpen(
  db: Executor,
  id: string,
  userId: string,
  minutes: number,
): Promise<WatchlistAlert | null> {
  if (!isUuid(id)) return null;
  const isRecent = sql`${watchlistAlerts.acknowledgedAt} >= now() - make_interval(mins => ${minutes}::int)`;
  const rows = await db
    .update(watchlistAlerts)
    .set({ acknowledgedAt: null, acknowledgedBy: null, note: null })
    .where(and(eq(watchlistAlerts.id, id), isPublic, eq(watchlistAlerts.acknowledgedBy, userId), isRecent))
    .returning();
  const [alert] = await toAlerts(db, rows);
  return alert ?? null;
}

export function nameOfMatch({ entryId, eventId }: Match): string {
  return `${entryId} ${eventId}`;
}

async function toAlerts(db: Executor, rows: readonly AlertRow[]): Promise<WatchlistAlert[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ acknowledgedBy }) => acknowledgedBy),
  );
  return rows.map((row) => ({
    id: row.id,
    entryId: row.entryId,
    pattern: row.pattern,
    reason: row.reason,
    // Copied from an entry, whose table contains only the ranks 1 to 4.
    priority: severityOfRank(row.priority) as Severity,
    eventId: row.eventId,
    licensePlateNumber: row.plate,
    sensorId: row.sensorId,
    sensorName: row.sensorName,
    locationName: row.locationName,
    timestamp: row.readAt,
    createdAt: row.createdAt,
    acknowledgedAt: row.acknowledgedAt,
    acknowledgedBy: nameOf(row.acknowledgedBy),
    note: row.note,
    backlog: row.backlog,
    sightings: row.sightings,
    lastSeenAt: row.lastReadAt ?? row.readAt,
  }));
}

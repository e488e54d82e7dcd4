import type { Severity } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { ListAlertsInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { and, count, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import type { EventRow } from '../events/event-row.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import { isWithin } from '../platform/database/moment.ts';
import { watchlistAlerts } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';
import { findNames } from '../users/names-store.ts';
import type { WatchedEntry } from './matching.ts';

/** An event that matches an entry. */
export interface Hit {
  readonly entry: WatchedEntry;
  readonly row: EventRow;
}

interface InsertedAlert extends Record<string, unknown> {
  readonly id: string;
  readonly entry_id: string;
  readonly event_id: string;
  readonly created_at: string;
}

/**
 * Stores an alert for each hit, in one statement.
 * @returns those that are new: there is one alert for each entry and event
 */
export async function insertAlerts(tx: Executor, hits: readonly Hit[]): Promise<WatchlistAlert[]> {
  const rows = hits.map(({ entry, row }) => ({
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
  }));
  const { rows: inserted } = await tx.execute<InsertedAlert>(sql`
    INSERT INTO watchlist_alerts (entry_id, pattern, reason, priority, event_id, plate, sensor_id, sensor_name,
      location_name, read_at)
    SELECT entry_id, pattern, reason, priority, event_id, plate, sensor_id, sensor_name, location_name, read_at
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS hit (entry_id uuid, pattern text, reason text,
      priority smallint, event_id uuid, plate text, sensor_id uuid, sensor_name text, location_name text,
      read_at timestamptz)
    ON CONFLICT (entry_id, event_id) DO NOTHING
    RETURNING id, entry_id, event_id, created_at`);
  const byPair = new Map(hits.map((hit) => [pairOf(hit.entry.id, hit.row.id), hit]));
  return inserted.flatMap((alert) => {
    const hit = byPair.get(pairOf(alert.entry_id, alert.event_id));
    return hit ? [alertOf(hit, alert)] : [];
  });
}

type AlertRow = typeof watchlistAlerts.$inferSelect;

/** @throws AppError `notFound` */
export async function getAlert(db: Executor, id: string): Promise<WatchlistAlert> {
  const rows = isUuid(id) ? await db.select().from(watchlistAlerts).where(eq(watchlistAlerts.id, id)) : [];
  const [alert] = await toAlerts(db, rows);
  if (!alert) throw notFound('Watchlist alert');
  return alert;
}

/** Alerts that were raised in the interval. */
export async function listAlerts(
  db: Executor,
  { skip, take, acknowledged, entryId, priority, sortOrder }: ListAlertsInput,
  interval: Interval,
): Promise<Page<WatchlistAlert>> {
  if (entryId !== undefined && !isUuid(entryId)) return { items: [], total: 0 };
  const { createdAt, acknowledgedAt } = watchlistAlerts;
  const wanted = and(
    isWithin(createdAt, interval),
    acknowledged === undefined
      ? undefined
      : acknowledged
        ? isNotNull(acknowledgedAt)
        : isNull(acknowledgedAt),
    entryId === undefined ? undefined : eq(watchlistAlerts.entryId, entryId),
    priority && eq(watchlistAlerts.priority, rankOf(priority)),
  );
  const direction = sql.raw(sortOrder);
  const rows = await db
    .select()
    .from(watchlistAlerts)
    .where(wanted)
    .orderBy(sql`${createdAt} ${direction}`, sql`${watchlistAlerts.id} ${direction}`)
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
    .where(and(eq(watchlistAlerts.id, id), isNull(watchlistAlerts.acknowledgedAt)))
    .returning();
  const [alert] = await toAlerts(db, rows);
  return alert ?? null;
}

/**
 * Reopens an alert that the user acknowledged at most `minutes` minutes ago.
 * @returns null if the user did not acknowledge it, or did so earlier
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
    .where(and(eq(watchlistAlerts.id, id), eq(watchlistAlerts.acknowledgedBy, userId), isRecent))
    .returning();
  const [alert] = await toAlerts(db, rows);
  return alert ?? null;
}

function alertOf({ entry, row }: Hit, { id, created_at }: InsertedAlert): WatchlistAlert {
  return {
    id,
    entryId: entry.id,
    pattern: entry.pattern,
    reason: entry.reason,
    priority: entry.priority,
    eventId: row.id,
    licensePlateNumber: row.plate ?? '',
    sensorId: row.sensorId,
    sensorName: row.sensorName,
    locationName: row.locationName,
    timestamp: new Date(row.time),
    createdAt: new Date(created_at),
    acknowledgedAt: null,
    acknowledgedBy: null,
    note: null,
  };
}

function pairOf(entryId: string, eventId: string): string {
  return `${entryId} ${eventId}`;
}

async function toAlerts(db: Executor, rows: readonly AlertRow[]): Promise<WatchlistAlert[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ acknowledgedBy }) => acknowledgedBy),
  );
  return rows.map(({ plate, readAt, priority, acknowledgedBy, ...row }) => ({
    ...row,
    // Copied from an entry, whose table contains only the ranks 1 to 4.
    priority: severityOfRank(priority) as Severity,
    licensePlateNumber: plate,
    timestamp: readAt,
    acknowledgedBy: nameOf(acknowledgedBy),
  }));
}

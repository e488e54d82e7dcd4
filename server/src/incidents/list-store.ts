import { severity } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import {
  type IncidentStats,
  type IncidentStatsInput,
  incidentStatus,
  incidentType,
  type ListIncidentsInput,
} from '@gantry/contract/incidents';
import type { Page } from '@gantry/contract/page';
import {
  and,
  asc,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { rankOf } from '../events/severity.ts';
import type { Actor } from '../platform/context.ts';
import { caseFolded, contains } from '../platform/database/case-folded.ts';
import { incidents } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { getPerformance, isOfWorks } from './performance-store.ts';
import type { IncidentRow } from './store.ts';

const sortKeys = {
  openedAt: incidents.openedAt,
  updatedAt: incidents.updatedAt,
  severity: incidents.severity,
  status: sql`array_position(${sql.param(incidentStatus.options)}::text[], ${incidents.status}::text)`,
};

/** PostgreSQL refuses to compare an id with text of another form, which is never the id of anything. */
export function refersTo(column: PgColumn, id: string): SQL {
  return isUuid(id) ? eq(column, id) : sql`false`;
}

/** The condition for incidents that were opened in the interval. */
export function openedIn({ from, until }: Interval): SQL | undefined {
  return and(
    Number.isFinite(from) ? gte(incidents.openedAt, new Date(from)) : undefined,
    Number.isFinite(until) ? lt(incidents.openedAt, new Date(until)) : undefined,
  );
}

/**
 * One page of the incidents that meet the filters, with their number. The search text is taken literally.
 * @param caller the user that `me` refers to; one who sees no plates searches no texts of devices
 */
export async function listIncidents(
  db: Executor,
  input: ListIncidentsInput,
  interval: Interval,
  caller: Pick<Actor, 'id' | 'seesPlates'>,
): Promise<Page<IncidentRow>> {
  const { status, type, severity, sensorId, locationId, assignedTo, search } = input;
  const wanted = and(
    // An equality for a single status, so that its index returns the incidents in order.
    status &&
      (status.length === 1 ? eq(incidents.status, status[0] ?? 'OPEN') : inArray(incidents.status, status)),
    type && eq(incidents.type, type),
    severity && inArray(incidents.severity, severity.map(rankOf)),
    sensorId === undefined ? undefined : refersTo(incidents.sensorId, sensorId),
    locationId === undefined ? undefined : refersTo(incidents.locationId, locationId),
    assignedTo === undefined ? undefined : assigned(assignedTo, caller.id),
    search === undefined
      ? undefined
      : or(
          contains(incidents.title, search),
          and(
            contains(incidents.description, search),
            caller.seesPlates ? undefined : isNotNull(incidents.reportedBy),
          ),
        ),
    openedIn(interval),
  );
  const [direction, opposite] = input.sortOrder === 'asc' ? [asc, desc] : [desc, asc];
  const order =
    input.sortBy === 'priority'
      ? [
          direction(incidents.severity),
          direction(sql`${incidents.status} = 'OPEN'`),
          opposite(incidents.openedAt),
          opposite(incidents.id),
        ]
      : [direction(sortKeys[input.sortBy]), direction(incidents.id)];
  // Plan: incidents_by_opening, or incidents_by_status for one status; for other orders the result is sorted.
  const items = await db
    .select()
    .from(incidents)
    .where(wanted)
    .orderBy(...order)
    .limit(input.take)
    .offset(input.skip);
  const [counted] = await db.select({ total: count() }).from(incidents).where(wanted);
  return { items, total: counted?.total ?? 0 };
}

const { openedAt, acknowledgedAt, resolvedAt, backlog } = incidents;

/** Excludes the backlog: late events could not be acknowledged when they happened. */
const inTime = sql`FILTER (WHERE NOT ${backlog})`;

/** Excludes those of planned works, which end by the clock. */
const unplanned = sql`FILTER (WHERE NOT ${isOfWorks})`;

/** Counts the incidents that were opened in the interval, with the times until they were acted upon. */
export async function getIncidentStats(
  db: Executor,
  interval: Interval,
  of: Pick<IncidentStatsInput, 'type' | 'severity' | 'road'> = {},
): Promise<IncidentStats> {
  const rows = await db
    .select({
      status: incidents.status,
      type: incidents.type,
      rank: incidents.severity,
      n: count(),
      acknowledged: sql<number>`(count(${acknowledgedAt}) ${inTime})::int`,
      untilAcknowledged: secondsUntil(acknowledgedAt, inTime),
      resolved: sql<number>`(count(${resolvedAt}) ${unplanned})::int`,
      untilResolved: secondsUntil(resolvedAt, unplanned),
    })
    .from(incidents)
    .where(openedIn(interval))
    .groupBy(incidents.status, incidents.type, incidents.severity);
  type Row = (typeof rows)[number];
  const sum = (of: (row: Row) => number, counts: (row: Row) => boolean = () => true): number =>
    rows.reduce((total, row) => (counts(row) ? total + of(row) : total), 0);
  const n = ({ n }: Row): number => n;
  const isOpen = ({ status }: Row): boolean => status !== 'RESOLVED' && status !== 'CLOSED';
  const mean = (seconds: number, times: number): number | null =>
    times === 0 ? null : toMilliseconds(seconds / times);
  return {
    total: sum(n),
    open: sum(n, isOpen),
    openBySeverity: severity.options.map((value) => ({
      severity: value,
      count: sum(n, (row) => isOpen(row) && row.rank === rankOf(value)),
    })),
    byStatus: incidentStatus.options.map((status) => ({
      status,
      count: sum(n, (row) => row.status === status),
    })),
    byType: incidentType.options.map((type) => ({ type, count: sum(n, (row) => row.type === type) })),
    meanTimeToAcknowledge: mean(
      sum((row) => row.untilAcknowledged),
      sum((row) => row.acknowledged),
    ),
    meanTimeToResolve: mean(
      sum((row) => row.untilResolved),
      sum((row) => row.resolved),
    ),
    performance: await getPerformance(
      db,
      and(
        openedIn(interval),
        of.type && eq(incidents.type, of.type),
        of.severity && eq(incidents.severity, rankOf(of.severity)),
        of.road === undefined ? undefined : isOnRoad(of.road),
      ),
    ),
  };
}

/** Whether the location of an incident is on a road. */
function isOnRoad(road: string): SQL {
  return sql`${incidents.locationId} IN (SELECT id FROM locations WHERE ${caseFolded(sql`road`)} = ${caseFolded(road)})`;
}

function assigned(to: string, callerId: string): SQL {
  if (to === 'nobody') return isNull(incidents.assignedTo);
  return refersTo(incidents.assignedTo, to === 'me' ? callerId : to);
}

// An event may be dated up to five minutes ahead, so its incident may be acted upon before it opens: that counts as
// no time.
function secondsUntil(moment: typeof acknowledgedAt, which = sql``) {
  return sql<number>`coalesce(sum(greatest(0, extract(epoch FROM ${moment} - ${openedAt}))) ${which}, 0)::double precision`;
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

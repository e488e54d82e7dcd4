import type { ReportFilters } from '@gantry/contract/reports';
import { and, asc, eq, gt, or, type SQL, sql } from 'drizzle-orm';
import { rankOf } from '../../events/severity.ts';
import { openedIn, refersTo } from '../../incidents/list-store.ts';
import { type PerformanceRow, readPerformance } from '../../incidents/performance-store.ts';
import type { IncidentRow } from '../../incidents/store.ts';
import { incidents } from '../../platform/database/tables.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { quarterOf } from './events-store.ts';
import type { Place } from './slices.ts';

/** The next incidents opened in an interval, in order. */
export function listOpenedIncidents(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
  after: Place | null,
  take: number,
): Promise<IncidentRow[]> {
  const behind =
    after &&
    or(gt(incidents.openedAt, after.at), and(eq(incidents.openedAt, after.at), gt(incidents.id, after.id)));
  // Plan: incidents_by_opening from the last one on.
  return db
    .select()
    .from(incidents)
    .where(and(wanted(filters, interval), behind ?? undefined))
    .orderBy(asc(incidents.openedAt), asc(incidents.id))
    .limit(take);
}

export interface IncidentCount extends Record<string, unknown> {
  /** The start of the quarter hour. */
  readonly quarter: string;
  readonly type: string;
  readonly severity: number;
  readonly n: number;
  /** The numbers of acknowledged and of resolved incidents, and the total time until then, in seconds. */
  readonly acknowledged: number;
  /** The number of acknowledged ones outside a backlog, to which the acknowledgement time refers. */
  readonly acknowledged_in_time: number;
  readonly to_acknowledge: number;
  readonly resolved: number;
  readonly to_resolve: number;
}

/** The incidents opened in an interval, by quarter hour, type and severity. */
export async function countOpenedIncidents(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
): Promise<IncidentCount[]> {
  const took = (moment: SQL, which = sql``): SQL =>
    sql`coalesce(sum(greatest(0, extract(epoch FROM ${moment} - opened_at))) ${which}, 0)::double precision`;
  const inTime = sql`FILTER (WHERE NOT backlog)`;
  const { rows } = await db.execute<IncidentCount>(sql`
    SELECT ${quarterOf(sql`opened_at`)} AS quarter, type, severity, count(*) AS n,
      count(acknowledged_at) AS acknowledged, count(acknowledged_at) ${inTime} AS acknowledged_in_time,
      ${took(sql`acknowledged_at`, inTime)} AS to_acknowledge,
      count(resolved_at) AS resolved, ${took(sql`resolved_at`)} AS to_resolve
    FROM incidents WHERE ${wanted(filters, interval)} GROUP BY 1, 2, 3`);
  return rows;
}

/** How the incidents opened in an interval were cleared. */
export function readClearance(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
): Promise<PerformanceRow[]> {
  return readPerformance(db, wanted(filters, interval));
}

function wanted(filters: ReportFilters, interval: Interval): SQL | undefined {
  return and(
    openedIn(interval),
    filters.severity && eq(incidents.severity, rankOf(filters.severity)),
    filters.incidentType && eq(incidents.type, filters.incidentType),
    filters.incidentStatus && eq(incidents.status, filters.incidentStatus),
    filters.sensorId === undefined ? undefined : refersTo(incidents.sensorId, filters.sensorId),
    filters.locationId === undefined ? undefined : refersTo(incidents.locationId, filters.locationId),
  );
}

import { severity } from '@gantry/contract/events';
import { MAX_PERFORMANCE_ROWS, type PerformanceFigures } from '@gantry/contract/incident-work';
import { type IncidentStats, incidentType } from '@gantry/contract/incidents';
import { count, desc, eq, type SQL, sql } from 'drizzle-orm';
import { severityOfRank } from '../events/severity.ts';
import { incidents, incidentWork, locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

// Figures of how incidents were cleared. False alarms, and incidents that were merged into others, are in none of them; those of
// planned works are in no times.

/** What a group of incidents has in common. */
export type PerformanceGroup = 'ALL' | 'TYPE' | 'SEVERITY' | 'ROAD';

export interface PerformanceRow {
  readonly group: PerformanceGroup;
  /** The type, severity or road; null for all incidents, and for those without a road. */
  readonly value: string | null;
  readonly figures: PerformanceFigures;
}

interface Row extends Record<string, unknown> {
  readonly grouped: number;
  readonly type: string | null;
  readonly severity: number | null;
  readonly road: string | null;
  readonly n: number;
  readonly rcts: number;
  readonly rct: readonly number[] | null;
  readonly icts: number;
  readonly ict: readonly number[] | null;
}

/** By GROUPING, whose bits say which columns a row does not group by. */
const groupOf: Readonly<Record<number, PerformanceGroup>> = { 7: 'ALL', 3: 'TYPE', 5: 'SEVERITY', 6: 'ROAD' };

/** Whether works opened an incident, as a condition. */
export const isOfWorks = sql`(${incidents.id} IN (SELECT incident_id FROM works_windows WHERE incident_id IS NOT NULL))`;

/** Those that were merged into others would count twice. */
const COUNTED = sql`NOT coalesce(${incidentWork.isFalseAlarm}, false) AND ${incidentWork.mergedInto} IS NULL`;

/**
 * The clearance times of the incidents that meet a condition: of all, and by type, severity and road. Percentiles are
 * interpolated linearly, as those of speeds are (`percentileOf` with `LINEAR`). Plan: incidents_by_opening.
 */
export async function readPerformance(db: Executor, wanted: SQL | undefined): Promise<PerformanceRow[]> {
  const { rows } = await db.execute<Row>(sql`
    WITH cleared AS (
      SELECT ${incidents.type}, ${incidents.severity}, ${locations.road},
        extract(epoch FROM ${incidentWork.lanesOpenAt} - ${incidents.openedAt})::float8 AS rct,
        extract(epoch FROM ${incidentWork.lastLeftAt} - ${incidents.openedAt})::float8 AS ict
      FROM ${incidents} LEFT JOIN ${incidentWork} ON ${incidentWork.incidentId} = ${incidents.id}
        LEFT JOIN ${locations} ON ${locations.id} = ${incidents.locationId}
      WHERE ${COUNTED} AND NOT ${isOfWorks} AND ${wanted ?? sql`true`}
    )
    SELECT grouping(type, severity, road) AS grouped, type, severity, road, count(*)::int AS n,
      count(rct)::int AS rcts, percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY rct) AS rct,
      count(ict)::int AS icts, percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY ict) AS ict
    FROM cleared GROUP BY GROUPING SETS ((), (type), (severity), (road))
    ORDER BY grouping(type, severity, road) < 7, grouped, n DESC, type, severity, road`);
  return rows.map((row) => ({
    group: groupOf[row.grouped] ?? 'ALL',
    value: row.type ?? (row.severity === null ? row.road : severityOfRank(row.severity)),
    figures: {
      incidents: row.n,
      roadwayClearance: clearanceOf(row.rcts, row.rct),
      incidentClearance: clearanceOf(row.icts, row.ict),
    },
  }));
}

function clearanceOf(known: number, percentiles: readonly number[] | null) {
  const [median, percentile90] = percentiles ?? [];
  return { count: known, median: roundedOf(median), percentile90: roundedOf(percentile90) };
}

/** To milliseconds. */
function roundedOf(seconds: number | undefined): number | null {
  return seconds === undefined || seconds === null ? null : Math.round(seconds * 1000) / 1000;
}

const NONE: PerformanceFigures = {
  incidents: 0,
  roadwayClearance: clearanceOf(0, null),
  incidentClearance: clearanceOf(0, null),
};

/** What `incidents.getStats` says of the performance of the incidents that meet a condition. */
export async function getPerformance(
  db: Executor,
  wanted: SQL | undefined,
): Promise<IncidentStats['performance']> {
  const rows = await readPerformance(db, wanted);
  const figuresOf = (group: PerformanceGroup, value: string | null): PerformanceFigures =>
    rows.find((row) => row.group === group && row.value === value)?.figures ?? NONE;
  const roads = rows.filter(({ group }) => group === 'ROAD').slice(0, MAX_PERFORMANCE_ROWS);
  return {
    overall: figuresOf('ALL', null),
    byType: incidentType.options.map((type) => ({ type, ...figuresOf('TYPE', type) })),
    bySeverity: severity.options.map((each) => ({ severity: each, ...figuresOf('SEVERITY', each) })),
    byRoad: roads.map(({ value, figures }) => ({ road: value, ...figures })),
    ...(await countFacts(db, wanted)),
  };
}

async function countFacts(db: Executor, wanted: SQL | undefined) {
  const n = count();
  const falseAlarms = await db
    .select({ sensorId: incidents.sensorId, name: sensors.name, count: n })
    .from(incidentWork)
    .innerJoin(incidents, eq(incidents.id, incidentWork.incidentId))
    .leftJoin(sensors, eq(sensors.id, incidents.sensorId))
    .where(sql`${incidentWork.isFalseAlarm} AND ${wanted ?? sql`true`}`)
    .groupBy(incidents.sensorId, sensors.name)
    .orderBy(desc(n), sensors.name, incidents.sensorId);
  const [facts] = await db
    .select({
      secondaries: sql<number>`(count(*) FILTER (WHERE ${incidentWork.secondaryOf} IS NOT NULL))::int`,
      respondersStruck: sql<number>`(count(*) FILTER (WHERE ${incidentWork.responderStruck}))::int`,
    })
    .from(incidentWork)
    .innerJoin(incidents, eq(incidents.id, incidentWork.incidentId))
    .where(sql`${COUNTED} AND ${wanted ?? sql`true`}`);
  return {
    falseAlarms: {
      total: falseAlarms.reduce((sum, each) => sum + each.count, 0),
      bySensor: falseAlarms.slice(0, MAX_PERFORMANCE_ROWS),
    },
    secondaries: facts?.secondaries ?? 0,
    respondersStruck: facts?.respondersStruck ?? 0,
  };
}

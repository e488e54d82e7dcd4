import { isUuid } from '@gantry/contract/id';
import { incidentStatus, type ListIncidentsInput } from '@gantry/contract/incidents';
import type { Page } from '@gantry/contract/page';
import { and, asc, count, desc, eq, gte, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { rankOf } from '../events/severity.ts';
import { contains } from '../platform/database/folded.ts';
import { incidents } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import type { IncidentRow } from './store.ts';

const sortKeys = {
  openedAt: incidents.openedAt,
  updatedAt: incidents.updatedAt,
  severity: incidents.severity,
  status: sql`array_position(${sql.param(incidentStatus.options)}::text[], ${incidents.status}::text)`,
};

/** PostgreSQL would refuse to compare an id with a text of any other form; such a text is nothing's id. */
export const refersTo = (column: PgColumn, id: string): SQL => (isUuid(id) ? eq(column, id) : sql`false`);

/** The incidents that were opened in the interval. */
export const openedIn = ({ from, until }: Interval): SQL | undefined =>
  and(
    Number.isFinite(from) ? gte(incidents.openedAt, new Date(from)) : undefined,
    Number.isFinite(until) ? lt(incidents.openedAt, new Date(until)) : undefined,
  );

const assigned = (to: string, callerId: string): SQL => {
  if (to === 'nobody') return isNull(incidents.assignedTo);
  return refersTo(incidents.assignedTo, to === 'me' ? callerId : to);
};

/**
 * One page of the incidents that meet the filters, and how many do. The search text is taken literally.
 * @param callerId whom `me` stands for
 */
export const listIncidents = async (
  db: Executor,
  input: ListIncidentsInput,
  interval: Interval,
  callerId: string,
): Promise<Page<IncidentRow>> => {
  const { status, type, severity, sensorId, locationId, assignedTo, search } = input;
  const wanted = and(
    // One state as an equality, so that its index has the incidents in order.
    status &&
      (status.length === 1 ? eq(incidents.status, status[0] ?? 'OPEN') : inArray(incidents.status, status)),
    type && eq(incidents.type, type),
    severity && eq(incidents.severity, rankOf(severity)),
    sensorId === undefined ? undefined : refersTo(incidents.sensorId, sensorId),
    locationId === undefined ? undefined : refersTo(incidents.locationId, locationId),
    assignedTo === undefined ? undefined : assigned(assignedTo, callerId),
    search === undefined
      ? undefined
      : or(contains(incidents.title, search), contains(incidents.description, search)),
    openedIn(interval),
  );
  const direction = input.sortOrder === 'asc' ? asc : desc;
  // Plan: incidents_by_opening, or incidents_by_status for one state; the other sorts put what is found in order.
  const items = await db
    .select()
    .from(incidents)
    .where(wanted)
    .orderBy(direction(sortKeys[input.sortBy]), direction(incidents.id))
    .limit(input.take)
    .offset(input.skip);
  const [counted] = await db.select({ total: count() }).from(incidents).where(wanted);
  return { items, total: counted?.total ?? 0 };
};

import type { Coordinates } from '@gantry/contract/coordinates';
import { and, asc, between, inArray, sql } from 'drizzle-orm';
import { locks } from '../database/locks.ts';
import { incidents, sensors } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
import { type OpenIncident, SAME_INCIDENT_MS } from './grouping.ts';
import { type IncidentRow, moment } from './store.ts';

/**
 * Keeps every other transaction that calls this for one of the sensors waiting until this one ends. The locks are taken
 * in the order of their numbers, so that two that share several sensors cannot wait for one another.
 */
export const lockIncidentsOf = async (tx: Executor, sensorIds: readonly string[]): Promise<void> => {
  await tx.execute(sql`
    SELECT pg_advisory_xact_lock(${locks.incidentsOfSensor}, number)
    FROM (
      SELECT DISTINCT hashtext(sensor_id) AS number FROM unnest(${sql.param(sensorIds)}::text[]) AS sensor_id
      ORDER BY number
    ) AS numbers`);
};

/**
 * The incidents of these sensors that are neither resolved nor closed and might take in an event of the time from `first`
 * to `last` (Unix milliseconds). They stay so until the transaction ends.
 */
export const lockOpenIncidents = async (
  tx: Executor,
  sensorIds: readonly string[],
  first: number,
  last: number,
): Promise<OpenIncident[]> => {
  const rows = await tx
    .select({ id: incidents.id, sensorId: incidents.sensorId, openedAt: incidents.openedAt })
    .from(incidents)
    .where(
      and(
        inArray(incidents.sensorId, [...sensorIds]),
        between(incidents.openedAt, new Date(first - SAME_INCIDENT_MS), new Date(last + SAME_INCIDENT_MS)),
        inArray(incidents.status, ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS']),
      ),
    )
    .orderBy(asc(incidents.id))
    .for('no key update');
  return rows.flatMap(({ id, sensorId, openedAt }) =>
    sensorId === null ? [] : [{ id, sensorId, openedAt: openedAt.getTime() }],
  );
};

/** Where the sensors stand, of those that say so. */
export const findSensorCoordinates = async (
  tx: Executor,
  sensorIds: readonly string[],
): Promise<ReadonlyMap<string, Coordinates | null>> => {
  if (sensorIds.length === 0) return new Map();
  const rows = await tx
    .select({ id: sensors.id, coordinates: sensors.coordinates })
    .from(sensors)
    .where(inArray(sensors.id, [...sensorIds]));
  return new Map(rows.map(({ id, coordinates }) => [id, coordinates]));
};

/** Dates incidents that took in events; they are locked. */
export const touchIncidents = async (tx: Executor, ids: readonly string[]): Promise<IncidentRow[]> =>
  ids.length === 0
    ? []
    : tx
        .update(incidents)
        .set({ updatedAt: moment })
        .where(inArray(incidents.id, [...ids]))
        .returning();

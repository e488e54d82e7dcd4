import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type {
  ListAssignmentsInput,
  ListedPoint,
  ListPointsInput,
  MeasuringPoint,
} from '@gantry/contract/points';
import { and, asc, count, eq, getTableColumns, or, type SQL, sql } from 'drizzle-orm';
import { contains, sortedName } from '../platform/database/case-folded.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import { detectorAssignments, locations, measuringPoints, sensors } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { found, notFound } from '../platform/error.ts';
import { type Assigned, heldSlots } from './assigned.ts';
import type { Place } from './slots-store.ts';

// Measuring points and the assignments to them, as they are entered.

const NO_ROWS = sql`false`;

/** Excludes other transactions that change points or assignments, so that no two count the same. */
export async function lockAssignments(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.assignments})`);
}

type PointFields = typeof measuringPoints.$inferInsert;

/** PostgreSQL refuses an unknown location (23503). */
export async function insertPoint(tx: Executor, fields: PointFields): Promise<MeasuringPoint> {
  return found(await tx.insert(measuringPoints).values(fields).returning(), 'Point');
}

/** @throws AppError `notFound` */
export async function updatePointRow(
  tx: Executor,
  id: string,
  fields: Partial<PointFields>,
): Promise<MeasuringPoint> {
  const changes = { ...fields, updatedAt: sql`now()` };
  return found(
    await tx.update(measuringPoints).set(changes).where(eq(measuringPoints.id, id)).returning(),
    'Point',
  );
}

/** @throws AppError `notFound` */
export async function getPoint(db: Executor, id: string): Promise<MeasuringPoint> {
  if (!isUuid(id)) throw notFound('Point');
  return found(await db.select().from(measuringPoints).where(eq(measuringPoints.id, id)), 'Point');
}

/** Deletes a point with its assignments. */
export async function deletePointRow(tx: Executor, id: string): Promise<void> {
  await tx.delete(measuringPoints).where(eq(measuringPoints.id, id));
}

export async function countPoints(db: Executor, locationId: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(measuringPoints)
    .where(eq(measuringPoints.locationId, locationId));
  return row?.n ?? 0;
}

/** The condition that something is valid at a time (Unix milliseconds). */
function isValidAt(table: typeof measuringPoints | typeof detectorAssignments, at: number): SQL {
  return sql`coalesce(${table.validFrom} <= ${moment(at)}, true) AND coalesce(${table.validUntil} > ${moment(at)}, true)`;
}

/** Points by name. A location without any has the one of its own. */
export async function listPoints(
  db: Executor,
  { skip, take, pointId, locationId, search }: Omit<ListPointsInput, 'at'>,
  at: number | undefined,
): Promise<Page<ListedPoint>> {
  const ofPlace = (column: typeof measuringPoints.id | typeof measuringPoints.locationId, id?: string) =>
    id === undefined ? undefined : isUuid(id) ? eq(column, id) : NO_ROWS;
  const wanted = and(
    ofPlace(measuringPoints.id, pointId),
    ofPlace(measuringPoints.locationId, locationId),
    search === undefined
      ? undefined
      : or(contains(measuringPoints.name, search), contains(locations.name, search)),
    at === undefined ? undefined : isValidAt(measuringPoints, at),
  );
  const isItsLocation = eq(locations.id, measuringPoints.locationId);
  const items = await db
    .select({ ...getTableColumns(measuringPoints), locationName: locations.name })
    .from(measuringPoints)
    .innerJoin(locations, isItsLocation)
    .where(wanted)
    .orderBy(asc(sortedName(measuringPoints.name)), asc(measuringPoints.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db
    .select({ total: count() })
    .from(measuringPoints)
    .innerJoin(locations, isItsLocation)
    .where(wanted);
  const total = counted?.total ?? 0;
  const only = locationId ?? pointId;
  if (total > 0 || only === undefined || search !== undefined) return { items, total };
  const own = await findOwnPoint(db, only);
  const isWanted = own !== undefined && (pointId ?? own.id) === own.id;
  return {
    items: isWanted && skip === 0 ? [{ ...own, locationName: own.name }] : [],
    total: isWanted ? 1 : 0,
  };
}

/** The point of a location for which none is entered: both directions, always; undefined for any other. */
export async function findOwnPoint(db: Executor, locationId: string): Promise<MeasuringPoint | undefined> {
  if (!isUuid(locationId) || (await countPoints(db, locationId)) > 0) return undefined;
  const [row] = await db
    .select({ name: locations.name, createdAt: locations.createdAt, updatedAt: locations.updatedAt })
    .from(locations)
    .where(eq(locations.id, locationId));
  return (
    row && {
      id: locationId,
      locationId,
      direction: 'BOTH',
      bearing: null,
      lanes: null,
      facility: 'MAINLINE',
      roadClass: null,
      setting: null,
      validFrom: null,
      validUntil: null,
      ...row,
    }
  );
}

/** A point, also the one of a location for which none is entered. @throws AppError `notFound` */
export async function getAnyPoint(db: Executor, id: string): Promise<MeasuringPoint> {
  return (await findOwnPoint(db, id)) ?? (await getPoint(db, id));
}

/** An assignment as it is stored, with the location of its point. */
export type AssignmentRow = typeof detectorAssignments.$inferSelect & { readonly locationId: string };
type AssignmentFields = typeof detectorAssignments.$inferInsert;

const assignmentColumns = {
  ...getTableColumns(detectorAssignments),
  locationId: measuringPoints.locationId,
};

function selectAssignments(db: Executor) {
  return db
    .select(assignmentColumns)
    .from(detectorAssignments)
    .innerJoin(measuringPoints, eq(measuringPoints.id, detectorAssignments.pointId))
    .$dynamic();
}

/** @throws AppError `notFound` */
export async function getAssignment(db: Executor, id: string): Promise<AssignmentRow> {
  if (!isUuid(id)) throw notFound('Assignment');
  return found(await selectAssignments(db).where(eq(detectorAssignments.id, id)), 'Assignment');
}

/** The assignments of a point, and those of a sensor, with its name; null if the sensor was deleted. */
export async function listRivals(
  db: Executor,
  pointId: string,
  sensorId: string,
): Promise<(AssignmentRow & { readonly sensorName: string | null })[]> {
  return db
    .select({ ...assignmentColumns, sensorName: sensors.name })
    .from(detectorAssignments)
    .innerJoin(measuringPoints, eq(measuringPoints.id, detectorAssignments.pointId))
    .leftJoin(sensors, eq(sensors.id, detectorAssignments.sensorId))
    .where(
      sql`${detectorAssignments.pointId} = ${pointId}::uuid OR ${detectorAssignments.sensorId} = ${sensorId}::uuid`,
    );
}

export async function insertAssignment(tx: Executor, fields: AssignmentFields): Promise<string> {
  const [row] = await tx.insert(detectorAssignments).values(fields).returning({ id: detectorAssignments.id });
  if (!row) throw new Error('PostgreSQL did not return the inserted assignment');
  return row.id;
}

export async function updateAssignmentRow(
  tx: Executor,
  id: string,
  fields: Partial<AssignmentFields>,
): Promise<void> {
  const changes = { ...fields, updatedAt: sql`now()` };
  await tx.update(detectorAssignments).set(changes).where(eq(detectorAssignments.id, id));
}

export async function deleteAssignmentRow(tx: Executor, id: string): Promise<void> {
  await tx.delete(detectorAssignments).where(eq(detectorAssignments.id, id));
}

/** Assignments, those that began first before others. */
export async function listAssignments(
  db: Executor,
  { skip, take, ...ids }: ListAssignmentsInput,
  at: number | undefined,
): Promise<Page<AssignmentRow>> {
  const columns = {
    locationId: measuringPoints.locationId,
    pointId: detectorAssignments.pointId,
    sensorId: detectorAssignments.sensorId,
  };
  const conditions = (['locationId', 'pointId', 'sensorId'] as const).map((name) => {
    const id = ids[name];
    if (id === undefined) return undefined;
    return isUuid(id) ? eq(columns[name], id) : NO_ROWS;
  });
  const wanted = and(...conditions, at === undefined ? undefined : isValidAt(detectorAssignments, at));
  const items = await selectAssignments(db)
    .where(wanted)
    .orderBy(sql`${detectorAssignments.validFrom} NULLS FIRST`, asc(detectorAssignments.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db
    .select({ total: count() })
    .from(detectorAssignments)
    .innerJoin(measuringPoints, eq(measuringPoints.id, detectorAssignments.pointId))
    .where(wanted);
  return { items, total: counted?.total ?? 0 };
}

/** What is entered about a point at which a sensor stands. */
export interface PointAround extends Pick<MeasuringPoint, 'id' | 'facility' | 'setting' | 'lanes'> {
  /** The sensor that is assigned to it; null if none is. */
  readonly sensorId: string | null;
}

/**
 * The points of a location, or those to which a sensor is assigned and those of its location, that are valid at a time (Unix
 * milliseconds), with each sensor that is assigned to them then. A main line is before others.
 */
export async function readPointsAround(
  db: Executor,
  { kind, id }: Pick<Place, 'kind' | 'id'>,
  at: number,
): Promise<PointAround[]> {
  const here =
    kind === 'point'
      ? eq(measuringPoints.id, id)
      : kind === 'location'
        ? eq(measuringPoints.locationId, id)
        : sql`(${detectorAssignments.sensorId} = ${id}::uuid OR ${measuringPoints.locationId} = (
          SELECT location_id FROM sensors WHERE sensors.id = ${id}::uuid))`;
  const { id: pointId, facility, setting, lanes } = measuringPoints;
  return db
    .select({ id: pointId, facility, setting, lanes, sensorId: detectorAssignments.sensorId })
    .from(measuringPoints)
    .leftJoin(
      detectorAssignments,
      and(eq(detectorAssignments.pointId, measuringPoints.id), isValidAt(detectorAssignments, at)),
    )
    .where(and(here, isValidAt(measuringPoints, at)))
    .orderBy(sql`${facility} <> 'MAINLINE'`, asc(pointId));
}

/**
 * The assignments that decide what counts at a place, in slots of five minutes: those to its points, and all others of the
 * same sensors. A sensor counts everything for itself, whatever it is assigned for.
 */
export async function readAssigned(db: Executor, { kind, id, isVerified }: Place): Promise<Assigned[]> {
  if (kind === 'sensor') return [];
  const isHere = kind === 'point' ? sql`points.id = ${id}::uuid` : sql`points.location_id = ${id}::uuid`;
  const assigned = await selectAssigned(
    db,
    isHere,
    sql`SELECT sensor_id FROM measuring_points AS points JOIN detector_assignments ON point_id = points.id WHERE ${isHere}`,
  );
  const exchanged = { COUNT: 'VERIFY', VERIFY: 'COUNT', SPEED: 'SPEED' } as const;
  return isVerified ? assigned.map((each) => ({ ...each, role: exchanged[each.role] })) : assigned;
}

/** The assignments of a sensor, in slots of five minutes. */
export function readAssignedOf(db: Executor, sensorId: string): Promise<Assigned[]> {
  return selectAssigned(db, sql`true`, sql`SELECT ${sensorId}::uuid`);
}

async function selectAssigned(db: Executor, isHere: SQL, sensorIds: SQL): Promise<Assigned[]> {
  // Plan: measuring_points_of_location, then the indexes of detector_assignments.
  const { rows } = await db.execute<{ assignment: StoredAssignment }>(sql`
    SELECT json_build_object('id', held.id, 'pointId', held.point_id, 'sensorId', held.sensor_id, 'role', role, 'channel', channel,
      'lane', lane, 'movement', movement, 'countedTypes', counted_types, 'correctionAngle', correction_angle,
      'speedUnit', speed_unit, 'from', held.valid_from, 'until', held.valid_until, 'direction', points.direction,
      'bearing', points.bearing, 'pointFrom', points.valid_from, 'pointUntil', points.valid_until,
      'isHere', ${isHere}) AS assignment
    FROM detector_assignments AS held JOIN measuring_points AS points ON points.id = held.point_id
    WHERE role IN ('COUNT', 'SPEED', 'VERIFY') AND held.sensor_id IN (${sensorIds})
    ORDER BY held.id`);
  return rows.flatMap(
    ({ assignment: { from, until, pointFrom, pointUntil, direction, bearing, ...stored } }) => {
      const time = (text: string | null): Date | null => (text === null ? null : new Date(text));
      const held = heldSlots(
        { validFrom: time(from), validUntil: time(until) },
        { validFrom: time(pointFrom), validUntil: time(pointUntil) },
      );
      return held ? [{ ...stored, point: { direction, bearing }, ...held }] : [];
    },
  );
}

type StoredAssignment = Omit<Assigned, 'from' | 'until' | 'point'> &
  Assigned['point'] &
  Record<'from' | 'until' | 'pointFrom' | 'pointUntil', string | null>;

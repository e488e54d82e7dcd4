import type { Coordinates } from '@gantry/contract/coordinates';
import type { WorksOnMap } from '@gantry/contract/works';
import { inArray, sql } from 'drizzle-orm';
import { caseFolded } from '../platform/database/case-folded.ts';
import { locations } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Position, placeOnMap, type RoadPoint } from './place.ts';
import type { WorksRow } from './store.ts';

const positionOf = ({ longitude, latitude }: Coordinates): Position => [longitude, latitude];

/** Whether kilometres of a road say where works are. */
const isOnRoad = ({ road, fromKilometre, toKilometre }: WorksRow): boolean =>
  road !== null && (fromKilometre !== null || toKilometre !== null);

/** Finds where works are on a map, with as many statements for all of them as for one. */
export async function findOnMap(
  db: Executor,
  rows: readonly WorksRow[],
): Promise<(worksId: string) => WorksOnMap> {
  const roads = new Set(rows.filter(isOnRoad).flatMap(({ road }) => road ?? []));
  const ofSensors = rows.filter((row) => row.geometry === null && row.locationId === null && !isOnRoad(row));
  const roadPoints = await findRoadPoints(db, [...roads]);
  const places = await findLocations(db, [...new Set(rows.flatMap(({ locationId }) => locationId ?? []))]);
  const positions = await findSensorPositions(db, [
    ...new Set(ofSensors.flatMap(({ sensorIds }) => sensorIds)),
  ]);
  const found = rows.map((row) => {
    const where = {
      ...row,
      location: (row.locationId !== null && places.get(row.locationId)) || null,
      roadPoints: (isOnRoad(row) && roadPoints.get(row.road ?? '')) || [],
      sensorPositions: row.sensorIds.flatMap((id) => {
        const position = positions.get(id);
        return position ? [position] : [];
      }),
    };
    return [row.id, placeOnMap(where)] as const;
  });
  const byId = new Map(found);
  return (worksId) => byId.get(worksId) ?? null;
}

/** The locations with kilometre and position, by the roads as they are named here. */
async function findRoadPoints(db: Executor, roads: readonly string[]): Promise<Map<string, RoadPoint[]>> {
  if (roads.length === 0) return new Map();
  const { rows } = await db.execute<
    Omit<RoadPoint, 'position'> & { wanted: string; coordinates: Coordinates }
  >(sql`
    SELECT given.road AS wanted, name, kilometre::float8 AS kilometre, direction, coordinates
    FROM unnest(${sql.param([...roads])}::text[]) AS given (road)
      JOIN locations ON ${caseFolded(locations.road)} = ${caseFolded(sql`given.road`)}
    WHERE kilometre IS NOT NULL AND coordinates IS NOT NULL
    ORDER BY kilometre, locations.id`);
  const points = rows.map(({ coordinates, ...row }) => ({ ...row, position: positionOf(coordinates) }));
  const byRoad = new Map<string, RoadPoint[]>(roads.map((road) => [road, []]));
  for (const point of points) byRoad.get(point.wanted)?.push(point);
  return byRoad;
}

async function findLocations(db: Executor, ids: readonly string[]) {
  const rows =
    ids.length === 0
      ? []
      : await db
          .select({ id: locations.id, name: locations.name, coordinates: locations.coordinates })
          .from(locations)
          .where(inArray(locations.id, [...ids]));
  return new Map(
    rows.flatMap(({ id, name, coordinates }) =>
      coordinates ? [[id, { name, position: positionOf(coordinates) }] as const] : [],
    ),
  );
}

/** The positions of sensors: their own, or that of their location. */
async function findSensorPositions(db: Executor, ids: readonly string[]): Promise<Map<string, Position>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.execute<{ id: string; coordinates: Coordinates }>(sql`
    SELECT sensors.id, coalesce(sensors.coordinates, locations.coordinates) AS coordinates
    FROM sensors LEFT JOIN locations ON locations.id = sensors.location_id
    WHERE sensors.id = ANY (${sql.param([...ids])}::uuid[])
      AND coalesce(sensors.coordinates, locations.coordinates) IS NOT NULL`);
  return new Map(rows.map(({ id, coordinates }) => [id, positionOf(coordinates)]));
}

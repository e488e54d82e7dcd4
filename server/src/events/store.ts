import type { Coordinates } from '@gantry/contract/coordinates';
import type { Event, EventDetail, EventType, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { inArray, type SQL, sql } from 'drizzle-orm';
import { users } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
import { notFound } from '../error.ts';
import type { Interval } from '../time.ts';
import { firstIdAt, timeOfId } from './id.ts';
import { plateFilter } from './plate.ts';
import { severityOfRank } from './severity.ts';
import { countedEvents } from './totals.ts';

interface EventRecord extends Record<string, unknown> {
  id: string;
  event_type: EventType;
  description: string | null;
  sensor_id: string | null;
  sensor_name: string | null;
  processed: boolean;
  archived: boolean;
  violation_type: string | null;
  plate: string | null;
  vehicle_type: string | null;
  vehicle_speed: number | null;
  location_name: string | null;
  severity: number | null;
  created_at: string;
}

interface DetailRecord extends EventRecord {
  location: Coordinates | null;
  metadata: Record<string, unknown> | null;
  images: string[] | null;
  tags: string[] | null;
  processed_at: string | null;
  processed_by: string | null;
  archived_at: string | null;
  archived_by: string | null;
}

const listedColumns = sql.raw(
  `id, event_type, description, sensor_id, sensor_name, processed, archived, violation_type, plate, vehicle_type,
   vehicle_speed, location_name, severity, created_at`,
);

const toEvent = (row: EventRecord): Event => ({
  id: row.id,
  eventType: row.event_type,
  description: row.description,
  timestamp: new Date(timeOfId(row.id)),
  sensorId: row.sensor_id,
  sensorName: row.sensor_name,
  processed: row.processed,
  archived: row.archived,
  violationType: row.violation_type,
  licensePlateNumber: row.plate,
  vehicleType: row.vehicle_type,
  vehicleSpeed: row.vehicle_speed,
  locationName: row.location_name,
  severity: row.severity === null ? null : severityOfRank(row.severity),
  createdAt: new Date(row.created_at),
});

/** The filters of a list that the totals know, on the columns that events and totals share. */
const totalledFilters = (input: ListEventsInput): SQL[] => [
  ...(input.eventType === undefined ? [] : [sql`event_type = ${input.eventType}`]),
  ...(input.processed === undefined ? [] : [sql`processed = ${input.processed}`]),
  ...(input.archived === undefined ? [] : [sql`archived = ${input.archived}`]),
  ...(input.violationType === undefined
    ? []
    : [sql`lower(violation_type) = lower(${input.violationType}::text)`]),
  ...(input.vehicleType === undefined ? [] : [sql`lower(vehicle_type) = lower(${input.vehicleType}::text)`]),
];

const plateCondition = (filter: string): SQL => {
  const wanted = plateFilter(filter);
  return 'like' in wanted ? sql`plate_key LIKE ${wanted.like}` : sql`plate_key = ${wanted.equals}`;
};

/** The filters that only the events themselves can answer. */
const otherFilters = (input: ListEventsInput): SQL[] => [
  ...(input.sensorId === undefined ? [] : [sql`sensor_id = ${input.sensorId}::uuid`]),
  ...(input.licensePlateNumber === undefined ? [] : [plateCondition(input.licensePlateNumber)]),
  ...(input.locationName === undefined
    ? []
    : [sql`lower(location_name) = lower(${input.locationName}::text)`]),
];

const within = ({ from, until }: Interval): SQL[] => [
  ...(from === Number.NEGATIVE_INFINITY ? [] : [sql`id >= ${firstIdAt(from)}::uuid`]),
  ...(until === Number.POSITIVE_INFINITY ? [] : [sql`id < ${firstIdAt(until)}::uuid`]),
];

const where = (conditions: readonly SQL[]): SQL =>
  conditions.length === 0 ? sql`` : sql`WHERE ${sql.join([...conditions], sql` AND `)}`;

const orders = {
  timestamp: { asc: sql`id ASC`, desc: sql`id DESC` },
  createdAt: { asc: sql`created_at ASC, id ASC`, desc: sql`created_at DESC, id DESC` },
  eventType: { asc: sql`event_type ASC, id ASC`, desc: sql`event_type DESC, id DESC` },
  severity: { asc: sql`severity ASC NULLS LAST, id ASC`, desc: sql`severity DESC NULLS LAST, id DESC` },
} as const satisfies Record<ListEventsInput['sortBy'], Record<ListEventsInput['sortOrder'], SQL>>;

/** Counts by the totals where they know every filter, else through an index of the events. */
const countEvents = async (db: Executor, input: ListEventsInput, interval: Interval): Promise<number> => {
  const others = otherFilters(input);
  const { rows } = await db.execute<{ total: number }>(
    others.length === 0
      ? sql`SELECT coalesce(sum(n), 0)::bigint AS total FROM (${countedEvents(interval)})
            AS counted (event_type, violation_type, vehicle_type, processed, archived, n) ${where(totalledFilters(input))}`
      : sql`SELECT count(*) AS total FROM events ${where([...within(interval), ...totalledFilters(input), ...others])}`,
  );
  return rows[0]?.total ?? 0;
};

/** One page of the events that meet the filters, and how many do. */
export const listEvents = async (
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
): Promise<Page<Event>> => {
  if (input.sensorId !== undefined && !isUuid(input.sensorId)) return { items: [], total: 0 };
  const conditions = [...within(interval), ...totalledFilters(input), ...otherFilters(input)];
  const [{ rows }, total] = await Promise.all([
    db.execute<EventRecord>(sql`
      SELECT ${listedColumns} FROM events ${where(conditions)}
      ORDER BY ${orders[input.sortBy][input.sortOrder]} LIMIT ${input.take} OFFSET ${input.skip}`),
    countEvents(db, input, interval),
  ]);
  return { items: rows.map(toEvent), total };
};

/** The latest events, newest first. */
export const listRecentEvents = async (
  db: Executor,
  input: { limit: number; eventType?: EventType | undefined },
): Promise<Event[]> => {
  const ofType = input.eventType === undefined ? [] : [sql`event_type = ${input.eventType}`];
  const { rows } = await db.execute<EventRecord>(
    sql`SELECT ${listedColumns} FROM events ${where(ofType)} ORDER BY id DESC LIMIT ${input.limit}`,
  );
  return rows.map(toEvent);
};

const findNames = async (
  db: Executor,
  userIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> => {
  const ids = userIds.filter((userId) => userId !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: users.id, firstName: users.firstName, lastName: users.lastName })
    .from(users)
    .where(inArray(users.id, ids));
  return new Map(rows.map(({ id, firstName, lastName }) => [id, `${firstName} ${lastName}`]));
};

/**
 * An event in full.
 * @throws AppError `notFound`
 */
export const getEvent = async (db: Executor, id: string): Promise<EventDetail> => {
  if (!isUuid(id)) throw notFound('Event');
  const { rows } = await db.execute<DetailRecord>(sql`
    SELECT ${listedColumns}, location, metadata, images, tags, processed_at, processed_by, archived_at, archived_by
    FROM events WHERE id = ${id}::uuid`);
  const row = rows[0];
  if (!row) throw notFound('Event');
  const names = await findNames(db, [row.processed_by, row.archived_by]);
  const actor = (userId: string | null) =>
    userId === null ? null : { id: userId, name: names.get(userId) ?? 'a former user' };
  return {
    ...toEvent(row),
    location: row.location,
    metadata: row.metadata,
    images: row.images ?? [],
    tags: row.tags ?? [],
    processedAt: row.processed_at === null ? null : new Date(row.processed_at),
    processedBy: actor(row.processed_by),
    archivedAt: row.archived_at === null ? null : new Date(row.archived_at),
    archivedBy: actor(row.archived_by),
  };
};

import {
  type EventFilter,
  type ListEventsInput,
  listEventsInput,
  type Severity,
} from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { plateKey } from '@gantry/contract/plate';
import { type SQL, sql } from 'drizzle-orm';
import { spellingsOf } from '../../platform/case-fold.ts';
import { doubleArray, uuidArray } from '../../platform/database/arrays.ts';
import { caseFolded } from '../../platform/database/case-folded.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { idWithin, idWithinAny } from '../counts/totals.ts';
import { firstIdAt } from '../id.ts';
import { formerPlateKey, type PlateFilter, plateFilter } from '../matches.ts';
import { type Limits, type Places, spansAtHours } from '../place-and-time.ts';
import { findPlaces } from '../places-store.ts';
import { rankOf } from '../severity.ts';

/** A condition on columns by which events are counted. */
export interface TotalledFilter {
  readonly onEvents: SQL;
  readonly onTotals: SQL;
  /** Whether an index returns the matching events in the order of time. */
  readonly isIndexed: boolean;
}

/** What a list asks for. */
export interface ListFilters {
  readonly input: Pick<
    ListEventsInput,
    'sortBy' | 'sortOrder' | 'skip' | 'take' | 'locationName' | 'licensePlateNumber' | 'hours' | 'weekdays'
  >;
  readonly interval: Interval;
  /** Its filters that the totals contain. */
  readonly filters: readonly TotalledFilter[];
  /** Its filters, except for the place and the hours, that only the events themselves can answer. */
  readonly rowFilters: readonly SQL[];
  /** Whether no index answers one of them, so that every event that the others leave is read. */
  readonly isUnindexed: boolean;
}

/** The filters of a list. */
export async function filtersOf(
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
): Promise<ListFilters> {
  const places = await findPlaces(db, input);
  const filters = await countedFilters(db, input);
  const isUnindexed = unindexed(input, places).length > 0;
  return { input, interval, filters, rowFilters: rowFilters(input, places), isUnindexed };
}

/**
 * The conditions for the events that meet filters.
 * @param spans the parts of the interval that contain the events
 */
export function conditionsOf(filters: readonly TotalledFilter[], spans: readonly Interval[]): SQL[] {
  return [...idWithinAny(spans), ...filters.map(({ onEvents }) => onEvents)];
}

/**
 * The conditions that are met by exactly the events of an interval that `events.getAll` lists with these filters.
 * @param zone of the hours of the day and the days of the week
 */
export async function listedConditions(
  db: Executor,
  filter: EventFilter,
  interval: Interval,
  zone: string,
): Promise<SQL[]> {
  if (filter.sensorId !== undefined && !isUuid(filter.sensorId)) return [sql`false`];
  const input = listEventsInput.parse(filter);
  return [
    ...(await countedFilters(db, input)).map(({ onEvents }) => onEvents),
    ...rowFilters(input, await findPlaces(db, input)),
    ...(input.locationName === undefined ? [] : [atPlaceNamed(input.locationName)]),
    ...(hasHours(input) ? withinSpans(spansAtHours(interval, input, zone)) : []),
  ];
}

/** Whether a filter restricts the hours of the day or the days of the week. */
export function hasHours({ hours, weekdays }: Pick<EventFilter, 'hours' | 'weekdays'>): boolean {
  return hours !== undefined || weekdays !== undefined;
}

/** The conditions for events within any of many intervals, which are in order: found by bisection for each event. */
export function withinSpans(spans: readonly Interval[]): SQL[] {
  const [first, last] = [spans.at(0), spans.at(-1)];
  if (!first || !last) return [sql`false`];
  const bounds = spans.flatMap(({ from, until }) => [from, until]);
  return [
    ...idWithin({ from: first.from, until: last.until }),
    sql`width_bucket(id, ${uuidArray(bounds, firstIdAt)}::uuid[]) % 2 = 1`,
  ];
}

export function ofType(eventType: string): TotalledFilter {
  return onBoth(sql`event_type = ${eventType}`, true);
}

/** The lowest rank for which there is an index; lower ones are found through the totals. */
const INDEXED_SEVERITY = 3;

/** @param rank from 1 LOW to 4 CRITICAL, 0 for none */
export function ofSeverity(rank: number): TotalledFilter {
  return rank === 0
    ? { onEvents: sql`severity IS NULL`, onTotals: sql`severity = 0`, isIndexed: false }
    : onBoth(sql`severity = ${sql.raw(String(rank))}`, rank >= INDEXED_SEVERITY);
}

function ofSeverities(wanted: readonly Severity[]): TotalledFilter {
  const [first, ...others] = wanted.map(rankOf);
  if (first !== undefined && others.length === 0) return ofSeverity(first);
  const ranks = sql.raw(wanted.map(rankOf).join(', '));
  return onBoth(sql`severity IN (${ranks})`, false);
}

/** The filters of a list that the totals contain. */
export async function countedFilters(db: Executor, input: ListEventsInput): Promise<TotalledFilter[]> {
  return [
    ...(input.eventType === undefined ? [] : [ofType(input.eventType)]),
    ...(input.processed === undefined ? [] : [onBoth(sql`processed = ${input.processed}`, false)]),
    ...(input.archived === undefined ? [] : [onBoth(sql`archived = ${input.archived}`, input.archived)]),
    ...(input.violationType === undefined ? [] : [await ofKind(db, 'violation_type', input.violationType)]),
    ...(input.vehicleType === undefined ? [] : [await ofKind(db, 'vehicle_type', input.vehicleType)]),
    ...(input.severities === undefined ? [] : [ofSeverities(input.severities)]),
  ];
}

/** The filters, except for the name of the place and the hours, that only the events themselves can answer. */
function rowFilters(input: ListEventsInput, places: Places): SQL[] {
  return [
    ...(input.sensorId === undefined ? [] : [sql`sensor_id = ${input.sensorId}::uuid`]),
    ...(input.licensePlateNumber === undefined ? [] : [plateCondition(input.licensePlateNumber)]),
    ...unindexed(input, places),
  ];
}

/** The conditions for which there is no index. */
function unindexed(input: ListEventsInput, places: Places): SQL[] {
  return [...passageConditions(input), ...placeConditions(input, places)];
}

/** The conditions by how a vehicle passed and its plate was read. */
function passageConditions(input: ListEventsInput): SQL[] {
  const { plateRegion, minConfidence, lane, direction, minSpeed, maxSpeed } = input;
  return [
    ...(plateRegion === undefined ? [] : [ofRegion(plateRegion)]),
    ...(minConfidence === undefined ? [] : [sql`plate_confidence >= ${minConfidence}::smallint`]),
    ...(lane === undefined ? [] : [sql`lane = ${String(lane)}`]),
    ...(direction === undefined ? [] : [sql`direction = ${String(direction)}`]),
    ...(minSpeed === undefined ? [] : [sql`vehicle_speed >= ${minSpeed}::float8`]),
    ...(maxSpeed === undefined ? [] : [sql`vehicle_speed <= ${maxSpeed}::float8`]),
  ];
}

/** The conditions by what is known of sensors and locations. */
function placeConditions({ minExcess }: ListEventsInput, { sensorIds, locationIds, limits }: Places): SQL[] {
  return [
    ...(sensorIds === null ? [] : [isAnyOf(sql`sensor_id`, sensorIds)]),
    ...(locationIds === null ? [] : [isAnyOf(sql`location_id`, locationIds)]),
    ...(minExcess === undefined || limits === null ? [] : [aboveLimit(minExcess, limits)]),
  ];
}

function isAnyOf(column: SQL, ids: readonly string[]): SQL {
  return ids.length === 0 ? sql`false` : sql`${column} = ANY (${uuidArray(ids, (id) => id)}::uuid[])`;
}

/**
 * The condition for events whose speed was at least so far above the limit of their location at that time. The limits
 * are part of the statement: there are few of them, and those of the past may be corrected.
 */
function aboveLimit(excess: number, limits: Limits): SQL {
  const constant = new Map<number, string[]>();
  const changing: SQL[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  for (const [id, history] of limits) {
    for (const { value } of history) lowest = Math.min(lowest, value ?? Number.POSITIVE_INFINITY);
    const [first, ...changes] = history;
    if (changes.length === 0) {
      const { value } = first ?? { value: null };
      const known = value === null ? [] : constant.get(value);
      if (value !== null && known === undefined) constant.set(value, [id]);
      else known?.push(id);
      continue;
    }
    const since = uuidArray(changes, (change) => firstIdAt(Math.ceil(change.since)));
    const values = doubleArray(history, ({ value }) => value);
    changing.push(
      sql`(location_id = ${id}::uuid AND vehicle_speed >= (${values}::float8[])[width_bucket(id, ${since}::uuid[]) + 1] + ${excess}::float8)`,
    );
  }
  const groups = [...constant].map(
    ([limit, ids]) => sql`(vehicle_speed >= ${limit + excess}::float8 AND ${isAnyOf(sql`location_id`, ids)})`,
  );
  if (groups.length + changing.length === 0 || !Number.isFinite(lowest)) return sql`false`;
  return sql`(vehicle_speed >= ${lowest + excess}::float8 AND (${sql.join([...groups, ...changing], sql` OR `)}))`;
}

function ofRegion(region: string): SQL {
  return region.includes('-')
    ? sql`plate_region = ${region}`
    : sql`(plate_region = ${region} OR plate_region LIKE ${`${region}-%`})`;
}

/** Events at a place of this name, without regard to case. */
export function atPlaceNamed(name: string): SQL {
  // The name is stored in lower case as the database has it, which differs from one server to another.
  const keys = sql`array_append(${sql.param(spellingsOf(name))}::text[], lower(${name}::text))`;
  return sql`location_key = ANY(${keys})`;
}

/** The same, except for events whose stored name equals the given one as the database converts it to lower case. */
export function atPlaceSpelledOtherwise(name: string): SQL {
  const own = sql`lower(${name}::text)`;
  return sql`location_key = ANY(array_remove(${sql.param(spellingsOf(name))}::text[], ${own}))`;
}

function onBoth(condition: SQL, isIndexed: boolean): TotalledFilter {
  return {
    onEvents: condition,
    onTotals: condition,
    isIndexed,
  };
}

/** A type that devices may report in any case. */
async function ofKind(
  db: Executor,
  column: 'violation_type' | 'vehicle_type',
  sought: string,
): Promise<TotalledFilter> {
  const name = sql.raw(column);
  const [spelling, ...others] = await findSpellings(db, column, sought);
  return {
    onEvents:
      others.length === 0
        ? sql`lower(${name}) = ${spelling ?? sought}`
        : sql`lower(${name}) = ANY(${sql.param([spelling, ...others])}::text[])`,
    onTotals: sql`${caseFolded(name)} = ${caseFolded(sought)}`,
    isIndexed: column === 'violation_type' && others.length === 0,
  };
}

/** The spellings, in lower case, of a type among stored events that differ from the given one only in case. */
async function findSpellings(
  db: Executor,
  column: 'violation_type' | 'vehicle_type',
  sought: string,
): Promise<string[]> {
  const name = sql.raw(column);
  // Plan: event_period_totals_pkey for the years; the pending rows are read whole.
  const { rows } = await db.execute<{ spelling: string }>(sql`
    SELECT DISTINCT lower(kind) AS spelling FROM (
      SELECT ${name} FROM event_period_totals WHERE period = 'year' UNION SELECT ${name} FROM event_totals_unfolded
    ) AS counted (kind) WHERE ${caseFolded(sql`kind`)} = ${caseFolded(sought)}`);
  return rows.map(({ spelling }) => spelling);
}

/** Events that have the plate by the present rules or, if their keys were not brought up to date yet, by the former. */
function plateCondition(filter: string): SQL {
  const present = hasPlate(plateFilter(filter));
  if (formerPlateKey(filter) === plateKey(filter)) return present;
  return sql`(${present} OR ${hasPlate(plateFilter(filter, formerPlateKey))})`;
}

function hasPlate(wanted: PlateFilter): SQL {
  if ('equals' in wanted) return sql`plate_key = ${wanted.equals}`;
  return 'like' in wanted
    ? sql`plate_key LIKE ${wanted.like}`
    : sql`reverse(plate_key) LIKE ${wanted.backwardsLike}`;
}

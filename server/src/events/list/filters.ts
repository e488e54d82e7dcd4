import { type EventFilter, type ListEventsInput, listEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { plateKey } from '@gantry/contract/plate';
import { type SQL, sql } from 'drizzle-orm';
import { spellingsOf } from '../../platform/case-fold.ts';
import { caseFolded } from '../../platform/database/case-folded.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { idWithinAny } from '../counts/totals.ts';
import { formerPlateKey, type PlateFilter, plateFilter } from '../matches.ts';

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
    'sortBy' | 'sortOrder' | 'skip' | 'take' | 'locationName' | 'licensePlateNumber'
  >;
  readonly interval: Interval;
  /** Its filters that the totals contain. */
  readonly filters: readonly TotalledFilter[];
  /** Its filters, except for the place, that only the events themselves can answer. */
  readonly rowFilters: readonly SQL[];
}

/** The filters of a list. */
export async function filtersOf(
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
): Promise<ListFilters> {
  return { input, interval, filters: await countedFilters(db, input), rowFilters: rowFilters(input) };
}

/**
 * The conditions for the events that meet filters.
 * @param spans the parts of the interval that contain the events
 */
export function conditionsOf(filters: readonly TotalledFilter[], spans: readonly Interval[]): SQL[] {
  return [...idWithinAny(spans), ...filters.map(({ onEvents }) => onEvents)];
}

/** The conditions that are met by exactly the events that `events.getAll` lists with these filters. */
export async function listedConditions(db: Executor, filter: EventFilter): Promise<SQL[]> {
  if (filter.sensorId !== undefined && !isUuid(filter.sensorId)) return [sql`false`];
  const input = listEventsInput.parse(filter);
  return [
    ...(await countedFilters(db, input)).map(({ onEvents }) => onEvents),
    ...rowFilters(input),
    ...(input.locationName === undefined ? [] : [atPlaceNamed(input.locationName)]),
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

/** The filters of a list that the totals contain. */
export async function countedFilters(db: Executor, input: ListEventsInput): Promise<TotalledFilter[]> {
  return [
    ...(input.eventType === undefined ? [] : [ofType(input.eventType)]),
    ...(input.processed === undefined ? [] : [onBoth(sql`processed = ${input.processed}`, false)]),
    ...(input.archived === undefined ? [] : [onBoth(sql`archived = ${input.archived}`, input.archived)]),
    ...(input.violationType === undefined ? [] : [await ofKind(db, 'violation_type', input.violationType)]),
    ...(input.vehicleType === undefined ? [] : [await ofKind(db, 'vehicle_type', input.vehicleType)]),
  ];
}

/** The filters, except for the place, that only the events themselves can answer. */
export function rowFilters(input: ListEventsInput): SQL[] {
  return [
    ...(input.sensorId === undefined ? [] : [sql`sensor_id = ${input.sensorId}::uuid`]),
    ...(input.licensePlateNumber === undefined ? [] : [plateCondition(input.licensePlateNumber)]),
    ...passageConditions(input),
  ];
}

/** Conditions for which there is no index: the events that the other filters find are read. */
function passageConditions({ plateRegion, minConfidence, lane, direction }: ListEventsInput): SQL[] {
  return [
    ...(plateRegion === undefined ? [] : [ofRegion(plateRegion)]),
    ...(minConfidence === undefined ? [] : [sql`plate_confidence >= ${minConfidence}::smallint`]),
    ...(lane === undefined ? [] : [sql`lane = ${String(lane)}`]),
    ...(direction === undefined ? [] : [sql`direction = ${String(direction)}`]),
  ];
}

function ofRegion(region: string): SQL {
  return region.includes('-')
    ? sql`plate_region = ${region}`
    : sql`(plate_region = ${region} OR plate_region LIKE ${`${region}-%`})`;
}

/** Events at a place of this name, without regard to case. */
function atPlaceNamed(name: string): SQL {
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

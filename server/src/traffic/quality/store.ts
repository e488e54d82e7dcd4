import type { Page } from '@gantry/contract/page';
import type { DataDecision, DataReview } from '@gantry/contract/quality';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../../accounts/names-store.ts';
import { laneOfText } from '../../events/passage-columns.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { groupsWithin, passedWithin } from '../passed-store.ts';
import type { Place } from '../slots-store.ts';
import { isRule, REJECTING, SEVERITIES, type SensorFlag } from './rules.ts';

// What rules found in the samples of sensors, and what people decided about data.

/** A time in milliseconds. */
function milliseconds(column: string): SQL {
  return sql.raw(`(extract(epoch FROM ${column}) * 1000)::float8`);
}

/** A flag with the time at which it was found. */
export interface FoundFlag extends SensorFlag {
  readonly foundAt: number;
}

interface FlagRow extends Record<string, unknown> {
  sensor_id: string;
  rule: string;
  lane: string;
  from: number;
  until: number;
  value: number;
  threshold: number;
  found_at: number;
}

/** The stored flags of sensors that concern a range. Those of R3 and R4 last a day. */
export async function readFlags(
  db: Executor,
  sensorIds: readonly string[],
  { from, until }: Interval,
): Promise<FoundFlag[]> {
  // Plan: traffic_flags_of_sensor. A flag ends at most two days after the day in which it was found.
  const { rows } = await db.execute<FlagRow>(sql`
    SELECT sensor_id, rule, lane, ${milliseconds('since')} AS from, ${milliseconds('until')} AS until, value, threshold,
      ${milliseconds('found_at')} AS found_at
    FROM traffic_flags
    WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND found_at > ${moment(from)}::timestamptz - interval '4 days'
      AND since < ${moment(until)} AND until > ${moment(from)}
    ORDER BY since, rule, lane`);
  return rows.flatMap(({ sensor_id: sensorId, rule, lane, found_at: foundAt, ...flag }) =>
    isRule(rule)
      ? [
          {
            ...flag,
            sensorId,
            rule,
            severity: SEVERITIES[rule],
            foundAt,
            ...(lane !== '' && { lane: laneOfText(lane) }),
          },
        ]
      : [],
  );
}

/** A day in UTC of a sensor whose counts changed since it was judged. */
export interface UnjudgedDay {
  readonly sensorId: string;
  /** Its start, in Unix milliseconds. */
  readonly start: number;
  /** How often judging it failed. */
  readonly attempts: number;
}

interface UnjudgedRow extends Record<string, unknown> {
  sensor_id: string;
  start: number;
  attempts: number;
}

const START_OF_DAY = milliseconds("day::timestamp AT TIME ZONE 'UTC'");

function unjudgedOf({ sensor_id: sensorId, start, attempts }: UnjudgedRow): UnjudgedDay {
  return { sensorId, start, attempts };
}

/**
 * The days of sensors within a range that are not judged, the latest first.
 * @param single those of the sensors that send vehicles, of which some may not be rolled up yet
 */
export async function readUnjudged(
  db: Executor,
  sensorIds: readonly string[],
  single: readonly string[],
  range: Interval,
): Promise<UnjudgedDay[]> {
  const pending = sql`
      UNION
      SELECT sensor_id, (event_time(id) AT TIME ZONE 'UTC')::date, 0
      FROM ${groupsWithin(range)} AS pending, unnest(event_ids, sensor_ids) AS one (id, sensor_id)
      WHERE sign > 0 AND sensor_id = ANY (${sql.param(single)}::uuid[]) AND ${passedWithin(range)}`;
  // Plan: the primary key of traffic_unjudged, and the pending groups.
  const { rows } = await db.execute<UnjudgedRow>(sql`
    SELECT sensor_id, ${START_OF_DAY} AS start, max(attempts) AS attempts FROM (
      SELECT sensor_id, day, coalesce(attempts, 0)::int AS attempts FROM traffic_unjudged
      WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND day >= (${moment(range.from)}::timestamptz AT TIME ZONE 'UTC')::date
        AND day::timestamp AT TIME ZONE 'UTC' < ${moment(range.until)}
      ${single.length === 0 ? sql`` : pending}
    ) AS unjudged GROUP BY sensor_id, day ORDER BY day DESC, sensor_id`);
  return rows.map(unjudgedOf);
}

/** Notes that days of a sensor are not judged. @param times in Unix milliseconds */
export async function noteUnjudged(
  tx: Transaction,
  sensorId: string,
  times: readonly number[],
): Promise<void> {
  const days = [...new Set(times.map((time) => new Date(time).toISOString().slice(0, 10)))].sort();
  await tx.execute(sql`
    INSERT INTO traffic_unjudged (sensor_id, day) SELECT ${sensorId}::uuid, unnest(${sql.param(days)}::date[])
    ON CONFLICT DO NOTHING`);
}

/**
 * Takes unjudged days of one sensor that another process does not judge, or one day of which judging failed before. What changes
 * afterwards makes them unjudged again.
 * @param before Unix milliseconds: only days that end before
 */
export async function takeUnjudged(tx: Transaction, before: number, limit: number): Promise<UnjudgedDay[]> {
  const isDue = sql`day < (${moment(before)}::timestamptz AT TIME ZONE 'UTC')::date AND (due_at IS NULL OR due_at <= now())`;
  // Plan: traffic_unjudged_by_day, then the primary key.
  const { rows } = await tx.execute<UnjudgedRow>(sql`
    WITH next AS (
      SELECT sensor_id, attempts FROM traffic_unjudged WHERE ${isDue} ORDER BY day LIMIT 1 FOR UPDATE SKIP LOCKED
    ), taken AS (
      SELECT sensor_id, day FROM traffic_unjudged WHERE sensor_id = (SELECT sensor_id FROM next) AND ${isDue}
      ORDER BY day LIMIT (SELECT CASE WHEN attempts IS NULL THEN ${limit}::int ELSE 1 END FROM next) FOR UPDATE SKIP LOCKED
    )
    DELETE FROM traffic_unjudged AS judged USING taken
    WHERE judged.sensor_id = taken.sensor_id AND judged.day = taken.day
    RETURNING judged.sensor_id, (extract(epoch FROM judged.day::timestamp AT TIME ZONE 'UTC') * 1000)::float8 AS start,
      coalesce(judged.attempts, 0)::int AS attempts`);
  return rows.map(unjudgedOf);
}

/** Notes that days could not be judged. They are tried again after a minute, then after twice as long each time, up to a day. */
export async function deferUnjudged(db: Executor, days: readonly UnjudgedDay[]): Promise<void> {
  const [ids, starts] = [days.map(({ sensorId }) => sensorId), days.map(({ start }) => new Date(start))];
  await db.execute(sql`
    UPDATE traffic_unjudged AS failed SET attempts = coalesce(attempts, 0) + 1,
      due_at = now() + least(interval '1 minute' * 2 ^ least(coalesce(attempts, 0), 11), interval '1 day')
    FROM unnest(${sql.param(ids)}::uuid[], ${sql.param(starts.map((start) => start.toISOString().slice(0, 10)))}::date[]) AS one (sensor_id, day)
    WHERE failed.sensor_id = one.sensor_id AND failed.day = one.day`);
}

/** Stores what was found in days of a sensor, instead of what had been found in them. @param starts of the local days */
export async function replaceFlags(
  tx: Transaction,
  sensorId: string,
  starts: readonly number[],
  flags: readonly FoundFlag[],
): Promise<void> {
  const texts = (of: (flag: FoundFlag) => string) => sql.param(flags.map(of));
  const times = (of: (flag: FoundFlag) => number) =>
    sql`${texts((flag) => new Date(of(flag)).toISOString())}::timestamptz[]`;
  const numbers = (of: (flag: FoundFlag) => number | null) => sql`${sql.param(flags.map(of))}::float8[]`;
  await tx.execute(sql`
    DELETE FROM traffic_flags
    WHERE sensor_id = ${sensorId}::uuid
      AND found_at = ANY (${sql.param(starts.map((start) => new Date(start).toISOString()))}::timestamptz[])`);
  if (flags.length === 0) return;
  await tx.execute(sql`
    INSERT INTO traffic_flags (sensor_id, found_at, rule, lane, since, until, value, threshold)
    SELECT ${sensorId}::uuid, * FROM unnest(${times(({ foundAt }) => foundAt)}, ${texts(({ rule }) => rule)}::text[],
      ${texts(({ lane = '' }) => String(lane))}::text[], ${times(({ from }) => from)}, ${times(({ until }) => until)},
      ${numbers(({ value }) => value)}, ${numbers(({ threshold }) => threshold)})`);
}

/** The locations of which any data in a range may be rejected: somebody decided about them, or a rule found something. */
export async function findDoubtedLocations(
  db: Executor,
  { from, until }: Interval,
): Promise<ReadonlySet<string>> {
  const isWithin = sql`since < ${moment(until)} AND until > ${moment(from)}`;
  // Plan: all decisions, of which there are few, and the flags found since a few days before the range.
  const { rows } = await db.execute<{ id: string }>(sql`
    WITH doubted AS (
      SELECT place_id AS id FROM traffic_reviews WHERE decision = 'REJECT' AND ${isWithin}
      UNION
      SELECT sensor_id FROM traffic_flags
      WHERE found_at > ${moment(from)}::timestamptz - interval '4 days' AND rule = ANY (${sql.param(REJECTING)}::text[]) AND ${isWithin}
      UNION
      SELECT sensor_id FROM sensor_status_history AS broken
      WHERE to_status IN ('MAINTENANCE', 'ERROR') AND at < ${moment(until)} AND NOT EXISTS (
        SELECT FROM sensor_status_history AS later
        WHERE later.sensor_id = broken.sensor_id AND later.id > broken.id AND later.at <= ${moment(from)}
      )
    )
    SELECT id FROM doubted
    UNION SELECT location_id FROM traffic_places WHERE sensor_id IN (SELECT id FROM doubted)`);
  return new Set(rows.map(({ id }) => id));
}

/** A decision as it is stored. */
export interface StoredReview extends Interval {
  readonly id: string;
  readonly placeKind: Place['kind'];
  readonly placeId: string;
  readonly decision: DataDecision;
  readonly reason: string;
  readonly userId: string;
  readonly at: string;
}

const REVIEW = sql`id::text AS id, place_kind AS "placeKind", place_id AS "placeId", ${milliseconds('since')} AS from,
  ${milliseconds('until')} AS until, decision, reason, user_id AS "userId", at`;

/** The decisions about some places and sensors that concern a range, in the order in which they were made. */
export async function readReviews(
  db: Executor,
  ids: readonly string[],
  { from, until }: Interval,
): Promise<StoredReview[]> {
  // Plan: traffic_reviews_of_place.
  const { rows } = await db.execute<StoredReview & Record<string, unknown>>(sql`
    SELECT ${REVIEW} FROM traffic_reviews
    WHERE place_id = ANY (${sql.param([...new Set(ids)])}::uuid[])
      AND since < ${moment(until)} AND until > ${moment(from)}
    ORDER BY traffic_reviews.id`);
  return rows;
}

/** Stores a decision. @returns its id */
export async function insertReview(
  tx: Transaction,
  place: Pick<Place, 'kind' | 'id'>,
  { from, until }: Interval,
  { decision, reason, userId }: Pick<StoredReview, 'decision' | 'reason' | 'userId'>,
): Promise<StoredReview> {
  const { rows } = await tx.execute<StoredReview & Record<string, unknown>>(sql`
    INSERT INTO traffic_reviews (place_kind, place_id, since, until, decision, reason, user_id)
    VALUES (${place.kind}, ${place.id}::uuid, ${moment(from)}, ${moment(until)}, ${decision}, ${reason}, ${userId}::uuid)
    RETURNING ${REVIEW}`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted decision');
  return rows[0];
}

/** The decisions about a place, or about all, the latest first. */
export async function listReviews(
  db: Executor,
  place: Pick<Place, 'id'> | null,
  { skip, take }: { skip: number; take: number },
): Promise<Page<DataReview>> {
  const here = place === null ? sql`true` : sql`place_id = ${place.id}::uuid`;
  const { rows } = await db.execute<StoredReview & Record<string, unknown>>(sql`
    SELECT ${REVIEW} FROM traffic_reviews WHERE ${here}
    ORDER BY traffic_reviews.id DESC LIMIT ${take} OFFSET ${skip}`);
  const counted = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM traffic_reviews WHERE ${here}`,
  );
  return { items: await describeReviews(db, rows), total: counted.rows[0]?.total ?? 0 };
}

/** Decisions with the names of their authors, in their order. */
export async function describeReviews(db: Executor, reviews: readonly StoredReview[]): Promise<DataReview[]> {
  const nameOf = await findNames(
    db,
    reviews.map(({ userId }) => userId),
  );
  return reviews.map(({ id, placeKind, placeId, from, until, decision, reason, userId, at }) => ({
    id,
    sensorId: placeKind === 'sensor' ? placeId : null,
    locationId: placeKind === 'location' ? placeId : null,
    pointId: placeKind === 'point' ? placeId : null,
    from: new Date(from),
    until: new Date(until),
    decision,
    reason,
    by: nameOf(userId) ?? { id: userId, name: 'a former user' },
    at: new Date(at),
  }));
}

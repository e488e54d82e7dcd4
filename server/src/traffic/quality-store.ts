import type { Page } from '@gantry/contract/page';
import type { DataDecision, DataReview } from '@gantry/contract/quality';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { isRule, SEVERITIES, type SensorFlag } from './quality-rules.ts';
import type { Place } from './slots-store.ts';

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
  // Plan: traffic_flags_of_sensor. A flag ends at most two days after it was found.
  const { rows } = await db.execute<FlagRow>(sql`
    SELECT sensor_id, rule, lane, ${milliseconds('since')} AS from, ${milliseconds('until')} AS until, value, threshold,
      ${milliseconds('found_at')} AS found_at
    FROM traffic_flags
    WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND found_at > ${moment(from)}::timestamptz - interval '3 days'
      AND since < ${moment(until)} AND until > ${moment(from)}
    ORDER BY since, rule, lane`);
  return rows.flatMap(({ sensor_id: sensorId, rule, lane, found_at: foundAt, ...flag }) =>
    isRule(rule)
      ? [{ ...flag, sensorId, rule, severity: SEVERITIES[rule], foundAt, ...(lane !== '' && { lane }) }]
      : [],
  );
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

/** The decisions about a place, and about some sensors, that concern a range, in the order in which they were made. */
export async function readReviews(
  db: Executor,
  place: Pick<Place, 'id'>,
  sensorIds: readonly string[],
  { from, until }: Interval,
): Promise<StoredReview[]> {
  // Plan: traffic_reviews_of_place.
  const { rows } = await db.execute<StoredReview & Record<string, unknown>>(sql`
    SELECT ${REVIEW} FROM traffic_reviews
    WHERE place_id = ANY (${sql.param([...new Set([place.id, ...sensorIds])])}::uuid[])
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
    from: new Date(from),
    until: new Date(until),
    decision,
    reason,
    by: nameOf(userId) ?? { id: userId, name: 'a former user' },
    at: new Date(at),
  }));
}

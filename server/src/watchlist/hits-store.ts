import type { Severity } from '@gantry/contract/events';
import type {
  Hit,
  HitChange,
  HitDetail,
  HitKind,
  HitOutcome,
  HitState,
  HitStatsInput,
  ListHitsInput,
  RejectionCode,
} from '@gantry/contract/hits';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { mayDo, type Role } from '@gantry/contract/permissions';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { timeOfId } from '../events/id.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import type { Actor } from '../platform/context.ts';
import { uuidArray } from '../platform/database/arrays.ts';
import { moment } from '../platform/database/moment.ts';
import type { ListedByHotlist } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';

/** Who looks: hits are shown to some users only. */
export type Viewer = Pick<Actor, 'id' | 'role'>;

/** Of a covert list: only its owner, administrators, and the roles to which it is visible. */
export function maySeeList(
  { id, role }: Viewer,
  list: { readonly covert: boolean; readonly ownerId: string; readonly visibleTo: readonly Role[] },
): boolean {
  return !list.covert || role === 'ADMIN' || list.ownerId === id || list.visibleTo.includes(role);
}

/** The same as `maySeeList`, as a condition on the table hotlists. */
export function isListSeenBy({ id, role }: Viewer): SQL {
  return role === 'ADMIN'
    ? sql`true`
    : sql`(NOT hotlists.covert OR hotlists.owner_id = ${id}::uuid OR ${role} = ANY (hotlists.visible_to))`;
}

/** Whether the user sees a hit: before its release, only verifiers do. */
export function maySeeHit(
  viewer: Viewer,
  { hotlist, releasedAt }: Pick<Hit, 'hotlist' | 'releasedAt'>,
): boolean {
  return maySeeList(viewer, hotlist) && (releasedAt !== null || mayDo(viewer.role, 'verifyHits'));
}

/** The same as `maySeeHit`, as a condition on the tables watchlist_alerts (as hits) and hotlists. */
function isSeenBy(viewer: Viewer): SQL {
  const isReleased = mayDo(viewer.role, 'verifyHits') ? sql`true` : sql`hits.released_at IS NOT NULL`;
  return sql`${isListSeenBy(viewer)} AND ${isReleased}`;
}

interface HitRow extends Record<string, unknown> {
  id: string;
  entry_id: string;
  pattern: string;
  reason: string;
  priority: number;
  event_id: string;
  plate: string;
  sensor_id: string | null;
  sensor_name: string | null;
  location_name: string | null;
  read_at: string;
  created_at: string;
  backlog: boolean;
  sightings: number;
  last_read_at: string;
  listed: ListedByHotlist;
  kind: HitKind;
  differences: number;
  plate_region: string | null;
  confidence: number | null;
  state: HitState;
  code: RejectionCode | null;
  decision_note: string | null;
  decided_by: string | null;
  decided_at: string | null;
  released_at: string | null;
  outcome: HitOutcome | null;
  outcome_by: string | null;
  outcome_at: string | null;
  hotlist_id: string;
  list_name: string;
  covert: boolean;
  owner_id: string;
  visible_to: Role[];
}

const FROM_HITS = sql.raw('watchlist_alerts AS hits JOIN hotlists ON hotlists.id = hits.hotlist_id');
const COLUMNS = sql.raw(
  'hits.*, hotlists.name AS list_name, hotlists.covert, hotlists.owner_id, hotlists.visible_to',
);

/** Hits with these ids, in their order; other alerts are left out. */
async function findHitsById(db: Executor, ids: readonly string[]): Promise<Hit[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.execute<HitRow>(
    sql`SELECT ${COLUMNS} FROM ${FROM_HITS} WHERE hits.id = ANY (${uuidArray(ids, (id) => id)}::uuid[])`,
  );
  const byId = new Map((await toHits(db, rows)).map((hit) => [hit.id, hit]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The changes of hits for subscribers. Ids of other alerts are left out. */
export async function changesOfHits(
  db: Executor,
  action: HitChange['action'],
  ids: readonly string[],
): Promise<{ topic: 'hits'; body: HitChange }[]> {
  const hits = await findHitsById(db, ids);
  return hits.map((hit) => ({ topic: 'hits', body: { action, hit } }));
}

/** A hit that the user may see. @throws AppError `notFound` */
export async function getHit(db: Executor, viewer: Viewer, id: string): Promise<Hit> {
  const [hit] = isUuid(id) ? await findHitsById(db, [id.toLowerCase()]) : [];
  if (!hit || !maySeeHit(viewer, hit)) throw notFound('Hit');
  return hit;
}

/** Maximum number of sightings that are shown with a hit. */
const SIGHTINGS_SHOWN = 100;

/** A hit with what was decided about it, and its further reads. @throws AppError `notFound` */
export async function getHitDetail(db: Executor, viewer: Viewer, id: string): Promise<HitDetail> {
  const hit = await getHit(db, viewer, id);
  const { rows: said } = await db.execute<{ listed: ListedByHotlist }>(
    sql`SELECT listed FROM watchlist_alerts WHERE id = ${hit.id}::uuid`,
  );
  const { rows: decisions } = await db.execute<
    { at: string; action: HitDetail['history'][number]['action']; by: string | null } & Pick<
      HitDetail['history'][number],
      'code' | 'outcome' | 'note'
    >
  >(
    sql`SELECT at, action, code, outcome, note, by FROM hit_decisions WHERE hit_id = ${hit.id}::uuid ORDER BY seq`,
  );
  const { rows: ids } = await db.execute<{ id: string }>(sql`
    SELECT event_id AS id FROM watchlist_sightings
    WHERE entry_id = ${hit.entryId}::uuid AND alert_id = ${hit.id}::uuid ORDER BY event_id DESC LIMIT ${SIGHTINGS_SHOWN}`);
  const { rows: events } = await db.execute<{
    id: string;
    sensor_id: string | null;
    sensor_name: string | null;
    location_name: string | null;
  }>(sql`
    SELECT id, sensor_id, sensor_name, location_name FROM events
    WHERE id = ANY (${uuidArray(ids, (each) => each.id)}::uuid[]) ORDER BY id DESC`);
  const nameOf = await findNames(
    db,
    decisions.map(({ by }) => by),
  );
  const { extra = null, validFrom = null, validUntil = null, version = 0 } = said[0]?.listed ?? {};
  return {
    ...hit,
    listed: { extra, version, validFrom: dateOf(validFrom), validUntil: dateOf(validUntil) },
    history: decisions.map(({ at, by, ...each }) => ({ ...each, at: new Date(at), by: nameOf(by) })),
    sightingEvents: events.map((row) => ({
      eventId: row.id,
      timestamp: new Date(timeOfId(row.id)),
      sensorId: row.sensor_id,
      sensorName: row.sensor_name,
      locationName: row.location_name,
    })),
  };
}

/** One page of the hits that were found in the interval and that the user may see. */
export async function listHits(
  db: Executor,
  viewer: Viewer,
  input: ListHitsInput,
  interval: Interval,
): Promise<Page<Hit>> {
  const wanted = conditions(viewer, input, interval);
  const { skip, take, sortBy, sortOrder } = input;
  const direction = sortOrder === 'asc' ? sql`ASC` : sql`DESC`;
  const opposite = sortOrder === 'asc' ? sql`DESC` : sql`ASC`;
  // Plan: hits_by_creation or hits_of_list; by priority, hits_new for undecided ones.
  const order =
    sortBy === 'createdAt'
      ? sql`hits.created_at ${direction}, hits.id ${direction}`
      : sql`hits.priority ${direction}, hits.created_at ${opposite}, hits.id ${opposite}`;
  const { rows } = await db.execute<HitRow>(
    sql`SELECT ${COLUMNS} FROM ${FROM_HITS} WHERE ${wanted} ORDER BY ${order} LIMIT ${take} OFFSET ${skip}`,
  );
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM ${FROM_HITS} WHERE ${wanted}`,
  );
  return { items: await toHits(db, rows), total: counted[0]?.total ?? 0 };
}

function conditions(viewer: Viewer, input: Partial<ListHitsInput>, { from, until }: Interval): SQL {
  const { hotlistId, sensorId, state, kind, priority, released } = input;
  if ([hotlistId, sensorId].some((id) => id !== undefined && !isUuid(id))) return sql`false`;
  const parts = [
    isSeenBy(viewer),
    ...(Number.isFinite(from) ? [sql`hits.created_at >= to_timestamp(${from / 1000}::float8)`] : []),
    ...(Number.isFinite(until) ? [sql`hits.created_at < to_timestamp(${until / 1000}::float8)`] : []),
    ...(hotlistId === undefined ? [] : [sql`hits.hotlist_id = ${hotlistId}::uuid`]),
    ...(sensorId === undefined ? [] : [sql`hits.sensor_id = ${sensorId}::uuid`]),
    ...(state === undefined ? [] : [sql`hits.state = ${sql.raw(`'${state}'`)}`]),
    ...(kind === undefined ? [] : [sql`hits.kind = ${kind}`]),
    ...(priority === undefined ? [] : [sql`hits.priority = ${rankOf(priority)}`]),
    ...(released === undefined ? [] : [sql`(hits.released_at IS NOT NULL) = ${released}`]),
  ];
  return sql.join(parts, sql` AND `);
}

/** What people decided about hits, by list, sensor, code or outcome; at most 1,000 groups, those with the most hits first. */
export async function countHits(
  db: Executor,
  viewer: Viewer,
  by: HitStatsInput['by'],
  interval: Interval,
): Promise<
  {
    key: string | null;
    name: string | null;
    hits: number;
    confirmed: number;
    rejected: number;
    expired: number;
  }[]
> {
  const { key, name } = GROUPS[by];
  const { rows } = await db.execute<{
    key: string | null;
    name: string | null;
    hits: number;
    confirmed: number;
    rejected: number;
    expired: number;
  }>(sql`
    SELECT ${key} AS key, ${name} AS name, count(*) AS hits, count(*) FILTER (WHERE state = 'CONFIRMED') AS confirmed,
      count(*) FILTER (WHERE state = 'REJECTED') AS rejected, count(*) FILTER (WHERE state = 'EXPIRED') AS expired
    FROM ${FROM_HITS} WHERE ${conditions(viewer, {}, interval)} GROUP BY 1 ORDER BY hits DESC, key LIMIT 1000`);
  return rows;
}

const GROUPS: Readonly<Record<HitStatsInput['by'], { key: SQL; name: SQL }>> = {
  list: { key: sql.raw('hits.hotlist_id::text'), name: sql.raw('max(hotlists.name)') },
  sensor: { key: sql.raw('hits.sensor_id::text'), name: sql.raw('max(hits.sensor_name)') },
  code: { key: sql.raw('hits.code'), name: sql.raw('NULL::text') },
  outcome: { key: sql.raw('hits.outcome'), name: sql.raw('NULL::text') },
};

/** A decision about a hit. */
export interface Decision {
  readonly state: Extract<HitState, 'CONFIRMED' | 'REJECTED'>;
  readonly code: RejectionCode | null;
  readonly note: string | null;
  readonly by: string;
}

/** The action in the history for each decision. */
const ACTIONS = { CONFIRMED: 'CONFIRM', REJECTED: 'REJECT' } as const;

/**
 * Decides about a hit that is new, and releases it if it is confirmed.
 * @returns whether the decision released it; null if the hit was not new
 */
export async function decideHit(
  tx: Executor,
  id: string,
  { state, code, note, by }: Decision,
): Promise<{ wasReleased: boolean } | null> {
  const { rows } = await tx.execute<{ before: string | null }>(sql`
    WITH former AS (SELECT released_at FROM watchlist_alerts WHERE id = ${id}::uuid), decided AS (
      UPDATE watchlist_alerts SET state = ${state}, code = ${code}, decision_note = ${note}, decided_by = ${by}::uuid,
        decided_at = now(), released_at = coalesce(released_at, CASE WHEN ${state === 'CONFIRMED'}::boolean THEN now() END)
      WHERE id = ${id}::uuid AND state = 'NEW' RETURNING id
    ), noted AS (
      INSERT INTO hit_decisions (hit_id, action, code, note, by)
      SELECT id, ${ACTIONS[state]}, ${code}, ${note}, ${by}::uuid FROM decided
    )
    SELECT released_at AS before FROM former, decided`);
  const [row] = rows;
  return row ? { wasReleased: row.before !== null } : null;
}

/**
 * Sets the outcome of a confirmed hit.
 * @param isCorrection whether an outcome that was set before is replaced
 * @returns whether it was set; false if the hit is not confirmed, or has an outcome already
 */
export async function setOutcomeOf(
  tx: Executor,
  id: string,
  {
    outcome,
    note,
    by,
    isCorrection,
  }: { outcome: HitOutcome; note: string | null; by: string; isCorrection: boolean },
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    WITH changed AS (
      UPDATE watchlist_alerts SET outcome = ${outcome}, outcome_by = ${by}::uuid, outcome_at = now()
      WHERE id = ${id}::uuid AND state = 'CONFIRMED' AND (outcome IS NULL OR ${isCorrection}) RETURNING id
    )
    INSERT INTO hit_decisions (hit_id, action, outcome, note, by)
    SELECT id, 'OUTCOME', ${outcome}, ${note}, ${by}::uuid FROM changed RETURNING hit_id`);
  return rows.length > 0;
}

/** Number of hits that expire in one transaction. */
const AT_ONCE = 1_000;

/** Lets hits expire about which nobody decided in time. @returns their ids */
export async function expireHits(tx: Executor, hours: number): Promise<string[]> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    WITH expired AS (
      UPDATE watchlist_alerts SET state = 'EXPIRED', decided_at = now() WHERE id = ANY (ARRAY(
        SELECT id FROM watchlist_alerts WHERE state = 'NEW' AND created_at < now() - make_interval(hours => ${hours}::integer)
        ORDER BY created_at LIMIT ${AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED)) RETURNING id
    )
    INSERT INTO hit_decisions (hit_id, action) SELECT id, 'EXPIRE' FROM expired RETURNING hit_id AS id`);
  return rows.map(({ id }) => id);
}

/** Whether any list removes its hits after some days. */
export async function hasHitDays(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM hotlists WHERE hit_days IS NOT NULL) AS found`,
  );
  return rows[0]?.found === true;
}

/**
 * The decided hits that are due on a day (its beginning in Unix milliseconds), as their lists say: the days begin with the
 * hit, or with its last read if that was later. Undecided ones stay.
 */
const dueHits = (day: number) => sql`
  SELECT hits.id, to_char(hits.created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, (EXISTS (
      SELECT FROM held_events JOIN legal_holds ON legal_holds.id = hold_id
      WHERE legal_holds.released_at IS NULL AND held_events.event_id = hits.event_id)
    OR EXISTS (
      SELECT FROM held_events JOIN legal_holds ON legal_holds.id = hold_id
        JOIN watchlist_sightings AS seen ON seen.event_id = held_events.event_id
      WHERE legal_holds.released_at IS NULL AND seen.entry_id = hits.entry_id AND seen.alert_id = hits.id)) AS held
  FROM hotlists JOIN watchlist_alerts AS hits ON hits.hotlist_id = hotlists.id
  WHERE hit_days IS NOT NULL AND state <> 'NEW'
    AND greatest(hits.created_at, hits.last_read_at) < ${moment(day)} - make_interval(days => hit_days)`;

/** The number of hits that are due on a day, and of those that a legal hold keeps, by month. */
export async function countHitsDue(
  db: Executor,
  day: number,
): Promise<{ month: string; rows: number; held: number }[]> {
  const { rows } = await db.execute<{ month: string; rows: number; held: number }>(sql`
    SELECT month, count(*) FILTER (WHERE NOT held) AS rows, count(*) FILTER (WHERE held) AS held
    FROM (${dueHits(day)}) AS due GROUP BY 1`);
  return rows;
}

/** Removes hits that are due on a day and not under a legal hold. @returns their number by month */
export async function removeHitsDue(
  tx: Executor,
  day: number,
  limit: number,
): Promise<{ month: string; rows: number; bytes: number }[]> {
  const { rows } = await tx.execute<{ month: string; rows: number; bytes: number }>(sql`
    WITH gone AS (
      DELETE FROM watchlist_alerts USING (
        SELECT id, month FROM (${dueHits(day)}) AS due WHERE NOT held LIMIT ${limit}) AS due
      WHERE watchlist_alerts.id = due.id RETURNING month
    )
    SELECT month, count(*) AS rows, 0 AS bytes FROM gone GROUP BY 1`);
  return rows;
}

async function toHits(db: Executor, rows: readonly HitRow[]): Promise<Hit[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap((row) => [row.decided_by, row.outcome_by]),
  );
  return rows.map((row) => ({
    id: row.id,
    hotlist: {
      id: row.hotlist_id,
      name: row.list_name,
      covert: row.covert,
      ownerId: row.owner_id,
      visibleTo: row.visible_to,
    },
    entryId: row.entry_id,
    kind: row.kind,
    // Copied from a list, whose table contains only the ranks 1 to 4.
    priority: severityOfRank(row.priority) as Severity,
    reason: row.reason,
    reference: row.listed.reference,
    listedPlate: row.pattern,
    listedRegion: row.listed.region,
    licensePlateNumber: row.plate,
    readRegion: row.plate_region,
    confidence: row.confidence,
    differences: row.differences,
    eventId: row.event_id,
    sensorId: row.sensor_id,
    sensorName: row.sensor_name,
    locationName: row.location_name,
    timestamp: new Date(row.read_at),
    createdAt: new Date(row.created_at),
    backlog: row.backlog,
    sightings: row.sightings,
    lastSeenAt: new Date(row.last_read_at),
    state: row.state,
    code: row.code,
    note: row.decision_note,
    decidedBy: nameOf(row.decided_by),
    decidedAt: dateOf(row.decided_at),
    releasedAt: dateOf(row.released_at),
    outcome: row.outcome,
    outcomeBy: nameOf(row.outcome_by),
    outcomeAt: dateOf(row.outcome_at),
  }));
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

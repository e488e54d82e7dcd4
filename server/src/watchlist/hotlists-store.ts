import type { Severity } from '@gantry/contract/events';
import { confusableKey } from '@gantry/contract/plate';
import { sql } from 'drizzle-orm';
import { severityOfRank } from '../events/severity.ts';
import { doubleArray, textArray, uuidArray } from '../platform/database/arrays.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction, prepare } from '../platform/database/transaction.ts';
import { type HotlistRules, type ListedPlate, nearKeys } from './hotlist-rules.ts';

/** Whether a row of `hotlist_entries` belongs to the present version of its list, the row of `hotlists`. */
export const IN_FORCE = sql.raw(
  `(from_version <= hotlists.version AND coalesce(to_version > hotlists.version, true))`,
);

/** The version of a list, and the number of its entries. */
export interface ListVersion {
  readonly id: string;
  readonly version: number;
  readonly entryCount: number;
  readonly isOneOff: boolean;
}

/** The lists with which reads are compared. */
export async function listVersions(db: Executor): Promise<ListVersion[]> {
  const { rows } = await db.execute<ListVersion & Record<string, unknown>>(sql`
    SELECT id, version, entry_count AS "entryCount", tolerance = 'ONE_OFF' AS "isOneOff"
    FROM hotlists WHERE is_active AND deleted_at IS NULL`);
  return rows;
}

/**
 * Number of keys in a page: few enough to be added without holding up other work, and to be garbage before V8 moves them to
 * the old generation, where five million of them left 130 MB until the next idle time (pages of 5,000; of 200: 35 MB).
 */
const PAGE = 200;

/** The entries that versions of a list added after one, as far as they are in force; all with version -1. */
export interface KeysSince {
  readonly hotlistId: string;
  readonly version: number;
}

/** Reads the confusable keys of entries, page by page, in one snapshot. @param onPage returns whether to go on */
export function readKeys(
  db: Database,
  since: readonly KeysSince[],
  onPage: (keys: readonly { readonly key: string }[]) => boolean,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await tx.execute(sql`
      DECLARE listed NO SCROLL CURSOR FOR SELECT confusable_key AS key
      FROM unnest(${uuidArray(since, ({ hotlistId }) => hotlistId)}::uuid[],
          ${doubleArray(since, ({ version }) => version)}::double precision[]::integer[]) AS known (hotlist_id, version)
      JOIN hotlist_entries USING (hotlist_id) JOIN hotlists ON hotlists.id = hotlist_id
      WHERE from_version > known.version AND ${IN_FORCE}`);
    for (;;) {
      const { rows } = await tx.execute<{ key: string }>(sql.raw(`FETCH ${PAGE} FROM listed`));
      if (!onPage(rows) || rows.length < PAGE) return;
    }
  });
}

/** The texts by which lists that tolerate one wrong character are searched. They are at most nine for each entry. */
export async function loadNearKeys(db: Executor): Promise<string[]> {
  const { rows } = await db.execute<{ keys: string | null }>(
    sql`SELECT string_agg(near, E'\n') AS keys FROM hotlist_near`,
  );
  return rows[0]?.keys?.split('\n') ?? [];
}

/** A pattern in force. */
export interface ListedPattern {
  readonly id: string;
  readonly hotlistId: string;
  readonly pattern: string;
  readonly fuzzy: boolean;
}

export async function loadPatterns(db: Executor): Promise<ListedPattern[]> {
  // Plan: hotlist_entries_patterns.
  const { rows } = await db.execute<ListedPattern & Record<string, unknown>>(sql`
    SELECT hotlist_entries.id, hotlist_id AS "hotlistId", plate AS pattern, tolerance <> 'EXACT' AS fuzzy
    FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
    WHERE ${IN_FORCE} AND plate_key LIKE '%*%' AND is_active AND deleted_at IS NULL`);
  return rows;
}

/** What is compared with the entries. */
export interface Sought {
  /** Identifies the read. */
  readonly eventId: string;
  readonly plateKey: string;
  /** The patterns that the plate matches. */
  readonly patterns: readonly ListedPattern[];
}

/** An entry in force that a read may hit, with its list. */
export interface Candidate extends HotlistRules, ListedPlate {
  readonly eventId: string;
  readonly id: string;
  readonly hotlistId: string;
  readonly plate: string;
  readonly reason: string;
  readonly reference: string | null;
  readonly extra: Readonly<Record<string, string>> | null;
  readonly version: number;
  readonly priority: Severity;
  readonly covert: boolean;
  readonly repeatMinutes: number;
}

const FIND = prepare<Omit<Candidate, 'priority'> & { rank: number }>(
  'find-hotlist-entries',
  sql`
    WITH found AS (
      SELECT event_id, hotlist_id, entries.id, from_version
      FROM unnest(${sql.placeholder('events')}::uuid[], ${sql.placeholder('keys')}::text[]) AS sought (event_id, key)
      JOIN hotlist_entries AS entries ON confusable_key = key
      UNION
      SELECT event_id, entries.hotlist_id, entries.id, from_version
      FROM unnest(${sql.placeholder('nearEvents')}::uuid[], ${sql.placeholder('nears')}::text[]) AS sought (event_id, key)
      JOIN hotlist_near ON near = key
      JOIN hotlist_entries AS entries ON entries.hotlist_id = hotlist_near.hotlist_id AND entries.id = entry_id
      UNION
      SELECT event_id, entries.hotlist_id, entries.id, from_version
      FROM unnest(${sql.placeholder('patternEvents')}::uuid[], ${sql.placeholder('patternLists')}::uuid[],
        ${sql.placeholder('patterns')}::uuid[]) AS sought (event_id, hotlist_id, entry_id)
      JOIN hotlist_entries AS entries ON entries.hotlist_id = sought.hotlist_id AND entries.id = entry_id
    )
    SELECT event_id AS "eventId", entries.id, hotlist_id AS "hotlistId", plate, plate_key AS "plateKey", region, reason,
      reference, extra, version, priority AS rank, covert, tolerance, max_differences AS "maxDifferences", verification,
      min_confidence AS "minConfidence", repeat_minutes AS "repeatMinutes",
      (extract(epoch FROM valid_from) * 1000)::double precision AS "validFrom",
      (extract(epoch FROM valid_until) * 1000)::double precision AS "validUntil"
    FROM found JOIN hotlist_entries AS entries USING (hotlist_id, id, from_version)
    JOIN hotlists ON hotlists.id = hotlist_id AND is_active AND deleted_at IS NULL AND ${IN_FORCE}`,
);

/**
 * The entries in force that reads may hit, of one moment: each list in one of its versions.
 * @param isNear whether any list tolerates one wrong, missing or additional character
 */
export async function findCandidates(
  db: Executor,
  reads: readonly Sought[],
  isNear: boolean,
): Promise<Candidate[]> {
  if (reads.length === 0) return [];
  const nears = isNear
    ? reads.flatMap(({ eventId, plateKey }) => nearKeys(plateKey).map((key) => ({ eventId, key })))
    : [];
  const patterns = reads.flatMap(({ eventId, patterns: ids }) =>
    ids.map(({ id, hotlistId }) => ({ eventId, id, hotlistId })),
  );
  const rows = await FIND(db, {
    events: uuidArray(reads, ({ eventId }) => eventId),
    keys: textArray(reads, ({ plateKey }) => confusableKey(plateKey)),
    nearEvents: uuidArray(nears, ({ eventId }) => eventId),
    nears: textArray(nears, ({ key }) => key),
    patternEvents: uuidArray(patterns, ({ eventId }) => eventId),
    patternLists: uuidArray(patterns, ({ hotlistId }) => hotlistId),
    patterns: uuidArray(patterns, ({ id }) => id),
  });
  // The table contains only the ranks 1 to 4.
  return rows.map(({ rank, ...row }) => ({ ...row, priority: severityOfRank(rank) as Severity }));
}

/** Those of the events that have an image. */
export async function findWithImage(db: Executor, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set();
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM events
    WHERE id = ANY (${uuidArray(eventIds, (id) => id)}::uuid[]) AND jsonb_array_length(coalesce(images, '[]')) > 0`);
  return new Set(rows.map(({ id }) => id));
}

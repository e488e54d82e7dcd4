import type { HotlistTroubleKind } from '@gantry/contract/alarm-rules';
import type { Severity } from '@gantry/contract/events';
import {
  type CreateHotlistInput,
  HOTLIST_VERSIONS_KEPT,
  type Hotlist,
  type ListHotlistsInput,
} from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import { findNames, type NamedPerson } from '../accounts/names-store.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import { contains, sortedName } from '../platform/database/case-folded.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { hotlists } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import { isListSeenBy, type Viewer } from '../watchlist/hits-store.ts';

export type ListRow = typeof hotlists.$inferSelect;

const sortKeys = {
  name: sortedName(hotlists.name),
  priority: hotlists.priority,
  refreshedAt: hotlists.refreshedAt,
};

const exists = isNull(hotlists.deletedAt);

/** One page of the lists that the user sees. */
export async function listHotlists(
  db: Executor,
  viewer: Viewer,
  { skip, take, search, sortBy, sortOrder }: ListHotlistsInput,
): Promise<Page<Hotlist>> {
  const wanted = and(
    exists,
    isListSeenBy(viewer),
    search === undefined ? undefined : or(contains(hotlists.name, search), contains(purpose, search)),
  );
  const direction = sortOrder === 'asc' ? sql`asc nulls last` : sql`desc nulls last`;
  const rows = await db
    .select()
    .from(hotlists)
    .where(wanted)
    .orderBy(sql`${sortKeys[sortBy]} ${direction}`, sql`${hotlists.id} ${direction}`)
    .limit(take)
    .offset(skip);
  return { items: await toHotlists(db, rows), total: await db.$count(hotlists, wanted) };
}

const purpose = sql`coalesce(${hotlists.purpose}, '')`;

/** The row of a list that the user sees. @param lock whether to lock it until the transaction ends @throws AppError `notFound` */
export async function findList(
  db: Executor,
  viewer: Viewer | null,
  id: string,
  lock: 'lock' | 'read' = 'read',
): Promise<ListRow> {
  if (!isUuid(id)) throw notFound('Hotlist');
  const query = db
    .select()
    .from(hotlists)
    .where(and(eq(hotlists.id, id), exists, viewer ? isListSeenBy(viewer) : undefined));
  const [row] = lock === 'lock' ? await query.for('update') : await query;
  if (!row) throw notFound('Hotlist');
  return row;
}

/**
 * Locks a list whose entries are to change.
 * @throws AppError `notFound`; `conflict` while an import is being applied
 */
export async function lockIdleList(tx: Executor, viewer: Viewer | null, id: string): Promise<ListRow> {
  const list = await findList(tx, viewer, id, 'lock');
  const { rows } = await tx.execute(
    sql`SELECT FROM hotlist_imports WHERE hotlist_id = ${list.id}::uuid AND state = 'APPLYING'`,
  );
  if (rows.length === 0) return list;
  throw new AppError('conflict', 'An import is being applied to this list: try again when it has finished');
}

/** @throws AppError `notFound` */
export async function getHotlist(db: Executor, viewer: Viewer, id: string): Promise<Hotlist> {
  const [list] = await toHotlists(db, [await findList(db, viewer, id)]);
  if (!list) throw notFound('Hotlist');
  return list;
}

/**
 * The versions of a list (`hotlists`) that are kept: the last ones, and those that the last imports made and replaced, so that many
 * changes by hand do not make an import final.
 */
export const KEPT_VERSIONS: SQL = sql`ARRAY(
  SELECT generate_series(greatest(0, hotlists.version - ${sql.raw(String(HOTLIST_VERSIONS_KEPT - 1))}), hotlists.version)
  UNION SELECT unnest(ARRAY[made.version, made.version - 1]) FROM (
    SELECT hotlist_imports.version FROM hotlist_imports
    WHERE hotlist_imports.hotlist_id = hotlists.id AND hotlist_imports.state = 'APPLIED'
    ORDER BY hotlist_imports.version DESC LIMIT ${sql.raw(String(HOTLIST_VERSIONS_KEPT))}) AS made)`;

/** The former versions of lists that are kept, newest first. */
export async function findFormerVersions(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.execute<{ id: string; version: number; kept: number[] }>(
    sql`SELECT id, version, ${KEPT_VERSIONS} AS kept FROM hotlists WHERE id = ANY (${sql.param([...ids])}::uuid[])`,
  );
  return new Map(
    rows.map(({ id, version, kept }) => [id, kept.filter((each) => each < version).sort((a, b) => b - a)]),
  );
}

/** The settings of a list; in a change, undefined leaves one unchanged. */
type Settings = Omit<Partial<CreateHotlistInput>, 'priority'> & { readonly priority?: Severity | undefined };

function columnsOf({ priority, source, ...settings }: Settings) {
  return {
    ...settings,
    ...(priority && { priority: rankOf(priority) }),
    // A new source is read at once, and what was known of the former one does not concern it.
    ...(source !== undefined && {
      source,
      sourceState: null,
      sourceDueAt: source === null ? null : sql`now()`,
    }),
  };
}

/** The settings of a list for which none are given. */
const DEFAULTS = {
  priority: rankOf('MEDIUM'),
  visibleTo: [],
  covert: false,
  verification: 'ALWAYS',
  tolerance: 'EXACT',
  maxDifferences: 1,
  repeatMinutes: 10,
  isActive: true,
} as const;

export async function insertList(
  db: Executor,
  { name, ownerId, ...input }: CreateHotlistInput,
  userId: string,
): Promise<string> {
  const given = Object.fromEntries(
    Object.entries(columnsOf(input)).filter(([, value]) => value !== undefined),
  );
  const [row] = await db
    .insert(hotlists)
    .values({ ...DEFAULTS, visibleTo: [], ...given, name, ownerId: ownerId ?? userId, createdBy: userId })
    .returning({ id: hotlists.id });
  if (!row) throw new Error('PostgreSQL did not return the inserted hotlist');
  return row.id;
}

/** Sets the given settings. @returns whether it did; false if the list was changed after `seenAt` */
export async function updateListRow(
  db: Executor,
  id: string,
  { userId, seenAt, ...settings }: Settings & { readonly userId: string; readonly seenAt: Date | undefined },
): Promise<boolean> {
  const rows = await db
    .update(hotlists)
    .set({ ...columnsOf(settings), updatedBy: userId, updatedAt: timeOfUpdate(hotlists.updatedAt) })
    .where(and(eq(hotlists.id, id), seenAt && lte(hotlists.updatedAt, seenAt)))
    .returning({ id: hotlists.id });
  return rows.length > 0;
}

/** Deletes a list. Its hits, and who may see them, stay; its entries are removed in the background. */
export async function deleteListRow(db: Executor, id: string, userId: string): Promise<void> {
  for (const table of ['hotlist_near', 'hotlist_imports', 'hotlist_look_backs']) {
    await db.execute(sql`DELETE FROM ${sql.raw(table)} WHERE hotlist_id = ${id}::uuid`);
  }
  await db
    .update(hotlists)
    .set({
      deletedAt: sql`now()`,
      isActive: false,
      entryCount: 0,
      updatedBy: userId,
      source: null,
      sourceDueAt: null,
    })
    .where(eq(hotlists.id, id));
}

/** A list that has some plates, too. */
export interface ListOfPlates {
  readonly hotlistId: string;
  /** Their number. */
  readonly plates: number;
}

/** Says of lists with another priority that they have plates, too; of those that the user sees, as sentences. */
export async function warningsOf(
  db: Executor,
  viewer: Viewer,
  others: readonly ListOfPlates[],
): Promise<string[]> {
  if (others.length === 0) return [];
  const ids = others.map(({ hotlistId }) => hotlistId);
  const rows = await db
    .select({ id: hotlists.id, name: hotlists.name, priority: hotlists.priority })
    .from(hotlists)
    .where(and(sql`${hotlists.id} = ANY (${sql.param(ids)}::uuid[])`, exists, isListSeenBy(viewer)))
    .orderBy(sql`${hotlists.priority} desc`, sql`${sortKeys.name} asc`);
  return rows.map(({ id, name, priority }) => {
    const plates = others.find(({ hotlistId }) => hotlistId === id)?.plates ?? 0;
    const what = plates === 1 ? 'A plate is' : `${plates} plates are`;
    return `${what} also on ${name}, with the priority ${severityOfRank(priority)}: a read is a hit of each list, with its own priority`;
  });
}

/** The number of lists, and of the entries of all of them. */
export async function countLists(db: Executor): Promise<{ lists: number; entries: number }> {
  const { rows } = await db.execute<{ lists: number; entries: number }>(
    sql`SELECT count(*) AS lists, coalesce(sum(entry_count), 0)::bigint AS entries FROM hotlists WHERE deleted_at IS NULL`,
  );
  return rows[0] ?? { lists: 0, entries: 0 };
}

/** Which lists are stale, whose last file was refused, or whose source cannot be read. */
export interface HotlistTrouble {
  readonly hotlistId: string;
  readonly name: string;
  readonly covert: boolean;
  readonly trouble: HotlistTroubleKind;
  /** What is wrong, as a sentence. */
  readonly detail: string;
  readonly since: Date;
}

/**
 * The lists that somebody should look at: stale ones, those whose last file was refused, and those whose source cannot be read.
 * @param now Unix milliseconds
 */
export async function findHotlistTroubles(db: Executor, now: number): Promise<HotlistTrouble[]> {
  const { rows } = await db.execute<Record<string, string> & Pick<HotlistTrouble, 'trouble' | 'covert'>>(sql`
    SELECT id, name, covert, 'STALE' AS trouble, ${staleSince} AS since,
      'Nothing has renewed or confirmed it for ' || stale_after_hours || ' h' AS detail
    FROM hotlists WHERE ${isStaleAt(sql`to_timestamp(${now / 1000}::float8)`)} AND is_active AND deleted_at IS NULL
    UNION ALL
    SELECT id, name, covert, 'REFUSED', last.at, coalesce(last.error, 'Its last file was refused')
    FROM hotlists, LATERAL (SELECT state, at, error FROM hotlist_imports WHERE hotlist_id = hotlists.id
      AND state NOT IN ('UPLOADED', 'STAGING', 'STAGED', 'CANCELLED') ORDER BY at DESC, id DESC LIMIT 1) AS last
    WHERE last.state IN ('REFUSED', 'FAILED') AND is_active AND deleted_at IS NULL
    UNION ALL
    SELECT id, name, covert, 'SOURCE', updated_at, source_state ->> 'problem' FROM hotlists
    WHERE source_state ->> 'problem' IS NOT NULL AND is_active AND deleted_at IS NULL
    ORDER BY name, trouble`);
  return rows.map(({ id = '', name = '', covert, trouble, since = '', detail = '' }) => ({
    hotlistId: id,
    name,
    covert,
    trouble,
    detail,
    since: new Date(since),
  }));
}

const staleSince = sql.raw(
  `coalesce(hotlists.refreshed_at, hotlists.created_at) + make_interval(hours => hotlists.stale_after_hours)`,
);

function isStaleAt(time: SQL): SQL {
  return sql`coalesce(${staleSince} <= ${time}, false)`;
}

interface Recent extends Record<string, unknown> {
  id: string;
  is_stale: boolean;
  hits: number;
  rejected: number;
}

async function toHotlists(db: Executor, rows: readonly ListRow[]): Promise<Hotlist[]> {
  if (rows.length === 0) return [];
  // Plan: hits_of_list.
  const { rows: recent } = await db.execute<Recent>(sql`
    SELECT hotlists.id, ${isStaleAt(sql`now()`)} AS is_stale, count(hits.id) AS hits,
      count(hits.id) FILTER (WHERE hits.state = 'REJECTED') AS rejected
    FROM hotlists LEFT JOIN watchlist_alerts AS hits
      ON hits.hotlist_id = hotlists.id AND hits.created_at > now() - interval '7 days'
    WHERE hotlists.id = ANY (${sql.param(rows.map(({ id }) => id))}::uuid[]) GROUP BY hotlists.id`);
  const ofList = new Map(recent.map((row) => [row.id, row]));
  const former = await findFormerVersions(
    db,
    rows.map(({ id }) => id),
  );
  const nameOf = await findNames(
    db,
    rows.flatMap(({ ownerId, createdBy }) => [ownerId, createdBy]),
  );
  return rows.map(
    ({
      ownerId,
      updatedBy: _,
      deletedAt: __,
      sourceState,
      sourceDueAt: ___,
      createdBy,
      priority,
      ...row
    }) => ({
      ...row,
      // The table contains only the ranks 1 to 4.
      priority: severityOfRank(priority) as Severity,
      owner: nameOf(ownerId) as NamedPerson,
      createdBy: nameOf(createdBy) as NamedPerson,
      formerVersions: [...(former.get(row.id) ?? [])],
      sourceProblem: sourceState?.problem ?? null,
      isStale: ofList.get(row.id)?.is_stale ?? false,
      hitsOf7Days: ofList.get(row.id)?.hits ?? 0,
      rejectedOf7Days: ofList.get(row.id)?.rejected ?? 0,
    }),
  );
}

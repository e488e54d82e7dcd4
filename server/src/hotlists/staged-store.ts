import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type HotlistImportDetail, MAX_HOTLIST_ALIKE } from '@gantry/contract/hotlists';
import { type SQL, sql } from 'drizzle-orm';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Executor } from '../platform/database/transaction.ts';
import { IN_FORCE } from '../watchlist/hotlists-store.ts';
import { addNear, type Changed, CONTENT, type KeyedEntry } from './entries-store.ts';
import type { ListOfPlates } from './store.ts';

export type ImportMode = 'COMPLETE' | 'ADD' | 'REMOVE';

/** RESTORE: the list becomes exactly what is staged. A COMPLETE file cannot list patterns, and leaves those of the list. */
export type StagedMode = ImportMode | 'RESTORE';

/** The import that is compared or applied. */
export interface StagedImport {
  readonly importId: string;
  readonly hotlistId: string;
  readonly mode: StagedMode;
}

/** An entry of a line of a file, in the text format of COPY. */
export function stagedLine(importId: string, line: number, entry: KeyedEntry): string {
  const { plate, region, reason, reference, extra } = entry;
  const [from, until] = [entry.validFrom ?? '\\N', entry.validUntil ?? '\\N'];
  const keys = `${copied(plate)}\t${copied(entry.plateKey)}\t${copied(entry.confusableKey)}`;
  const texts = `${copied(region)}\t${copied(reason)}\t${copied(reference)}`;
  return `${importId}\t${line}\t${entry.id}\t${keys}\t${texts}\t${from}\t${until}\t${copied(extra && JSON.stringify(extra))}\t${entry.rowHash}\n`;
}

/** Stores lines as `stagedLine` makes them, in one statement that is committed by itself. */
export async function copyStaged(client: PoolClient, lines: readonly string[]): Promise<void> {
  const target = client.query(
    copyFrom(`COPY hotlist_staged (import_id, line, id, plate, plate_key, confusable_key, region, reason, reference,
      valid_from, valid_until, extra, row_hash) FROM STDIN`),
  );
  await pipeline(Readable.from([Buffer.from(lines.join(''))]), target);
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A value in the text format of COPY. */
function copied(value: string | null): string {
  if (value === null) return '\\N';
  return SPECIAL.test(value) ? value.replace(/[\\\t\n\r]/g, (each) => ESCAPES[each] ?? each) : value;
}

/** Number of rows that are removed or restored in one transaction. */
const AT_ONCE = 20_000;

/** From this number of lines on, a plan for few rows takes minutes. */
const MANY_LINES = 1_000;

/**
 * Renews the statistics of the tables that an import compares. Without them, the plans for what was just written look through all
 * lines for each entry: 100,000 changed lines took 139 s of processor time instead of 3.4 s.
 */
export async function analyzeStaged(db: Executor, lines: number): Promise<void> {
  if (lines >= MANY_LINES) await db.execute(sql`ANALYZE hotlist_staged, hotlist_entries`);
}

/** Removes what is staged for an import. */
export async function clearStaged(db: Executor, importId: string): Promise<void> {
  let removed: number;
  do {
    const { rowCount } = await db.execute(sql`
      DELETE FROM hotlist_staged WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM hotlist_staged WHERE import_id = ${importId}::uuid LIMIT ${AT_ONCE}))`);
    removed = rowCount ?? 0;
  } while (removed === AT_ONCE);
}

/** The ids of entries are evenly distributed, so a part of their range is a part of the entries. From, and until before. */
export interface IdRange {
  readonly from: string;
  readonly until: string | null;
}

/** Divides all ids so that each range has about `AT_ONCE` of a number of entries. */
export function idRanges(entries: number): IdRange[] {
  const count = Math.min(4_096, Math.max(1, Math.ceil(entries / AT_ONCE)));
  const bound = (at: number): string =>
    `${Math.floor((at * 65_536) / count)
      .toString(16)
      .padStart(4, '0')}0000-0000-0000-0000-000000000000`;
  return Array.from({ length: count }, (_, at) => ({
    from: bound(at),
    until: at + 1 === count ? null : bound(at + 1),
  }));
}

function within(column: SQL, { from, until }: IdRange): SQL {
  return until === null
    ? sql`${column} >= ${from}::uuid`
    : sql`(${column} >= ${from}::uuid AND ${column} < ${until}::uuid)`;
}

/**
 * Keeps the last line of each entry of an import, in small transactions, and lets PostgreSQL know how many there are: otherwise it
 * plans the comparison with a list for a few. @returns the number of lines that were removed
 */
export async function keepLastLines(db: Executor, importId: string, lines: number): Promise<number> {
  await db.execute(sql`ANALYZE hotlist_staged`);
  let removed = 0;
  for (const range of idRanges(lines)) {
    const { rowCount } = await db.execute(sql`
      DELETE FROM hotlist_staged AS staged USING hotlist_staged AS later
      WHERE staged.import_id = ${importId}::uuid AND later.import_id = ${importId}::uuid AND later.id = staged.id
        AND ${within(sql`staged.id`, range)} AND ${within(sql`later.id`, range)} AND later.line > staged.line`);
    removed += rowCount ?? 0;
  }
  return removed;
}

/** Stages the entries of a former version. */
export async function stageVersion(
  db: Executor,
  { importId, hotlistId }: StagedImport,
  version: number,
  range: IdRange,
): Promise<void> {
  await db.execute(sql`
    INSERT INTO hotlist_staged (import_id, line, id, ${CONTENT})
    SELECT ${importId}::uuid, 0, id, ${CONTENT} FROM hotlist_entries
    WHERE hotlist_id = ${hotlistId}::uuid AND ${within(sql`id`, range)}
      AND from_version <= ${version} AND coalesce(to_version > ${version}, true)`);
}

const stagedOf = (importId: string): SQL =>
  sql`SELECT * FROM hotlist_staged WHERE import_id = ${importId}::uuid`;
const inForce = (hotlistId: string): SQL => sql`
  SELECT hotlist_entries.* FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
  WHERE hotlist_id = ${hotlistId}::uuid AND ${IN_FORCE}`;

/** How many entries an import adds, changes, ends and keeps. */
export interface Comparison {
  readonly staged: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly same: number;
  /** Number of the patterns of the list, which a file cannot list. */
  readonly patterns: number;
}

/** Compares staged entries with those in force. It only reads, so that others need not wait for it. */
export async function compareStaged(db: Executor, staged: StagedImport): Promise<Comparison> {
  const { importId, hotlistId, mode } = staged;
  const { rows } = await db.execute<Comparison & Record<string, unknown>>(sql`
    SELECT count(*) FILTER (WHERE staged.id IS NOT NULL) AS staged,
      count(*) FILTER (WHERE entries.id IS NULL) AS added,
      count(*) FILTER (WHERE entries.row_hash <> staged.row_hash) AS changed,
      count(*) FILTER (WHERE entries.row_hash = staged.row_hash) AS same,
      count(*) FILTER (WHERE staged.id IS NULL) AS removed,
      count(*) FILTER (WHERE staged.id IS NULL AND entries.plate_key LIKE '%*%') AS patterns
    FROM (${stagedOf(importId)}) AS staged FULL JOIN (${inForce(hotlistId)}) AS entries USING (id)`);
  const found = rows[0] ?? { staged: 0, added: 0, changed: 0, removed: 0, same: 0, patterns: 0 };
  const { patterns } = found;
  if (mode === 'RESTORE') return found;
  if (mode === 'COMPLETE')
    return { ...found, removed: found.removed - patterns, same: found.same + patterns };
  const { rows: counted } = await db.execute<{ n: number; all: number }>(sql`
    SELECT count(*) FILTER (WHERE ${isEnded(staged)}) AS n, count(*) AS all FROM (${inForce(hotlistId)}) AS entries`);
  const { n = 0, all = 0 } = counted[0] ?? {};
  return mode === 'ADD'
    ? { ...found, removed: 0, same: all - found.changed }
    : { staged: found.staged, added: 0, changed: 0, removed: n, same: all - n, patterns };
}

/** A plate of which, and of those that look like it, the list would have more entries than a read can be compared with; or null. */
export async function findTooManyAlike(
  db: Executor,
  { importId, hotlistId, mode }: StagedImport,
): Promise<string | null> {
  if (mode === 'REMOVE') return null;
  const kept = sql`
    UNION ALL SELECT plate, confusable_key FROM (${inForce(hotlistId)}) AS entries
    WHERE confusable_key IN (SELECT confusable_key FROM hotlist_staged WHERE import_id = ${importId}::uuid)
      AND id NOT IN (SELECT id FROM hotlist_staged WHERE import_id = ${importId}::uuid)`;
  const { rows } = await db.execute<{ plate: string }>(sql`
    SELECT max(plate) AS plate FROM (
      SELECT plate, confusable_key FROM (${stagedOf(importId)}) AS staged ${mode === 'ADD' ? kept : sql``}) AS listed
    GROUP BY confusable_key HAVING count(*) > ${MAX_HOTLIST_ALIKE} LIMIT 1`);
  return rows[0]?.plate ?? null;
}

/** The lists with another priority that have plates of an import, too. */
export async function findOthers(
  db: Executor,
  { importId, hotlistId, mode }: StagedImport,
): Promise<ListOfPlates[]> {
  if (mode === 'REMOVE') return [];
  const others = sql`
    SELECT others.id, others.version FROM hotlists AS others JOIN hotlists AS own ON own.id = ${hotlistId}::uuid
    WHERE others.priority <> own.priority AND others.entry_count > 0 AND others.is_active AND others.deleted_at IS NULL`;
  const { rowCount } = await db.execute(sql`${others} LIMIT 1`);
  if (!rowCount) return [];
  const { rows } = await db.execute<ListOfPlates & Record<string, unknown>>(sql`
    SELECT hotlist_id AS "hotlistId", count(DISTINCT plate_key) AS plates
    FROM hotlist_entries JOIN (${others}) AS hotlists ON hotlists.id = hotlist_id
    WHERE ${IN_FORCE} AND EXISTS (
      SELECT FROM hotlist_staged AS staged WHERE import_id = ${importId}::uuid AND staged.plate_key = hotlist_entries.plate_key)
    GROUP BY 1`);
  return rows;
}

/** Whether an entry in force (`entries`) is not in the import as it is. @param range the ids of the entries */
function isEnded({ importId, mode }: StagedImport, range?: IdRange): SQL {
  const staged = sql`SELECT FROM hotlist_staged AS staged WHERE import_id = ${importId}::uuid`;
  if (mode === 'REMOVE') {
    return sql`EXISTS (${staged} AND staged.plate_key = entries.plate_key
      AND (staged.region IS NULL OR staged.region = entries.region)
      AND (staged.reference IS NULL OR staged.reference = entries.reference))`;
  }
  const own = sql`${staged} AND staged.id = entries.id AND ${range ? within(sql`staged.id`, range) : sql`true`}`;
  if (mode === 'ADD') return sql`EXISTS (${own} AND staged.row_hash <> entries.row_hash)`;
  const differs = sql`NOT EXISTS (${own} AND staged.row_hash = entries.row_hash)`;
  return mode === 'RESTORE' ? differs : sql`(entries.plate_key NOT LIKE '%*%' AND ${differs})`;
}

const SAMPLE = 100;

type Sample = NonNullable<HotlistImportDetail['sample']>;
type SampleLine = Sample['added'][number];

/** Up to 100 entries that an import adds, changes and ends. */
export async function sampleStaged(
  db: Executor,
  staged: StagedImport,
  found: Comparison,
): Promise<Omit<Sample, 'invalid'>> {
  const { importId, hotlistId, mode } = staged;
  const joined = (kind: SQL, wanted: SQL) => sql`
    SELECT line, staged.plate, staged.region, staged.reason, staged.reference
    FROM (${stagedOf(importId)}) AS staged ${kind} JOIN (${inForce(hotlistId)}) AS entries USING (id)
    WHERE ${wanted} ORDER BY line LIMIT ${SAMPLE}`;
  const read = async (query: SQL): Promise<SampleLine[]> =>
    (await db.execute<SampleLine & Record<string, unknown>>(query)).rows;
  return {
    added: found.added === 0 ? [] : await read(joined(sql`LEFT`, sql`entries.id IS NULL`)),
    changed: found.changed === 0 ? [] : await read(joined(sql``, sql`entries.row_hash <> staged.row_hash`)),
    removed:
      found.removed === 0
        ? []
        : await read(sql`
            SELECT NULL::integer AS line, plate, region, reason, reference FROM (${inForce(hotlistId)}) AS entries
            WHERE ${mode === 'REMOVE' ? isEnded(staged) : sql`NOT EXISTS (SELECT FROM hotlist_staged AS staged WHERE import_id = ${importId}::uuid AND staged.id = entries.id) AND plate_key NOT LIKE '%*%'`}
            ORDER BY plate_key LIMIT ${SAMPLE}`),
  };
}

/** Takes back what was prepared in a range for a version that is not in force. @returns the number of rows that it changed */
export async function clearPrepared(tx: Executor, hotlistId: string, range: IdRange): Promise<number> {
  const list = sql`SELECT version FROM hotlists WHERE hotlists.id = ${hotlistId}::uuid`;
  // Plan: hotlist_entries_pkey.
  const removed = await tx.execute(sql`
    DELETE FROM hotlist_entries WHERE hotlist_id = ${hotlistId}::uuid AND ${within(sql`id`, range)}
      AND from_version > (${list})`);
  const restored = await tx.execute(sql`
    UPDATE hotlist_entries SET to_version = NULL
    WHERE hotlist_id = ${hotlistId}::uuid AND ${within(sql`id`, range)} AND to_version > (${list})`);
  return (removed.rowCount ?? 0) + (restored.rowCount ?? 0);
}

/**
 * Prepares a version in a range of ids: ends entries in force and inserts staged ones, as the mode of the import says. Nothing of
 * it is in force before `finishVersion`.
 */
export async function prepareRange(
  tx: Executor,
  staged: StagedImport,
  version: number,
  range: IdRange,
  isOneOff: boolean,
): Promise<Changed> {
  const { importId, hotlistId, mode } = staged;
  const { rowCount: ended } = await tx.execute(sql`
    UPDATE hotlist_entries AS entries SET to_version = ${version}
    WHERE hotlist_id = ${hotlistId}::uuid AND ${within(sql`entries.id`, range)} AND to_version IS NULL AND ${isEnded(staged, range)}`);
  if (mode === 'REMOVE') return { inserted: 0, ended: ended ?? 0 };
  // What is still in force is the same as staged.
  const { rowCount: inserted } = await tx.execute(sql`
    INSERT INTO hotlist_entries (id, hotlist_id, from_version, ${CONTENT})
    SELECT id, ${hotlistId}::uuid, ${version}, ${CONTENT} FROM hotlist_staged AS staged
    WHERE import_id = ${importId}::uuid AND ${within(sql`id`, range)} AND NOT EXISTS (
      SELECT FROM hotlist_entries AS entries
      WHERE hotlist_id = ${hotlistId}::uuid AND to_version IS NULL AND entries.id = staged.id AND ${within(sql`entries.id`, range)})`);
  if (isOneOff) await addNear(tx, hotlistId, sql`from_version = ${version} AND ${within(sql`id`, range)}`);
  return { inserted: inserted ?? 0, ended: ended ?? 0 };
}

import type {
  HotlistImport,
  HotlistImportDetail,
  HotlistImportState,
  HotlistTemplate,
} from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Comparison, ImportMode } from './staged-store.ts';
import type { ListOfPlates } from './store.ts';

/** A row of `hotlist_imports`. */
export interface ImportRow extends Record<string, unknown> {
  readonly id: string;
  readonly hotlist_id: string;
  readonly mode: ImportMode | null;
  readonly origin: HotlistImport['origin'];
  readonly file_name: string | null;
  readonly sha256: string | null;
  readonly bytes: number;
  readonly template: HotlistTemplate | null;
  readonly state: HotlistImportState;
  readonly base: number | null;
  readonly lines: number | null;
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
  readonly same: number | null;
  readonly invalid: number | null;
  readonly repeated: number | null;
  readonly sample: HotlistImportDetail['sample'];
  readonly error: string | null;
  readonly override: string | null;
  readonly by: string | null;
  readonly at: string;
  readonly file_at: string | null;
  readonly applied_by: string | null;
  readonly applied_at: string | null;
  readonly version: number | null;
  readonly reverts_to: number | null;
  /** As base64; '' for what is no signature; null without one. */
  readonly signature: string | null;
  /** In per cent. */
  readonly progress: number | null;
  /** The lists with another priority that have plates of the file, too. */
  readonly others: readonly ListOfPlates[] | null;
  readonly attempts: number;
}

/** What a new import begins with. */
export interface NewImport {
  readonly id: string;
  readonly hotlistId: string;
  readonly origin: HotlistImport['origin'];
  readonly state: HotlistImportState;
  readonly fileName: string | null;
  readonly sha256: string | null;
  readonly bytes: number;
  /** Unix milliseconds; null if the source does not say. */
  readonly fileAt: number | null;
  readonly mode: ImportMode | null;
  readonly template: HotlistTemplate | null;
  readonly revertsTo: number | null;
  readonly signature?: string | null;
  /** null for the source of the list. */
  readonly by: string | null;
}

/** States in which a process has to work on an import. */
const AT_WORK: readonly HotlistImportState[] = ['STAGING', 'APPLYING'];

export async function insertImport(db: Executor, given: NewImport): Promise<void> {
  const isDue = AT_WORK.includes(given.state);
  await db.execute(sql`
    INSERT INTO hotlist_imports (id, hotlist_id, origin, state, file_name, sha256, bytes, file_at, mode, template, reverts_to,
      signature, by, due_at)
    VALUES (${given.id}::uuid, ${given.hotlistId}::uuid, ${given.origin}, ${given.state}, ${given.fileName}, ${given.sha256},
      ${given.bytes}::bigint, ${given.fileAt === null ? null : new Date(given.fileAt).toISOString()}::timestamptz, ${given.mode},
      ${given.template && JSON.stringify(given.template)}::jsonb, ${given.revertsTo}, ${given.signature ?? null},
      ${given.by}::uuid,
      CASE WHEN ${isDue}::boolean THEN now() END)`);
}

/** The row of an import. @param lock whether to lock it until the transaction ends @throws AppError `notFound` */
export async function findImport(
  db: Executor,
  id: string,
  lock: 'lock' | 'read' = 'read',
): Promise<ImportRow> {
  const { rows } = isUuid(id)
    ? await db.execute<ImportRow>(
        sql`SELECT * FROM hotlist_imports WHERE id = ${id}::uuid ${lock === 'lock' ? sql`FOR UPDATE` : sql``}`,
      )
    : { rows: [] };
  if (!rows[0]) throw notFound('Import');
  return rows[0];
}

/** One page of the imports of a list, newest first. */
export async function listImports(
  db: Executor,
  hotlistId: string,
  { skip, take }: { readonly skip: number; readonly take: number },
): Promise<Page<HotlistImport>> {
  const { rows } = await db.execute<ImportRow>(sql`
    SELECT * FROM hotlist_imports WHERE hotlist_id = ${hotlistId}::uuid ORDER BY at DESC, id DESC LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM hotlist_imports WHERE hotlist_id = ${hotlistId}::uuid`,
  );
  return { items: await toImports(db, rows), total: counted[0]?.n ?? 0 };
}

/** The last import whose content is, or was confirmed to be, in force; null if the list was changed since, or none was applied. */
export async function findApplied(
  db: Executor,
  hotlistId: string,
  version: number,
): Promise<ImportRow | null> {
  const { rows } = await db.execute<ImportRow>(sql`
    SELECT * FROM hotlist_imports WHERE hotlist_id = ${hotlistId}::uuid AND version = ${version} AND state IN ('APPLIED', 'UNCHANGED')
    ORDER BY at DESC LIMIT 1`);
  return rows[0] ?? null;
}

/** What changes in an import. */
type Changes = Partial<
  Pick<
    ImportRow,
    | 'mode'
    | 'state'
    | 'template'
    | 'base'
    | 'lines'
    | 'added'
    | 'changed'
    | 'removed'
    | 'same'
    | 'invalid'
    | 'repeated'
    | 'sample'
    | 'others'
    | 'error'
    | 'override'
    | 'applied_by'
    | 'applied_at'
    | 'version'
  >
>;

const JSON_COLUMNS: readonly string[] = ['template', 'sample', 'others'];

/**
 * Changes an import. In a state in which there is work, it becomes due.
 * @param attempts undefined to change it whoever works on it
 * @returns whether it did: not if another process has taken it over, or it was cancelled
 */
export async function updateImport(
  db: Executor,
  id: string,
  changes: Changes,
  attempts?: number,
): Promise<boolean> {
  const columns = Object.entries(changes).map(([name, value]) =>
    JSON_COLUMNS.includes(name)
      ? sql`${sql.raw(name)} = ${value === null ? null : JSON.stringify(value)}::jsonb`
      : sql`${sql.raw(name)} = ${value}`,
  );
  const isDue = changes.state === undefined ? null : AT_WORK.includes(changes.state);
  const due =
    isDue === null ? [] : [sql`due_at = CASE WHEN ${isDue}::boolean THEN now() END, progress = NULL`];
  const mine = attempts === undefined ? sql`true` : sql`attempts = ${attempts} AND due_at IS NOT NULL`;
  const { rowCount } = await db.execute(sql`
    UPDATE hotlist_imports SET ${sql.join([...columns, ...due], sql`, `)} WHERE id = ${id}::uuid AND ${mine}`);
  return (rowCount ?? 0) > 0;
}

/** Records how much of the work on an import is done, in per cent, while this process does it. */
export async function noteProgress(
  db: Executor,
  { id, attempts }: ImportRow,
  percent: number,
): Promise<void> {
  await db.execute(sql`
    UPDATE hotlist_imports SET progress = ${Math.min(100, Math.floor(percent))}
    WHERE id = ${id}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`);
}

/** Records that an import made a version. Its template becomes that of the list. */
export async function markApplied(
  tx: Executor,
  { id, hotlist_id, template }: ImportRow,
  version: number,
  { added, changed, removed, same }: Comparison,
): Promise<void> {
  await tx.execute(sql`
    UPDATE hotlist_imports SET state = 'APPLIED', version = ${version}, added = ${added}, changed = ${changed},
      removed = ${removed}, same = ${same}, error = NULL, applied_at = now(), due_at = NULL, progress = NULL
    WHERE id = ${id}::uuid`);
  if (template === null) return;
  await tx.execute(
    sql`UPDATE hotlists SET template = ${JSON.stringify(template)}::jsonb WHERE id = ${hotlist_id}::uuid`,
  );
}

/** The last file that the source of a list had; null before the first. */
export async function findLastOfSource(db: Executor, hotlistId: string): Promise<ImportRow | null> {
  const { rows } = await db.execute<ImportRow>(sql`
    SELECT * FROM hotlist_imports WHERE hotlist_id = ${hotlistId}::uuid AND origin IN ('FOLDER', 'URL')
    ORDER BY at DESC, id DESC LIMIT 1`);
  return rows[0] ?? null;
}

/** Records that the entries of a list were found to be those of its source. */
export async function confirmList(db: Executor, hotlistId: string): Promise<void> {
  await db.execute(sql`UPDATE hotlists SET refreshed_at = now() WHERE id = ${hotlistId}::uuid`);
}

/** The imports that are due, oldest first. */
export async function listDueImports(
  db: Executor,
): Promise<Pick<ImportRow, 'id' | 'hotlist_id' | 'origin' | 'state'>[]> {
  const { rows } = await db.execute<
    Pick<ImportRow, 'id' | 'hotlist_id' | 'origin' | 'state'> & Record<string, unknown>
  >(sql`
    SELECT id, hotlist_id, origin, state FROM hotlist_imports WHERE due_at <= now() ORDER BY due_at, id LIMIT 100`);
  return rows;
}

/** Takes an import that is due, so that no other process works on it for some time. @returns null if another one was faster */
export async function claimImport(db: Executor, id: string, leaseMs: number): Promise<ImportRow | null> {
  const { rows } = await db.execute<ImportRow>(sql`
    UPDATE hotlist_imports SET attempts = attempts + 1, due_at = now() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE id = (SELECT id FROM hotlist_imports WHERE id = ${id}::uuid AND due_at <= now() FOR UPDATE SKIP LOCKED) RETURNING *`);
  return rows[0] ?? null;
}

/** Keeps an import for some more time. @returns whether this process still works on it */
export async function extendImport(
  db: Executor,
  { id, attempts }: ImportRow,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    UPDATE hotlist_imports SET due_at = now() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE id = ${id}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`);
  return (rowCount ?? 0) > 0;
}

/** Whether any import is due, now or later. */
export async function hasDueImports(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM hotlist_imports WHERE due_at IS NOT NULL) AS found`,
  );
  return rows[0]?.found === true;
}

/** The imports that are finished and have staged lines, such as those that were cancelled while they were read. */
export async function listLeftStaged(db: Executor): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT import_id AS id FROM hotlist_staged WHERE NOT EXISTS (
      SELECT FROM hotlist_imports WHERE id = import_id AND state IN ('STAGING', 'STAGED', 'REFUSED', 'APPLYING')
        AND at > now() - interval '7 days')`);
  return rows.map(({ id }) => id);
}

/** Number of imports that are kept for each list, besides those in progress: of those that made a version, and of others. */
const IMPORTS_KEPT = 1_000;

/** Removes the records of old imports, and of look-backs after a change. */
export async function removeOldRecords(db: Executor): Promise<void> {
  await db.execute(
    sql`DELETE FROM hotlist_look_backs WHERE kind = 'CHANGE' AND due_at IS NULL AND created_at < now() - interval '1 day'`,
  );
  await db.execute(sql`
    DELETE FROM hotlist_imports WHERE due_at IS NULL AND id IN (
      SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY hotlist_id, state = 'APPLIED'
        ORDER BY CASE WHEN state = 'APPLIED' THEN version END DESC, at DESC) AS n FROM hotlist_imports) AS all_imports
      WHERE n > ${IMPORTS_KEPT})`);
}

/** Number of days for which a file is kept that is not applied. */
const FILE_DAYS = 7;

/** Files that cannot be read are kept, too: with another template, they may be. An address is asked for its file again. */
const MAY_BE_STAGED = sql.raw(`at > now() - interval '${FILE_DAYS} days' AND (
  state IN ('UPLOADED', 'STAGING', 'STAGED', 'REFUSED') OR (state = 'UNCHANGED' AND origin = 'UPLOAD')
  OR (state = 'FAILED' AND (origin <> 'URL' OR NOT EXISTS (SELECT FROM hotlist_imports AS later
    WHERE later.hotlist_id = hotlist_imports.hotlist_id AND later.origin = 'URL' AND later.at > hotlist_imports.at))))`);

/** Of some imports, those whose file is still needed. */
export async function findWithFile(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM hotlist_imports WHERE id::text = ANY (${sql.param([...ids])}::text[]) AND ${MAY_BE_STAGED}`);
  return new Set(rows.map(({ id }) => id));
}

export async function toImports(db: Executor, rows: readonly ImportRow[]): Promise<HotlistImport[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap((row) => [row.by, row.applied_by]),
  );
  return rows.map((row) => ({
    id: row.id,
    hotlistId: row.hotlist_id,
    mode: row.mode,
    origin: row.origin,
    revertsTo: row.reverts_to,
    fileName: row.file_name,
    sha256: row.sha256,
    bytes: row.bytes,
    template: row.template,
    state: row.state,
    progress: AT_WORK.includes(row.state) ? (row.progress ?? 0) : null,
    baseVersion: row.base,
    lines: row.lines,
    added: row.added,
    changed: row.changed,
    removed: row.removed,
    same: row.same,
    invalid: row.invalid,
    repeated: row.repeated,
    error: row.error,
    by: nameOf(row.by),
    at: new Date(row.at),
    appliedBy: nameOf(row.applied_by),
    appliedAt: row.applied_at === null ? null : new Date(row.applied_at),
    version: row.version,
  }));
}

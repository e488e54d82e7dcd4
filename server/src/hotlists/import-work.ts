import {
  type HotlistImportDetail,
  MAX_HOTLIST_ALIKE,
  MAX_HOTLIST_LINES,
  USUAL_TEMPLATE,
} from '@gantry/contract/hotlists';
import { isDatabaseAway, isTransient, sqlState } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import type { Timings } from '../platform/timings.ts';
import { finishVersion, keyed } from './entries-store.ts';
import { type ImportFiles, signingKeyOf } from './import-files.ts';
import {
  confirmList,
  findApplied,
  findImport,
  type ImportRow,
  markApplied,
  noteProgress,
  updateImport,
} from './imports-store.ts';
import { linesOf, MAX_LINE, UnreadableFile } from './read-lines.ts';
import { createLineReader, shown } from './read-template.ts';
import { requireRoom } from './room.ts';
import {
  analyzeStaged,
  type Comparison,
  clearPrepared,
  clearStaged,
  compareStaged,
  copyStaged,
  findOthers,
  findTooManyAlike,
  type IdRange,
  idRanges,
  keepLastLines,
  prepareRange,
  type StagedImport,
  sampleStaged,
  stagedLine,
  stageVersion,
} from './staged-store.ts';
import { findFormerVersions, findList, type ListRow } from './store.ts';

/** What working on an import needs. */
export interface ImportParts {
  /** Its statements may take minutes. */
  readonly db: Database;
  readonly files: ImportFiles;
  /** The service's time zone (IANA). */
  readonly zone: string;
  readonly timings: Pick<Timings, 'hotlistChangeMs'>;
  /** Aborts when the work is to stop: then the import stays due. */
  readonly signal: AbortSignal;
}

/** Lines that are stored at once: few enough to be gone before V8 takes them for long-lived. */
const LINES_AT_ONCE = 4_000;
/** Number of lines of each kind that are shown. */
const SAMPLE = 100;
/** The share of invalid lines, and of the lines of before, at which somebody has to look. */
const MAX_INVALID = 0.01;
const MIN_LEFT = 0.5;

type Sample = NonNullable<HotlistImportDetail['sample']>;

/**
 * Reads the file of an import, or the version that it restores, compares it with the list, and applies it if nobody has to look
 * at it before. A failure that another attempt would repeat is recorded.
 * @throws any other failure: the import stays due
 */
export async function workOnImport(parts: ImportParts, row: ImportRow): Promise<void> {
  try {
    if (row.state === 'STAGING') await stage(parts, row);
    else await apply(parts, row);
  } catch (error) {
    if (parts.signal.aborted || error instanceof TakenOver || isDatabaseAway(error) || isTransient(error))
      throw error;
    const { db } = parts;
    if (row.state === 'APPLYING') await clearAll(db, row);
    // The list was changed while the file of its source was read: it is read again.
    if (row.by === null && error instanceof AppError && error.kind === 'conflict') {
      await updateImport(db, row.id, { state: 'STAGING' }, row.attempts);
      return;
    }
    const isFull = sqlState(error) === '53100';
    const known = error instanceof UnreadableFile || error instanceof AppError || isFull;
    const message = isFull
      ? 'The disk of the database is full'
      : error instanceof Error
        ? error.message
        : String(error);
    // Only while it is ours: a cancelled import stays cancelled.
    await updateImport(
      db,
      row.id,
      {
        state: isFull ? 'REFUSED' : 'FAILED',
        error: known ? message : 'It could not be imported; the log of the service has the cause',
      },
      row.attempts,
    );
    if (!known) throw error;
  }
}

interface Read {
  readonly lines: number;
  readonly invalid: Sample['invalid'];
  readonly invalidCount: number;
}

async function stage(parts: ImportParts, row: ImportRow): Promise<void> {
  const { db } = parts;
  const list = await findList(db, null, row.hotlist_id);
  const mode = row.mode ?? 'COMPLETE';
  const template = row.template ?? list.template ?? USUAL_TEMPLATE;
  const staged: StagedImport = { importId: row.id, hotlistId: list.id, mode };
  const applied = await findApplied(db, list.id, list.version);
  const unsigned = await findSignatureProblem(parts.files, row, list);
  if (
    unsigned === null &&
    applied?.sha256 === row.sha256 &&
    mode === 'COMPLETE' &&
    sameTemplate(applied, template)
  ) {
    const done = await updateImport(
      db,
      row.id,
      { state: 'UNCHANGED', mode, template, base: list.version, version: list.version },
      row.attempts,
    );
    if (done) await confirmList(db, list.id);
    return;
  }
  await clearStaged(db, row.id);
  const read = await readFile(parts, row, template);
  await analyzeStaged(db, read.lines);
  const repeated = await keepLastLines(db, row.id, read.lines);
  const alike = await findTooManyAlike(db, staged);
  if (alike !== null)
    throw new UnreadableFile(
      `The list would have more than ${MAX_HOTLIST_ALIKE} entries for plates such as ${alike}: list each plate once`,
    );
  const compared = await compareStaged(db, staged);
  const sample = { ...(await sampleStaged(db, staged, compared)), invalid: read.invalid };
  const others = await findOthers(db, staged);
  const refusal = unsigned ?? refusalOf({ row, list, mode, read, compared, applied });
  const appliesItself = refusal === null && row.by === null;
  await updateImport(
    db,
    row.id,
    {
      state: refusal !== null ? 'REFUSED' : appliesItself ? 'APPLYING' : 'STAGED',
      mode,
      template,
      base: list.version,
      lines: read.lines,
      added: compared.added,
      changed: compared.changed,
      removed: compared.removed,
      same: compared.same,
      invalid: read.invalidCount,
      repeated,
      sample,
      others,
      error: refusal,
    },
    row.attempts,
  );
}

function sameTemplate(applied: ImportRow, template: object): boolean {
  // jsonb keeps the members in another order.
  return JSON.stringify(sorted(applied.template)) === JSON.stringify(sorted(template));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}

/** Why a file of the source of a list is not the one that its key signed; null if it is, or no key is set. */
async function findSignatureProblem(
  files: ImportFiles,
  { id, hotlist_id: hotlistId, file_name: name, by, signature }: ImportRow,
  { source }: ListRow,
): Promise<string | null> {
  const key = by === null && source?.publicKey !== undefined ? signingKeyOf(source.publicKey) : null;
  if (key === null) return null;
  if (signature === null) return `The file is not signed: there is no ${name}.sig`;
  if (signature === '') return `${name}.sig is no Ed25519 signature: 64 bytes, or their base64`;
  return (await files.isSigned({ hotlistId, id }, key, signature))
    ? null
    : 'The signature is not that of this file with the key of the list';
}

interface Guarded {
  readonly row: ImportRow;
  readonly list: ListRow;
  readonly mode: string;
  readonly read: Read;
  readonly compared: Comparison;
  readonly applied: ImportRow | null;
}

/** Why somebody has to look at an import before it is applied; null if nobody has to. */
function refusalOf({ row, list, mode, read, compared, applied }: Guarded): string | null {
  const { staged } = compared;
  if (staged === 0) return 'The file has no valid line';
  if (read.invalidCount > MAX_INVALID * read.lines)
    return `${read.invalidCount} of ${read.lines} lines cannot be read: more than 1 %`;
  const before = list.entryCount - compared.patterns;
  if (mode === 'COMPLETE' && staged < MIN_LEFT * before)
    return `The file has ${staged} entries, fewer than half of the ${before} that the list has`;
  if (row.file_at !== null && applied?.file_at && Date.parse(row.file_at) < Date.parse(applied.file_at))
    return `The file is older (${row.file_at}) than the one in force (${applied.file_at})`;
  return null;
}

/** Stores the entries of the file. @throws UnreadableFile */
async function readFile(parts: ImportParts, row: ImportRow, template: typeof USUAL_TEMPLATE): Promise<Read> {
  const { db, files, zone, signal } = parts;
  const reader = createLineReader(template, zone);
  const client = await db.$client.connect();
  const invalid: Sample['invalid'][number][] = [];
  let [lines, invalidCount] = [0, 0];
  let batch: string[] = [];
  /** Lines are read while those before them are stored. */
  let storing: Promise<void> = Promise.resolve();
  const store = async () => {
    await storing;
    storing = copyStaged(client, batch);
    // Whoever waits for it next learns of a failure.
    storing.catch(() => undefined);
    batch = [];
    await noteProgress(db, row, (100 * input.bytesRead) / row.bytes);
  };
  const input = files.open({ hotlistId: row.hotlist_id, id: row.id });
  try {
    for await (const some of linesOf(input, template.encoding)) {
      signal.throwIfAborted();
      for (const { line, text } of some) {
        if (line <= template.headerLines) {
          if (line === template.headerLines) reader.readHeader(text ?? '');
          continue;
        }
        if (text?.trim() === '') continue;
        lines++;
        if (lines > MAX_HOTLIST_LINES)
          throw new UnreadableFile(
            `The file has more than ${MAX_HOTLIST_LINES} lines: divide it, and import the parts with the mode ADD`,
          );
        const read =
          text === null ? { problem: `It is longer than ${MAX_LINE} characters` } : reader.read(text);
        if ('content' in read) batch.push(stagedLine(row.id, line, keyed(row.hotlist_id, read.content)));
        else {
          invalidCount++;
          if (invalid.length < SAMPLE)
            invalid.push({ line, text: shown(text ?? '', 200), problem: read.problem });
        }
      }
      if (batch.length >= LINES_AT_ONCE) await store();
    }
    if (batch.length > 0) await store();
    await storing;
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  return { lines, invalid, invalidCount };
}

/** Prepares the new version range by range, in small transactions for which no other work has to wait, and puts it in force. */
async function apply(parts: ImportParts, row: ImportRow): Promise<void> {
  const { db, signal, timings } = parts;
  const list = await findList(db, null, row.hotlist_id);
  const mode = row.reverts_to === null ? (row.mode ?? 'COMPLETE') : 'RESTORE';
  const staged: StagedImport = { importId: row.id, hotlistId: list.id, mode };
  if (row.base !== list.version) throw listChanged(list);
  if (row.reverts_to !== null) await stageFormer(parts, row, list, staged);
  await analyzeStaged(db, row.lines ?? list.entryCount);
  const compared = await compareStaged(db, staged);
  if (row.reverts_to === null && compared.staged !== expected(row))
    throw new AppError('conflict', 'What was read of the file is no longer there: stage the import again');
  await requireRoom(db, list, { inserted: compared.added, ended: compared.removed });

  const version = list.version + 1;
  const totals = { inserted: 0, ended: 0 };
  const ranges = rangesOf(list, compared);
  for (const [at, range] of ranges.entries()) {
    signal.throwIfAborted();
    const { inserted, ended } = await inTransaction(db, async (tx) => {
      await requireOurs(tx, row);
      await clearPrepared(tx, list.id, range);
      await noteProgress(tx, row, (100 * (at + 1)) / ranges.length);
      return prepareRange(tx, staged, version, range, list.tolerance === 'ONE_OFF');
    });
    totals.inserted += inserted;
    totals.ended += ended;
  }
  await inTransaction(db, async (tx) => {
    const now = await findList(tx, null, list.id, 'lock');
    await requireOurs(tx, row);
    if (now.version !== list.version) throw listChanged(now);
    await finishVersion(tx, now, version, totals, timings.hotlistChangeMs);
    await markApplied(tx, row, version, compared);
  });
  await clearStaged(db, row.id);
}

/** The number of entries that were staged when the import was compared. */
function expected({ mode, lines, invalid, repeated }: ImportRow): number {
  return mode === null ? 0 : (lines ?? 0) - (invalid ?? 0) - (repeated ?? 0);
}

function rangesOf({ entryCount }: ListRow, { staged }: Comparison): IdRange[] {
  return idRanges(entryCount + staged);
}

async function stageFormer(
  { db, signal }: ImportParts,
  row: ImportRow,
  list: ListRow,
  staged: StagedImport,
): Promise<void> {
  const former = row.reverts_to ?? 0;
  if (!(await findFormerVersions(db, [list.id])).get(list.id)?.includes(former))
    throw new AppError('conflict', `Version ${former} of the list is no longer kept`);
  await clearStaged(db, row.id);
  for (const range of idRanges(list.entryCount)) {
    signal.throwIfAborted();
    await stageVersion(db, staged, former, range);
  }
}

/** Takes back what an import prepared. */
async function clearAll(db: Database, row: ImportRow): Promise<void> {
  const { entryCount } = await findList(db, null, row.hotlist_id);
  for (const range of idRanges(entryCount + (row.lines ?? 0))) {
    await inTransaction(db, async (tx) => {
      await requireOurs(tx, row);
      await clearPrepared(tx, row.hotlist_id, range);
    });
  }
}

/** Another process works on the import, or it was cancelled. */
class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

/** @throws TakenOver */
async function requireOurs(tx: Parameters<typeof findImport>[0], { id, attempts }: ImportRow): Promise<void> {
  const now = await findImport(tx, id, 'lock');
  if (now.attempts !== attempts || now.state !== 'APPLYING')
    throw new TakenOver('The import was taken over by another process');
}

function listChanged({ version }: ListRow): AppError {
  return new AppError(
    'conflict',
    `The list has changed since, and is now at version ${version}: stage the import again`,
  );
}

import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type {
  ApplyHotlistImportInput,
  HotlistImport,
  HotlistImportDetail,
  HotlistTemplate,
  hotlistFilePreview,
  StageHotlistImportInput,
} from '@gantry/contract/hotlists';
import type { z } from 'zod';
import { recordActivity } from '../activity/store.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';
import type { ImportFiles } from './import-files.ts';
import {
  findImport,
  findWithFile,
  type ImportRow,
  insertImport,
  toImports,
  updateImport,
} from './imports-store.ts';
import { linesOf, UnreadableFile } from './read-lines.ts';
import { createLineReader, type LineReader } from './read-template.ts';
import type { HotlistContext } from './service.ts';
import { findFormerVersions, findList, type ListRow, lockIdleList, warningsOf } from './store.ts';

type FileContext = HotlistContext & { readonly app: { readonly hotlistFiles: ImportFiles } };
type Preview = z.infer<typeof hotlistFilePreview>;

/**
 * Receives a file for a list, which is to be staged next.
 * @param fileName as the user calls it
 * @throws AppError `notFound`; `forbidden` for users who see no plates; as `ImportFiles.receive`
 */
export async function receiveFile(
  ctx: FileContext,
  hotlistId: string,
  input: Readable,
  fileName: string | null,
): Promise<HotlistImport> {
  requireSeesPlates(ctx);
  const { app, actor } = ctx;
  const list = await findList(app.db, actor, hotlistId);
  const file = await app.hotlistFiles.receive(list.id, input);
  await insertImport(app.db, {
    ...file,
    hotlistId: list.id,
    origin: 'UPLOAD',
    state: 'UPLOADED',
    fileName,
    fileAt: null,
    mode: null,
    template: null,
    revertsTo: null,
    by: actor.id,
  });
  return one(ctx, file.id);
}

/**
 * Has a file read and compared with its list, which takes a while.
 * @throws AppError `notFound`; `conflict` when it is being applied, or was, or its file is no longer kept
 */
export function stageImport(
  ctx: HotlistContext,
  { importId, mode, template }: StageHotlistImportInput,
): Promise<HotlistImport> {
  return changeImport(ctx, importId, 'hotlists.stage', async (tx, row, list) => {
    requireState(row, ['UPLOADED', 'STAGED', 'REFUSED', 'FAILED', 'UNCHANGED']);
    if (row.origin === 'REVERT')
      throw new AppError('conflict', 'A version that is restored has no file: revert again');
    if (!(await findWithFile(tx, [row.id])).has(row.id))
      throw new AppError('conflict', 'The file is no longer kept: send it again');
    const checked = template ?? list.template ?? null;
    if (checked) checkTemplate(ctx, checked);
    await updateImport(tx, row.id, {
      state: 'STAGING',
      mode,
      template: checked,
      error: null,
      sample: null,
      others: null,
    });
  });
}

/**
 * Puts what was staged in force, which takes a while.
 * @throws AppError `notFound`; `conflict` when the list has changed since, or the import is in another state; `badRequest` without a
 * reason when a guard refused it
 */
export function applyImport(
  ctx: HotlistContext,
  { id, expectedVersion, override }: ApplyHotlistImportInput,
): Promise<HotlistImport> {
  return changeImport(ctx, id, 'hotlists.applyImport', async (tx, row, list) => {
    requireState(row, ['STAGED', 'REFUSED']);
    if (list.version !== expectedVersion || row.base !== list.version) {
      throw new AppError(
        'conflict',
        `The list has changed since, and is now at version ${list.version}: stage the import again`,
      );
    }
    if (row.state === 'REFUSED' && override === null)
      throw invalidInput('override', `Give a reason to apply it all the same: ${row.error}`);
    await updateImport(tx, row.id, { state: 'APPLYING', override, applied_by: ctx.actor.id });
  });
}

/** Discards a file that is not applied. @throws AppError `notFound`; `conflict` when it is being applied, or was */
export async function cancelImport(ctx: FileContext, id: string): Promise<HotlistImport> {
  const cancelled = await changeImport(ctx, id, 'hotlists.cancelImport', async (tx, row) => {
    requireState(row, ['UPLOADED', 'STAGING', 'STAGED', 'REFUSED', 'FAILED']);
    await updateImport(tx, row.id, { state: 'CANCELLED', sample: null });
  });
  await ctx.app.hotlistFiles.remove({ hotlistId: cancelled.hotlistId, id: cancelled.id });
  return cancelled;
}

/**
 * Restores the entries of a former version exactly, as a new version, which takes a while.
 * @throws AppError `notFound`; `badRequest` for a version that is not kept; `conflict` while an import is being applied
 */
export function revertHotlist(
  ctx: HotlistContext,
  { id, version: former }: { readonly id: string; readonly version: number },
): Promise<HotlistImport> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const list = await lockIdleList(tx, actor, id);
    await requireKept(tx, list, former);
    const importId = randomUUID();
    await insertImport(tx, {
      id: importId,
      hotlistId: list.id,
      origin: 'REVERT',
      state: 'APPLYING',
      fileName: null,
      sha256: null,
      bytes: 0,
      fileAt: null,
      mode: 'COMPLETE',
      template: null,
      revertsTo: former,
      by: actor.id,
    });
    await updateImport(tx, importId, { base: list.version, applied_by: actor.id });
    const details = { hotlistId: list.id, name: list.name, importId, revertedTo: former };
    await recordActivity(tx, actor.id, caller, 'hotlists.revert', details);
    await notify(tx, channels.hotlistJobs, '');
    return found(await toImports(tx, [await findImport(tx, importId)]), 'Import');
  });
}

async function requireKept(tx: Transaction, { id, version }: ListRow, former: number): Promise<void> {
  const kept = (await findFormerVersions(tx, [id])).get(id) ?? [];
  if (kept.includes(former)) return;
  throw invalidInput(
    'version',
    version === 0
      ? 'The list has no earlier version'
      : `Version ${version} is in force, and these can be restored: ${kept.join(', ')}`,
  );
}

/** An import with the lines that it shows. @throws AppError `notFound` */
export async function getImport(ctx: HotlistContext, id: string): Promise<HotlistImportDetail> {
  const { db } = ctx.app;
  const row = await findImport(db, id);
  await findList(db, ctx.actor, row.hotlist_id);
  // All of the same moment.
  return {
    ...found(await toImports(db, [row]), 'Import'),
    sample: row.sample,
    warnings: await warningsOf(db, ctx.actor, row.others ?? []),
  };
}

/** Number of lines of a preview, and the most bytes that are read for it. */
const PREVIEWED = 20;

/**
 * The first lines of a file as a template reads them.
 * @throws AppError `notFound`; `badRequest` when the file cannot be read with the template; `conflict` when the file is not here
 */
export async function previewFile(
  ctx: FileContext,
  { importId, template }: { readonly importId: string; readonly template: HotlistTemplate },
): Promise<Preview> {
  requireSeesPlates(ctx);
  const { app } = ctx;
  const row = await findImport(app.db, importId);
  await findList(app.db, ctx.actor, row.hotlist_id);
  const file = { hotlistId: row.hotlist_id, id: row.id };
  if (!(await app.hotlistFiles.has(file)))
    throw new AppError(
      'conflict',
      'The file is no longer here, or on another machine of the service: send it again',
    );
  const reader = checkTemplate(ctx, template);
  const input = app.hotlistFiles.open(file);
  const lines: Preview['lines'] = [];
  try {
    for await (const some of linesOf(input, template.encoding)) {
      for (const { line, text } of some) {
        if (line === template.headerLines) reader.readHeader(text ?? '');
        if (line <= template.headerLines || text?.trim() === '') continue;
        if (lines.length < PREVIEWED) lines.push(previewOf(line, text, reader));
      }
      if (lines.length >= PREVIEWED) break;
    }
  } catch (error) {
    throw error instanceof UnreadableFile ? invalidInput('template', error.message) : error;
  } finally {
    input.destroy();
  }
  return { lines, columns: [...reader.names] };
}

function previewOf(line: number, text: string | null, reader: LineReader): Preview['lines'][number] {
  const read = text === null ? { problem: 'It is too long' } : reader.read(text);
  const content = 'content' in read ? read.content : null;
  const dateOf = (time: string | null | undefined) => (time ? new Date(time) : null);
  return {
    line,
    plate: content?.plate ?? null,
    region: content?.region ?? null,
    reason: content?.reason ?? null,
    reference: content?.reference ?? null,
    validFrom: dateOf(content?.validFrom),
    validUntil: dateOf(content?.validUntil),
    problem: 'problem' in read ? read.problem : null,
  };
}

/** @throws AppError `badRequest` for a template that contradicts itself */
function checkTemplate({ app }: HotlistContext, template: HotlistTemplate): LineReader {
  try {
    return createLineReader(template, app.settings.current().timezone);
  } catch (error) {
    throw error instanceof UnreadableFile ? invalidInput('template', error.message) : error;
  }
}

function requireState({ state }: ImportRow, wanted: readonly ImportRow['state'][]): void {
  if (wanted.includes(state)) return;
  throw new AppError('conflict', `The import is ${state}: this is possible while it is ${wanted.join(', ')}`);
}

function changeImport(
  { app, actor, caller }: HotlistContext,
  id: string,
  action: 'hotlists.stage' | 'hotlists.applyImport' | 'hotlists.cancelImport',
  change: (tx: Transaction, row: ImportRow, list: ListRow) => Promise<void>,
): Promise<HotlistImport> {
  return inTransaction(app.db, async (tx) => {
    const { hotlist_id: hotlistId } = await findImport(tx, id);
    // The list first, as everybody who changes both.
    const list =
      action === 'hotlists.applyImport'
        ? await lockIdleList(tx, actor, hotlistId)
        : await findList(tx, actor, hotlistId, 'lock');
    const row = await findImport(tx, id, 'lock');
    await change(tx, row, list);
    const details = { hotlistId: list.id, name: list.name, importId: row.id, fileName: row.file_name };
    const { override } = await findImport(tx, id);
    await recordActivity(tx, actor.id, caller, action, {
      ...details,
      ...(override !== null && { override }),
    });
    await notify(tx, channels.hotlistJobs, '');
    return found(await toImports(tx, [await findImport(tx, id)]), 'Import');
  });
}

async function one({ app }: HotlistContext, id: string): Promise<HotlistImport> {
  return found(await toImports(app.db, [await findImport(app.db, id)]), 'Import');
}

import type {
  AddCaseItemInput,
  CaseDetail,
  CaseItem,
  CaseRules,
  CaseStats,
  CaseStatsInput,
  CaseSummary,
  FollowCasesInput,
  ListCasesInput,
  MeasureCaseInput,
  OpenCaseInput,
  UpdateCaseRulesInput,
} from '@gantry/contract/cases';
import { imageUrl, readImageBytes } from '@gantry/device-formats/image';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity, recordPlateSearch } from '../activity/store.ts';
import { lockOutRemovals, lockWithTimeout } from '../events/holds-store.ts';
import { reasonIn, requirePlateSearch } from '../events/plate-access.ts';
import { keepNoteImages } from '../images/images.ts';
import { readImage } from '../images/read-image.ts';
import { withoutMetadata } from '../images/without-metadata.ts';
import type { Actor, ActorContext } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { channels, notify } from '../platform/database/notify.ts';
import {
  type Executor,
  inSnapshot,
  inTransaction,
  type Transaction,
} from '../platform/database/transaction.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import { resolveInterval, resolveTime } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { type CaseContext, changeCase, lockForMove } from './change.ts';
import { speedBetween } from './checks.ts';
import { listExports, viewExport } from './exports-store.ts';
import { findEventFacts } from './facts-store.ts';
import {
  brokenEntry,
  type ItemRow,
  insertItems,
  isImage,
  listItems,
  listLog,
  type NewItem,
} from './items-store.ts';
import { judgeCase } from './judge.ts';
import { addEvents, openCase, requireRoom } from './open.ts';
import {
  lockCaseRules,
  readCaseRules,
  readRetentionDays,
  storeCaseRules,
  storeRetentionDays,
} from './rules-store.ts';
import {
  type CaseRow,
  countCases,
  countWaiting,
  getCaseRow,
  listCases,
  showCase,
  showCases,
} from './store.ts';

/** A number, or the beginning of one. */
const NUMBER = /^\d{4}-\d{0,9}$/;
const ONLY_DIGITS = /^[\d-]+$/;

/** What is searched for as a plate; undefined if only numbers are. A user who may not see plates finds only numbers by digits. */
function plateIn({ search }: ListCasesInput, { seesPlates }: Actor): string | undefined {
  if (search === undefined || NUMBER.test(search)) return undefined;
  return seesPlates || !ONLY_DIGITS.test(search) ? search : undefined;
}

/**
 * A page of cases, and how many wait for the user. A search for a plate is recorded, once for all its pages.
 * @throws AppError `badRequest` when the range ends before it starts; as `requirePlateSearch`
 */
export async function viewCases(ctx: ActorContext, input: ListCasesInput) {
  const { app, actor, caller } = ctx;
  const { skip, take: _, sortBy: __, sortOrder: ___, ...filters } = input;
  const plate = plateIn(input, actor);
  requirePlateSearch(ctx, { ...reasonIn(input), licensePlateNumber: plate });
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listCases(app.db, actor, { ...input, plate }, interval);
  if (plate !== undefined) {
    const details = { plate, ...reasonIn(input), total };
    const search = { of: 'cases', ...filters };
    await recordPlateSearch(app.db, actor.id, caller, { search, isFirstPage: skip === 0, details });
  }
  return { items: await showCases(app.db, items), total, waiting: await countWaiting(app.db, actor) };
}

/** A case with all that belongs to it. @param id or number @throws AppError `notFound` */
export function viewCase({ app }: ActorContext, id: string): Promise<CaseDetail> {
  const zone = app.settings.current().timezone;
  return inSnapshot(app.db, async (db) => showDetail(db, await getCaseRow(db, id), zone));
}

/** Opens a case, unless there is one. @throws AppError as `openCase` */
export async function openAndShow(ctx: CaseContext, input: OpenCaseInput): Promise<CaseDetail> {
  return viewCase(ctx, (await openCase(ctx, input)).id);
}

async function showDetail(db: Executor, row: CaseRow, zone: string): Promise<CaseDetail> {
  const items = await listItems(db, row.id);
  const log = await listLog(db, row.id);
  const exports = await listExports(db, row.id);
  const people = [
    ...exports.map(({ createdBy }) => createdBy),
    ...items.map(({ addedBy }) => addedBy),
    ...log.map(({ userId }) => userId),
  ];
  const nameOf = await findNames(db, [...people, row.lines?.userId ?? null]);
  // What was checked is shown as it was stored.
  const shown = row.state === 'NEW' ? await judgeCase(db, row, items, { zone }) : row;
  return {
    ...(await showCase(db, row)),
    measuredKmh: shown.measuredKmh,
    limitKmh: shown.limitKmh,
    toleranceKmh: shown.toleranceKmh,
    speedSentence: shown.speedSentence,
    checks: (shown.checks ?? []).map((check) => ({ ...check, sentences: check.sentences ?? [] })),
    checkedAt: row.checkedAt,
    lines: showLines(row, nameOf),
    items: items.map((item) => showItem(item, nameOf)),
    logBrokenAt: brokenEntry(row.id, log)?.seq ?? null,
    log: log.map(({ userId, ...entry }) => ({ ...entry, by: nameOf(userId) })),
    holdId: row.holdId,
    exports: exports.map((each) => viewExport(each, nameOf)),
  };
}

function showLines({ lines }: CaseRow, nameOf: NameOf): CaseDetail['lines'] {
  if (lines === null) return null;
  const { userId, at, firstMark = null, secondMark = null, ...measured } = lines;
  return { ...measured, firstMark, secondMark, by: nameOf(userId), at: new Date(at) };
}

function showItem({ addedBy, ...item }: ItemRow, nameOf: NameOf): CaseItem {
  return { ...item, url: item.sha256 === null ? null : imageUrl(item.sha256), addedBy: nameOf(addedBy) };
}

/** Streams changes of cases. @throws AppError as `follow` does */
export function followCases(
  ctx: FollowContext,
  { id, lastEventId }: FollowCasesInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'cases'>> {
  const wanted = id?.toLowerCase();
  const matches = ({ case: { id: caseId, number } }: { case: CaseSummary }): boolean =>
    wanted === undefined || wanted === caseId || wanted === number;
  return follow(ctx, { topics: ['cases'], matches, lastEventId }, signal);
}

/** Numbers of cases. @throws AppError `badRequest` when the range ends before it starts */
export function viewCaseStats({ app }: ActorContext, input: CaseStatsInput): Promise<CaseStats> {
  return countCases(app.db, input, resolveInterval(input, app.settings.current().timezone));
}

/**
 * Adds an event, an image or a note to a case. An image is durable when this resolves.
 * @throws AppError `notFound`; `conflict` when the case is locked or has another version; `badRequest` when it would have too
 * much, or the item is not found of which the image is a copy
 */
export async function addCaseItem(ctx: CaseContext, input: AddCaseItemInput): Promise<CaseDetail> {
  const { app, actor } = ctx;
  const { eventId, image, text, role, derivedFrom, capturedAt, note } = input;
  const [kept] =
    image === undefined
      ? []
      : derivedFrom === undefined
        ? await keepNoteImages(app.images, [image], () => 'image')
        : [await keepCopy(ctx, input.id, derivedFrom, image)];
  const { id } = await inTransaction(app.db, async (tx) => {
    if (eventId !== undefined) await lockWithTimeout(tx, lockOutRemovals);
    const row = await lockForMove(tx, input, 'addItem');
    if (eventId !== undefined) {
      const [event] = await findEventFacts(tx, [eventId]);
      if (!event) throw notFound('Event');
      await requireAbsent(tx, row, event.id);
      const items = await addEvents(tx, row, [event], { userId: actor.id, text: note, role });
      return recordItem(ctx, tx, row, { eventId: event.id, items });
    }
    const zone = app.settings.current().timezone;
    const item: NewItem = {
      role,
      sha256: kept?.sha256 ?? null,
      derivedFrom:
        derivedFrom === undefined
          ? null
          : imageAt(await listItems(tx, row.id), derivedFrom, 'derivedFrom').id,
      capturedAt: capturedAt === undefined ? null : new Date(resolveTime(capturedAt, zone)),
      text: text ?? note,
      addedBy: actor.id,
    };
    await requireRoom(tx, row.id, [item]);
    const [itemId] = await insertItems(tx, row.id, [item]);
    const { sha256, derivedFrom: from } = item;
    return recordItem(ctx, tx, row, {
      itemId,
      role,
      ...(sha256 && { sha256 }),
      ...(from && { derivedFrom: from }),
    });
  });
  return viewCase(ctx, id);
}

/**
 * Stores a redacted copy without metadata. @throws AppError `badRequest` if it shows the same as its original, or is not built as
 * an encoder builds an image; `unavailable`
 */
async function keepCopy({ app }: CaseContext, caseId: string, derivedFrom: string, image: string) {
  const given = readImage(image, 'image');
  const copy = given && withoutMetadata(given);
  if (!copy) throw invalidInput('image', 'Send the copy as a JPEG, PNG or WebP image as a browser makes it');
  const { id } = await getCaseRow(app.db, caseId);
  const original = (await listItems(app.db, id)).find((item) => item.id === derivedFrom.toLowerCase());
  const stored = original?.sha256 ? await app.images.find(original.sha256) : null;
  const shown = stored && readImageBytes(await app.images.read(stored));
  if (shown && 'bytes' in shown && [shown.sha256, withoutMetadata(shown)?.sha256].includes(copy.sha256))
    throw invalidInput(
      'image',
      'The copy shows the same as its original: make something in it unrecognisable',
    );
  await app.images.keepForNote([copy]);
  return { sha256: copy.sha256 };
}

/** @throws AppError `conflict` when an event belongs to the case already */
async function requireAbsent(tx: Transaction, { id, number }: CaseRow, eventId: string): Promise<void> {
  if ((await listItems(tx, id)).some((item) => item.eventId === eventId))
    throw new AppError('conflict', `The event belongs to case ${number} already`);
}

function recordItem(ctx: CaseContext, tx: Transaction, row: CaseRow, details: Record<string, unknown>) {
  const action = details.role === 'NOTE' ? 'noted' : 'itemAdded';
  return changeCase(ctx, tx, row, { action, activity: 'cases.addItem', details });
}

/**
 * Computes the speed of a vehicle from two line crossings: metres / seconds × 3.6.
 * @throws AppError `notFound`; `conflict` when the case is locked or has another version; `badRequest` for items without an
 * image, and where the interval is not known
 */
export async function measureCase(ctx: CaseContext, input: MeasureCaseInput): Promise<CaseDetail> {
  const { app, actor } = ctx;
  const { id } = await inTransaction(app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'measure');
    const items = await listItems(tx, row.id);
    const [first, second] = [imageAt(items, input.first, 'first'), imageAt(items, input.second, 'second')];
    const intervalMs = input.intervalMs ?? intervalOf(first, second);
    const { metres, firstMark, secondMark } = input;
    const marks = firstMark && secondMark && { firstMark, secondMark };
    const measured = { first: first.id, second: second.id, metres, intervalMs, ...marks };
    const kmh = speedBetween(metres, intervalMs);
    const at = new Date(await readDatabaseTime(tx)).toISOString();
    const lines = { ...measured, kmh, userId: actor.id, at };
    const zone = app.settings.current().timezone;
    const checks = row.checks && (await judgeCase(tx, { ...row, lines }, items, { zone })).checks;
    return changeCase(ctx, tx, row, {
      ...{ action: 'measured', activity: 'cases.measure', details: { ...measured, kmh } },
      fields: { lines, ...(checks && { checks: withSecondary(row, checks) }) },
    });
  });
  return viewCase(ctx, id);
}

/** The stored checks of a case with another result of the secondary measurement. */
function withSecondary({ checks }: CaseRow, fresh: readonly NonNullable<CaseRow['checks']>[number][]) {
  const secondary = fresh.find(({ name }) => name === 'SECONDARY');
  return (checks ?? []).map((check) => (check.name === 'SECONDARY' && secondary ? secondary : check));
}

/** The image of a case with an id. @param field of the input, for the message @throws AppError `badRequest` */
function imageAt(items: readonly ItemRow[], id: string, field: string): ItemRow {
  const item = items.find((each) => each.id === id.toLowerCase());
  if (!item || !isImage(item))
    throw invalidInput(field, 'The case has no image with this id: use the id of one of its items');
  return item;
}

/** The time between two images, in milliseconds. @throws AppError `badRequest` if it is not known */
function intervalOf(first: ItemRow, second: ItemRow): number {
  const unknown = 'It is not known when both images were taken: give intervalMs';
  if (first.capturedAt === null || second.capturedAt === null) throw invalidInput('intervalMs', unknown);
  const interval = second.capturedAt.getTime() - first.capturedAt.getTime();
  if (interval <= 0)
    throw invalidInput('second', 'The second image was taken no later than the first: exchange them');
  return interval;
}

/** The rules of cases. */
export async function viewCaseRules({ app }: ActorContext): Promise<CaseRules> {
  return { ...(await readCaseRules(app.db)), retentionDays: await readRetentionDays(app.db) };
}

/** Changes the given rules. They concern cases that are opened from now on. */
export function updateCaseRules(ctx: ActorContext, input: UpdateCaseRulesInput): Promise<CaseRules> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    await lockCaseRules(tx);
    await storeCaseRules(tx, input);
    if (input.retentionDays !== undefined) await storeRetentionDays(tx, input.retentionDays, actor.id);
    const after = { ...(await readCaseRules(tx)), retentionDays: await readRetentionDays(tx) };
    await recordActivity(tx, actor.id, caller, 'cases.updateRules', { after });
    await notify(tx, channels.caseRules, '');
    return after;
  });
}

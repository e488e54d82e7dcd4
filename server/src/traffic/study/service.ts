import { mayDo, permissionNames } from '@gantry/contract/permissions';
import {
  type CreateStudyInput,
  type GivenSubject,
  MAX_STUDY_DIFFERENCES,
  type Study,
  type StudySubject,
  type StudyWithFigures,
  type VerifiedStudy,
} from '@gantry/contract/studies';
import { sql } from 'drizzle-orm';
import { findNames } from '../../accounts/names-store.ts';
import { recordActivity } from '../../activity/store.ts';
import { isRemovedWithin, listRemovedEvents } from '../../events/remove-store.ts';
import type { ActorContext } from '../../platform/context.ts';
import { type Executor, inSnapshot, inTransaction } from '../../platform/database/transaction.ts';
import { AppError } from '../../platform/error.ts';
import { version } from '../../platform/installation.ts';
import { requireRange } from '../../platform/time.ts';
import { unitsOf } from '../studies.ts';
import { rangeOfStudy, readStudy, requireStudy, type StudyContent } from './figures.ts';
import {
  changeStudy,
  deleteStudyRow,
  getPlaceName,
  getStudyHead,
  getStudyRow,
  insertStudy,
  type StudyHead,
  type StudyRow,
  wrongStatus,
} from './store.ts';
import { differencesOf, hashOf } from './table.ts';

/**
 * Creates a draft.
 * @throws AppError `notFound` for an unknown place; `badRequest` for a range that is invalid or too long
 */
export async function createStudy(
  { app, actor, caller }: ActorContext,
  { title, notes, ...given }: CreateStudyInput,
): Promise<Study> {
  const settings = app.settings.current();
  const { timezone } = settings;
  requireStudy(given, timezone);
  const { from, until } = rangeOfStudy(given, timezone);
  const subject = inAbsoluteTimes(await withUnits(app, given), timezone);
  const placeName = await placeNameOf(app.db, subject);
  const authorName = await nameOf(app.db, actor.id);
  const row = await inTransaction(app.db, async (tx) => {
    const created = await insertStudy(tx, {
      kind: subject.kind,
      title,
      notes,
      subject,
      placeName,
      startsAt: new Date(from),
      endsAt: new Date(until),
      settings,
      author: actor.id,
      authorName,
    });
    const { id: studyId, kind } = created;
    await recordActivity(tx, actor.id, caller, 'studies.create', { studyId, kind, title });
    return created;
  });
  return studyOf(row);
}

/** The study with its figures: those that were frozen or, of a draft, the present ones. @throws AppError `notFound` */
export async function getStudy({ app }: ActorContext, id: string): Promise<StudyWithFigures> {
  const row = await getStudyRow(app.db, id);
  const figures = row.figures ?? (await readNow(app, row)).figures;
  return { ...studyOf(row), figures };
}

/**
 * Freezes the data and figures of a draft.
 * @throws AppError `notFound`, also for a place that no longer exists; `conflict` if it is no draft; `forbidden` if it is
 * somebody else's
 */
export async function freezeStudy({ app, actor, caller }: ActorContext, id: string): Promise<Study> {
  const draft = await getStudyHead(app.db, id);
  requireOwnStudy(actor, draft);
  if (draft.status !== 'DRAFT') throw wrongStatus(draft, 'a DRAFT');
  const { data, figures } = await readNow(app, draft);
  const [placeName, authorName, frozenByName] = [
    await placeNameOf(app.db, draft.subject),
    await nameOf(app.db, draft.author),
    await nameOf(app.db, actor.id),
  ];
  const row = await inTransaction(app.db, async (tx) => {
    const frozen = await changeStudy(tx, draft, {
      status: 'FROZEN',
      hash: hashOf(data),
      data,
      figures,
      placeName,
      authorName,
      frozenBy: actor.id,
      frozenByName,
      frozenAt: sql`now()`,
      programVersion: version,
    });
    await recordActivity(tx, actor.id, caller, 'studies.freeze', { studyId: frozen.id, hash: frozen.hash });
    return frozen;
  });
  return studyOf(row);
}

/**
 * Signs a frozen study.
 * @throws AppError `notFound`; `conflict` if it is not frozen; `forbidden` for its author
 */
export async function signStudy(ctx: ActorContext, id: string): Promise<Study> {
  const { actor, app } = ctx;
  const { status, author, frozenBy } = await getStudyHead(app.db, id);
  if (status === 'FROZEN' && (actor.id === author || actor.id === frozenBy))
    throw new AppError(
      'forbidden',
      'Its author, and who froze it, may not sign a study: another person has to review it',
    );
  return review(ctx, id, 'SIGNED', null);
}

/** Rejects a frozen study. @throws AppError `notFound`; `conflict` if it is not frozen */
export function rejectStudy(ctx: ActorContext, id: string, reason: string): Promise<Study> {
  return review(ctx, id, 'REJECTED', reason);
}

async function review(
  { app, actor, caller }: ActorContext,
  id: string,
  status: 'SIGNED' | 'REJECTED',
  reason: string | null,
): Promise<Study> {
  const reviewerName = await nameOf(app.db, actor.id);
  const row = await inTransaction(app.db, async (tx) => {
    const { id: studyId } = await getStudyHead(tx, id);
    const review = { status, reason, reviewer: actor.id, reviewerName, reviewedAt: sql`now()` };
    const changed = await changeStudy(tx, { id: studyId, status: 'FROZEN' }, review);
    const { hash } = changed;
    const action = status === 'SIGNED' ? 'studies.sign' : 'studies.reject';
    await recordActivity(tx, actor.id, caller, action, { studyId, hash, ...(reason && { reason }) });
    return changed;
  });
  return studyOf(row);
}

/**
 * Deletes a draft, or a study that was rejected.
 * @throws AppError `notFound`; `conflict` if it is frozen or signed; `forbidden` if it is somebody else's
 */
export async function deleteStudy(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return inTransaction(app.db, async (tx) => {
    const study = await getStudyHead(tx, id);
    requireOwnStudy(actor, study);
    await deleteStudyRow(tx, study.id);
    const { id: studyId, kind, title } = study;
    await recordActivity(tx, actor.id, caller, 'studies.delete', { studyId, kind, title });
    return { success: true, id: studyId };
  });
}

/**
 * Compares the frozen data with those that are there now.
 * @throws AppError `notFound`; `conflict` for a draft
 */
export async function verifyStudy({ app }: ActorContext, id: string): Promise<VerifiedStudy> {
  const study = await getStudyRow(app.db, id);
  const { data: stored, hash: storedHash } = study;
  if (stored === null || storedHash === null)
    throw new AppError('conflict', 'The study is a DRAFT: freeze it before it is verified');
  const isIntact = hashOf(stored) === storedHash;
  const current = await readNow(app, study).catch(unlessGone);
  if (current === null) {
    const reason = 'The place of the study no longer exists';
    return { matches: false, hash: null, storedHash, isIntact, reason, differenceCount: 0, differences: [] };
  }
  const hash = hashOf(current.data);
  const matches = hash === storedHash;
  const differences = matches ? [] : differencesOf(stored, current.data);
  return {
    matches,
    hash,
    storedHash,
    isIntact,
    reason: matches ? null : await reasonOf(app.db, study, current),
    differenceCount: differences.length,
    differences: differences.slice(0, MAX_STUDY_DIFFERENCES),
  };
}

function unlessGone(error: unknown): null {
  if (error instanceof AppError && error.kind === 'notFound') return null;
  throw error;
}

/** Why the present data are not those of a study. */
async function reasonOf(
  db: Executor,
  { startsAt, endsAt, kind }: StudyRow,
  { figures }: StudyContent,
): Promise<string> {
  const range = { from: startsAt.getTime(), until: endsAt.getTime() };
  const isRemoved = isRemovedWithin(await listRemovedEvents(db, range), range);
  if (isRemoved && (kind === 'SPEED' || kind === 'COMPARISON'))
    return 'Retention has removed events of the range, so that single speeds are no longer known';
  if (figures.coverage === 0) return 'Nothing is known about the range any more: its data were removed';
  return 'Data of the range were added, changed or removed after the study was frozen';
}

/** The present data and figures of a study, in the time zone in which it was created. */
function readNow(
  { db, clock }: ActorContext['app'],
  { subject, settings }: Pick<StudyHead, 'subject' | 'settings'>,
): Promise<StudyContent> {
  return inSnapshot(db, (seen) => readStudy(seen, subject, settings, clock.now()));
}

/** @throws AppError `forbidden` */
function requireOwnStudy({ id, role }: ActorContext['actor'], { author }: StudyHead): void {
  if (author === id || mayDo(role, 'manageReports')) return;
  throw new AppError(
    'forbidden',
    `Only its author, and users with the permission ${permissionNames.manageReports}, may freeze or delete a study`,
  );
}

async function nameOf(db: Executor, userId: string): Promise<string> {
  return (await findNames(db, [userId]))(userId)?.name ?? '';
}

async function placeNameOf(db: Executor, subject: StudySubject): Promise<string> {
  if (subject.kind !== 'COMPARISON') return getPlaceName(db, subject);
  const names = [await getPlaceName(db, subject.before), await getPlaceName(db, subject.after)];
  return [...new Set(names)].join(' – ');
}

/** A subject with the units of its speeds, if it has any. */
async function withUnits(app: ActorContext['app'], subject: GivenSubject): Promise<StudySubject> {
  if (subject.kind === 'SPEED') return { ...subject, units: await unitsOf(app, subject, subject.units) };
  if (subject.kind === 'COMPARISON')
    return { ...subject, units: await unitsOf(app, subject.before, subject.units) };
  return subject;
}

/** The subject with times that mean the same in every time zone. */
function inAbsoluteTimes(subject: StudySubject, timezone: string): StudySubject {
  const absolute = <Side extends { startDate: string; endDate: string }>(side: Side): Side => {
    const { from, until } = requireRange(side, timezone);
    return {
      ...side,
      startDate: new Date(from).toISOString(),
      endDate: new Date(until - 1).toISOString(),
    };
  };
  return subject.kind === 'COMPARISON'
    ? { ...subject, before: absolute(subject.before), after: absolute(subject.after) }
    : absolute(subject);
}

/** A study as the API returns it. */
export function studyOf(row: StudyHead): Study {
  const { kind: _, ...options } = row.subject;
  const isSigned = row.status === 'SIGNED';
  const person = (id: string | null, name: string | null) => (id === null ? null : { id, name: name ?? '' });
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    notes: row.notes,
    status: row.status,
    placeName: row.placeName,
    options: inWords(options),
    range: { startDate: row.startsAt, endDate: new Date(row.endsAt.getTime() - 1) },
    timezone: row.settings.timezone,
    author: { id: row.author, name: row.authorName },
    frozenBy: person(row.frozenBy, row.frozenByName),
    reviewer: person(row.reviewer, row.reviewerName),
    reason: row.reason,
    createdAt: row.createdAt,
    frozenAt: row.frozenAt,
    signedAt: isSigned ? row.reviewedAt : null,
    hash: row.hash,
    programVersion: row.programVersion,
  };
}

/** The options in the form in which they are given: minutes of the day as HH:MM. */
function inWords(options: Record<string, unknown>): Record<string, unknown> {
  const clock = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const { hours, windows } = options as {
    hours?: readonly (readonly [number, number])[];
    windows?: readonly { window: string; from?: number; until?: number }[];
  };
  return {
    ...options,
    ...(hours && { hours: hours.map(([from, until]) => `${clock(from)}-${clock(until)}`) }),
    ...(windows && {
      windows: windows.map(({ window, from, until }) => ({
        window,
        ...(from !== undefined && { from: clock(from) }),
        ...(until !== undefined && { until: clock(until) }),
      })),
    }),
  };
}

import { isDeepStrictEqual } from 'node:util';
import { caseFold } from '@gantry/contract/case-fold';
import {
  type AddLogEntryInput,
  type CorrectLogEntryInput,
  DEFAULT_DESK,
  type FollowLogInput,
  type ListLogInput,
  type LogEntry,
  MAX_LATE_DAYS,
} from '@gantry/contract/log';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { resolveInterval, resolvePast, resolveTime } from '../platform/time.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { findOpenShifts } from './shifts-store.ts';
import { findByKey, findCorrection, getEntry, insertEntry, listEntries, nameRefs } from './store.ts';

/** Until when an instruction is valid. @throws AppError `badRequest` if that is over already */
function untilWhen(given: string | null, zone: string, now: number): number | null {
  if (given === null) return null;
  const until = resolveTime(given, zone);
  if (until <= now) throw invalidInput('validUntil', 'This time is over: give a later one');
  return until;
}

/** The desk of an entry, and its shift: of those that have not ended, that of the user or the only one. */
async function deskOf(
  tx: Transaction,
  named: string | undefined,
  userId: string,
): Promise<Pick<LogEntry, 'desk' | 'shiftId'>> {
  const open = await findOpenShifts(tx, named);
  const own = open.find(
    ({ lead, members }) => lead.id === userId || members.some((member) => member.id === userId),
  );
  const shift = own ?? (open.length === 1 ? open[0] : undefined);
  return { desk: shift?.desk ?? named ?? DEFAULT_DESK, shiftId: shift?.id ?? null };
}

/** What the same call says again. Things may have other names by then, and times that the caller left out are others. */
function contentOf({ kind, text, source, refs }: Pick<LogEntry, 'kind' | 'text' | 'source' | 'refs'>) {
  return { kind, text, source, refs: refs.map((ref) => `${ref.kind} ${ref.id}`) };
}

async function publish(tx: Transaction, entry: LogEntry): Promise<LogEntry> {
  await recordChanges(tx, [{ topic: 'log', body: entry }]);
  return entry;
}

/**
 * Adds an entry to the log.
 * @throws AppError `badRequest` for a time in the future or too long ago, or a reference to nothing; `conflict` for an
 *   idempotency key of another entry
 */
export function addEntry({ app, actor }: ActorContext, input: AddLogEntryInput): Promise<LogEntry> {
  const { timezone } = app.settings.current();
  const now = app.clock.now();
  const { kind, text, source, idempotencyKey: key = null } = input;
  const at =
    input.at === undefined
      ? null
      : resolvePast('at', input.at, { zone: timezone, now, maxDays: MAX_LATE_DAYS });
  const validUntil = untilWhen(input.validUntil, timezone, now);
  return inTransaction(app.db, async (tx) => {
    const refs = await nameRefs(tx, input.refs);
    const entry = await insertEntry(tx, {
      ...{ kind, text, source, at, validUntil, idempotencyKey: key, corrects: null, userId: actor.id, refs },
      ...(await deskOf(tx, input.desk, actor.id)),
    });
    if (entry) return publish(tx, entry);
    const former = key === null ? null : await findByKey(tx, actor.id, key);
    if (!former || !isDeepStrictEqual(contentOf(former), contentOf({ kind, text, source, refs })))
      throw new AppError('conflict', 'You used this idempotencyKey for another entry: use a new one');
    return former;
  });
}

/**
 * Corrects an entry by another one that stands in its place.
 * @throws AppError `notFound`; `conflict` if it was corrected already; `badRequest` as `addEntry`
 */
export function correctEntry(
  { app, actor, caller }: ActorContext,
  input: CorrectLogEntryInput,
): Promise<LogEntry> {
  const { timezone } = app.settings.current();
  const now = app.clock.now();
  return inTransaction(app.db, async (tx) => {
    const former = await getEntry(tx, input.id);
    const { kind = former.kind, text, source = former.source } = input;
    const ends =
      input.validUntil === undefined
        ? (former.validUntil?.getTime() ?? null)
        : endOf(input.validUntil, timezone);
    if (ends !== null && kind !== 'INSTRUCTION')
      throw invalidInput('validUntil', 'Only an INSTRUCTION has a validUntil: give null');
    const entry = await insertEntry(tx, {
      ...{ kind, text, source, at: null, validUntil: ends, idempotencyKey: null, userId: actor.id },
      corrects: former.id,
      refs: input.refs === undefined ? former.refs : await nameRefs(tx, input.refs),
      ...(await deskOf(tx, former.desk, actor.id)),
    });
    if (!entry) {
      const other = await findCorrection(tx, former.id);
      throw new AppError(
        'conflict',
        `${other?.by.name} corrected this entry at ${other?.createdAt.toISOString()}: correct that one`,
      );
    }
    await recordActivity(tx, actor.id, caller, 'log.correct', { entryId: entry.id, corrects: former.id });
    return publish(tx, entry);
  });

  function endOf(given: string | null, zone: string): number | null {
    return given === null ? null : Math.max(resolveTime(given, zone), now);
  }
}

/** A page of the log, the newest first. @throws AppError `badRequest` for an unknown `before` */
export async function readLog({ app }: ActorContext, input: ListLogInput) {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const found = await listEntries(app.db, input, interval, app.clock.now());
  return { entries: found.slice(0, input.take), hasMore: found.length > input.take };
}

/** Streams entries as they are added. @throws AppError as `follow` does */
export function followLog(
  ctx: FollowContext,
  { desk, lastEventId }: FollowLogInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'log'>> {
  const wanted = desk && caseFold(desk);
  const matches = (entry: LogEntry): boolean => wanted === undefined || caseFold(entry.desk) === wanted;
  return follow(ctx, { topics: ['log'], matches, lastEventId }, signal);
}

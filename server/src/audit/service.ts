import { randomBytes } from 'node:crypto';
import type {
  AuditSample,
  AuditSampleDetail,
  DrawSampleInput,
  JudgeInput,
  Judgement,
} from '@gantry/contract/audit';
import type { Page } from '@gantry/contract/page';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { viewEntries } from '../accounts/users.ts';
import { findActivities, recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput, notFound } from '../platform/error.ts';
import { type Interval, resolveInterval } from '../platform/time.ts';
import {
  findSample,
  insertJudgement,
  insertSample,
  isDrawn,
  type JudgementRow,
  listEntryIds,
  listJudgements,
  listSamples,
  type SampleRow,
} from './store.ts';

/**
 * Draws a sample of the looks at plates.
 * @throws AppError `badRequest` when the range ends before it starts or has no looks
 */
export async function drawSample(ctx: ActorContext, input: DrawSampleInput): Promise<AuditSampleDetail> {
  const { app, actor, caller } = ctx;
  const interval = intervalOf(input, app.settings.current().timezone);
  const seed = input.seed ?? randomBytes(8).toString('hex');
  const sampleId = await inTransaction(app.db, async (tx) => {
    const drawn = await insertSample(tx, actor.id, interval, { n: input.n, seed });
    if (drawn === null)
      throw invalidInput('until', 'Nobody looked at plates in this time: choose a longer one');
    const { from, until, n } = input;
    await recordActivity(tx, actor.id, caller, 'audit.drawSample', { sampleId: drawn, from, until, n, seed });
    return drawn;
  });
  return viewSample(ctx, sampleId);
}

function intervalOf(input: Pick<DrawSampleInput, 'from' | 'until'>, zone: string): Interval {
  const { from } = resolveInterval({ startDate: input.from }, zone);
  const { until } = resolveInterval({ endDate: input.until }, zone);
  if (from >= until) throw invalidInput('until', 'The end is before the start: swap from and until');
  return { from, until };
}

/** One page of the samples, newest first. */
export async function viewSamples(
  { app }: ActorContext,
  page: { readonly skip: number; readonly take: number },
): Promise<Page<AuditSample>> {
  const { items, total } = await listSamples(app.db, page);
  const nameOf = await findNames(
    app.db,
    items.map(({ drawnBy }) => drawnBy),
  );
  return { items: items.map((row) => toSample(row, nameOf)), total };
}

/** A sample with its entries and their judgements. @throws AppError `notFound` */
export async function viewSample({ app, actor }: ActorContext, id: string): Promise<AuditSampleDetail> {
  const row = await findSample(app.db, id);
  if (row === null) throw notFound('Sample');
  const entryIds = await listEntryIds(app.db, row.id);
  const rows = await findActivities(app.db, entryIds);
  const entries = new Map((await viewEntries(app.db, rows)).map((entry) => [entry.id, entry]));
  const judgements = await judgementsOf(app.db, entryIds);
  return {
    ...toSample(row, await findNames(app.db, [row.drawnBy])),
    entries: entryIds.map((entryId) => {
      const entry = entries.get(String(entryId)) ?? null;
      return {
        entryId: String(entryId),
        judgements: judgements.get(entryId) ?? [],
        entry,
        isOwn: entry?.by?.id === actor.id,
      };
    }),
  };
}

/**
 * Adds a judgement to an entry of a sample. The ones before stay.
 * @throws AppError `notFound`; `badRequest` for an entry in no sample; `forbidden` for an entry of the user
 */
export async function judge(
  { app, actor, caller }: ActorContext,
  { entryId, ...judgement }: JudgeInput,
): Promise<{ entryId: string; judgements: Judgement[] }> {
  const { id, userId } = found(await findActivities(app.db, [entryId]), 'Entry of the activity log');
  if (!(await isDrawn(app.db, id)))
    throw invalidInput('entryId', 'The entry is in no sample: draw one, and judge its entries');
  if (userId === actor.id)
    throw new AppError('forbidden', 'This is an entry of yours: somebody else must judge it');
  await inTransaction(app.db, async (tx) => {
    await insertJudgement(tx, id, actor.id, judgement);
    const { verdict } = judgement;
    await recordActivity(tx, actor.id, caller, 'audit.judge', { activityId: String(id), verdict });
  });
  return { entryId: String(id), judgements: (await judgementsOf(app.db, [id])).get(id) ?? [] };
}

async function judgementsOf(db: Executor, entryIds: readonly number[]): Promise<Map<number, Judgement[]>> {
  const rows = await listJudgements(db, entryIds);
  const nameOf = await findNames(
    db,
    rows.map(({ by }) => by),
  );
  const ofEntries = new Map<number, Judgement[]>();
  for (const row of rows)
    ofEntries.set(row.entryId, [...(ofEntries.get(row.entryId) ?? []), toJudgement(row, nameOf)]);
  return ofEntries;
}

function toJudgement({ verdict, note, by, at }: JudgementRow, nameOf: NameOf): Judgement {
  return { verdict, note, by: nameOf(by), at: new Date(at) };
}

function toSample({ drawnAt, drawnBy, from, until, ...row }: SampleRow, nameOf: NameOf): AuditSample {
  return {
    ...row,
    drawnAt: new Date(drawnAt),
    drawnBy: nameOf(drawnBy),
    from: new Date(from),
    until: new Date(until),
  };
}
